"""Cases for the causes that matching the ranks gives, and for the checks that make findings of them."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.matching import ALL, collective, rank
from tests.queries.graphs import GraphBuilder


def cause(g: GraphBuilder, place: int, rule: str, *, proven: bool = True, **properties: Any) -> int:
    """Add a cause; without more it is about no rank and no call."""
    own: dict[str, Any] = {"ranks": [], "blamed": [], "undecided": [], "message": f"{rule}!", "basis": ""}
    return g.node("Cause", rule, rule=rule, place=place, proven=proven, **{**own, **properties})


@case
def causes_in_their_order(g: GraphBuilder) -> Case:
    """By place, not by when they were written."""
    cause(g, 2, "in_flight", proven=False, ranks=[0, 1])
    own: dict[str, Any] = {"group": ALL, "collective_seq_id": 6, "op_name": "all_reduce", "site": "a.py:1"}
    own |= {
        "confidence": "high",
        "basis": "0-2 made it",
        "divergence": '{"seq":6}',
        "evidence": '{"since":1}',
    }
    cause(g, 1, "never_called", ranks=[3], blamed=[3], **own)
    said = (ALL, 6, "all_reduce", "a.py:1", "0-2 made it", '{"seq":6}', '{"since":1}')
    rows: list[tuple[Any, ...]] = [
        (1, "never_called", True, "high", "never_called!", [3], [], [3], *said),
        (2, "in_flight", False, None, "in_flight!", [], [], [0, 1], None, None, None, None, "", None, None),
    ]
    return Case("communication/show_causes", g.build(), rows)


def _blame(g: GraphBuilder, *, proven: bool) -> list[tuple[Any, ...]]:
    """Add causes of a call, of no call, and of ranks nobody knows; return their rows."""
    ranks = {number: rank(g, number) for number in (3, 0, 1, 2)}
    about = collective(g, 6, "INCOMPLETE")
    collective(g, 6, group="1[0-1]")
    first = cause(g, 2, "no_dump", proven=proven, ranks=[9], blamed=[9], confidence="low", evidence="{}")
    own: dict[str, Any] = {"group": ALL, "collective_seq_id": 6, "site": "a.py:1", "evidence": '{"since":1}'}
    split = cause(g, 1, "desync", proven=proven, ranks=[3, 0], undecided=[0, 2], **own)
    cause(g, 3, "in_flight", proven=not proven, ranks=[1])
    nodes = ([0, 2, 3], [ranks[0], ranks[2], ranks[3]], about)
    return [
        (split, "desync", "desync!", None, [3, 0], [], [0, 2], ALL, 6, "a.py:1", "", '{"since":1}', *nodes),
        (first, "no_dump", "no_dump!", "low", [9], [9], [], None, None, None, "", "{}", [], [], None),
    ]


@case
def causes_that_are_proven(g: GraphBuilder) -> Case:
    """With the nodes of their ranks, and the collective of that group alone."""
    rows = _blame(g, proven=True)
    return Case("communication/find_communication_faults", g.build(), rows)


@case
def causes_that_are_not_proven(g: GraphBuilder) -> Case:
    """They are no fault."""
    cause(g, 1, "in_flight", proven=False, ranks=[0])
    return Case("communication/find_communication_faults", g.build(), [])


@case
def causes_that_cannot_be_decided(g: GraphBuilder) -> Case:
    """With the same columns as those that are proven."""
    rows = _blame(g, proven=False)
    return Case("communication/find_communication_doubts", g.build(), rows)


@case
def causes_that_are_decided(g: GraphBuilder) -> Case:
    """A proven one is no doubt."""
    cause(g, 1, "never_called", ranks=[0], blamed=[0])
    return Case("communication/find_communication_doubts", g.build(), [])
