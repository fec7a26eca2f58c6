"""A linked rank as an export pulls it from a store, without the store."""

from __future__ import annotations

from typing import Any

import polars as pl

from graphstore import queries
from graphstore.export.columns import RankColumns
from graphstore.model.records import RankGraph
from tests.unit.export.ranks import table


def columns_of(graph: RankGraph) -> RankColumns:
    """Return the columns of a rank; its numbers are the keys. Times are relative to its first start."""
    starts = [frame["start_ns"].min() for frame in graph.nodes.values() if "start_ns" in frame.columns]
    origin = min((start for start in starts if isinstance(start, int)), default=0)

    def pull(query: str, label: str) -> pl.DataFrame:
        frame = graph.nodes[label].with_columns(pl.col("start_ns") - origin, uid="n")
        return frame.select(
            pl.col(field.name).cast(pl.Int64).fill_null(-1)
            if field.type == "list[int]"
            else pl.col(field.name).cast(pl.String).fill_null("")
            for field in queries.get(query).columns
        )

    edges = [
        graph.edges[kind].select(pl.lit(kind).alias("edge_type"), source="src", target="dst")
        for kind in ("CTRL", "LAUNCHES", "DATA")
    ]
    seen = graph.edges["SEEN_AS"].select(role="rule", call_uid="src", op_uid="dst")
    return RankColumns(
        rank=graph.rank,
        host=pull("structure/show_host_op_order", "HostOp"),
        kernels=pull("linking/show_kernel_columns", "Kernel"),
        launches=pull("linking/show_launch_columns", "RuntimeCall"),
        edges=pl.concat(edges),
        waits=graph.edges["SYNC"].select(source="src", target="dst", rule="rule"),
        calls=pull("communication/show_call_columns", "CollectiveCall"),
        call_ops=seen,
    )


def details(uids: Any) -> pl.DataFrame:
    """Return rows of show_host_op_details that say nothing."""
    return table("structure/show_host_op_details", [{"uid": uid, "synthetic": 0} for uid in uids.tolist()])
