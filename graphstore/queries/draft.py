"""What the code of a rule takes and gives: rows and a context in, drafts of findings out. And its words.

Decided here: how counts, names and times read in a message, so that all rules say them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphstore.queries.run import run_query
from graphstore.store.base import Store

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Subject:
    """A node a finding is about: its primary label, its uid, the part it plays."""

    label: str
    key: int
    role: str


@dataclass(frozen=True)
class Draft:
    """A finding before it has an id: `subject` tells the causes of one rule apart, always alike."""

    rank: int | None
    subject: str
    message: str
    evidence: dict[str, Any]
    subjects: tuple[Subject, ...] = ()
    count: int | None = None
    confidence: str = "high"


@dataclass(frozen=True)
class Context:
    """The run a rule may look further into, by queries of the catalogue."""

    store: Store
    run: str

    def rows(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a catalogue query on the run."""
        return run_query(self.store, self.run, name, **parameters).to_dicts()

    @cached_property
    def files(self) -> dict[int, str]:
        """The names of the run's files by uid."""
        return {row["uid"]: row["name"] for row in self.rows("archive/show_files")}


RuleCode = Callable[[Rows, Context], Iterable[Draft]]


def subjects(uids: Iterable[int], role: str, label: str = "Op") -> tuple[Subject, ...]:
    """Return nodes of one label that play one part."""
    return tuple(Subject(label, uid, role) for uid in uids)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 → '1 op', 1234 → '1,234 ops'."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def verb(number: int, one: str, many: str) -> str:
    """Return the form of a verb for that many."""
    return one if number == 1 else many


def listed(values: Sequence[Any], total: int | None = None, limit: int = 5) -> str:
    """Return the first values, and dots where there are more: [1, 2, 3] → '1, 2, 3'."""
    shown = ", ".join(str(value) for value in values[:limit])
    return shown + (", …" if (total or len(values)) > limit else "")


def duration(ns: int) -> str:
    """Return a duration in the unit that reads best: 1500 → '1.5 µs'."""
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns} ns"


def per_rank(
    role: str,
    count: str,
    sentence: Callable[[Mapping[str, Any]], str],
    confidence: str = "high",
    by: tuple[str, ...] = (),
) -> RuleCode:
    """Return the code of a rule with one finding a rank, and for each of the texts in the columns `by`.

    `count` names its column; the row is evidence.
    """

    def code(rows: Rows, _: Context) -> Iterable[Draft]:
        for row in rows:
            yield Draft(
                rank=row["rank"],
                subject=" ".join([f"rank {row['rank']}", *(row[name] for name in by)]),
                message=f"rank {row['rank']}: {sentence(row)}",
                evidence={key: value for key, value in row.items() if key not in ("rank", "subjects")},
                subjects=subjects(row.get("subjects") or (), role),
                count=row[count],
                confidence=confidence,
            )

    return code


def per_file(sentence: Callable[[Mapping[str, Any]], str], confidence: str = "high") -> RuleCode:
    """Return the code of a rule with one finding a file; the message begins with its name."""

    def code(rows: Rows, _: Context) -> Iterable[Draft]:
        for row in rows:
            yield Draft(
                rank=row["rank"],
                subject=f"file {row['file']} rank {row['rank']}",
                message=f"{row['file']}: {sentence(row)}",
                evidence={key: value for key, value in row.items() if key not in ("rank", "subject")},
                subjects=subjects([row["subject"]], "file", "TraceFile"),
                confidence=confidence,
            )

    return code
