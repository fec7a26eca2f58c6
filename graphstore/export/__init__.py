"""Export: a run of the store → one Chakra file per rank, the communicator groups, a manifest; or flat tables.

In:  a store and a run; nothing else is read. Out: OUT/RUN.RANK.et, OUT/comm_groups.json, OUT/manifest.json,
     all of them or none, the same bytes for the same run on every engine.
Decided here: the order of the steps of a Chakra export. Every node is validated before any file is moved into
place. Flat tables of communication: tables.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphstore.errors import UsageError
from graphstore.export import manifest as manifests
from graphstore.export.columns import read_groups
from graphstore.export.comm_groups import group_file, groups_of
from graphstore.export.files import facts_of, publish, read_et, read_nodes, staged
from graphstore.export.rank_file import RunToWrite, Watch, ops_of, write_rank
from graphstore.export.tables import TableForm, export_tables
from graphstore.export.validate import Problem, validate_nodes
from graphstore.queries.columns import read_keys
from graphstore.store.base import Progress, Store

__all__ = ["Problem", "TableForm", "export_run", "export_tables", "read_et", "read_nodes", "validate_nodes"]

GROUP_FILE, MANIFEST = "comm_groups.json", "manifest.json"


def export_run(store: Store, run: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the files of a run under `out` and return the manifest.

    Raises UsageError (unknown run, nothing in it to write, a folder that can't be written), InputError (an
    imported Chakra file with a cycle, or whose nodes lack what a reader needs), StoreError. Then no file of
    `out` was changed.
    """
    facts = _facts(store, run)
    ranks = [keys for keys in read_keys(store, run) if ops_of(keys)]
    if not ranks:
        raise UsageError(
            f"run {run} holds no ops to write: neither execution traces, Kineto traces nor Chakra files. "
            f"`graphstore runs show {run}` lists what was imported."
        )
    groups = groups_of(read_groups(store, run))
    given = RunToWrite(store, run, facts.get("origin_ns") or 0, groups)
    watch = Watch(progress, sum(ops_of(keys) for keys in ranks))
    names = {keys.rank: f"{run}.{keys.rank}.et" for keys in ranks}
    with staged(out) as stage:
        (stage / GROUP_FILE).write_bytes(group_file(groups.members()))
        entries = {
            keys.rank: {"file": names[keys.rank]} | write_rank(given, keys, stage / names[keys.rank], watch)
            for keys in ranks
        }
        written = [*names.values(), GROUP_FILE]
        content = manifests.manifest(
            facts, entries, groups, {name: facts_of(stage / name) for name in written}
        )
        (stage / MANIFEST).write_bytes(manifests.to_bytes(content))
        publish(stage, out, [*written, MANIFEST])
    return content


def _facts(store: Store, run: str) -> dict[str, Any]:
    """Return the properties of the Run; UsageError when the archive has no such run."""
    for facts in store.runs():
        if facts["run"] == run:
            return facts
    raise UsageError(f"no run {run!r} in {store.address}; `graphstore runs` lists them")
