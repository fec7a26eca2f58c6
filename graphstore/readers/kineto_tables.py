"""The record tables of a Kineto file, filled batch by batch: one class a table, columns not rows.

In:  events of one category each, with their place in the file. Out: polars frames (model/records.py).
Decided here: which field of an event becomes which column, and what counts as "none" (a zero id, stream -1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from graphstore.model.collectives import collective_kind, collective_kind_of_kernel, is_collective_kernel
from graphstore.model.records import complete, empty, table_schema
from graphstore.readers.columns import IntLists
from graphstore.readers.communication import COMM_NAME
from graphstore.readers.kineto_comm import as_text, host_comm_args, recorded_comm_args
from graphstore.readers.kineto_event import Event, compact_texts, nanoseconds, repeated_texts

Placed = tuple[int, Event]  # an event and its place in the file
Columns = dict[str, Any]
WHOLE_CONTEXT = (-1, 2**32 - 1)  # CUPTI's "no stream"


class Tables:
    """The tables of one file. `add` a batch of events to a table; `frames` makes them whole."""

    def __init__(self) -> None:
        """Start empty."""
        self.rf_zeros = 0  # host ops with record function id 0: "no id", which is not the same as absent
        self._parts: dict[str, list[pl.DataFrame]] = {}
        self._columns: dict[str, Callable[[Sequence[Event]], Columns]] = {
            "host_ops": self._host_ops,
            "runtime_calls": _runtime_calls,
            "kernels": _kernels,
            "sync_events": _sync_events,
        }

    def add(self, table: str, events: Sequence[Placed]) -> None:
        """Append events to `table`, as rows in the order given."""
        placed = [event for _, event in events]
        duration = nanoseconds("duration_ns", [event.dur for event in placed])
        columns: Columns = {
            "order": [order for order, _ in events],
            "name": repeated_texts("name", (event.name for event in placed)),
            "start_ns": nanoseconds("start_ns", [event.ts for event in placed]),
            "duration_ns": duration.set(duration < 0, None),  # a clock that ran backwards tells no duration
            "category": repeated_texts("category", (event.cat for event in placed)),
        } | self._columns[table](placed)
        schema = table_schema(table)
        self._parts.setdefault(table, []).append(
            pl.DataFrame(
                [_series(name, values, schema[name]) for name, values in columns.items() if name in schema]
            )
        )

    def frames(self, base_ns: int) -> dict[str, pl.DataFrame]:
        """Return every table, in the order of the file; `base_ns` is added to every start.

        (Added at the end, since a file may say its baseTimeNanoseconds after its events.)
        """
        out: dict[str, pl.DataFrame] = {}
        for table in self._columns:
            frame = complete(pl.concat(self._parts.pop(table, [empty(table)])), table_schema(table))
            ordered = frame if frame["order"].is_sorted() else frame.sort("order")
            out[table] = ordered.with_columns(pl.col("start_ns") + base_ns)
        return out

    def _host_ops(self, events: Sequence[Event]) -> Columns:
        args = [event.args for event in events]
        self.rf_zeros += sum(arg.rf_id == 0 for arg in args)
        comm_args = [
            as_text(host_comm_args(event.name, event.args)) if COMM_NAME.match(event.name) else None
            for event in events
        ]
        return {
            "process": [event.pid for event in events],
            "thread": [event.tid for event in events],
            "rf_id": _ids(arg.rf_id for arg in args),
            "external_id": [arg.external_id for arg in args],
            "autograd_seq_id": [arg.sequence_number if arg.sequence_number != -1 else None for arg in args],
            "fw_tid": _ids(arg.fwd_thread_id for arg in args),
            "input_values": compact_texts("input_values", (arg.input_values for arg in args)),
            "input_shapes": compact_texts("input_shapes", (arg.input_shapes for arg in args)),
            "input_types": compact_texts("input_types", (arg.input_types for arg in args)),
            "comm_args": comm_args,
        }


def _runtime_calls(events: Sequence[Event]) -> Columns:
    return {
        "process": [event.pid for event in events],
        "thread": [event.tid for event in events],
        "correlation": _ids(event.args.correlation for event in events),
        "external_id": [event.args.external_id for event in events],
    }


def _kernels(events: Sequence[Event]) -> Columns:
    args = [event.args for event in events]
    comm = [_kernel_comm(event) for event in events]
    return {
        "correlation": _ids(arg.correlation for arg in args),
        "device": [e.args.device if e.args.device is not None else e.pid for e in events],
        "stream": [e.args.stream if e.args.stream is not None else e.tid for e in events],
        "context": [arg.context for arg in args],
        "device_kind": [_device_kind(event) for event in events],
        "external_id": [arg.external_id for arg in args],
        "grid": _int_lists("grid", (arg.grid for arg in args)),
        "block": _int_lists("block", (arg.block for arg in args)),
        "size_bytes": [arg.bytes for arg in args],
        "collective_kind": [kind for kind, _ in comm],
        "comm_args": [text for _, text in comm],
    }


def _sync_events(events: Sequence[Event]) -> Columns:
    args = [event.args for event in events]
    return {
        "correlation": _ids(arg.correlation for arg in args),
        "device": [e.args.device if e.args.device is not None else e.pid for e in events],
        "stream": _streams(arg.stream for arg in args),
        "sync_kind": [e.args.cuda_sync_kind or e.name for e in events],
        "wait_on_stream": _streams(arg.wait_on_stream for arg in args),
        "wait_on_event_id": [arg.wait_on_event_id for arg in args],
        "wait_on_record_correlation": _ids(arg.wait_on_record_correlation for arg in args),
    }


def _device_kind(event: Event) -> str:
    """Return memcpy, memset or kernel, by category; by name where the category does not tell (async_gpu)."""
    category = event.cat.lower()
    told = category if category != "async_gpu" else event.name.lower()
    return next((kind for kind in ("memcpy", "memset") if kind in told), "kernel")


def _kernel_comm(event: Event) -> tuple[str | None, str | None]:
    """Return collective_kind and comm_args of a device op: both None unless it is an NCCL or RCCL kernel.

    What the arguments say stands before what the name says: all RCCL kernels have one name, and NCCL does
    barriers by AllReduce.
    """
    if event.args.op_name is None and not is_collective_kernel(event.name):
        return None, None
    args = recorded_comm_args(event.args)
    kind = collective_kind(str(args["op_name"])) if "op_name" in args else None
    return kind or collective_kind_of_kernel(event.name), as_text(args)


def _ids(values: Iterable[Any]) -> list[Any]:
    """Return ids with 0, which means "none", as None."""
    return [value or None for value in values]


def _streams(values: Iterable[Any]) -> list[Any]:
    return [None if value in WHOLE_CONTEXT else value for value in values]


def _int_lists(name: str, values: Iterable[Any]) -> pl.Series:
    lists = IntLists()
    for value in values:
        try:
            lists.add(value)
        except (OverflowError, TypeError):
            lists.add(None)
    return lists.series(name)


def _series(name: str, values: Any, kind: Any) -> pl.Series:
    """Return a column; a value that does not fit its type becomes null, whatever the file wrote there."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    return pl.Series(name, values, dtype=kind, strict=False)
