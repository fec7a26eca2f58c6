"""Process groups as a Chakra file names them, and the communicator-group file {"name": [global ranks]}.

In:  the process groups of a run. Out: `Groups`: the name and the members of each, and the JSON text.
Decided here: a group is called by its recorded pg_name (decision 20); where one pg_name stands for several
member sets in a run, each of them is called by its group key, which holds the members.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson
import polars as pl

GROUP_FILE = "comm_groups.json"


@dataclass(frozen=True)
class Groups:
    """The groups of a run: written name and members (sorted global ranks) by group key."""

    name_by_key: dict[str, str]
    members_by_key: dict[str, list[int]]
    ambiguous: list[str]  # pg_names that stand for several member sets
    incomplete: list[str]  # written names of groups of which not all members are known

    def members(self) -> dict[str, list[int]]:
        """Return the members by written name."""
        return {name: self.members_by_key[key] for key, name in self.name_by_key.items()}

    def global_rank(self, key: str, place: int) -> int | None:
        """Return the global rank at `place` of a group; None when the group or the place is not known."""
        members = self.members_by_key.get(key, [])
        return members[place] if 0 <= place < len(members) else None


def groups_of(rows: pl.DataFrame) -> Groups:
    """Return the groups of the rows of communication/show_group_members."""
    members = {row["group"]: sorted(row["members"] or []) for row in rows.to_dicts()}
    keys_by_name: dict[str, list[str]] = {}
    for row in rows.to_dicts():
        keys_by_name.setdefault(row["pg_name"] or "", []).append(row["group"])
    names = {
        key: name if name and len(keys) == 1 else key for name, keys in keys_by_name.items() for key in keys
    }
    incomplete = [names[row["group"]] for row in rows.to_dicts() if row["complete"] is False]
    ambiguous = [name for name, keys in keys_by_name.items() if name and len(keys) > 1]
    return Groups(names, members, sorted(ambiguous), sorted(incomplete))


def group_file(members: Mapping[str, list[int]]) -> bytes:
    """Return the communicator-group JSON: one object, numbers first and ascending, then other names."""
    ordered = sorted(
        members, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name)
    )
    lines = [f"  {orjson.dumps(name).decode()}: {orjson.dumps(members[name]).decode()}" for name in ordered]
    return ("{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n").encode()
