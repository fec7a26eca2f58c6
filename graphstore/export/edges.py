"""Edges between the nodes of a file, collected rule by rule, and which of them can be kept.

In:  nodes as numbers 0 … n-1 with times. Out: `Kept`. Decided here (dependencies 1.5): an edge whose source
ends after its target starts contradicts the times, so it is left out and counted; so is one that closes a
cycle with those that always hold. Edges that hold whatever the times say (program order, launches) are kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from graphstore.export.order import Bools, Ints, topological_order
from graphstore.link.parts import strong_parts

CONTRADICTS = "{rule} that ends after what waits for it starts"
CLOSES = "{rule} that closes a cycle"


@dataclass
class Edges:
    """Edges collected so far. `always`: those that hold whatever the times say."""

    rules: list[str] = field(default_factory=list)
    source: list[Ints] = field(default_factory=list)
    target: list[Ints] = field(default_factory=list)
    always: list[bool] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, rule: str, source: Ints, target: Ints, always: bool = False) -> None:
        """Add edges of a rule."""
        if len(source):
            self.rules.append(rule)
            self.source.append(source)
            self.target.append(target)
            self.always.append(always)


@dataclass(frozen=True)
class Kept:
    """The edges of a file and the order of its nodes in which all of them lead forward.

    `rule` is a place in `rules`. `number`: of each node its place in that order. `written` and `left_out`
    count edges by rule and by reason.
    """

    source: Ints
    target: Ints
    rule: Ints
    rules: list[str]
    number: Ints
    written: dict[str, int]
    left_out: dict[str, int]


def kept_edges(edges: Edges, start: Ints, end: Ints, timed: Bools, slack_ns: int, tie: Ints) -> Kept:
    """Return the edges that fit the times and close no cycle; one for each pair, that of the first rule.

    Among nodes that nothing orders the earlier start comes first, then the lower `tie`.
    """
    source, target, rule = _joined(edges)
    always = np.array(edges.always, np.bool_)[rule] if len(rule) else np.zeros(0, np.bool_)
    known = timed[source] & timed[target]
    against = ~always & known & (end[source] > start[target] + slack_ns)
    left_out = edges.left_out + _counted(edges.rules, rule[against], CONTRADICTS)
    source, target, rule = source[~against], target[~against], rule[~against]
    always = always[~against]
    priority = np.empty(len(start), np.int64)
    priority[np.lexsort((tie, start))] = np.arange(len(start))
    if not np.all(priority[source] < priority[target]):
        part = strong_parts(len(start), source, target)
        closing = ~always & (part[source] == part[target])
        left_out += _counted(edges.rules, rule[closing], CLOSES)
        source, target, rule = source[~closing], target[~closing], rule[~closing]
        order = topological_order(len(start), source, target, priority)
        priority[order] = np.arange(len(order))
    written = _counted(edges.rules, rule, "{rule}")
    return Kept(source, target, rule, edges.rules, priority, dict(written), dict(+left_out))


def _joined(edges: Edges) -> tuple[Ints, Ints, Ints]:
    """Return source, target and rule of all edges, each pair once."""
    empty = [np.zeros(0, np.int64)]
    source, target = np.concatenate(empty + edges.source), np.concatenate(empty + edges.target)
    sizes = [len(part) for part in edges.source]
    rule = np.repeat(np.arange(len(sizes)), sizes)
    pair = source * (int(target.max(initial=0)) + 1) + target
    _, first = np.unique(pair, return_index=True)
    first.sort()
    return source[first], target[first], rule[first]


def _counted(rules: list[str], rule: Ints, text: str) -> Counter[str]:
    counts = np.bincount(rule, minlength=len(rules)).tolist()
    return Counter({text.format(rule=name): n for name, n in zip(rules, counts, strict=False) if n})
