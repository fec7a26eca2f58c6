"""What happened at the same time within a rank: idle streams, communication that nothing hid, busy devices.

In:  the tables of a rank, its threads cut into segments, its communication calls. Out: columns for device ops
and calls, and sums for the rank; ns. It is done here, at import, because Cypher cannot merge intervals.
Decided here, after the definitions of Holistic Trace Analysis ("kernel breakdown", "temporal breakdown",
"communication computation overlap"): a device op communicates (NCCL, RCCL), moves memory (a copy or set), or
computes. Communication is overlapped while its rank computes and exposed while it does not: a copy hides
none. Where device ops were recorded, computing is what they compute. Else (gloo on CPUs) it is an operator
on another thread than that of the communication: the innermost op there, which is neither an annotation
nor communication nor inside one. Python between operators is not recorded and computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.collectives import communication_kernels
from graphstore.link.comm_ops import BACKEND_OP, C10D, PARAM_COMMS
from graphstore.link.forest import nearest_marked
from graphstore.link.nesting import Bools, Ints, at
from graphstore.link.waits import Lanes

COMPUTATION, COMMUNICATION, MEMORY = "computation", "communication", "memory"
ANNOTATION = "user_annotation"
FUNCTIONAL = r"^_?c10d_functional::"  # traceable collectives, and the wait_tensor that waits for them
# spans of a call, cut so that none overlaps another; lane: the thread of a host op, -1 on a device
PIECES = {"call": pl.Int64, "start": pl.Int64, "end": pl.Int64, "lane": pl.Int64}


@dataclass(frozen=True)
class Covered:
    """The time that some spans cover together: `begin` and `end` of what they merge to, ascending."""

    begin: Ints
    end: Ints

    @classmethod
    def by(cls, start: Ints, end: Ints) -> Covered:
        """Return what the spans from `start` to `end` cover, in n log n."""
        order = np.argsort(start, kind="stable")
        start, reach = start[order], np.maximum.accumulate(end[order]) if end.size else end
        opens = np.append(True, start[1:] > reach[:-1])[: start.size]
        closes = np.append(opens[1:], True)[: start.size]
        return cls(start[opens], reach[closes])

    @property
    def total(self) -> int:
        """Return how long it is in all."""
        return int((self.end - self.begin).sum())

    def within(self, start: Ints, end: Ints) -> Ints:
        """Return how much of each span from `start` to `end` is covered."""
        return self._until(end) - self._until(start)

    def _until(self, time: Ints) -> Ints:
        """Return how much is covered before each time."""
        if not self.begin.size:
            return np.zeros(time.size, np.int64)
        before = np.searchsorted(self.begin, time, side="right")
        total = np.append(0, np.cumsum(self.end - self.begin))
        still_open = np.maximum(self.end[np.maximum(before - 1, 0)] - time, 0)
        return np.where(before > 0, total[before] - still_open, 0)


def work_of_device_ops(kernels: pl.DataFrame) -> pl.Series:
    """Return what each device op does: computation, communication or memory."""
    return kernels.select(
        pl.when(pl.Series(communication_kernels(kernels)))
        .then(pl.lit(COMMUNICATION))
        .when(pl.col("device_kind").is_in(["memcpy", "memset"]))
        .then(pl.lit(MEMORY))
        .otherwise(pl.lit(COMPUTATION))
        .alias("work")
    ).to_series()


def idle_before(kernels: pl.DataFrame) -> pl.Series:
    """Return how long the stream of each device op lay idle right before it: 0 where another still ran.

    Null for the first op of a stream, and for ops without stream or times.
    """
    ops = kernels.select(
        pl.int_range(pl.len()).alias("row"),
        "device",
        "stream",
        pl.col("start_ns").alias("start"),
        (pl.col("start_ns") + pl.col("duration_ns")).alias("end"),
    )
    timed = ops.drop_nulls(["stream", "start", "end"]).sort("device", "stream", "start", "end", "row")
    before = pl.col("end").cum_max().shift(1).over("device", "stream")
    idle = timed.select("row", (pl.col("start") - before).clip(lower_bound=0).alias("idle_ns"))
    return ops.join(idle, on="row", how="left", maintain_order="left")["idle_ns"]


def device_times(kernels: pl.DataFrame) -> dict[str, int | None]:
    """Return the properties of a Rank that tell how its device ops shared the time, all null without any.

    `kernels` are the nodes, with `work`. Ops of all devices and streams of the rank count together.
    """
    timed = kernels.drop_nulls(["start_ns", "duration_ns"])
    if not timed.height:
        return dict.fromkeys(
            ("device_span_ns", "device_busy_ns", "computing_ns", "communicating_ns", "overlapped_ns")
        )
    busy, computing, communicating = (
        Covered.by(ops["start_ns"].to_numpy(), (ops["start_ns"] + ops["duration_ns"]).to_numpy())
        for ops in (timed, timed.filter(work=COMPUTATION), timed.filter(work=COMMUNICATION))
    )
    return {
        "device_span_ns": int(busy.end[-1] - busy.begin[0]),
        "device_busy_ns": busy.total,
        "computing_ns": computing.total,
        "communicating_ns": communicating.total,
        "overlapped_ns": int(computing.within(communicating.begin, communicating.end).sum()),
    }


def with_overlaps(
    comm: pl.DataFrame, host: pl.DataFrame, kernels: pl.DataFrame, lanes: Lanes
) -> pl.DataFrame:
    """Return the calls of a rank with exposed_ns and overlapped_ns: together the time of the communication.

    That time is that of the call's kernels, each moment counted once; without kernels that of the backend
    op that did the work, else of its c10d op. Both are null where no file tells it: an NCCL call without
    kernels, an entry of a dump, ops without times.
    """
    pieces = pl.concat([_device_pieces(comm, kernels), _host_pieces(comm, host, lanes)])
    start, end = pieces["start"].to_numpy(), pieces["end"].to_numpy()
    if kernels.height:
        overlapped = _computing(kernels).within(start, end)
    else:
        overlapped = _on_other_threads(host, lanes, pieces["lane"].to_numpy(), start, end)
    sums = (
        pieces.select("call", (pl.col("end") - pl.col("start")).alias("lasts"), overlapped_ns=overlapped)
        .group_by("call")
        .agg((pl.col("lasts") - pl.col("overlapped_ns")).sum().alias("exposed_ns"), pl.sum("overlapped_ns"))
    )
    numbered = comm.drop("exposed_ns", "overlapped_ns", strict=False).with_row_index("call")
    return numbered.join(
        sums, left_on=pl.col("call").cast(pl.Int64), right_on="call", how="left", maintain_order="left"
    ).drop("call")


def _device_pieces(comm: pl.DataFrame, kernels: pl.DataFrame) -> pl.DataFrame:
    """Return the time of the kernels of each call, each moment once; of no call with an untimed kernel."""
    every = comm.select(pl.int_range(pl.len()).alias("call"), pl.col("kernel_n").alias("row"))
    of = every.explode("row").drop_nulls("row")
    timed = kernels.select(
        pl.col("start_ns").alias("start"), (pl.col("start_ns") + pl.col("duration_ns")).alias("end")
    )
    spans = of.hstack(timed[of["row"]]).filter(pl.col("end").is_not_null().all().over("call"))
    reached = pl.col("end").cum_max().shift(1).over("call")
    spans = spans.sort("call", "start").with_columns(pl.max_horizontal("start", reached).alias("start"))
    return _pieces(spans.with_columns(pl.max_horizontal("start", "end").alias("end"), lane=pl.lit(-1)))


def _host_pieces(comm: pl.DataFrame, host: pl.DataFrame, lanes: Lanes) -> pl.DataFrame:
    """Return the time of the host op that did the work of each call without kernels."""
    name = host["name"].gather(comm["host_n"])
    # The op of an NCCL call only queues it; that of another backend may do the work itself.
    works = comm["worker_n"].is_not_null() | (name != PARAM_COMMS)
    no_kernel = comm["kernel_n"].list.len().fill_null(0) == 0
    rows = comm.select(
        pl.int_range(pl.len()).alias("call"),
        pl.when(works & no_kernel).then(pl.coalesce("worker_n", "host_n")).alias("row"),
    ).drop_nulls("row")
    place = np.full(host.height, -1, np.int64)
    place[lanes.row] = np.arange(lanes.row.size)
    lane = at(lanes.lane, at(place, rows["row"].to_numpy()))
    some = host.select("start_ns", "duration_ns")[rows["row"]]
    spans = rows.select(
        "call",
        start=some["start_ns"],
        end=some["start_ns"] + some["duration_ns"],
        lane=pl.Series(lane, dtype=pl.Int64),
    )
    return _pieces(spans.drop_nulls("end").filter(pl.col("lane") >= 0))


def _pieces(spans: pl.DataFrame) -> pl.DataFrame:
    return spans.select(pl.col(name).cast(kind) for name, kind in PIECES.items())


def _computing(kernels: pl.DataFrame) -> Covered:
    """Return when the devices of a rank computed."""
    ops = kernels.filter(work_of_device_ops(kernels) == COMPUTATION).drop_nulls(["start_ns", "duration_ns"])
    return Covered.by(ops["start_ns"].to_numpy(), (ops["start_ns"] + ops["duration_ns"]).to_numpy())


def _on_other_threads(host: pl.DataFrame, lanes: Lanes, lane: Ints, start: Ints, end: Ints) -> Ints:
    """Return how much of each span was computed on a thread that is not `lane`, its own.

    That is what all threads cover, less what its own covers alone.
    """
    computes = _computing_segments(host, lanes)
    cut = lanes.cut
    out = Covered.by(cut.start[computes], cut.end[computes]).within(start, end)
    begins, ends, alone = _alone(cut.lane[computes], cut.start[computes], cut.end[computes])
    order = np.argsort(alone, kind="stable")
    for own in np.unique(lane).tolist():
        low, high = np.searchsorted(alone[order], [own, own + 1])
        mine = order[low:high]
        asked = lane == own
        out[asked] -= Covered.by(begins[mine], ends[mine]).within(start[asked], end[asked])
    return out


def _computing_segments(host: pl.DataFrame, lanes: Lanes) -> Bools:
    """Return in which segments of the threads an operator computes."""
    some = host.select("name", "category")[lanes.row]
    name = pl.col("name")
    told = some.select(
        communicates=(name == PARAM_COMMS)
        | name.str.starts_with(C10D)
        | name.str.contains(BACKEND_OP)
        | name.str.contains(FUNCTIONAL),
        annotates=(pl.col("category") == ANNOTATION).fill_null(False),
    )
    inside = nearest_marked(lanes.cut.above, told["communicates"].to_numpy()) >= 0
    computes = ~inside & ~told["annotates"].to_numpy()
    owner = lanes.cut.owner
    return (owner >= 0) & computes[np.maximum(owner, 0)] if computes.size else owner >= 0


def _alone(lane: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Return begin, end and lane of the pieces of time that spans of one lane alone cover.

    Spans of one lane do not overlap: so many are open as lanes, and the sum of open lanes is the one.
    """
    time = np.concatenate([start, end])
    order = np.argsort(time, kind="stable")
    time = time[order]
    open_ = np.cumsum(np.repeat([1, -1], lane.size)[order])
    sum_ = np.cumsum(np.concatenate([lane, -lane])[order])
    kept = np.flatnonzero((open_[:-1] == 1) & (time[1:] > time[:-1]))
    return time[kept], time[kept + 1], sum_[kept]
