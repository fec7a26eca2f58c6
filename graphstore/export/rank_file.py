"""Write the file of one rank: its columns → nodes → bytes, validated on their way; its entry of the manifest.

In:  the store, the facts of the run, the rank's keys. Out: a file under a temporary name, and counts.
Decided here: a rank that holds traces is written from them; one that holds only an imported Chakra file has
that written back. What a node is made of: chakra.py and chakra_copy.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from graphstore.chakra.et_def_pb2 import Node
from graphstore.errors import InputError
from graphstore.export import manifest
from graphstore.export.chakra import messages, metadata
from graphstore.export.chakra_copy import chakra_copy, copy_messages
from graphstore.export.columns import read_chakra_rank, read_details, read_rank
from graphstore.export.comm_groups import Groups
from graphstore.export.communication import communications
from graphstore.export.files import write_et
from graphstore.export.order import Ints
from graphstore.export.rank_nodes import rank_nodes
from graphstore.export.validate import Validator
from graphstore.queries.columns import RankKeys
from graphstore.store.base import Progress, Store

NODES_PER_REPORT = 10_000


@dataclass(frozen=True)
class RunToWrite:
    """What all ranks of an export share. `origin_ns` is the absolute time of start 0; 0 where unknown."""

    store: Store
    run: str
    origin_ns: int
    groups: Groups


class Watch:
    """Validates nodes on their way into a file, and reports how far it is, in ops: how many nodes a rank's
    ops are cut into is known only when it is written.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        """Watch over `total` ops of all ranks together."""
        self._progress, self._total, self._done = progress, total, 0

    def over(self, nodes: Iterator[Node], count: int, validator: Validator, keys: RankKeys) -> Iterator[Node]:
        """Yield the `count` nodes of a rank; `validator` knows them all when the last has passed."""
        look_at, ops = validator.look_at, ops_of(keys)
        for number, node in enumerate(nodes, start=1):
            look_at(node)
            if self._progress and number % NODES_PER_REPORT == 0:
                self._progress("export", self._done + ops * number // count, self._total)
            yield node
        self._done += ops
        if self._progress:
            self._progress("export", self._done, self._total)


def ops_of(keys: RankKeys) -> int:
    """Return how many ops of a rank become nodes of its file."""
    return _from_traces(keys) or keys.counts.get("ChakraNode", 0)


def _from_traces(keys: RankKeys) -> int:
    return keys.counts.get("HostOp", 0) + keys.counts.get("Kernel", 0)


def write_rank(given: RunToWrite, keys: RankKeys, path: Path, watch: Watch) -> dict[str, Any]:
    """Write the file of one rank to `path`; return its entry of the manifest.

    Raises InputError (an imported Chakra file with a cycle, or nodes that readers refuse), StoreError.
    """
    write = _write_traces if _from_traces(keys) else _write_copy
    validator = Validator(given.groups.members())
    entry = write(given, keys, path, watch, validator)
    problems = validator.problems()
    errors = [problem.message for problem in problems if problem.severity == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise InputError(
            f"{given.run}, rank {keys.rank}: {errors[0]}{more}; readers refuse such a file. Nothing was "
            f"written. `graphstore check {given.run}` shows what the input lacks."
        )
    manifest.add_warnings(entry, problems)
    return entry


def _write_traces(
    given: RunToWrite, keys: RankKeys, path: Path, watch: Watch, validator: Validator
) -> dict[str, Any]:
    """Write a rank that was read from execution traces or Kineto traces."""
    columns = read_rank(given.store, given.run, keys)
    found = communications(columns, given.groups)
    nodes, cut = rank_nodes(columns, found.by_place)

    def details(uids: Ints) -> Any:
        return read_details(given.store, given.run, "structure/show_host_op_details", uids)

    watched = watch.over(messages(nodes, details), len(nodes.place), validator, keys)
    write_et(path, chain([metadata()], watched))
    return manifest.rank_entry(keys, nodes, cut, found.notes, validator.type_names())


def _write_copy(
    given: RunToWrite, keys: RankKeys, path: Path, watch: Watch, validator: Validator
) -> dict[str, Any]:
    """Write a rank that was read from a Chakra file."""
    copy = chakra_copy(read_chakra_rank(given.store, given.run, keys), given.run)

    def details(uids: Ints) -> Any:
        return read_details(given.store, given.run, "structure/show_chakra_node_details", uids)

    nodes = copy_messages(copy, details, given.origin_ns)
    write_et(path, chain([metadata()], watch.over(nodes, len(copy.order), validator, keys)))
    return manifest.copy_entry(keys, copy, validator.type_names())
