"""Process groups: the communicator-group JSON beside the files, and the groups that collectives name.

In:  the workload and comm_groups.json in its folder. Out: `Members` (of each group), and findings.
Decided here: which text is a group id (a number above 0), and what stands for all ranks ("" and "0").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graphstore.export.comm_groups import GROUP_FILE
from graphstore.export.simulator.columns import COLL
from graphstore.export.simulator.files import LEAST_RANKS, RankFile, Workload
from graphstore.export.simulator.rules import Found, about
from graphstore.queries.draft import listed

WORLD = ("", "0")
HIGHEST_ID = 499


@dataclass
class Members:
    """The groups of the JSON: global ranks by name. `path` None: there is no such file."""

    path: Path | None = None
    by_name: dict[str, list[int]] = field(default_factory=dict)
    found: list[Found] = field(default_factory=list)

    def of(self, name: str, workload: Workload) -> list[int] | None:
        """Return the members of a group as collectives name it; None when it is not known."""
        if name in WORLD:
            return list(range(workload.world_size))
        return self.by_name.get(name)


def is_group_id(name: str) -> bool:
    """Return whether a text is a number above 0."""
    return name.isascii() and name.isdecimal() and int(name) > 0


def read_groups(workload: Workload) -> Members:
    """Return the groups of comm_groups.json in the folder of the workload, with what is wrong about them."""
    path = workload.folder / GROUP_FILE
    if not path.is_file():
        return Members()
    members = Members(path)
    try:
        content: Any = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        members.found.append(Found("group_file_bad", None, f"{path.name}: cannot be read: {error}"))
        return members
    if not isinstance(content, dict) or not all(map(_is_ranks, content.values())):
        text = f"{path.name}: is no object of lists of ranks"
        members.found.append(Found("group_file_bad", None, text))
        return members
    members.by_name = content
    members.found += _file_problems(path, content, workload.world_size)
    return members


def _is_ranks(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


def _file_problems(path: Path, groups: dict[str, list[int]], world_size: int) -> Iterator[Found]:
    """Yield what is wrong with the groups of the JSON, one finding for each rule."""
    wrong: dict[str, tuple[str, Callable[[str, list[int]], bool]]] = {
        "group_file_bad": ("are called 0 or by a text", lambda name, _: not is_group_id(name)),
        "group_id_high": (
            f"have an id above {HIGHEST_ID}",
            lambda name, _: is_group_id(name) and int(name) > HIGHEST_ID,
        ),
        "group_member_outside": (
            "hold ranks that no file is of",
            lambda _, ranks: any(rank < 0 or LEAST_RANKS <= world_size <= rank for rank in ranks),
        ),
        "group_members_unsorted": (
            "hold ranks twice, or not ascending",
            lambda _, ranks: any(after <= before for before, after in pairwise(ranks)),
        ),
    }
    for rule, (text, is_wrong) in wrong.items():
        names = [name for name, ranks in groups.items() if is_wrong(name, ranks)]
        if names:
            text = f"{path.name}: {len(names)} groups {text}: {listed(names)}"
            yield Found(rule, None, text, {"groups": names[:100]}, len(names))
    if "empty" in str(path.resolve()):
        yield Found("group_file_path", None, f'{path.name}: its path holds the word "empty"')


def rank_group_problems(file: RankFile, members: Members, workload: Workload) -> Iterator[Found]:
    """Yield what is wrong with the groups that the collectives of a rank name: one finding for each rule."""
    ids = np.frombuffer(file.columns.validator.ids, np.uint64)
    table = file.columns.communications
    rows_by_name: dict[str, list[int]] = {}
    for row, kind in enumerate(table.kind):
        if kind == COLL:
            rows_by_name.setdefault(table.group_of(row), []).append(row)
    wrong: dict[str, list[str]] = {}
    for name in rows_by_name:
        if (rule := _name_problem(name, file, members, workload)) is not None:
            wrong.setdefault(rule, []).append(name)
    for rule, names in wrong.items():
        rows = sorted(row for name in names for row in rows_by_name[name])
        text = f"{{n}} collectives {_TEXTS[rule]} {listed([repr(name) for name in names])}"
        nodes = ids[[table.place[row] for row in rows]]
        yield about(rule, file.rank, file.where, text, nodes, groups=names[:100])


_TEXTS = {
    "group_text": "name a group by a text:",
    "group_file_absent": "name a group, and there is no comm_groups.json beside the files:",
    "group_unknown": "name a group that comm_groups.json does not hold:",
    "group_not_member": "name a group the rank is no member of:",
    "group_of_one": "name a group of one rank:",
}


def _name_problem(name: str, file: RankFile, members: Members, workload: Workload) -> str | None:
    """Return the rule that a group named by a collective breaks."""
    if name in WORLD:
        return None
    if not (name.isascii() and name.isdecimal()):
        return "group_text"
    if members.path is None:
        return "group_file_absent"
    ranks = members.of(name, workload)
    if ranks is None:
        return "group_unknown"
    if file.rank is not None and file.rank not in ranks:
        return "group_not_member"
    return "group_of_one" if len(set(ranks)) == 1 else None
