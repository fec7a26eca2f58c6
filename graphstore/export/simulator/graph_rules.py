"""The graph of one rank: ids, deps, cycles, order that only ctrl deps hold, too many nodes ready at once.

In:  a RankFile. Out: findings, and the `RankGraph` the rules across ranks go on with.
What is wrong with ids and deps is told by the Validator of exports; decided here is what ASTRA-sim makes of
it, and what its feeders make of order: v3 takes both dep fields, others data deps alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphstore.export.simulator.columns import RECV, SEND
from graphstore.export.simulator.files import RankFile
from graphstore.export.simulator.paths import Ints, Order
from graphstore.export.simulator.rules import IDS_KEPT, Found, about
from graphstore.export.validate import Ids, Problem, cycles_over
from graphstore.queries.draft import counted

MANY_READY = 1_000  # measured: 5,000 took 17 s, 20,000 did not end in 110 s; see RULES
TOLD_BY_VALIDATOR = ("duplicate_id", "dangling_dep", "repeated_dep", "self_dep", "cycle")


@dataclass(frozen=True)
class RankEdges:
    """The nodes of a rank by place in the file, and the deps over both fields between places, each once."""

    ids: Ids
    awaited: Ints
    waiting: Ints


@dataclass(frozen=True)
class RankGraph(RankEdges):
    """The same with the order over both dep fields and over data deps alone."""

    both: Order
    data: Order

    def edges(self) -> RankEdges:
        """Return the columns alone: the orders take more memory, and are asked of one rank at a time."""
        return RankEdges(self.ids, self.awaited, self.waiting)


def graph_of(file: RankFile) -> RankGraph:
    """Return the graph of a file. Deps on absent ids are no edges; a node that names itself never runs."""
    validator = file.columns.validator
    ids = np.frombuffer(validator.ids, np.uint64)
    ctrl, data = (_edges(ids, deps.pairs(ids)[1], deps.owners()) for deps in (validator.ctrl, validator.data))
    union = _distinct(len(ids), np.concatenate([ctrl, data], axis=1))
    both = Order(ids, union[0], union[1])
    data = _distinct(len(ids), data)
    over_data = both if data.shape == union.shape else Order(ids, data[0], data[1])
    return RankGraph(ids, union[0], union[1], both, over_data)


def _edges(ids: Ids, dep: Ids, owner: Ints) -> Ints:
    """Return deps as edges between places: awaited, waiting. Of nodes with one id the last is meant."""
    if not len(ids):
        return np.zeros((2, 0), np.int64)
    order = np.argsort(ids, kind="stable")
    after = np.searchsorted(ids[order], dep, side="right")
    place = order[np.maximum(after, 1) - 1]
    there = ids[place] == dep
    return np.stack([place[there], owner[there]]).astype(np.int64)


def _distinct(count: int, edges: Ints) -> Ints:
    """Return each edge once."""
    key = np.unique(edges[0] + edges[1] * max(count, 1))
    return np.stack([key % max(count, 1), key // max(count, 1)])


def graph_problems(file: RankFile, graph: RankGraph) -> Iterator[Found]:
    """Yield what is wrong with the graph of a rank."""
    if not len(graph.ids):
        yield Found("no_nodes", file.rank, f"{file.where}: {file.path.name} has no node")
        return
    never = len(graph.ids) - len(graph.both.sequence)
    for problem in file.columns.validator.problems():
        if problem.rule in TOLD_BY_VALIDATOR:
            yield _told(file, problem, never)
    yield from _data_cycles(file)
    if not graph.both.sequence:
        text = f"{file.where}: no node is free at the start; all {len(graph.ids):,} wait for another"
        yield Found("nothing_free", file.rank, text, {"nodes": len(graph.ids)}, len(graph.ids))
    yield from _ctrl_only(file, graph)
    yield from _many_ready(file, graph)
    yield from _last_events(file, graph)


def _told(file: RankFile, problem: Problem, never: int) -> Found:
    """Return a problem of the Validator as a finding; with a cycle come the nodes that never run."""
    ids = problem.nodes
    message: str = problem.message
    evidence: dict[str, Any] = {"nodes": len(ids), "ids": list(ids[:IDS_KEPT])}
    if problem.rule in ("cycle", "self_dep"):
        message += f"; {never:,} of {len(file.columns):,} nodes never run"
        evidence["never_run"] = never
    subject = ""
    if problem.rule == "dangling_dep":
        subject = "ctrl_deps" if "ctrl_deps" in message else "data_deps"
        evidence |= {"field": subject, "absent_ids": _absent(file, subject)[:IDS_KEPT]}
    return Found(problem.rule, file.rank, f"{file.where}: {message}", evidence, len(ids), subject)


def _absent(file: RankFile, field: str) -> list[int]:
    """Return the ids that deps of a field name and no node has."""
    validator = file.columns.validator
    ids = np.frombuffer(validator.ids, np.uint64)
    _, dep = (validator.ctrl if field == "ctrl_deps" else validator.data).pairs(ids)
    return [int(found) for found in np.setdiff1d(dep, ids)]


def _data_cycles(file: RankFile) -> Iterator[Found]:
    """Yield cycles over data deps alone, which the feeders that ignore ctrl deps meet as well."""
    validator = file.columns.validator
    ids = np.frombuffer(validator.ids, np.uint64)
    for problem in cycles_over({"data_deps": validator.data.pairs(ids)}):
        if problem.rule == "cycle":
            ids_shown = list(problem.nodes[:IDS_KEPT])
            evidence = {"nodes": len(problem.nodes), "ids": ids_shown}
            text = f"{file.where}: {problem.message}"
            yield Found("cycle_over_data", file.rank, text, evidence, len(problem.nodes))


def _ctrl_only(file: RankFile, graph: RankGraph) -> Iterator[Found]:
    """Yield ctrl deps whose order does not follow from data deps."""
    if graph.data is graph.both:
        return
    runs = graph.data.runs()
    held = runs[graph.awaited] & runs[graph.waiting]
    awaited, waiting = graph.awaited[held], graph.waiting[held]
    places, open_pairs = graph.data.unordered(awaited, waiting)
    if len(places):
        nodes = np.unique(graph.ids[waiting[places]])
        text = f"{{n}} nodes wait by ctrl_deps alone, by {counted(len(places), 'dep')}"
        yield about(
            "order_in_ctrl_only", file.rank, file.where, text, nodes, deps=len(places), undecided=open_pairs
        )


def _many_ready(file: RankFile, graph: RankGraph) -> Iterator[Found]:
    """Yield one finding when very many nodes become ready together."""
    many = [(times, node) for node, times in graph.both.released_at_once() if times > MANY_READY]
    if not many:
        return
    times, node = max(many)
    when = "at the start" if node < 0 else f"when node {graph.ids[node]} ends"
    ids = [int(graph.ids[node]) for _, node in many if node >= 0]
    yield Found(
        "many_ready",
        file.rank,
        f"{file.where}: {times:,} nodes are ready at once {when}",
        {"most": times, "limit": MANY_READY, "released_by": ids[:IDS_KEPT], "cases": len(many)},
        times,
    )


def _last_events(file: RankFile, graph: RankGraph) -> Iterator[Found]:
    """Yield one finding when a rank with CPU nodes can end with a send or recv."""
    if not file.columns.uses_statistics or not graph.both.sequence:
        return
    is_sink = graph.both.runs()
    is_sink[graph.awaited] = False
    sinks = np.flatnonzero(is_sink)
    types = np.frombuffer(file.columns.types, np.int64)
    transfers = sinks[np.isin(types[sinks], (SEND, RECV))]
    if len(transfers):
        alone = len(transfers) == len(sinks)
        rule = "ends_with_transfer" if alone else "may_end_with_transfer"
        text = "{n} sends or recvs " + ("are all that ends" if alone else "may be the last event of")
        yield about(rule, file.rank, file.where, f"{text} a rank with CPU nodes", graph.ids[transfers])
