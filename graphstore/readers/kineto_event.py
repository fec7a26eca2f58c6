"""One event of a Kineto trace as msgspec decodes it, and how its fields become columns.

In:  the JSON text of events. Out: `Event` objects, series of exact nanoseconds, compact JSON text.
Decided here: which arguments are read, and that a field of an unexpected type costs that field, never the
event: most fields are typed Any and become null where a column cannot hold them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec
import orjson
import polars as pl

from graphstore.readers.json_text import clean

ABSENT = msgspec.Raw(b"")


def _named(name: str) -> Any:
    return msgspec.field(name=name, default=None)


class Args(msgspec.Struct, gc=False, kw_only=True, frozen=True):
    """The arguments that are read; which of them are there depends on the category and age of the event."""

    name: Any = None  # of a thread, on metadata
    external_id: Any = _named("External id")
    rf_id: Any = _named("Record function id")
    sequence_number: Any = _named("Sequence number")
    fwd_thread_id: Any = _named("Fwd thread id")
    input_values: msgspec.Raw = msgspec.field(name="Concrete Inputs", default=ABSENT)
    input_types: msgspec.Raw = msgspec.field(name="Input type", default=ABSENT)
    input_shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=ABSENT)
    correlation: Any = None
    device: Any = None
    stream: Any = None
    context: Any = None
    grid: Any = None
    block: Any = None
    bytes: Any = None
    cuda_sync_kind: Any = None
    wait_on_stream: Any = None
    wait_on_event_id: Any = _named("wait_on_cuda_event_id")
    wait_on_record_correlation: Any = _named("wait_on_cuda_event_record_corr_id")
    # of record_param_comms and of NCCL kernels (torch/csrc/profiler/util.h)
    op_name: Any = _named("Collective name")
    dtype: Any = None
    in_msg_nelems: Any = _named("In msg nelems")
    out_msg_nelems: Any = _named("Out msg nelems")
    in_split: Any = _named("In split size")
    out_split: Any = _named("Out split size")
    pg_name: Any = _named("Process Group Name")
    pg_desc: Any = _named("Process Group Description")
    pg_size: Any = _named("Group size")
    pg_ranks: Any = _named("Process Group Ranks")
    rank_field: Any = _named("Rank")
    src_rank: Any = _named("Src Rank")
    dst_rank: Any = _named("Dst Rank")
    global_rank_start: Any = _named("Global rank start")
    global_rank_stride: Any = _named("Global rank stride")
    seq: Any = _named("Seq")
    comms_id: Any = _named("Comms Id")


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    """One element of traceEvents. `ts` and `dur` stay text: a float of µs since 1970 has no nanoseconds."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Any = None
    tid: Any = None
    ts: msgspec.Raw = ABSENT
    dur: msgspec.Raw = ABSENT
    args: Args = NO_ARGS


Text = TypeVar("Text", str, bytes)
decode_events: Callable[[bytes], list[Event]] = msgspec.json.Decoder(list[Event]).decode


def nanoseconds(name: str, microseconds: Sequence[msgspec.Raw]) -> pl.Series:
    """Return µs, given as the text of JSON numbers, as exact ns; null where there is no number."""
    if not microseconds:
        return pl.Series(name, [], dtype=pl.Int64)
    text = b"\n".join(microseconds).decode()
    exact = pl.Series(name, [text]).str.split("\n").explode().str.strip_chars('"')
    return (exact.cast(pl.Decimal(38, 3), strict=False) * 1000).cast(pl.Int64, strict=False)


def repeated_texts(name: str, values: Iterable[str]) -> pl.Series:
    """Return a column of texts of which most are equal: each lies in memory once."""
    return _gathered(name, values, lambda text: text)


def compact_texts(name: str, recorded: Iterable[msgspec.Raw]) -> pl.Series:
    """Return JSON texts without their spaces; null where nothing was recorded."""
    return _gathered(name, map(bytes, recorded), _compact)


def _gathered(name: str, values: Iterable[Text], convert: Callable[[Text], str | None]) -> pl.Series:
    """Return a column of `convert(value)`; equal values are converted, and lie in memory, once."""
    places: defaultdict[Text, int] = defaultdict(lambda: len(places))
    rows = [places[value] for value in values]
    return pl.Series(name, [convert(value) for value in places], dtype=pl.String).gather(rows)


def _compact(text: bytes) -> str | None:
    if not text:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:  # raw control bytes in a string: Raw does not look into strings
        text = clean(text)
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:  # a number no float holds (1e999): kept as it was written
            return text.decode(errors="replace")
    return orjson.dumps(value).decode()
