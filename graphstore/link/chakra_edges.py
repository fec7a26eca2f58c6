"""The edges of a Chakra file: ctrl deps become CTRL, data deps DATA, from the awaited to the waiting node.

In:  the table chakra_nodes. Out: pairs of rows. A wrong file keeps its shape: a node that names itself gets
its edge, a dep on an absent node none (the check counts those), a repeated dep one.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.nesting import Ints


def dependency_edges(nodes: pl.DataFrame, column: str) -> tuple[Ints, Ints]:
    """Return (rows awaited, rows waiting) of the list column `column` (ctrl_deps, data_deps), each pair once.

    Of several nodes with one id the first is meant.
    """
    by_id = nodes.select(pl.col("node_id").alias("dep"), pl.int_range(pl.len()).alias("awaited")).unique(
        "dep", keep="first", maintain_order=True
    )
    pairs = (
        nodes.select(pl.int_range(pl.len()).alias("waiting"), pl.col(column).alias("dep"))
        .explode("dep")
        .drop_nulls("dep")
        .join(by_id, on="dep", how="inner", maintain_order="left")
        .unique(["awaited", "waiting"], keep="first", maintain_order=True)
    )
    return pairs["awaited"].to_numpy(), pairs["waiting"].to_numpy()


def first_parents(awaited: Ints, waiting: Ints, height: int) -> Ints:
    """Return for each of `height` rows its first recorded present dep, -1 for none: the tree root follows."""
    parent = np.full(height, -1, dtype=np.int64)
    parent[waiting[::-1]] = awaited[::-1]
    return parent
