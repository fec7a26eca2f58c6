"""Export: a run of the store → one Chakra file per rank, the communicator groups, a manifest.

In:  a store and a run; nothing else is read. Out: OUT/RUN.RANK.et, OUT/comm_groups.json, OUT/manifest.json,
     all of them or none, the same bytes for the same run on every engine.
Decided here: the order of the steps. Every file is read back and validated before any is moved into place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.errors import InputError, UsageError
from graphstore.export import manifest as manifests
from graphstore.export.chakra import RankNodes, messages, metadata
from graphstore.export.chakra_copy import chakra_copy, copy_messages
from graphstore.export.columns import (
    RankKeys,
    read_chakra_rank,
    read_details,
    read_groups,
    read_keys,
    read_rank,
)
from graphstore.export.comm_groups import Groups, group_file, groups_of
from graphstore.export.communication import communications
from graphstore.export.dependencies import dependencies
from graphstore.export.durations import start_and_duration_us
from graphstore.export.files import facts_of, publish, read_et, read_nodes, staged, write_et
from graphstore.export.validate import Problem, validate_nodes
from graphstore.store.base import Progress, Store

__all__ = ["Problem", "export_run", "read_et", "validate_nodes"]

GROUP_FILE, MANIFEST = "comm_groups.json", "manifest.json"
NODES_PER_REPORT = 10_000


def export_run(store: Store, run: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the files of a run under `out` and return the manifest.

    Raises UsageError (unknown run, nothing in it to write, a folder that can't be written), InputError (an
    imported Chakra file with a cycle, or whose nodes lack what a reader needs), StoreError. Then no file of
    `out` was changed.
    """
    facts = _facts(store, run)
    ranks = [keys for keys in read_keys(store, run) if _ops(keys)]
    if not ranks:
        raise UsageError(
            f"run {run} holds no ops to write: neither execution traces, Kineto traces nor Chakra files. "
            f"`graphstore runs show {run}` lists what was imported."
        )
    groups = groups_of(read_groups(store, run))
    report = _Report(progress, sum(_ops(keys) for keys in ranks))
    with staged(out) as stage:
        names = {keys.rank: f"{run}.{keys.rank}.et" for keys in ranks}
        (stage / GROUP_FILE).write_bytes(group_file(groups.members()))
        entries = {
            keys.rank: {"file": names[keys.rank]}
            | _write_rank(store, facts, keys, groups, stage / names[keys.rank], report)
            for keys in ranks
        }
        written = [*names.values(), GROUP_FILE]
        files = {name: facts_of(stage / name) for name in written}
        content = manifests.manifest(facts, entries, groups, files)
        (stage / MANIFEST).write_bytes(manifests.to_bytes(content))
        publish(stage, out, [*written, MANIFEST])
    return content


class _Report:
    """Counts the nodes written, for whoever watches."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def watched(self, nodes: Iterator[Node], types: Counter[str]) -> Iterator[Node]:
        """Yield the nodes, counting them by type."""
        numbers: Counter[int] = Counter()
        for node in nodes:
            numbers[node.type] += 1
            self._done += 1
            if self._progress and (self._done % NODES_PER_REPORT == 0 or self._done == self._total):
                self._progress("export", self._done, self._total)
            yield node
        types.update({NodeType.Name(number): count for number, count in numbers.items()})


def _facts(store: Store, run: str) -> dict[str, Any]:
    """Return the properties of the Run; UsageError when the archive has no such run."""
    for facts in store.runs():
        if facts["run"] == run:
            return facts
    raise UsageError(f"no run {run!r} in {store.address}; `graphstore runs` lists them")


def _ops(keys: RankKeys) -> int:
    """Return how many nodes the file of a rank will have."""
    from_traces = keys.counts.get("HostOp", 0) + keys.counts.get("Kernel", 0)
    return from_traces or keys.counts.get("ChakraNode", 0)


def _write_rank(
    store: Store, facts: dict[str, Any], keys: RankKeys, groups: Groups, path: Path, report: _Report
) -> dict[str, Any]:
    """Write and validate the file of one rank; return its entry of the manifest."""
    run = facts["run"]
    types: Counter[str] = Counter()
    if keys.counts.get("HostOp", 0) + keys.counts.get("Kernel", 0):
        columns = read_rank(store, run, keys)
        found = communications(columns, groups)
        times = start_and_duration_us(columns)
        nodes = RankNodes(columns, dependencies(columns), *times, found.by_place)
        given = messages(nodes, lambda uids: read_details(store, run, "structure/show_host_op_details", uids))
        write_et(path, chain([metadata()], report.watched(given, types)))
        entry = manifests.rank_entry(keys, nodes, found.notes, types)
    else:
        copy = chakra_copy(read_chakra_rank(store, run, keys), run)
        given = copy_messages(
            copy,
            lambda uids: read_details(store, run, "structure/show_chakra_node_details", uids),
            facts.get("origin_ns") or 0,
        )
        write_et(path, chain([metadata()], report.watched(given, types)))
        entry = manifests.copy_entry(keys, copy, types)
    manifests.add_warnings(entry, _validated(path, run, keys.rank, groups))
    return entry


def _validated(path: Path, run: str, rank: int, groups: Groups) -> list[Problem]:
    """Return the warnings about a written file; InputError with the first error, if there is one."""
    problems = validate_nodes(read_nodes(path), groups.members())
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise InputError(
            f"{run}, rank {rank}: {errors[0].message}{more}; readers refuse such a file. "
            f"Nothing was written. `graphstore check {run}` shows what the input lacks."
        )
    return problems
