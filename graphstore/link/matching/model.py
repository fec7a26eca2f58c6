"""What goes into matching and what comes out of it, as plain data.

In:  `RankDump`, the calls one file recorded, with what the file says about groups and counters.
Out: `Matching`: a `JobMatching` per job, with groups, verdicts, waits and causes.
Decided here: names only. Ranks are global ranks; a group is named by its key (model/ids.py `group_key`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from graphstore.model.ids import group_key, rank_ranges

# Verdicts of a collective, of matching.md §5; the first three are mismatches.
MISMATCHES = ("TYPE_MISMATCH", "DTYPE_MISMATCH", "SIZE_MISMATCH")
# Rules of causes that prove a problem; of the others (no_dump, undecided, in_flight) it is open.
PROVEN = frozenset(
    {"desync", "never_called", "behind", "mutual_wait", "order_inversion", *(v.lower() for v in MISMATCHES)}
)
HEALTHY_VERDICTS = frozenset({"MATCHED", "SOLVED", "EVICTED", "WINDOW_ENDED", "PROGRESS_DIFF"})


@dataclass
class RankDump:
    """The communication calls that one file of one rank recorded.

    `entries`: a frame of `flight_entries` (model/records.py). `flight`: what the dump says beside them:
    `version` (tuple), `pg_config` [{pg_name, pg_desc, ranks or None}], `pg_status` {local id: {last_…}},
    `form`. `groups`: what the rank's other files list, as dicts {pg_name, pg_desc, ranks, origin}. An
    execution or Kineto trace gives its calls the same way, with `flight` empty and states null.
    """

    file: str
    rank: int | None
    entries: pl.DataFrame
    flight: dict[str, Any] = field(default_factory=dict)
    groups: list[dict[str, Any]] = field(default_factory=list)


def short_ranges(ranks: Sequence[int]) -> str:
    """Return ranks as people write them: two in a row apart, three as a range: `0,1`, `0-2,5`."""
    parts = []
    for part in rank_ranges(ranks).split(","):
        first, _, last = part.partition("-")
        parts.append(f"{first},{last}" if last and int(last) == int(first) + 1 else part)
    return ",".join(parts)


def group_label(name: str, desc: str | None, members: Sequence[int]) -> str:
    """Return a group as a message names it, by its description if it has one: `default_pg[0-3]`."""
    return f"{desc or name}[{short_ranges(members)}]"


def is_default(name: str, desc: str) -> bool:
    """Return whether a group of that name and description holds all ranks of the job (c10d's first one)."""
    return name == "0" or desc == "default_pg"


@dataclass
class Group:
    """A process group: its name, member set, and how the members are known.

    `order` are the members as listed: a send or recv names its ends by place in it. `origin` is the best of
    matching.md §3; `complete` is false where the members are a lower bound. `size` is the number of members
    where it is proven, `unseen` how many of them no file names.
    """

    name: str
    desc: str
    members: tuple[int, ...]
    order: tuple[int, ...]
    origin: str
    complete: bool
    size: int | None = None
    is_split: bool = False  # its shapes prove a size below its users: one name for several groups

    @cached_property
    def key(self) -> str:
        """Return the identity of the group, e.g. `0[0-3]`."""
        return group_key(self.name, self.members)

    @property
    def label(self) -> str:
        """Return the group as a message names it, by its description if it has one: `default_pg[0-3]`."""
        return group_label(self.name, self.desc, self.members)

    @property
    def is_default(self) -> bool:
        """Return whether it is the group of all ranks of the job."""
        return is_default(self.name, self.desc)

    @property
    def unseen(self) -> int:
        """Return how many members are proven to exist that no file names."""
        return max(0, self.size - len(self.members)) if self.size else 0


@dataclass
class Cause:
    """One cause, or one thing that cannot be decided: who, what, where, who suffers (matching.md §8, §10).

    `blamed` are the ranks at fault; `undecided` those among whom it cannot be told. `seq` is the
    collective_seq_id; `site` the call site. `evidence` holds what it rests on.
    """

    rule: str
    ranks: list[int]
    message: str
    group: str | None = None
    seq: int | None = None
    site: str | None = None
    op: str | None = None
    confidence: str | None = None
    basis: str = ""
    blamed: list[int] = field(default_factory=list)
    undecided: list[int] = field(default_factory=list)
    divergence: dict[str, Any] | None = None
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def is_proven(self) -> bool:
        """Return whether it proves a problem."""
        return self.rule in PROVEN


@dataclass
class JobMatching:
    """One job, matched.

    `files` are in order of ranks. `collectives`: a row per call that anybody kept; `p2p`: a row per directed
    edge; `pairs`: a row per send and recv that belong together (places are those of recording); `counters`:
    how far pg_status says each rank came; `windows` {group key: {rank: (first, last, count)}}; `group_of`
    {(rank, pg_name, pg_desc): group key}, names as the file has them, which joins an entry to its collective.
    `first_unfinished` {rank: {kind, group, at, op, site, n}}; `waits_for` {rank: {rank: kind}}.
    """

    ranks: dict[str, list[int]]
    versions: list[str]
    files: list[str]
    groups: list[Group] = field(default_factory=list)
    group_of: dict[tuple[int, str, str], str] = field(default_factory=dict)
    counters: pl.DataFrame = field(default_factory=pl.DataFrame)
    windows: dict[str, dict[int, tuple[int, int, int]]] = field(default_factory=dict)
    collectives: pl.DataFrame = field(default_factory=pl.DataFrame)
    incomplete: list[dict[str, Any]] = field(default_factory=list)
    mismatches: list[dict[str, Any]] = field(default_factory=list)
    progress_diff: list[dict[str, Any]] = field(default_factory=list)
    undecided: list[dict[str, Any]] = field(default_factory=list)
    p2p: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)
    first_unfinished: dict[int, dict[str, Any]] = field(default_factory=dict)
    waits_for: dict[int, dict[int, str]] = field(default_factory=dict)
    divergences: list[dict[str, Any]] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    first_divergence: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    healthy: bool | None = None

    @property
    def calls(self) -> int:
        """Return how many collectives, and sends with their recv, were put side by side."""
        return self.collectives.height + sum(self.p2p["matched"]) + sum(self.p2p["solved"])

    @property
    def culprits(self) -> list[dict[str, Any]]:
        """Return {rank, confidence, basis} of each rank a cause blames, in order of the causes."""
        return [
            {"rank": rank, "confidence": cause.confidence, "basis": cause.basis}
            for cause in self.causes
            for rank in cause.blamed
        ]

    @property
    def undecided_between(self) -> list[int]:
        """Return the ranks among whom a fault is proven but not whose it is."""
        return sorted({rank for cause in self.causes for rank in cause.undecided})


@dataclass
class Matching:
    """All jobs found among the dumps, and the dumps that belong to none (`set_aside`: file → why)."""

    jobs: list[JobMatching]
    set_aside: dict[str, str] = field(default_factory=dict)

    @property
    def healthy(self) -> bool | None:
        """Return false if any job has a proven problem, true if all jobs are proven sound, else None."""
        states = [job.healthy for job in self.jobs]
        if False in states:
            return False
        return True if states and all(states) and not self.set_aside else None

    @property
    def causes(self) -> list[Cause]:
        """Return the causes of all jobs, job by job."""
        return [cause for job in self.jobs for cause in job.causes]

    def __iter__(self) -> Iterator[JobMatching]:
        """Yield the jobs, the earliest first."""
        return iter(self.jobs)
