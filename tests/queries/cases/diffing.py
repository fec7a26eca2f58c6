"""Cases for the statements that comparing two runs reads beside those of timelines and exports."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.export import page
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


@case
def nesting_of_host_ops(g: GraphBuilder) -> Case:
    """Own time, step and encloser; an op of which nothing is known, and one of the next page."""
    around = g.op("ProfilerStep#3", self_ns=4, step=3, **timed(5, 9))
    inside = g.op("aten::add", self_ns=2, step=3, encloser=around, **timed(6, 5))
    bare = g.op("b")
    g.op("behind")
    rows: list[tuple[Any, ...]] = [(around, 4, 3, -1), (inside, 2, 3, around), (bare, -1, -1, -1)]
    return Case("time/show_host_op_nesting", g.build(), rows, page(around, bare), parallel=True)


@case
def device_ops_with_their_launchers(g: GraphBuilder) -> Case:
    """Through the runtime call; one launched outside of every op and one not launched are left out."""
    op = g.op("aten::mm")
    call, outside = g.op("cudaLaunchKernel", op, "RuntimeCall"), g.op("cudaLaunchKernel", label="RuntimeCall")
    launched, alone = g.node("Kernel", "gemm"), g.node("Kernel", "copy")
    unknown, behind = g.node("Kernel", "lost"), g.node("Kernel", "gemm")
    g.edge("LAUNCHES", call, launched)
    g.edge("LAUNCHES", outside, alone)
    g.edge("LAUNCHES", call, behind)
    rows = [(launched, op)]
    return Case("linking/show_launcher_columns", g.build(), rows, page(launched, unknown), parallel=True)
