"""Identifiers: uids of nodes, keys of process groups, ids of runs, findings and repairs. Pure functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
UID_SHIFT = 32


def uid_of(run_no: int, place: int) -> int:
    """Return the uid of the node at `place` (0 is the Run itself) of run `run_no`."""
    return run_no << UID_SHIFT | place


def content_hash(sha256s: Iterable[str]) -> str:
    """Return one sha256 over the files' sha256s, whatever their order."""
    return hashlib.sha256("\n".join(sorted(sha256s)).encode()).hexdigest()


def default_run_id(folder_name: str, content: str) -> str:
    """Return the default id of a run: the folder's name and 4 characters of the content hash."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", folder_name).strip("-._")[:80] or "run"
    return f"{stem}-{content[:4]}"


def rank_ranges(ranks: Sequence[int]) -> str:
    """Return sorted ranks as short text: [0, 1, 2, 5] → '0-2,5'."""
    out: list[str] = []
    start = previous = None
    for rank in sorted(set(ranks)):
        if previous is not None and rank == previous + 1:
            previous = rank
            continue
        if start is not None:
            out.append(str(start) if start == previous else f"{start}-{previous}")
        start = previous = rank
    if start is not None:
        out.append(str(start) if start == previous else f"{start}-{previous}")
    return ",".join(out)


def group_key(pg_name: str, members: Sequence[int]) -> str:
    """Return the identity of a process group: its name and member set, e.g. `0[0-3]` (matching.md §3)."""
    return f"{pg_name}[{rank_ranges(members)}]"


def name_order(pg_name: str) -> tuple[int, int, str]:
    """Return the place of a process group's name among others: numbers by size, then words."""
    return (0, int(pg_name), pg_name) if pg_name.isdecimal() else (1, 0, pg_name)


def finding_id(run: str, rule: str, subject: str) -> str:
    """Return the id of a finding: the same cause has the same id in every check."""
    return f"{run}:{rule}:{hashlib.sha256(subject.encode()).hexdigest()[:12]}"
