"""Export: a run of the store → one Chakra file per rank, the communicator groups, a manifest; or flat tables.

In:  a store and a run; nothing else is read. Out: OUT/RUN.RANK.et, OUT/comm_groups.json, OUT/manifest.json,
     all of them or none, the same bytes for the same run on every engine.
Decided here: the order of the steps of a Chakra export. Every node is validated before any file is moved into
place. Flat tables of communication: tables.py. Merged execution traces: et_plus.py. Timelines: timeline.py.
Chakra nodes as JSON: chakra_json.py. Reports: report/. Whole runs for another archive: archive_file.py. Files
as they lie, asked for a simulator: simulator/.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from graphstore.export import manifest as manifests
from graphstore.export.archive_file import open_archive, write_archive
from graphstore.export.astra_plan import plan
from graphstore.export.chakra_json import export_json
from graphstore.export.columns import read_groups
from graphstore.export.comm_groups import GROUP_FILE, group_file, groups_of
from graphstore.export.et_plus import export_et_plus
from graphstore.export.facts import facts_of_run
from graphstore.export.files import facts_of, publish, read_et, read_nodes, staged
from graphstore.export.rank_file import RunToWrite, Watch, calls_of, ops_of, ranks_to_write, write_rank
from graphstore.export.rank_nodes import Form
from graphstore.export.simulator import check_for_simulator
from graphstore.export.tables import TableForm, export_tables
from graphstore.export.timeline import export_timeline
from graphstore.export.validate import Problem, validate_nodes
from graphstore.store.base import Progress, Store

__all__ = [
    "GROUP_FILE",
    "Form",
    "Problem",
    "TableForm",
    "Target",
    "check_for_simulator",
    "export_et_plus",
    "export_json",
    "export_run",
    "export_tables",
    "export_timeline",
    "open_archive",
    "read_et",
    "read_nodes",
    "validate_nodes",
    "write_archive",
]

Target = Literal["chakra", "astra-sim"]
MANIFEST = "manifest.json"


def export_run(
    store: Store,
    run: str,
    out: Path,
    progress: Progress | None = None,
    *,
    target: Target = "chakra",
    form: Form = "exact",
) -> dict[str, Any]:
    """Write the files of a run under `out` and return the manifest.

    `target` chakra is the format as its schema and tools mean it, astra-sim what that simulator takes. `form`
    exact cuts host time wherever its op changes, compact joins pieces of at most 10 µs: the same timing.

    Raises UsageError (unknown run, nothing in it to write, a folder that can't be written), InputError (an
    imported Chakra file with a cycle, or whose nodes lack what a reader needs), StoreError. Then no file of
    `out` was changed.
    """
    facts = facts_of_run(store, run)
    ranks = ranks_to_write(store, run)
    groups = groups_of(read_groups(store, run))
    given = RunToWrite(store, run, facts.get("origin_ns") or 0, groups, form)
    if target == "astra-sim":
        calls = [call for keys in ranks for call in calls_of(given, keys)]
        members = {key: own for key, own in groups.members_by_key.items() if own}
        given = replace(given, plan=plan(calls, [keys.rank for keys in ranks], members))
    watch = Watch(progress, sum(ops_of(keys) for keys in ranks))
    names = {keys.rank: f"{run}.{keys.rank}.et" for keys in ranks}
    with staged(out) as stage:
        (stage / GROUP_FILE).write_bytes(group_file(given.group_members()))
        entries = {
            keys.rank: {"file": names[keys.rank]} | write_rank(given, keys, stage / names[keys.rank], watch)
            for keys in ranks
        }
        written = [*names.values(), GROUP_FILE]
        content = manifests.manifest(
            facts,
            entries,
            groups,
            {name: facts_of(stage / name) for name in written},
            form,
            given.plan,
        )
        (stage / MANIFEST).write_bytes(manifests.to_bytes(content))
        publish(stage, out, [*written, MANIFEST])
    return content
