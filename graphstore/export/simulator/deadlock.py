"""Ranks that wait for each other for ever, found by letting all ranks run without time.

In:  the calls of all ranks, and what of them matches. Out: findings, one for each circle of ranks.
Decided here: what blocks. A rank has one slot for communication: a collective holds it until all members have
come, a send gives it back at once, a recv needs none and waits for its send. Everything else ends at once.
What lacks a partner was told before (match_rules.py) and is taken as done here.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping

import numpy as np

from graphstore.export.simulator.columns import COLL, RECV, SEND
from graphstore.export.simulator.match_rules import Channel, Matching, RankCalls
from graphstore.export.simulator.paths import column, lists
from graphstore.export.simulator.rules import Found
from graphstore.link.parts import strong_parts


def deadlocks(ranks: Mapping[int, RankCalls], matching: Matching) -> Iterator[Found]:
    """Yield the circles of ranks that wait for each other."""
    if not any(calls.rows for calls in ranks.values()):
        return
    job = _Job(ranks, matching)
    job.run()
    yield from _circles(job)


class _Rank:
    """One rank while it runs. Nodes are known by their number in the order of ids: small ids go first."""

    def __init__(self, calls: RankCalls) -> None:
        table, count = calls.file.columns.communications, len(calls.edges.ids)
        awaited, waiting, number = calls.edges.awaited, calls.edges.waiting, np.empty(count, np.int64)
        number[np.argsort(calls.edges.ids, kind="stable")] = np.arange(count)
        self.calls = calls
        self.following = lists(count, number[awaited], number[waiting])
        self.left = column(np.bincount(number[waiting], minlength=count))
        self.row_by_node: dict[int, int] = {int(number[table.place[row]]): row for row in calls.rows}
        self.ready = [node for node in range(count - 1, -1, -1) if not self.left[node]]  # smallest last
        self.queue: list[int] = []  # ready, and in want of the slot: a heap
        self.in_slot: int | None = None  # the collective that holds the slot
        self.recvs: dict[int, Channel] = {}  # recvs that wait
        self.issued: Counter[str] = Counter()  # collectives begun in each group

    def end(self, node: int) -> None:
        """End a node: what waited for it last becomes ready."""
        for after in self.following.of(node):
            self.left[after] -= 1
            if not self.left[after]:
                self.ready.append(after)


class _Job:
    """All ranks together."""

    def __init__(self, ranks: Mapping[int, RankCalls], matching: Matching) -> None:
        self.ranks = {rank: _Rank(calls) for rank, calls in ranks.items()}
        self.matching = matching
        self.on_the_way: Counter[Channel] = Counter()
        self.taken: Counter[Channel] = Counter()
        self.waiting: defaultdict[Channel, deque[int]] = defaultdict(deque)  # recvs of a channel
        self.came: defaultdict[tuple[str, int], dict[int, int]] = defaultdict(dict)  # call → rank → node
        self.todo = deque(ranks)

    def run(self) -> None:
        """Let ranks run until none can go on."""
        while self.todo:
            rank = self.todo.popleft()
            here = self.ranks[rank]
            while here.ready or (here.queue and here.in_slot is None):
                if here.ready:
                    self._take(here, here.ready.pop())
                else:
                    self._start(rank, here, heapq.heappop(here.queue))

    def _take(self, here: _Rank, node: int) -> None:
        """Take a ready node: one that communicates waits for its partner or the slot, any other ends."""
        row = here.row_by_node.get(node)
        if row is None:
            here.end(node)
        elif here.calls.file.columns.communications.kind[row] == RECV:
            self._receive(here, node, here.calls.channel(row))
        else:
            heapq.heappush(here.queue, node)

    def _receive(self, here: _Rank, node: int, channel: Channel | None) -> None:
        if channel is None or self.taken[channel] >= self.matching.paired[channel]:
            here.end(node)  # told as unmatched
            return
        self.taken[channel] += 1
        if self.on_the_way[channel]:
            self.on_the_way[channel] -= 1
            here.end(node)
            return
        here.recvs[node] = channel
        self.waiting[channel].append(node)

    def _start(self, rank: int, here: _Rank, node: int) -> None:
        """Give the slot to a send or a collective."""
        row = here.row_by_node[node]
        if here.calls.file.columns.communications.kind[row] == SEND:
            self._send(here.calls.channel(row))
            here.end(node)
            return
        group = here.calls.group_of(row)
        number = here.issued[group]
        here.issued[group] += 1
        if number >= self.matching.whole[group]:
            here.end(node)  # told as missing on a member
            return
        here.in_slot = node
        came = self.came[group, number]
        came[rank] = node
        if len(came) == len(self.matching.present[group]):
            for member, their_node in came.items():
                self.ranks[member].in_slot = None
                self.ranks[member].end(their_node)
                self.todo.append(member)

    def _send(self, channel: Channel | None) -> None:
        if channel is None or channel[1] not in self.ranks:
            return
        if self.waiting[channel]:
            target = self.ranks[channel[1]]
            node = self.waiting[channel].popleft()
            del target.recvs[node]
            target.end(node)
            self.todo.append(channel[1])
        else:
            self.on_the_way[channel] += 1

    def waits(self, rank: int) -> dict[int, list[int]]:
        """Return what a rank that stands still waits for: nodes by the rank that has to come."""
        here = self.ranks[rank]
        found: defaultdict[int, list[int]] = defaultdict(list)
        if here.in_slot is not None:
            group = here.calls.group_of(here.row_by_node[here.in_slot])
            came = self.came[group, here.issued[group] - 1]
            for member in self.matching.present[group]:
                if member not in came:
                    found[member].append(here.in_slot)
        for node, channel in here.recvs.items():
            found[channel[0]].append(node)
        return dict(found)


def _circles(job: _Job) -> Iterator[Found]:
    """Yield one finding for each set of ranks that wait for one another."""
    waits = {rank: job.waits(rank) for rank in job.ranks}
    numbers = {rank: number for number, rank in enumerate(waits)}
    edges = [(numbers[rank], numbers[other]) for rank, found in waits.items() for other in found]
    if not edges:
        return
    source, target = np.array(edges, np.int64).T
    part = strong_parts(len(waits), source, target)
    for label in np.flatnonzero(np.bincount(part) > 1):
        yield _circle(job, [rank for rank in waits if part[numbers[rank]] == label], waits)


def _circle(job: _Job, ranks: list[int], waits: Mapping[int, Mapping[int, list[int]]]) -> Found:
    """Return the finding on ranks that wait for one another."""
    told, shown, kinds = [], [], set()
    for rank in ranks:
        here = job.ranks[rank]
        for other, nodes in waits[rank].items():
            if other not in ranks:
                continue
            row = here.row_by_node[nodes[0]]
            is_collective = here.calls.file.columns.communications.kind[row] == COLL
            kinds.add(is_collective)
            what = f"collective of {here.calls.label(row)}" if is_collective else "recv"
            told.append(f"rank {rank} in {what} (node {here.calls.node_id(row)}) for rank {other}")
            shown.append({"rank": rank, "node": here.calls.node_id(row), "what": what, "waits_for": other})
    rule = "collective_deadlock" if kinds == {True} else "transfer_deadlock"
    stopped = [rank for rank, found in waits.items() if found and rank not in ranks]
    text = f"ranks wait for each other: {'; '.join(told[:8])}{' …' if told[8:] else ''}"
    evidence = {"ranks": ranks, "waits": shown[:100], "ranks_stopped_behind": stopped}
    return Found(rule, None, text, evidence, len(ranks), f"ranks {ranks}")
