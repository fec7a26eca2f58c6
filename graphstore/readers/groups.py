"""The members of a process group as execution traces and Kineto traces list them.

In:  values of a file, of whatever type it has. Out: ranks, counts; what is no number is passed over.
"""

from __future__ import annotations

from typing import Any

import msgspec


def integer(value: Any) -> int | None:
    """Return an int that is written as one or as its text; None for anything else."""
    if isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    """Return an int that is not negative (-1 stands for "not set"), else None."""
    number = integer(value)
    return number if number is not None and number >= 0 else None


def listed_ranks(written: Any) -> list[int]:
    """Return the ranks that a list, or its JSON text, names, sorted."""
    if isinstance(written, str):
        written = parsed(written)
    ranks = map(integer, written) if isinstance(written, list) else ()
    return sorted(rank for rank in ranks if rank is not None)


def group_members(written: Any, size: int | None) -> list[int]:
    """Return the global ranks of a group; no rank listed means all: 0 … size - 1 (c10d's default group)."""
    return listed_ranks(written) or list(range(size or 0))


def parsed(text: str) -> Any:
    """Return the value of a JSON text; None where it is none."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
