"""Programs of sends and recvs over several groups, as traces of gloo show them: peers as places, no group.

A `Transfer` is one message, with the group it truly went through. `traces` makes of them what linking makes
of the files of each rank, and the truth that must never be contradicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import strategies as st

from graphstore.model.ids import group_key
from graphstore.model.records import RankGraph, complete, edge_frame, node_schema

Groups = Mapping[str, Sequence[int]]
PLACES = {"rank": pl.Int64, "n": pl.Int64, "group": pl.String, "seq": pl.Int64}


@dataclass(frozen=True)
class Transfer:
    """A message: its group and ends, when it was sent, and when its recv was made and ended (true time)."""

    group: str
    src: int
    dst: int
    tag: int = 0
    size: int | None = 64
    sent: int = 0
    asked: int = 0
    ended: int = 0


@dataclass(frozen=True)
class Meeting:
    """A collective of all ranks whose number the files hold: {rank: (begin, end)}, true time."""

    spans: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Program:
    """Groups, messages and meetings of a job, and how far each rank's clock is ahead."""

    groups: Groups
    transfers: Sequence[Transfer]
    meetings: Sequence[Meeting] = ()
    clocks: Mapping[int, int] = field(default_factory=dict)

    @property
    def world(self) -> list[int]:
        """Return all ranks."""
        return sorted({rank for members in self.groups.values() for rank in members})


def one_after_the_other(groups: Groups, *transfers: Transfer) -> Program:
    """Return the program in which each message is sent 10 after the one before, and received 5 later."""
    timed = [
        Transfer(t.group, t.src, t.dst, t.tag, t.size, 10 * at, 10 * at + 1, 10 * at + 5)
        for at, t in enumerate(transfers)
    ]
    return Program(groups, timed)


def traces(
    program: Program, without: Iterable[int] = ()
) -> tuple[list[RankGraph], pl.DataFrame, dict[tuple[int, int], Transfer]]:
    """Return the linked ranks, where their numbered collectives belong, and {(rank, n): its message}.

    `without`: ranks of which there is no trace.
    """
    graphs, places, truth = [], [], {}
    absent = set(without)
    for rank in program.world:
        if rank in absent:
            continue
        calls = _calls_of(program, rank)
        graphs.append(_graph(program, rank, calls))
        for n, row in enumerate(calls):
            if row["of"] is None:
                places.append({"rank": rank, "n": n, "group": "world", "seq": row["seq"]})
            else:
                truth[rank, n] = row["of"]
    return graphs, pl.DataFrame(places, schema=PLACES), truth


def _calls_of(program: Program, rank: int) -> list[dict[str, Any]]:
    """Return the calls of a rank in the order in which it made them."""
    rows: list[dict[str, Any]] = []
    for transfer in program.transfers:
        members = sorted(program.groups[transfer.group])
        for kind, own, other in (("send", transfer.src, transfer.dst), ("recv", transfer.dst, transfer.src)):
            if own == rank:
                at = transfer.sent if kind == "send" else transfer.asked
                end = transfer.sent + 1 if kind == "send" else transfer.ended
                rows.append(
                    {"of": transfer, "kind": kind, "at": at, "end": end, "peer": members.index(other)}
                    | {"tag": transfer.tag, "size": transfer.size}
                )
    for number, meeting in enumerate(program.meetings, 1):
        begin, end = meeting.spans[rank]
        rows.append({"of": None, "kind": "all_reduce", "at": begin, "end": end, "seq": number})
    return sorted(rows, key=lambda row: row["at"])


def _graph(program: Program, rank: int, rows: Sequence[dict[str, Any]]) -> RankGraph:
    ahead = program.clocks.get(rank, 0)
    calls = [
        {
            "n": n,
            "rank": rank,
            "collective_kind": row["kind"],
            "is_p2p": row["of"] is not None,
            "peer": row.get("peer"),
            "tag": row.get("tag"),
            "size_bytes": row.get("size"),
            "in_msg_nelems": row.get("size"),
            "out_msg_nelems": row.get("size"),
            "dtype": "float",
            "source": "et",
            "start_ns": row["at"] + ahead,
        }
        for n, row in enumerate(rows)
    ]
    hosts = [  # the c10d op, and the backend's that ends when the work does
        {"n": 1000 + 2 * n + part, "start_ns": row["at"] + ahead, "duration_ns": length}
        for n, row in enumerate(rows)
        for part, length in ((0, 0), (1, row["end"] - row["at"]))
    ]
    seen = [
        (n, 1000 + 2 * n + part, ("host_op", "worker")[part]) for n in range(len(rows)) for part in (0, 1)
    ]
    columns = {
        "src": [s for s, _, _ in seen],
        "dst": [d for _, d, _ in seen],
        "rule": [r for _, _, r in seen],
    }
    listed = [
        {"pg_name": name, "pg_desc": name, "ranks": sorted(members), "group_size": len(members)}
        | {"backend": "gloo", "origin": "et_init", "group": group_key(name, sorted(members))}
        for name, members in program.groups.items()
        if rank in members
    ]
    return RankGraph(
        rank,
        {"CollectiveCall": _frame("CollectiveCall", calls), "HostOp": _frame("HostOp", hosts)},
        {"SEEN_AS": edge_frame("SEEN_AS", columns)},
        groups=listed,
    )


def _frame(label: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    schema = {"n": pl.Int64} | node_schema(label)
    given = [{name: row.get(name) for name in schema} for row in rows]
    return complete(pl.DataFrame(given, schema=schema), schema)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Draw a program of 2 to 5 ranks, 1 to 5 groups and up to 14 messages, that a job could have made."""
    world = draw(st.integers(2, 5))
    groups = {"0": list(range(world))}
    for number in range(draw(st.integers(0, 4))):
        size = draw(st.integers(2, world))
        groups[str(number + 1)] = sorted(draw(st.permutations(range(world)))[:size])
    clock, transfers = 0, []
    asked: dict[tuple[Any, ...], int] = {}
    for _ in range(draw(st.integers(1, 14))):
        name = draw(st.sampled_from(sorted(groups)))
        src, dst = draw(st.permutations(groups[name]))[:2]
        tag, size = draw(st.integers(0, 1)), draw(st.sampled_from((8, 64)))
        clock += draw(st.integers(1, 20))
        queue = (name, src, dst, tag)
        begin = max(asked.get(queue, -100) + 1, clock + draw(st.integers(-30, 30)))
        asked[queue] = begin
        end = max(begin, clock) + draw(st.integers(1, 10))
        transfers.append(Transfer(name, src, dst, tag, size, clock, begin, end))
    meetings = []
    for _ in range(draw(st.integers(0, 3))):
        first = draw(st.integers(-20, clock + 20))
        begins = {rank: first + draw(st.integers(0, 5)) for rank in range(world)}
        last = max(begins.values())
        meetings.append(Meeting({r: (begin, last + draw(st.integers(1, 5))) for r, begin in begins.items()}))
    clocks = {rank: draw(st.integers(-50, 50)) for rank in range(world)}
    return Program(groups, transfers, meetings, clocks)
