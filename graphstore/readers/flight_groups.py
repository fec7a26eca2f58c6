"""What a Flight Recorder dump holds beside its entries: groups, how far each came, the version; and its rank.

In:  pg_config, pg_status and version, plain data nobody has looked at yet. Out: checked dicts and tuples.
Decided here (matching.md 2 and 3): a group whose members are a broken or empty text (gloo writes '[]') has
none, which does not mean all; and which rank the content proves. Peers and other dumps: link/matching.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from graphstore.readers.flight_columns import MOST_TEXT
from graphstore.readers.flight_pickle import DumpRefusedError
from graphstore.readers.ranks import MOST_RANKS

MOST_GROUPS = 100_000
MOST_MEMBERS = 4 << 20  # of all groups of a dump
MEMBERS = re.compile(r"\[\s*\d{1,9}\s*(?:,\s*\d{1,9}\s*)*\]", re.ASCII)
SHARED_CHARACTERS = 1 << 16  # of a text of members that is kept parsed
VERSION = re.compile(r"\d{1,6}(?:\.\d{1,6}){1,3}", re.ASCII)
STATUS = ("last_enqueued_collective", "last_started_collective", "last_completed_collective")
NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)

Group = dict[str, Any]


def read_version(value: Any) -> tuple[str | None, tuple[int, ...]]:
    """Return the version as written, and as numbers to compare (2.10 is after 2.9); () for any other text.

    The first dumps have none.
    """
    if value is None:
        return None, ()
    written = _text(value, "version")
    return written, tuple(map(int, written.split("."))) if VERSION.fullmatch(written) else ()


def read_groups(value: Any) -> list[Group]:
    """Return the groups of pg_config: pg_name, pg_desc, ranks (as listed; None when none can be read).

    Since 2.0 {name: {name, desc, ranks as a text}}, before {number: [ranks]}.
    """
    groups = []
    read: dict[int, list[int] | None] = {}  # by id: whatever is shared is read once
    members = 0
    for key, group in _items(value, "pg_config"):
        name, desc, listed = key, None, group
        if type(group) is dict:
            name = _text(group.get("name", key), "name of a group")
            desc, listed = group.get("desc"), group.get("ranks")
        if id(listed) not in read:
            read[id(listed)] = _ranks(listed)
        ranks = read[id(listed)]
        members += len(ranks or ())
        if members > MOST_MEMBERS:
            raise DumpRefusedError(f"pg_config lists more than {MOST_MEMBERS:,} ranks")
        described = None if desc is None else _text(desc, "desc of a group")
        groups.append({"pg_name": name, "pg_desc": described, "ranks": ranks})
    return groups


def read_status(value: Any) -> dict[str, dict[str, int | None]]:
    """Return pg_status: the last calls per number of a group in its process; -1 as written, None: absent."""
    status = {}
    for key, counters in _items(value, "pg_status"):
        if type(counters) is not dict:
            raise DumpRefusedError(f"pg_status holds {type(counters).__name__}, not a dict per group")
        status[key] = {name: _number(counters.get(name)) for name in STATUS}
    return status


def rank_by_groups(groups: Sequence[Group]) -> int | None:
    """Return the one rank that all member lists have in common, if it is one."""
    lists = sorted((group["ranks"] for group in groups if group["ranks"]), key=len)
    if not lists:
        return None
    common = set(lists[0])
    for ranks in lists[1:]:
        common.intersection_update(ranks)
    return common.pop() if len(common) == 1 else None


def rank_by_p2p(groups: Sequence[Group], entries: pl.DataFrame) -> int | None:
    """Return the rank whose sends and recvs these are, by its place in their groups, if all say the same.

    Peers are places in the member list as it is listed, not ranks.
    """
    ranks_of = {(group["pg_name"], group["pg_desc"]): group["ranks"] for group in groups}
    ends = entries.select("pg_name", "pg_desc", "group_rank").drop_nulls("group_rank").unique()
    found = set()
    for name, desc, place in ends.iter_rows():
        ranks = ranks_of.get((name, desc))
        if ranks and place < len(ranks):
            found.add(ranks[place])
    return found.pop() if len(found) == 1 else None


def _items(value: Any, what: str) -> list[tuple[str, Any]]:
    """Return the members of a dict whose keys are names, or numbers before 2.0."""
    if value is None:
        return []
    if type(value) is not dict:
        raise DumpRefusedError(f"{what} is {type(value).__name__}, not a dict")
    if len(value) > MOST_GROUPS:
        raise DumpRefusedError(f"{what} holds {len(value):,} groups, more than {MOST_GROUPS:,}")
    return [
        (str(key) if type(key) is int else _text(key, f"key of {what}"), each) for key, each in value.items()
    ]


def _text(value: Any, what: str) -> str:
    if type(value) is not str or len(value) > MOST_TEXT or not _is_unicode(value):
        raise DumpRefusedError(f"{what} is no text of at most {MOST_TEXT:,} characters")
    return value


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(value: Any) -> int | None:
    """Return a counter; the JSON form writes them as text."""
    if type(value) is str and NUMBER.fullmatch(value):
        return int(value)
    if value is None or (type(value) is int and value.bit_length() < 64):
        return value
    raise DumpRefusedError("pg_status holds something else than whole numbers")


def _ranks(value: Any) -> list[int] | None:
    """Return the members of a group as listed; None when they are absent, none, or no ranks."""
    if value is None:
        return None
    if type(value) is str:
        return _shared(value) if len(value) <= SHARED_CHARACTERS else _parsed(value)
    if type(value) is not list or not {int}.issuperset(map(type, value)):
        raise DumpRefusedError("the ranks of a group are neither a text nor a list of numbers")
    return _valid(value)


@lru_cache(maxsize=64)
def _shared(text: str) -> list[int] | None:
    """Return the members a text lists, the same list each time: the dumps of a job repeat 20 KB texts."""
    return _parsed(text)


def _parsed(text: str) -> list[int] | None:
    if not MEMBERS.fullmatch(text):
        return None
    return _valid([int(number) for number in text.strip("[] ").split(",")])


def _valid(ranks: list[int]) -> list[int] | None:
    is_valid = bool(ranks) and min(ranks) >= 0 and max(ranks) < MOST_RANKS and len(set(ranks)) == len(ranks)
    return ranks if is_valid else None
