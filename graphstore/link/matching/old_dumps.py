"""Dumps older than version 2.0, whose groups have no names, only numbers of their own process.

In:  a reduced dump. Out: the same, its groups named so that equal names mean the same group on all ranks.
Decided here: such a group is told by its members; the first group of a process (number 0) is the default
one; a group whose members no file lists is named as this rank's alone, and matches nothing.
"""

from __future__ import annotations

from typing import Any

from graphstore.link.matching.reduce import Pg, Reduced
from graphstore.model.ids import rank_ranges

NAMED_SINCE = (2, 0)
DEFAULT_NUMBER = "0"
DEFAULT_PG: Pg = ("0", "default_pg")


def with_names(dump: Reduced) -> Reduced:
    """Return the dump with names that other ranks know; a dump that has names is returned as it is."""
    version = dump.flight.get("version")
    if dump.is_trace or (version and version >= NAMED_SINCE) or not _is_numbered(dump):
        return dump
    dump.is_old = True
    names: dict[str, Pg] = {DEFAULT_NUMBER: DEFAULT_PG}
    config = []
    for entry in sorted(dump.flight.get("pg_config") or (), key=lambda entry: int(entry["pg_name"])):
        number = entry["pg_name"]
        name = names.setdefault(number, _by_members(entry, set(names.values())))
        config.append(entry | {"pg_name": name[0], "pg_desc": name[1]})
    dump.flight = dump.flight | {"pg_config": config}
    dump.written = dump.pgs
    dump.pgs = [names.get(number, (f"{number} of rank {dump.rank}", "")) for number, _ in dump.pgs]
    return dump


def _is_numbered(dump: Reduced) -> bool:
    names = [entry["pg_name"] for entry in dump.flight.get("pg_config") or ()]
    names += [name for name, _ in dump.pgs]
    return all(name.isdecimal() for name in names) and not any(desc for _, desc in dump.pgs)


def _by_members(entry: dict[str, Any], taken: set[Pg]) -> Pg:
    """Return a name for a group of these members; the second group of the same ones is another."""
    members = rank_ranges(entry.get("ranks") or ())
    name, number = (members, ""), 1
    while name in taken:
        number += 1
        name = (f"{members} ({number})", "")
    return name
