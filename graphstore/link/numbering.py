"""Make numbered nodes and edges of what linking found in one rank.

In:  the record tables of a rank, the rows found to call, enclose and launch each other, and its calls.
Out: frames of nodes with `n` and the properties of their label, and of edges between those numbers.
Decided here: numbers go over host ops, runtime calls, device ops, sync events, calls and Chakra nodes, each
in the order of its file; root, depth and path follow the CTRL edges as stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from graphstore.link import forest
from graphstore.link.chakra_edges import dependency_edges, first_parents
from graphstore.link.collectives import comm_kinds
from graphstore.link.data_flow import find_data_flow, tensor_bytes
from graphstore.link.host_device import Launches
from graphstore.link.nesting import Ints, own_time
from graphstore.link.overlaps import idle_before, work_of_device_ops
from graphstore.link.steps import step_numbers
from graphstore.link.waits import Lanes
from graphstore.model.records import complete, edge_frame, node_schema

SYNC_DEP = "sync_dep"  # rule of a SYNC edge that a merged trace records


@dataclass
class Tables:
    """The record tables of a rank, host ops of both files already one."""

    host: pl.DataFrame
    calls: pl.DataFrame
    kernels: pl.DataFrame
    syncs: pl.DataFrame
    chakra: pl.DataFrame


@dataclass
class Places:
    """Rows found by linking, -1 for none: callers and enclosers are host ops, launches runtime calls."""

    encloser: Ints
    parent: Ints  # CTRL parent of each host op
    caller: Ints  # CTRL parent of each runtime call
    kernel_parent: Ints  # CTRL parent of each device op of a merged trace
    launches: Launches
    lanes: Lanes
    facts: dict[str, int] = field(default_factory=dict)


def number_nodes(rank: int, tables: Tables, places: Places, comm: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return {label: frame of `n` and the label's properties}; uid and run stay null, times are absolute."""
    host, first = tables.host, _offsets(tables, comm)
    parent = np.concatenate([places.parent, places.caller])  # host ops and runtime calls are one forest
    root, depth = forest.tops(parent)
    own = own_time(host["duration_ns"].fill_null(0).to_numpy(), places.encloser)
    has_time = host["start_ns"].is_not_null() & host["duration_ns"].is_not_null()
    awaited, waiting = dependency_edges(tables.chakra, "ctrl_deps")
    chakra_root, chakra_depth = forest.tops(first_parents(awaited, waiting, tables.chakra.height))
    columns = {
        "HostOp": {
            "root": _optional(root[: host.height]),
            "depth": _optional(depth[: host.height]),
            "path": forest.paths(host["name"], places.parent, depth[: host.height]),
            "encloser": _optional(places.encloser),
            "self_ns": pl.select(pl.when(has_time).then(pl.Series(own))).to_series(),
            "step": step_numbers(host, places.parent),
            "comm_kind": comm_kinds(comm, host.height),
            "input_bytes": tensor_bytes(host["input_values"]),
            "output_bytes": tensor_bytes(host["output_values"]),
        },
        "RuntimeCall": {"root": _optional(root[host.height :]), "depth": _optional(depth[host.height :])},
        "Kernel": {
            "launch_class": places.launches.launch_class,
            "work": work_of_device_ops(tables.kernels),
            "idle_ns": idle_before(tables.kernels),
        },
        "ChakraNode": {
            "root": _optional(_shift(chakra_root, first["ChakraNode"])),
            "depth": _optional(chakra_depth),
        },
    }
    return {
        label: _nodes(rank, label, frame, first[label], columns.get(label, {}))
        for label, frame in _frames(tables, comm).items()
    }


def number_edges(
    tables: Tables, places: Places, comm: pl.DataFrame, waits: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Return {relationship type: frame of src, dst and the type's properties}; `waits` as find_waits
    gives.
    """
    first = _offsets(tables, comm)
    ctrl = dependency_edges(tables.chakra, "ctrl_deps")
    data = dependency_edges(tables.chakra, "data_deps")
    flow = find_data_flow(tables.host, places.parent, places.encloser)
    chakra = first["ChakraNode"]
    ends = [
        _pairs(places.parent, 0),
        _pairs(places.caller, first["RuntimeCall"]),
        _pairs(places.kernel_parent, first["Kernel"]),
        (ctrl[0] + chakra, ctrl[1] + chakra),
    ]
    launch = _pairs(_shift(places.launches.call, first["RuntimeCall"]), first["Kernel"])
    return {
        "CTRL": _edges("CTRL", *(np.concatenate(side) for side in zip(*ends, strict=True))),
        "LAUNCHES": _edges("LAUNCHES", *launch),
        "DATA": _edges(
            "DATA",
            np.concatenate([flow["src"].to_numpy(), data[0] + chakra]),
            np.concatenate([flow["dst"].to_numpy(), data[1] + chakra]),
        ),
        "SYNC": pl.concat([_sync_edges(tables, first), _waits(waits, first)]).unique(
            ["src", "dst"], keep="first", maintain_order=True
        ),
        "SEEN_AS": _seen_as_edges(comm, first),
    }


def _frames(tables: Tables, comm: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the tables by label, in the order in which they are numbered."""
    return {
        "HostOp": tables.host,
        "RuntimeCall": tables.calls,
        "Kernel": tables.kernels,
        "SyncEvent": tables.syncs,
        "CollectiveCall": comm,
        "ChakraNode": tables.chakra,
    }


def _offsets(tables: Tables, comm: pl.DataFrame) -> dict[str, int]:
    """Return the number of the first node of each label."""
    out, following = {}, 0
    for label, frame in _frames(tables, comm).items():
        out[label] = following
        following += frame.height
    return out


def _nodes(
    rank: int, label: str, frame: pl.DataFrame, first: int, columns: dict[str, pl.Series]
) -> pl.DataFrame:
    numbered = frame.with_columns(
        pl.int_range(first, first + frame.height, dtype=pl.Int64).alias("n"),
        pl.lit(rank, dtype=pl.Int64).alias("rank"),
        pl.lit(label).alias("kind"),
        *(values.alias(name) for name, values in columns.items()),
    )
    return complete(numbered, {"n": pl.Int64} | node_schema(label))


def _waits(waits: pl.DataFrame, first: dict[str, int]) -> pl.DataFrame:
    """Return the waits found as SYNC edges between numbers."""
    ends = {
        side: waits[side] + waits[f"{side}_label"].replace_strict(first, return_dtype=pl.Int64)
        for side in ("src", "dst")
    }
    return edge_frame("SYNC", {**ends, "rule": waits["rule"]})


def _sync_edges(tables: Tables, first: dict[str, int]) -> pl.DataFrame:
    """Return the waits a merged trace records: from the node waited for to the waiting one."""
    both = [
        (tables.host, first["HostOp"]),
        (tables.kernels, first["Kernel"]),
    ]
    nodes = pl.concat(
        frame.select("node_id", "sync_deps", pl.int_range(start, start + pl.len()).alias("n"))
        for frame, start in both
    ).drop_nulls("node_id")
    waiting = nodes.filter(pl.col("sync_deps").list.len() > 0)
    if not waiting.height:
        return edge_frame("SYNC", {"src": [], "dst": [], "rule": []})
    by_id = nodes.select(pl.col("node_id").alias("dep"), pl.col("n").alias("src")).unique("dep", keep="first")
    pairs = (
        waiting.select(pl.col("sync_deps").alias("dep"), pl.col("n").alias("dst"))
        .explode("dep")
        .join(by_id, on="dep", how="inner", maintain_order="left")
        .unique(["src", "dst"], maintain_order=True)
    )
    return edge_frame("SYNC", {"src": pairs["src"], "dst": pairs["dst"], "rule": [SYNC_DEP] * pairs.height})


def _seen_as_edges(comm: pl.DataFrame, first: dict[str, int]) -> pl.DataFrame:
    """Return what each communication call was seen as: host op, backend's op, kernels."""
    calls = comm.select(
        pl.int_range(pl.len()).alias("src") + first["CollectiveCall"],
        pl.col("host_n").alias("host_op"),
        pl.col("worker_n").alias("worker"),
        pl.col("kernel_n").alias("kernel"),
    )
    parts = [
        calls.select("src", (pl.col(rule) + start).alias("dst"), pl.lit(rule).alias("rule")).drop_nulls("dst")
        for rule, start in (("host_op", first["HostOp"]), ("worker", first["HostOp"]))
    ]
    kernels = calls.select("src", "kernel").explode("kernel").drop_nulls("kernel")
    parts.append(
        kernels.select(
            "src", (pl.col("kernel") + first["Kernel"]).alias("dst"), pl.lit("kernel").alias("rule")
        )
    )
    every = pl.concat(parts)
    return edge_frame("SEEN_AS", {name: every[name] for name in ("src", "dst", "rule")})


def _pairs(source: Ints, first_target: int) -> tuple[Ints, Ints]:
    """Return (source, target) numbers of the rows that have a source; targets are numbered from the first."""
    rows = np.flatnonzero(source >= 0)
    return source[rows], rows + first_target


def _edges(kind: str, source: Ints, target: Ints) -> pl.DataFrame:
    return edge_frame(kind, {"src": source, "dst": target})


def _shift(values: Ints, offset: int) -> Ints:
    """Return values + offset, -1 where the value is -1."""
    return np.where(values >= 0, values + offset, -1)


def _optional(values: Ints) -> pl.Series:
    """Return a column with null for -1."""
    return pl.DataFrame({"value": values}).select(pl.when(pl.col("value") >= 0).then("value")).to_series()
