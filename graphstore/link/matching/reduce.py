"""Reduce the calls of one dump to columns of numbers: about 50 bytes a call, whatever was recorded.

In:  a `RankDump`. Out: a `Reduced` that no longer refers to its frame, so that one frame at a time is in
memory; its rows are in the order of recording. Needs no other dump, so a reading process may do it.
Decided here: what "done" means in one entry (matching.md §5); which rows are cut or filtered is decided
later, by all dumps of the job. Joining two dumps of one process: same_process.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray

from graphstore.link.matching.model import RankDump
from graphstore.link.matching.signatures import COALESCED, Ints, Signature

ABSENT = -1  # in number columns: not recorded
UNKNOWN, UNDONE, DONE = 0, 1, 2  # states of a call on its rank

Pg = tuple[str, str]  # name and description of a group, as an entry names it
_SEPARATOR = "\x1f"
_NUMBERS = ("collective_seq_id", "p2p_seq_id", "op_id", "record_id", "start_ns")
_KEY = ("op_name", "collective_kind", "in_sizes", "out_sizes", "in_types", "out_types", "is_coalesced", "tag")


@dataclass
class Reduced:
    """The calls of one dump, row by row in order of recording; `sig` and `site` number the lists beside."""

    file: str
    rank: int | None
    flight: dict[str, Any]
    groups: list[dict[str, Any]]
    pgs: list[Pg]
    signatures: list[Signature]
    sites: list[str]
    pg: NDArray[np.int32]
    sig: NDArray[np.int32]
    site: NDArray[np.int32]
    state: NDArray[np.int8]
    is_p2p: NDArray[np.bool_]
    seq: Ints
    p2p_seq: Ints
    op_id: Ints
    record: Ints
    start: Ints
    local_ids: dict[int, int] = field(default_factory=dict)  # pg_id → place in `pgs`
    is_old: bool = False  # before 2.0: one number counts collectives, sends and recvs
    written: list[Pg] = field(default_factory=list)  # `pgs` as the file has them, where that differs

    @property
    def size(self) -> int:
        """Return the number of calls."""
        return int(self.seq.size)

    @property
    def is_trace(self) -> bool:
        """Return whether it is an execution or Kineto trace: no recorder, hence no states, no ring."""
        return not self.flight

    @property
    def nothing_finished(self) -> bool:
        """Return whether no kept call is known to be finished."""
        return not bool((self.state == DONE).any())

    @property
    def has_gaps(self) -> bool:
        """Return whether numbers are missing between the kept records."""
        known = self.record[self.record != ABSENT]  # rising: the rows are in order of recording
        return bool(known.size) and int(known[-1] - known[0]) != int((np.diff(known) > 0).sum())

    @property
    def starts_at_zero(self) -> bool:
        """Return whether the first record of the process is kept."""
        return bool(self.size) and int(self.record.min()) == 0

    def release(self) -> None:
        """Let go of the columns, once the calls are taken over by group."""
        none = np.zeros(0, dtype=np.int64)
        self.seq = self.p2p_seq = self.op_id = self.record = self.start = none
        self.pg = self.sig = self.site = none.astype(np.int32)
        self.state, self.is_p2p = none.astype(np.int8), none.astype(np.bool_)

    @property
    def span(self) -> tuple[int, int] | None:
        """Return the first and last time of creation (ns); None without times."""
        known = self.start[self.start != ABSENT]
        return (int(known.min()), int(known.max())) if known.size else None


def reduce_dump(dump: RankDump) -> Reduced:
    """Return the calls of a dump as columns. An entry without a group name is a call of the group ''."""
    frame = _in_order(dump.entries)
    pgs, pg = _coded(frame.select(_text("pg_name"), _text("pg_desc")))
    distinct, sig = _coded_rows(frame)
    signatures = [signature_of(row) for row in distinct.iter_rows(named=True)]
    sites, site = _coded(frame.select(_text("site")))
    numbers = frame.select(pl.col(_NUMBERS).fill_null(ABSENT).cast(pl.Int64))
    return Reduced(
        file=dump.file,
        rank=dump.rank,
        flight=dump.flight,
        groups=dump.groups,
        pgs=[(name, desc) for name, desc in pgs.iter_rows()],
        signatures=signatures,
        sites=[text for (text,) in sites.iter_rows()],
        pg=pg,
        sig=sig,
        site=np.where(_numbers_of(frame["site"].is_null()) == 1, ABSENT, site).astype(np.int32),
        state=_states(frame, signatures, sig),
        is_p2p=frame["is_p2p"].fill_null(False).to_numpy(),
        seq=numbers["collective_seq_id"].to_numpy(),
        p2p_seq=numbers["p2p_seq_id"].to_numpy(),
        op_id=numbers["op_id"].to_numpy(),
        record=numbers["record_id"].to_numpy(),
        start=numbers["start_ns"].to_numpy(),
        local_ids=_local_ids(frame, pg),
    )


def signature_of(row: dict[str, Any]) -> Signature:
    """Return the content of an entry from its fields (a row of `flight_entries`)."""
    return Signature(
        op_name=row["op_name"] or "",
        kind=COALESCED if row["is_coalesced"] else row["collective_kind"],
        in_sizes=row["in_sizes"],
        out_sizes=row["out_sizes"],
        in_dtypes=tuple(row["in_dtypes"] or ()),
        out_dtypes=tuple(row["out_dtypes"] or ()),
        in_nelems=_elements(row["in_nelems"]),
        out_nelems=_elements(row["out_nelems"]),
        src=row["src"],
        dst=row["dst"],
        tag=row.get("tag"),
    )


def sizes_of(text: str | None) -> Any:
    """Return recorded shapes as lists; None where they were not recorded."""
    return None if text is None else orjson.loads(text)


def _elements(counts: Any) -> tuple[int, ...] | None:
    return None if counts is None else tuple(counts)


def _in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the entries by record_id where all have one, else as in the file."""
    by = "order" if frame["record_id"].null_count() else "record_id"
    return frame if frame[by].is_sorted() else frame.sort(by, maintain_order=True)


def _text(name: str) -> pl.Expr:
    return pl.col(name).fill_null("")


def _coded(columns: pl.DataFrame) -> tuple[pl.DataFrame, NDArray[np.int32]]:
    """Return the distinct rows of a frame, in order of appearance, and for each row its place among them."""
    distinct = columns.unique(maintain_order=True)
    if distinct.height <= 1:
        return distinct, np.zeros(columns.height, dtype=np.int32)
    places = distinct.with_row_index("place")
    joined = columns.join(places, on=columns.columns, how="left", maintain_order="left")
    return distinct, joined["place"].to_numpy().astype(np.int32)


def _coded_rows(frame: pl.DataFrame) -> tuple[pl.DataFrame, NDArray[np.int32]]:
    """Return one entry for each distinct content, and for each entry its place among them."""
    keyed = frame.with_columns(
        pl.col("in_dtypes").list.join(",").alias("in_types"),
        pl.col("out_dtypes").list.join(",").alias("out_types"),
    ).with_columns(
        pl.concat_str(
            [pl.col(name).cast(pl.String).fill_null("?") for name in _KEY], separator=_SEPARATOR
        ).alias("key")
    )
    distinct = keyed.unique("key", keep="first", maintain_order=True)
    _, places = _coded(keyed.select("key"))
    return distinct, places


def _numbers_of(series: pl.Series) -> Ints:
    return series.cast(pl.Int64).to_numpy()


def _states(frame: pl.DataFrame, signatures: list[Signature], sig: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return the state of each call: gloo's `retired` ends it (well or not); `completed` ends any other.

    A call that is retired and not completed timed out on NCCL: it is not done.
    """
    is_gloo = np.array([item.is_gloo for item in signatures], dtype=np.bool_)[sig]
    done = _numbers_of((frame["state"] == "completed").fill_null(False)) == 1
    retired = frame["retired"].fill_null(False).to_numpy()
    state = np.where(done | (is_gloo & retired), DONE, UNDONE)
    return np.where(frame["state"].is_null().to_numpy(), UNKNOWN, state).astype(np.int8)


def _local_ids(frame: pl.DataFrame, pg: NDArray[np.int32]) -> dict[int, int]:
    """Return {pg_id: place of the group}, from the entries that carry both."""
    pairs = frame.select("pg_id", pl.Series("pg", pg)).drop_nulls().unique(maintain_order=True)
    return {int(local): int(place) for local, place in pairs.iter_rows()}
