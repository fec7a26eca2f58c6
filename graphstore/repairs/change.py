"""One edit of the graph, and the plan that lists them. No I/O, no rules.

`before` and `after` speak one small language, which apply.py carries out and undo.py turns round:

| key         | value                                   | the edit                                          |
|-------------|-----------------------------------------|---------------------------------------------------|
| parent      | uid or None                             | the one CTRL edge into the node                   |
| node_id     | int or None                             | its node_id (with node_id_origin)                 |
| edge        | {kind, src, dst, rule} or None          | an edge between two nodes, dropped or added       |
| created     | properties or None                      | a synthetic node                                  |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Fault = tuple[str, int, int | None]  # rule of the finding, rank, absent id (None where the rule has none)


@dataclass(frozen=True)
class Change:
    """One edit of one node or edge, with why it is right and what that rests on."""

    rule: str
    rank: int
    uid: int  # the node that changes; for an edge, its target
    safe: bool
    reason: str  # one line, with names
    evidence: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]
    answers: tuple[Fault, ...] = ()  # the faults of which this change mends one case


@dataclass(frozen=True)
class Plan:
    """The changes due for a run, in the order in which they are applied. Nothing is written yet.

    `cases` counts the cases of each fault that the queries found: a finding is repaired when as many changes
    that answer it are applied. What no change can mend stays a finding.
    """

    run: str
    changes: tuple[Change, ...]
    cases: dict[Fault, int] = field(default_factory=dict)

    @property
    def safe(self) -> tuple[Change, ...]:
        """Return the changes proven by time or by recorded ids."""
        return tuple(change for change in self.changes if change.safe)

    @property
    def unsafe(self) -> tuple[Change, ...]:
        """Return the changes that are inferred."""
        return tuple(change for change in self.changes if not change.safe)

    def rows(self) -> list[dict[str, Any]]:
        """Return the plan as rows for a table or JSON, one a change."""
        return [{name: value for name, value in vars(change).items() if name != "answers"} for change in self]

    def __iter__(self) -> Iterator[Change]:
        """Go through the changes in order."""
        return iter(self.changes)

    def __len__(self) -> int:
        """Return the number of changes."""
        return len(self.changes)
