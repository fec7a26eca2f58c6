"""Which op's tensors another op takes, and how large they are: the flow of tensor storage through a rank.

In:  the host ops of a rank with inputs and outputs as recorded, and who is called by or lies in whom. Out:
rows of producers and consumers; bytes of the tensors of an op. Decided here: a tensor is recorded as [tensor,
storage, offset, elements, bytes of one, device]; an op takes a storage from the op that returned it last and
had ended before it began (by times, else by ids, which rise with the start); of an op and those inside of it
that take the same storage, the outermost takes it. Views return the storage they look at, so they hand it on.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.nesting import Ints

TENSOR = r'\[\d+,\d+,\d+,\d+,\d+,"[^"]*"\]'
STORAGE = r"^\[\d+,(\d+),"
SIZE = r"^\[\d+,\d+,\d+,(?<elements>\d+),(?<each>\d+),"
SCHEMA = {"row": pl.Int64, "storage": pl.Int64}


def find_data_flow(host: pl.DataFrame, parent: Ints, encloser: Ints) -> pl.DataFrame:
    """Return src and dst, rows of host ops: dst takes a tensor storage that src returned; each pair once.

    Sorts and merges by storage: n log n in the tensors recorded.
    """
    above = np.where(encloser >= 0, encloser, parent)
    begin, end = _spans(host, parent)
    taken = _storages(host, "input_values")
    inside = taken.select(pl.col("row").alias("above"), "storage")
    outermost = taken.with_columns(above=pl.Series(above[taken["row"].to_numpy()])).join(
        inside, on=["above", "storage"], how="anti", maintain_order="left"
    )
    consumers = outermost.select("row", "storage", time=pl.Series(begin[outermost["row"].to_numpy()]))
    given = _storages(host, "output_values")
    producers = given.select(
        pl.col("row").alias("src"), "storage", time=pl.Series(end[given["row"].to_numpy()])
    )
    joined = consumers.sort("time", "row").join_asof(
        producers.sort("time", "src"), on="time", by="storage", strategy="backward", check_sortedness=False
    )
    pairs = joined.drop_nulls("src").filter(pl.col("src") != pl.col("row"))
    return pairs.select("src", pl.col("row").alias("dst")).unique(maintain_order=True)


def tensor_bytes(values: pl.Series) -> pl.Series:
    """Return the bytes of the tensors in each text of a column of values, a tensor named twice counted once.

    A view counts with its own elements. Null where the values are; 0 where they hold no tensor.
    """
    tensors = _tensors(values).unique(maintain_order=True)
    sizes = tensors.select("row", pl.col("tensor").str.extract_groups(SIZE).struct.unnest())
    size = pl.col("elements").cast(pl.Int64, strict=False) * pl.col("each").cast(pl.Int64, strict=False)
    found = sizes.group_by("row").agg(size.sum().alias("size"))
    rows = pl.DataFrame({"values": values}).select(
        pl.int_range(pl.len()).cast(pl.Int64).alias("row"), pl.col("values").is_not_null().alias("is_told")
    )
    joined = rows.join(found, on="row", how="left", maintain_order="left")
    return joined.select(pl.when("is_told").then(pl.col("size").fill_null(0))).to_series()


def _storages(host: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return row and storage of the tensors in a column of values, each pair once."""
    tensors = _tensors(host[column])
    storage = pl.col("tensor").str.extract(STORAGE, 1).cast(pl.Int64, strict=False).alias("storage")
    return tensors.select("row", storage).drop_nulls().unique(maintain_order=True)


def _tensors(values: pl.Series) -> pl.DataFrame:
    """Return row and text of each tensor in a column of values."""
    found = pl.DataFrame({"values": values}).select(
        pl.int_range(pl.len()).cast(pl.Int64).alias("row"),
        pl.col("values").str.extract_all(TENSOR).alias("tensor"),
    )
    return found.explode("tensor").drop_nulls("tensor")


def _spans(host: pl.DataFrame, parent: Ints) -> tuple[Ints, Ints]:
    """Return when each op begins and has ended, in times where all ops that have tensors have some, else in
    ids.

    By ids an op has ended behind the last op below it.
    """
    timed = host["start_ns"].is_not_null() & host["duration_ns"].is_not_null()
    has_tensors = host["input_values"].str.contains(TENSOR) | host["output_values"].str.contains(TENSOR)
    if not (has_tensors & ~timed).any():
        begin = host["start_ns"].fill_null(0).to_numpy()
        return begin, begin + host["duration_ns"].fill_null(0).to_numpy()
    begin = host["node_id"].fill_null(-1).to_numpy().astype(np.int64)
    end = begin.copy()
    for row in np.argsort(-begin, kind="stable").tolist():  # ids rise, so children come before their parents
        if parent[row] >= 0:
            end[parent[row]] = max(end[parent[row]], end[row])
    return begin, end + 1
