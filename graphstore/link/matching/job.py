"""One job while it is being matched: what the steps have found so far, by group and rank.

In:  filled by matching.py, step by step. Out: read by waiting.py, causes.py and tables.py.
Decided here: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphstore.link.matching.calls import GroupCalls
from graphstore.link.matching.collectives import Matched
from graphstore.link.matching.divergence import Divergence
from graphstore.link.matching.edges import Edge
from graphstore.link.matching.groups import Groups
from graphstore.link.matching.knowledge import DumpFacts
from graphstore.link.matching.reduce import Reduced
from graphstore.link.matching.signatures import Signatures
from graphstore.link.matching.status import Counters, Status


@dataclass
class JobState:
    """A job's dumps, groups and calls, and what was found; dicts are keyed by the group's number."""

    dumps: dict[int, Reduced]
    signatures: Signatures
    groups: Groups
    facts: DumpFacts
    calls: dict[int, GroupCalls]
    status: Status
    matched: dict[int, Matched] = field(default_factory=dict)
    counters: dict[int, dict[int, Counters]] = field(default_factory=dict)
    divergences: dict[int, list[Divergence]] = field(default_factory=dict)
    edges: dict[int, list[Edge]] = field(default_factory=dict)

    @property
    def world(self) -> list[int]:
        """Return all ranks of the job: those with a file, and those a group names."""
        return sorted({*self.dumps, *self.groups.world})
