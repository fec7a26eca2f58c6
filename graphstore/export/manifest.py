"""The manifest of an export: what went in, what came out, and by name what could not be written.

In:  counts and notes of each rank. Out: one JSON object, the same bytes for the same run on every engine.
Decided here: that in equals out. A host or device op that becomes no node, or a communication that neither
becomes one nor has a reason, is a defect and fails the export.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graphstore.errors import LedgerError
from graphstore.export.astra_nodes import LIST_LEFT_OUT
from graphstore.export.astra_plan import AS_COMPUTATION, Plan
from graphstore.export.chakra import RankNodes
from graphstore.export.chakra_copy import ChakraCopy
from graphstore.export.comm_groups import Groups
from graphstore.export.communication import NOT_WRITTEN
from graphstore.export.figures import figures
from graphstore.export.pieces import (
    BEFORE_WINDOW,
    CLOSING,
    DEVICE,
    FIRST,
    GAP_TIME,
    REST,
    UNEXPLAINED,
    Pieces,
)
from graphstore.export.validate import Problem
from graphstore.queries.columns import RankKeys

FORMAT = "graphstore export 2"
KIND_NAMES = {
    FIRST: "first piece of a host op",
    REST: "further piece of a host op",
    GAP_TIME: "gap between ops of a thread",
    DEVICE: "device op",
    BEFORE_WINDOW: "before the window",
    UNEXPLAINED: "unexplained wait",
    CLOSING: "end of the rank",
}


def rank_entry(
    keys: RankKeys, nodes: RankNodes, cut: Pieces, notes: Counter[str], types: Counter[str]
) -> dict[str, Any]:
    """Return the entry of a rank made from traces. Raises LedgerError when in and out differ."""
    counts = keys.counts
    communications = sum(number for name, number in types.items() if name.startswith("COMM_"))
    calls = counts.get("CollectiveCall", 0)
    unwritten = sum(number for reason, number in notes.items() if _is_unwritten(reason))
    ops = counts.get("HostOp", 0) + counts.get("Kernel", 0)
    counted = Counter(nodes.nodes.kind.tolist())
    kinds = Counter({KIND_NAMES[kind]: number for kind, number in counted.items()})
    ops_written = kinds[KIND_NAMES[FIRST]] + kinds[KIND_NAMES[DEVICE]]
    _balance(keys.rank, "host and device ops", ops, ops_written + notes[LIST_LEFT_OUT])
    _balance(keys.rank, "nodes", len(nodes.place), sum(types.values()))
    _balance(keys.rank, "communication calls", calls, communications + unwritten)
    untimed = int((~nodes.nodes.timed).sum())
    return {
        "in": {
            "host_ops": counts.get("HostOp", 0),
            "device_ops": counts.get("Kernel", 0),
            "runtime_calls": counts.get("RuntimeCall", 0),
            "sync_events": counts.get("SyncEvent", 0),
            "communication_calls": calls,
        },
        "nodes": sum(types.values()),
        "communications": communications,
        "types": dict(sorted(types.items())),
        "pieces": dict(sorted(kinds.items())),
        "folded": _folded(counts),
        "order": {"threads": cut.threads, "streams": cut.streams, "nodes_without_times": untimed},
        "deps_written": dict(sorted(cut.kept.written.items())),
        "deps_left_out": dict(sorted(cut.kept.left_out.items())),
        "replay": figures(nodes, cut),
        "notes": dict(sorted(notes.items())),
    }


def _is_unwritten(reason: str) -> bool:
    """Return whether a note tells of calls that became no communication node."""
    return reason in NOT_WRITTEN or reason.endswith(AS_COMPUTATION)


def copy_entry(keys: RankKeys, copy: ChakraCopy, types: Counter[str]) -> dict[str, Any]:
    """Return the entry of a rank whose Chakra file is written back. Raises LedgerError when in and out
    differ.
    """
    nodes = copy.columns.nodes
    _balance(keys.rank, "Chakra nodes", keys.counts.get("ChakraNode", 0), sum(types.values()))
    return {
        "in": {
            "chakra_nodes": nodes.height,
            "ctrl_deps": int(nodes["ctrl_deps"].sum()),
            "data_deps": int(nodes["data_deps"].sum()),
        },
        "nodes": sum(types.values()),
        "communications": sum(number for name, number in types.items() if name.startswith("COMM_")),
        "types": dict(sorted(types.items())),
        "order": {"ids": "numbered anew" if copy.renumbered else "as recorded"},
        "deps_written": {name: len(ids) for name, (ids, _) in copy.deps.items() if len(ids)},
        "deps_left_out": copy.left_out,
        "notes": dict(sorted(copy.notes.items())),
    }


def add_warnings(entry: dict[str, Any], problems: list[Problem]) -> None:
    """Add what only some readers refuse to the entry of a rank."""
    if problems:
        entry["warnings"] = [problem.message for problem in problems]


def manifest(
    facts: Mapping[str, Any],
    ranks: Mapping[int, dict[str, Any]],
    groups: Groups,
    files: Mapping[str, Mapping[str, Any]],
    form: str,
    plan: Plan | None,
) -> dict[str, Any]:
    """Return the manifest of a run; `facts` are properties of its Run node, `plan` that for ASTRA-sim if
    any.
    """
    world_size = facts.get("world_size")
    absent = sorted(set(range(world_size or 0)) - set(ranks))
    return {
        "format": FORMAT,
        "run": facts["run"],
        "target": "chakra" if plan is None else "astra-sim",
        "form": form,
        "world_size": world_size,
        "ranks_absent": absent,
        "ranks": {str(rank): entry for rank, entry in sorted(ranks.items())},
        **({} if plan is None else _for_astra_sim(plan, absent, ranks)),
        "groups": {
            "written": len(groups.name_by_key) if plan is None else len(plan.groups),
            "called_by_key_because_the_name_is_ambiguous": groups.ambiguous,
            "not_all_members_known": groups.incomplete,
        },
        "files": {name: dict(files[name]) for name in sorted(files)},
    }


def _for_astra_sim(plan: Plan, absent: Sequence[int], ranks: Mapping[int, Any]) -> dict[str, Any]:
    """Return what a user of ASTRA-sim has to know of the files."""
    warnings = [
        f"rank {rank} has no file; the simulator wants ranks 0 … N-1 without holes" for rank in absent
    ]
    if len(ranks) < 2:
        warnings.append("one rank: the analytical network of the simulator wants two or more")
    return {
        "astra_sim": {
            "modes": '"replay-only": 1 in the system file reproduces the measured times (no rank waits for '
            "another); without it collectives, sends and recvs take what the network model says",
            "groups": plan.recorded,
            "warnings": warnings,
        }
    }


def to_bytes(entries: Mapping[str, Any]) -> bytes:
    """Return the manifest as JSON, indented, in the order of its keys."""
    return orjson.dumps(entries, option=orjson.OPT_INDENT_2) + b"\n"


def _balance(rank: int, what: str, given: int, written: int) -> None:
    if given != written:
        raise LedgerError(
            f"rank {rank}: {given} {what} in the store but {written} accounted for in the file. "
            "Nothing was written; this is a defect of graphstore."
        )


def _folded(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the records that are no nodes of their own, by where they went."""
    found = {
        "runtime calls, in the own time of the op that made them": counts.get("RuntimeCall", 0),
        "sync events, which say when a runtime call waited": counts.get("SyncEvent", 0),
        "Chakra nodes, because the rank also holds traces": counts.get("ChakraNode", 0),
    }
    return {where: number for where, number in found.items() if number}
