"""Communication calls: one `CollectiveCall` per rank and call, and what it was seen as.

In:  the host ops and device ops of a rank with their callers and enclosers, and the rank's `Groups`.
Out: the table comm_calls (properties, and the rows of host op, backend op and kernels), and the host ops'
comm_kind. Decided here: where each property is read from, whose time the call has (that of what becomes
the communication node of an export, `decisions.md` 9), and what c10d's rank field means for each kind.
Which host op is the call: comm_ops.py. Matching the calls of several ranks is not done here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from graphstore.link.comm_ops import Args, CommOps, find_comm_ops, read_args
from graphstore.link.dtypes import element_size
from graphstore.link.forest import nearest_marked
from graphstore.link.nesting import Bools, Ints
from graphstore.link.process_groups import Groups
from graphstore.model.collectives import P2P_KINDS, is_collective_kernel
from graphstore.model.records import empty, frame

# ProcessGroupNCCL records the root, not the caller, in the rank field of these; the peer in that of P2P
ROOTED_KINDS = ("broadcast", "reduce", "gather", "scatter")
GROUP_KEYS = ("pg_name", "pg_desc", "pg_size")


def find_calls(
    host: pl.DataFrame, parent: Ints, encloser: Ints, kernels: pl.DataFrame, launcher: Ints, groups: Groups
) -> pl.DataFrame:
    """Return the communication calls of a rank as the table comm_calls.

    host_n, worker_n and kernel_n hold rows of `host` and `kernels`. `launcher` is the row of the host op that
    launched each kernel (or, in a merged trace, its recorded parent), -1 for none.
    """
    ops = find_comm_ops(host, parent, encloser)
    is_comm = np.zeros(host.height, dtype=np.bool_)
    is_comm[list(ops.by_row)] = True
    kernel_rows = _kernels_by_start(kernels)
    groups.look_for_world(args for call in ops.worker_of_call for args in ops.by_row[call].args)
    by_call = _kernels_by_call(ops, kernel_rows, launcher, is_comm, (encloser, parent))
    rows = [
        _call_row(ops, call, worker, by_call.get(call, []), host, kernels, groups)
        for call, worker in sorted(ops.worker_of_call.items())
    ]
    rows += [_kernel_row(kernel, kernels, groups) for kernel in by_call.get(-1, [])]
    if not rows:
        return empty("comm_calls")
    return frame("comm_calls", {key: [row[key] for row in rows] for key in rows[0]})


def comm_kinds(calls: pl.DataFrame, height: int) -> pl.Series:
    """Return the column comm_kind of `height` host ops: the kind on each op that is a call, else null."""
    kinds: list[str | None] = [None] * height
    for row, kind in calls.select("host_n", "collective_kind").drop_nulls("host_n").iter_rows():
        kinds[row] = kind
    return pl.Series("comm_kind", kinds, dtype=pl.String)


def communication_kernels(kernels: pl.DataFrame) -> Bools:
    """Return which device ops are NCCL or RCCL kernels: by name, or because they record a communication."""
    names = kernels["name"].unique()
    nccl = names.filter(pl.Series([is_collective_kernel(name) for name in names], dtype=pl.Boolean))
    return (kernels["name"].is_in(nccl.implode()) | kernels["comm_args"].is_not_null()).to_numpy()


def _kernels_by_start(kernels: pl.DataFrame) -> Ints:
    """Return the rows of the NCCL and RCCL kernels, in order of start."""
    rows = kernels.select(pl.int_range(pl.len()).alias("row"), "start_ns")
    return rows.filter(communication_kernels(kernels)).sort("start_ns", "row")["row"].to_numpy()


def _kernels_by_call(
    ops: CommOps, kernels: Ints, launcher: Ints, is_comm: Bools, ways_up: tuple[Ints, Ints]
) -> dict[int, list[int]]:
    """Return {row of the call: its NCCL kernels, by start}; under -1 the kernels that no call launched.

    A kernel belongs to the communication op nearest above its launch: in time, else by caller.
    """
    found = np.full(kernels.size, -1, dtype=np.int64)
    start = launcher[kernels]
    for up in ways_up:
        open_ = (found < 0) & (start >= 0)
        found[open_] = nearest_marked(up, is_comm)[start[open_]]
    out: dict[int, list[int]] = {}
    for kernel, above in zip(kernels.tolist(), found.tolist(), strict=True):
        out.setdefault(ops.call_of.get(above, -1), []).append(kernel)
    return out


def _call_row(
    ops: CommOps,
    call: int,
    worker: int | None,
    kernel_rows: list[int],
    host: pl.DataFrame,
    kernels: pl.DataFrame,
    groups: Groups,
) -> dict[str, Any]:
    op = ops.by_row[call]
    args = list(op.args)
    if worker is not None:
        args += ops.by_row[worker].args
    for row in kernel_rows:
        args += read_args(kernels["comm_args"][row])
    seen, at = (host, worker if worker is not None else call)
    if kernel_rows:
        seen, at = kernels, kernel_rows[0]
    node_id = host["node_id"][call]
    return _properties(args, op.kind, op.name, groups) | {
        "start_ns": seen["start_ns"][at],
        "duration_ns": seen["duration_ns"][at],
        "trace_file": host["trace_file"][call],
        "source": "et" if node_id is not None else "kineto",
        "node_id": node_id,
        "host_n": call,
        "worker_n": worker,
        "kernel_n": kernel_rows,
    }


def _kernel_row(kernel: int, kernels: pl.DataFrame, groups: Groups) -> dict[str, Any]:
    args = read_args(kernels["comm_args"][kernel])
    node_id = kernels["node_id"][kernel]
    return _properties(args, kernels["collective_kind"][kernel], kernels["name"][kernel], groups) | {
        "start_ns": kernels["start_ns"][kernel],
        "duration_ns": kernels["duration_ns"][kernel],
        "trace_file": kernels["trace_file"][kernel],
        "source": "et" if node_id is not None else "kineto",
        "node_id": node_id,
        "host_n": None,
        "worker_n": None,
        "kernel_n": [kernel],
    }


def _merged(args: list[Args]) -> Args:
    """Return one dict, each key from the first source that knows it."""
    out: Args = {}
    for source in args:
        out |= {key: value for key, value in source.items() if value is not None and key not in out}
    return out


def _properties(sources: list[Args], kind: str | None, name: str, groups: Groups) -> dict[str, Any]:
    """Return what a call's arguments say, as properties of a CollectiveCall; the best source comes first."""
    is_p2p = kind in P2P_KINDS
    rooted = kind in ROOTED_KINDS
    group, origin, said = groups.of_call(sources)
    args = _merged([{key: said[key] for key in GROUP_KEYS if key in said}, *sources])
    rank = _number(args, "rank_field")
    elements, size = _number(args, "in_msg_nelems"), element_size(args.get("dtype"))
    nothing = kind == "barrier"  # c10d's barrier moves no tensor of the caller's (`decisions.md` 20)
    peer, root = _number(args, "peer"), _number(args, "root_rank")
    in_bytes = _number(args, "in_bytes") if elements is None or size is None else elements * size
    op_name = str(args.get("op_name") or name)
    return {
        "name": op_name,
        "collective_kind": kind,
        "op_name": op_name,
        "group": group,
        "group_origin": origin,
        "pg_name": _text(args, "pg_name"),
        "pg_desc": _text(args, "pg_desc"),
        "pg_size": _number(args, "pg_size"),
        "group_rank": None if rooted or is_p2p else rank,
        "root_rank": (rank if root is None else root) if rooted else None,
        "dtype": _text(args, "dtype"),
        "in_msg_nelems": elements,
        "out_msg_nelems": _number(args, "out_msg_nelems"),
        "in_split": args.get("in_split"),
        "out_split": args.get("out_split"),
        "size_bytes": 0 if nothing else in_bytes,
        "peer": (rank if peer is None else peer) if is_p2p else None,
        "tag": _number(args, "tag") if is_p2p else None,
        "collective_seq_id": None if is_p2p else _number(args, "seq"),
        "is_p2p": is_p2p,
    }


def _number(args: Args, key: str) -> int | None:
    value = args.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(args: Args, key: str) -> str | None:
    value = args.get(key)
    return value if isinstance(value, str) and value else None
