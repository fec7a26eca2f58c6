"""Calls of all ranks side by side: collectives by their number in the group, sends and recvs by key.

In:  the ranks' communications in the order they are taken (paths.py), the members of groups.
Out: findings, one for each group or rank, and `Matching` for the search of deadlocks.
Decided here: what the simulator compares (only the order of issue within a group; kind and bytes have to
agree), and what takes part (a broadcast takes its duration and waits for nobody).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphstore.chakra.et_def_pb2 import CollectiveCommType
from graphstore.export.simulator.columns import COLL, NONE, RECV, SEND, SUPPORTED, comm_type_name
from graphstore.export.simulator.files import RankFile, Workload
from graphstore.export.simulator.graph_rules import RankEdges, RankGraph
from graphstore.export.simulator.group_rules import WORLD, Members
from graphstore.export.simulator.rules import Found, about
from graphstore.queries.draft import counted, verb

Channel = tuple[int, int, int, int]  # source, target, tag, bytes: what a send and its recv have in common


@dataclass
class RankCalls:
    """The communications of one rank in the order they are taken: rows of its table."""

    file: RankFile
    edges: RankEdges
    rows: list[int] = field(default_factory=list)  # collectives but broadcasts, sends, recvs
    calls: dict[str, list[int]] = field(default_factory=dict)  # group ("" = world) → rows of collectives

    def node_id(self, row: int) -> int:
        """Return the id of the node of a row."""
        return int(self.edges.ids[self.file.columns.communications.place[row]])

    def signature(self, row: int) -> tuple[int, int]:
        """Return kind and bytes of a collective."""
        table = self.file.columns.communications
        return table.comm_type[row], table.size[row]

    def group_of(self, row: int) -> str:
        """Return the group of a collective; "" for all ranks, however that is written."""
        name = self.file.columns.communications.group_of(row)
        return "" if name in WORLD else name

    def label(self, row: int) -> str:
        """Return the group of a collective as messages name it."""
        return _label(self.group_of(row))

    def channel(self, row: int) -> Channel | None:
        """Return what a send or recv is matched by; None when one of it is absent."""
        table, rank = self.file.columns.communications, self.file.rank
        peer, tag, size = table.peer[row], table.tag[row], table.size[row]
        if rank is None or NONE in (peer, tag, size):
            return None
        return (rank, peer, tag, size) if table.kind[row] == SEND else (peer, rank, tag, size)


def calls_of(file: RankFile, graph: RankGraph) -> RankCalls:
    """Return the communications of a rank in the order they are taken, those that never run at the end."""
    table = file.columns.communications
    place = np.full(len(graph.ids), len(graph.ids), np.int64)
    place[graph.both.sequence] = np.arange(len(graph.both.sequence))
    order = np.argsort(place[np.frombuffer(table.place, np.int64)], kind="stable")
    found = RankCalls(file, graph.edges())
    for row in order.tolist():
        if table.kind[row] == COLL:
            if table.comm_type[row] == CollectiveCommType.BROADCAST:
                continue
            found.calls.setdefault(found.group_of(row), []).append(row)
        found.rows.append(row)
    return found


@dataclass
class Matching:
    """How many calls every member of a group has (`whole`), and how many recvs of a channel have a send."""

    present: dict[str, list[int]] = field(default_factory=dict)  # group → members of which there are files
    whole: dict[str, int] = field(default_factory=dict)
    paired: Counter[Channel] = field(default_factory=Counter)


def match(
    ranks: Mapping[int, RankCalls], members: Members, workload: Workload
) -> tuple[Matching, list[Found]]:
    """Compare the calls of all ranks; return what matches and what is wrong."""
    matching = Matching()
    found: list[Found] = []
    names = dict.fromkeys(name for calls in ranks.values() for name in calls.calls)
    for name in names:
        inside = members.of(name, workload)
        callers = [rank for rank, calls in ranks.items() if name in calls.calls]
        # Where the members are not known, those that call are.
        group = callers if inside is None else sorted(set(inside) & set(ranks))
        matching.present[name] = group
        by_rank = {rank: ranks[rank].calls.get(name, []) for rank in group}
        matching.whole[name] = min(map(len, by_rank.values()), default=0)
        found += _group_problems(name, by_rank, ranks)
    found += _world_problems(ranks)
    found += _transfer_problems(ranks, matching)
    return matching, found


def _group_problems(
    name: str, by_rank: Mapping[int, list[int]], ranks: Mapping[int, RankCalls]
) -> Iterator[Found]:
    """Yield where the calls of the members of one group do not match."""
    label = _label(name)
    counts = {rank: len(rows) for rank, rows in by_rank.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"rank {rank} {count:,}" for rank, count in list(counts.items())[:8])
        fewest = min(counts.values())
        text = f"{label}: members have different numbers of collectives: {told}"
        missing = {"group": name, "calls": {str(rank): count for rank, count in counts.items()}}
        yield Found("call_missing", None, text, missing, max(counts.values()) - fewest, name)
    differing = []
    for number in range(min(counts.values(), default=0)):
        rows = {rank: rows[number] for rank, rows in by_rank.items()}
        if len({_compared(*ranks[rank].signature(row)) for rank, row in rows.items()}) > 1:
            differing.append((number, rows))
    if differing:
        number, rows = differing[0]
        told = ", ".join(f"rank {rank} {_call(ranks[rank], row)}" for rank, row in list(rows.items())[:8])
        how_many = f"{counted(len(differing), 'call')} {verb(len(differing), 'differs', 'differ')}"
        text = f"{label}: {how_many}, the first is number {number}: {told}"
        shown = [
            {"number": number, "nodes": {str(rank): ranks[rank].node_id(row) for rank, row in rows.items()}}
            for number, rows in differing[:100]
        ]
        differ = {"group": name, "calls": len(differing), "first": shown}
        yield Found("calls_differ", None, text, differ, len(differing), name)


def _label(name: str) -> str:
    """Return how messages call a group."""
    return f"group {name}" if name else "all ranks"


def _compared(comm_type: int, size: int) -> tuple[int, int]:
    """Return what has to agree: bytes may differ of types that are not run (scatter, gather)."""
    return comm_type, size if comm_type in SUPPORTED else 0


def _call(calls: RankCalls, row: int) -> str:
    """Return a collective as messages name it."""
    comm_type, size = calls.signature(row)
    kind = "?" if comm_type == NONE else comm_type_name(comm_type)
    return f"node {calls.node_id(row)} {kind} of {'?' if size == NONE else f'{size:,}'} bytes"


def _world_problems(ranks: Mapping[int, RankCalls]) -> Iterator[Found]:
    """Yield what comes of a world without an id beside subgroups: its counter counts their calls as well."""
    if not any("" in calls.calls and len(calls.calls) > 1 for calls in ranks.values()):
        return
    before = {rank: _counters(calls) for rank, calls in ranks.items() if "" in calls.calls}
    for number, counters in enumerate(zip(*before.values(), strict=False)):
        if len(set(counters)) > 1:
            told = ", ".join(
                f"rank {rank} {count:,}" for rank, count in list(zip(before, counters, strict=True))[:8]
            )
            text = (
                f"all ranks: before call number {number} of all ranks come different numbers of calls: {told}"
            )
            counts = {str(rank): count for rank, count in zip(before, counters, strict=True)}
            yield Found("world_counter_differs", None, text, {"number": number, "calls_before": counts}, 1)
            return
    count = sum(len(calls.calls.get("", ())) for calls in ranks.values())
    text = (
        f"all ranks: {counted(count, 'collective')} of all ranks have no group id, beside those of subgroups"
    )
    yield Found("world_without_id", None, text, {"collectives": count}, count)


def _counters(calls: RankCalls) -> list[int]:
    """Return for each call of the world how many collectives of the rank come before it."""
    world = set(calls.calls[""])
    kinds = calls.file.columns.communications.kind
    collectives = [row for row in calls.rows if kinds[row] == COLL]
    return [number for number, row in enumerate(collectives) if row in world]


def _transfer_problems(ranks: Mapping[int, RankCalls], matching: Matching) -> Iterator[Found]:
    """Yield sends and recvs without a partner, one finding a rank and side; first in, first out."""
    rows: dict[int, defaultdict[Channel, list[tuple[int, int]]]] = {
        SEND: defaultdict(list),
        RECV: defaultdict(list),
    }
    for rank, calls in ranks.items():
        kinds = calls.file.columns.communications.kind
        for row in calls.rows:
            if kinds[row] != COLL and (channel := calls.channel(row)) is not None:
                rows[kinds[row]][channel].append((rank, row))
    for channel in rows[RECV]:
        matching.paired[channel] = min(len(rows[SEND][channel]), len(rows[RECV][channel]))
    for side, rule, what in (
        (RECV, "recv_unmatched", "recvs have no send"),
        (SEND, "send_unmatched", "sends have no recv"),
    ):
        alone: defaultdict[int, list[tuple[Channel, int]]] = defaultdict(list)
        for channel, own in rows[side].items():
            if channel[0 if side == RECV else 1] in ranks:  # the partner's file is there
                for rank, row in own[matching.paired[channel] :]:
                    alone[rank].append((channel, row))
        for rank, lonely in sorted(alone.items()):
            yield _unmatched(rule, ranks[rank], what, lonely)


def _unmatched(rule: str, calls: RankCalls, text: str, lonely: list[tuple[Channel, int]]) -> Found:
    """Return the sends or recvs of one rank that have no partner."""
    channels = [
        dict(zip(("src", "dst", "tag", "bytes"), channel, strict=True)) for channel, _ in lonely[:100]
    ]
    first = ", ".join(f"{name} {value:,}" for name, value in channels[0].items())
    ids = [calls.node_id(row) for _, row in lonely]
    return about(
        rule,
        calls.file.rank,
        calls.file.where,
        f"{{n}} {text} of the same source, target, tag and bytes; the first: {first}",
        ids,
        channels=channels,
    )


def unordered_collectives(calls: RankCalls, graph: RankGraph) -> Iterator[Found]:
    """Yield the collectives of a rank that follow one another without a path over data deps."""
    table = calls.file.columns.communications
    runs = graph.data.runs()
    places = [table.place[row] for row in calls.rows if table.kind[row] == COLL]
    places = [place for place in places if runs[place]]
    if len(places) < 2:
        return
    column = np.array(places, np.int64)
    pairs, open_pairs = graph.data.unordered(column[:-1], column[1:])
    if len(pairs):
        nodes = graph.ids[column[1:][pairs]]
        text = "{n} collectives do not wait, by data_deps, for the collective before them"
        yield about(
            "collectives_unordered", calls.file.rank, calls.file.where, text, nodes, undecided=open_pairs
        )
