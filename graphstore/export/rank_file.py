"""Write the file of one rank: its columns → nodes → bytes, validated on their way; its entry of the manifest.

In:  the store, the facts of the run, the rank's keys. Out: a file under a temporary name, and counts.
Decided here: a rank that holds traces is written from them; one that holds only an imported Chakra file has
that written back. What a node is made of: chakra.py and chakra_copy.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from graphstore.chakra import framed
from graphstore.errors import InputError, UsageError
from graphstore.export import manifest
from graphstore.export.astra_nodes import for_astra_sim
from graphstore.export.astra_plan import Call, Plan
from graphstore.export.chakra import graph_of, messages, metadata, types_of
from graphstore.export.chakra_copy import chakra_copy, copy_messages
from graphstore.export.columns import read_chakra_rank, read_details, read_rank
from graphstore.export.comm_groups import Groups
from graphstore.export.communication import communications
from graphstore.export.files import write_et
from graphstore.export.order import Ints
from graphstore.export.rank_nodes import Form, rank_nodes
from graphstore.export.validate import Validator
from graphstore.queries.columns import RankKeys, read_keys
from graphstore.store.base import Progress, Store

NODES_PER_REPORT = 10_000


@dataclass(frozen=True)
class RunToWrite:
    """What all ranks of an export share. `origin_ns` is the absolute time of start 0; 0 where unknown.

    `plan` is what ASTRA-sim can take of the run's communication; None for the format as its schema means it.
    `write` makes the file of the bytes of its messages: the metadata first, then the nodes.
    """

    store: Store
    run: str
    origin_ns: int
    groups: Groups
    form: Form = "exact"
    plan: Plan | None = None
    write: Callable[[Path, Iterable[bytes]], None] = write_et

    def group_members(self) -> dict[str, list[int]]:
        """Return the members of the groups by the names that calls are written with."""
        return self.groups.members() if self.plan is None else self.plan.groups


class Watch:
    """Looks on while nodes go into a file, and reports how far it is."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        """Watch over `total` ops of all ranks together."""
        self._progress, self._total, self._done = progress, total, 0

    def over(self, parts: Iterator[tuple[int, bytes]], count: int, ops: int) -> Iterator[bytes]:
        """Yield the bytes of `count` nodes, made of `ops` ops; a part says how many of them it holds."""
        done = 0
        for nodes, data in parts:
            reports, done = done // NODES_PER_REPORT, done + nodes
            if self._progress and done // NODES_PER_REPORT > reports:
                self._progress("export", self._done + done * ops // count, self._total)
            yield data
        self._done += ops
        if self._progress:
            self._progress("export", self._done, self._total)


def ranks_to_write(store: Store, run: str) -> list[RankKeys]:
    """Return the ranks of a run that hold ops, ascending; UsageError when none does."""
    ranks = [keys for keys in read_keys(store, run) if ops_of(keys)]
    if not ranks:
        raise UsageError(
            f"run {run} holds no ops to write: neither execution traces, Kineto traces nor Chakra files. "
            f"`graphstore runs show {run}` lists what was imported."
        )
    return ranks


def ops_of(keys: RankKeys) -> int:
    """Return how many ops the file of a rank is made of."""
    return _from_traces(keys) or keys.counts.get("ChakraNode", 0)


def _from_traces(keys: RankKeys) -> int:
    return keys.counts.get("HostOp", 0) + keys.counts.get("Kernel", 0)


def write_rank(given: RunToWrite, keys: RankKeys, path: Path, watch: Watch) -> dict[str, Any]:
    """Write the file of one rank to `path`; return its entry of the manifest.

    Raises InputError (an imported Chakra file with a cycle, or nodes that readers refuse), StoreError.
    """
    if given.plan is not None and not _from_traces(keys):
        raise UsageError(
            f"run {given.run}, rank {keys.rank} was read from a Chakra file; files for astra-sim are written "
            "from traces. `graphstore check FILE --target astra-sim` says what the file lacks."
        )
    write = _write_traces if _from_traces(keys) else _write_copy
    validator = Validator(given.group_members())
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
    nodes, cut = rank_nodes(columns, found.by_place, given.form)
    changed: dict[str, int] = {}
    if given.plan is not None:
        nodes, changed = for_astra_sim(nodes, keys.rank, given.plan)

    def details(uids: Ints) -> Any:
        return read_details(given.store, given.run, "structure/show_host_op_details", uids)

    validator.take_graph(*graph_of(nodes.nodes))  # the very columns that the messages are made of

    def parts() -> Iterator[tuple[int, bytes]]:
        types, done = types_of(nodes), 0
        for block in messages(nodes, details):
            count = len(block.size)
            validator.look_at_block(types[done : done + count], block)
            yield count, block.data
            done += count

    written = watch.over(parts(), len(nodes.place), ops_of(keys))
    given.write(path, chain([framed(metadata())], written))
    notes = found.notes + Counter(changed)
    return manifest.rank_entry(keys, nodes, cut, notes, validator.type_names())


def calls_of(given: RunToWrite, keys: RankKeys) -> list[Call]:
    """Return the communications of one rank, for the plan over all of them."""
    columns = read_rank(given.store, given.run, keys)
    found = communications(columns, given.groups)
    nodes, _ = rank_nodes(columns, found.by_place, given.form)
    measured = nodes.nodes.measured
    return [
        Call(keys.rank, int(nodes.place[node]), int(measured[node]), said)
        for node, said in nodes.communications.items()
    ]


def _write_copy(
    given: RunToWrite, keys: RankKeys, path: Path, watch: Watch, validator: Validator
) -> dict[str, Any]:
    """Write a rank that was read from a Chakra file."""
    copy = chakra_copy(read_chakra_rank(given.store, given.run, keys), given.run)

    def details(uids: Ints) -> Any:
        return read_details(given.store, given.run, "structure/show_chakra_node_details", uids)

    def parts() -> Iterator[tuple[int, bytes]]:
        for node in copy_messages(copy, details, given.origin_ns):
            validator.look_at(node)
            yield 1, framed(node)

    ops = ops_of(keys)
    given.write(path, chain([framed(metadata())], watch.over(parts(), ops, ops)))
    return manifest.copy_entry(keys, copy, validator.type_names())
