"""Merged execution traces (ET+): a run of the store → the JSON that `chakra_trace_link` wrote.

In:  a store and a run; nothing else is read. Out: OUT/RUN.RANK.et_plus.json, all of them or none, the same
     bytes for the same run on every engine; and a summary that says what such a file can't hold.
Decided here: which ranks have one, and how a file is headed. Its nodes: et_plus_nodes.py.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from graphstore.errors import UsageError
from graphstore.export.et_plus_nodes import merged_rank, node_texts, read_merged
from graphstore.export.facts import facts_of_run
from graphstore.export.files import BUFFER_BYTES, facts_of, publish, staged
from graphstore.export.json_text import write_document
from graphstore.queries.columns import RankKeys, read_keys
from graphstore.store.base import Progress, Store

FORMAT = "graphstore et-plus 1"
# The newest schema whose every field the graph holds: later ones have strides, which no reader of ours keeps.
SCHEMA = "1.1.0-chakra.0.0.4"


def export_et_plus(store: Store, run: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the merged execution trace of each rank under `out`; return files, counts and notes.

    Raises UsageError (unknown run, no op of an execution or Kineto trace in it, a folder that can't be
    written), StoreError. Then no file of `out` was changed.
    """
    origin_ns = facts_of_run(store, run).get("origin_ns")
    ranks = [keys for keys in read_keys(store, run) if _nodes(keys)]
    if not ranks:
        raise UsageError(
            f"run {run} holds no ops of execution traces or Kineto traces, which this format is made of. "
            f"`graphstore runs show {run}` lists what was imported."
        )
    total, done = sum(map(_nodes, ranks)), 0
    files: dict[str, dict[str, Any]] = {}
    notes: Counter[str] = Counter()
    with staged(out) as stage:
        for keys in ranks:
            name = f"{run}.{keys.rank}.et_plus.json"
            files[name] = _write(store, run, keys, origin_ns, stage / name, notes)
            done += files[name]["nodes"]
            if progress:
                progress("export", done, total)
        publish(stage, out, files)
    return {"format": FORMAT, "run": run, "files": files, "notes": dict(sorted((+notes).items()))}


def _nodes(keys: RankKeys) -> int:
    return keys.counts.get("HostOp", 0) + keys.counts.get("Kernel", 0)


def _write(
    store: Store, run: str, keys: RankKeys, origin_ns: int | None, path: Path, notes: Counter[str]
) -> dict[str, Any]:
    """Write the file of one rank; return what the summary says of it."""
    rank = merged_rank(read_merged(store, run, keys))
    head = {"schema": SCHEMA} | ({} if origin_ns is None else {"baseTimeNanoseconds": origin_ns})
    with path.open("wb", buffering=BUFFER_BYTES) as stream:
        nodes = write_document(stream, head, "nodes", node_texts(store, run, rank))
    notes.update(rank.notes)
    notes["runtime call, told only by the parent of what it launched"] += keys.counts.get("RuntimeCall", 0)
    notes["sync event, for which the format has no node"] += keys.counts.get("SyncEvent", 0)
    counts = {"host_ops": keys.counts.get("HostOp", 0), "device_ops": keys.counts.get("Kernel", 0)}
    return {"rank": keys.rank, "nodes": nodes, **counts, **facts_of(path)}
