"""The graph, declared once: every label, relationship type, property, key and index with its meaning.

From this module come the DDL of both engines, the schema page (graphstore/model/README.md), the Browser
style, and the columns of the tables (model/records.py); store/ogm.py is checked against it.
The facts behind the fields: docs of each reader; names follow PyTorch, Kineto and c10d in snake_case.

Rules both engines need: one primary label a node (`Op` for every event of a trace, the kind as second
label); `uid` (int64) is the key; every node has a `name`; no property is called id, title, type or label;
only SYNC, SEEN_AS, ABOUT, MEMBER, CALL_OF, PEER, WAITS_FOR and repair edges carry properties.
"""

from __future__ import annotations

from graphstore.model.schema_matching import (
    CAUSE,
    CHANNEL,
    COLLECTIVE,
)
from graphstore.model.schema_ops import (
    CHAKRA_NODE,
    COLLECTIVE_CALL,
    HOST_OP,
    KERNEL,
    OP_COMMON,
    RUNTIME_CALL,
    SYNC_EVENT,
)
from graphstore.model.schema_run import (
    FINDING,
    PROCESS_GROUP,
    RANK,
    REPAIR,
    RUN_NODE,
    STREAM_NODE,
    THREAD_NODE,
    TRACE_FILE,
)
from graphstore.model.schema_types import Index, Label, Property, RelationshipType, p


def _kind(name: str, meaning: str, properties: tuple[Property, ...], colour: str) -> Label:
    return Label(name, meaning, "uid", (*OP_COMMON, *properties), kind_of="Op", colour=colour)


LABELS: tuple[Label, ...] = (
    Label("Run", "an archived run: the files of all ranks of one job", "run", RUN_NODE, colour="#4C566A"),
    Label(
        "TraceFile", "one input file, with what was read and left out", "uid", TRACE_FILE, colour="#8FBCBB"
    ),
    Label("Rank", "one rank of the job", "uid", RANK, colour="#5E81AC"),
    Label("Thread", "one CPU thread of a rank", "uid", THREAD_NODE, colour="#88C0D0"),
    Label("Stream", "one GPU stream of a rank", "uid", STREAM_NODE, colour="#81A1C1"),
    _kind("HostOp", "execution trace node, or CPU-side Kineto span without one", HOST_OP, "#57C7E3"),
    _kind("RuntimeCall", "CUDA or HIP runtime or driver call", RUNTIME_CALL, "#A3BE8C"),
    _kind("Kernel", "device op: kernel, copy or set", KERNEL, "#F16667"),
    _kind("SyncEvent", "cuda_sync event of Kineto", SYNC_EVENT, "#B48EAD"),
    _kind("CollectiveCall", "one rank's part in a communication", COLLECTIVE_CALL, "#FFC454"),
    _kind("ChakraNode", "node of an imported Chakra file", CHAKRA_NODE, "#D08770"),
    Label("ProcessGroup", "process group: name and member set", "uid", PROCESS_GROUP, colour="#DA7194"),
    Label(
        "Collective", "one communication of a group, over all its ranks", "uid", COLLECTIVE, colour="#EBCB8B"
    ),
    Label("Channel", "the sends of one rank to another within a group", "uid", CHANNEL, colour="#D8A657"),
    Label(
        "Cause",
        "what stopped or split the ranks, as matching them says",
        "uid",
        CAUSE,
        colour="#B04A5A",
        caption="rule",
    ),
    Label(
        "Finding", "one cause of trouble, with its evidence", "fid", FINDING, colour="#BF616A", caption="rule"
    ),
    Label(
        "Repair", "one applied repair, with what it changed", "rid", REPAIR, colour="#8DCC93", caption="rule"
    ),
)

# Severity of a finding → its second label, with a colour: a graph view colours by label, not by property.
SEVERITY_LABELS: dict[str, Label] = {
    "error": Label("Error", "finding of severity error", "fid", FINDING, "Finding", "#C2185B", "rule"),
    "warning": Label("Warning", "finding of severity warning", "fid", FINDING, "Finding", "#E69F00", "rule"),
    "note": Label("Note", "finding of severity note", "fid", FINDING, "Finding", "#7F8FA6", "rule"),
}

RULE = p(
    "rule",
    "text",
    "what says so; of a wait found within a rank the rule, and behind its point what it rests on: recorded, "
    "certain, likely or timing",
)
REPAIR_EDGE = (
    p("repair", "text", "rid of the repair that made the edge; null on a recorded edge"),
    p("rule", "text", "rule of that repair"),
    p("confidence", "text", "high, medium or low"),
)

RELATIONSHIP_TYPES: tuple[RelationshipType, ...] = (
    RelationshipType(
        "CTRL",
        (("Op", "Op"),),
        "caller → called; a forest. ctrl dep of a Chakra file: awaited → waiting",
        REPAIR_EDGE,
    ),
    RelationshipType("LAUNCHES", (("Op", "Op"),), "runtime call → device op, by correlation"),
    RelationshipType(
        "DATA", (("Op", "Op"),), "producer → consumer of a tensor storage; data dep of a Chakra file"
    ),
    RelationshipType("SYNC", (("Op", "Op"),), "waited for → waiting", (RULE,)),
    RelationshipType("IN_RUN", (("TraceFile", "Run"), ("Rank", "Run")), "part of the run"),
    RelationshipType(
        "ON_RANK", (("TraceFile", "Rank"), ("Thread", "Rank"), ("Stream", "Rank")), "belongs to the rank"
    ),
    RelationshipType(
        "MEMBER",
        (("Rank", "ProcessGroup"),),
        "rank is a member of the group",
        (
            p("first_kept", "int", "collective_seq_id of the rank's first recorded collective"),
            p("last_kept", "int", "collective_seq_id of the last one"),
            p("kept", "int", "collectives of the group that the rank's file holds"),
            p("last_enqueued", "int", "collective_seq_id of the last one it began, by its own counter"),
            p("last_completed", "int", "collective_seq_id of the last one it ended, by its own counter"),
        ),
    ),
    RelationshipType(
        "IN_GROUP",
        (("Op", "ProcessGroup"), ("Collective", "ProcessGroup"), ("Channel", "ProcessGroup")),
        "collective call, collective or channel → its process group",
    ),
    RelationshipType(
        "CALL_OF",
        (("Op", "Collective"), ("Op", "Channel")),
        "a rank's call → the collective it is part of, or the channel it goes through",
        (RULE,),
    ),
    RelationshipType("PEER", (("Op", "Op"),), "send → the recv that takes it", (RULE,)),
    RelationshipType(
        "WAITS_FOR",
        (("Rank", "Collective"), ("Collective", "Rank"), ("Rank", "Rank")),
        "rank → the collective it stands in → the ranks that lack; for a send or recv rank → rank",
        (p("wait", "text", "in_call, never, queued, p2p, no_dump or undecided"),),
    ),
    RelationshipType(
        "SEEN_AS", (("Op", "Op"),), "collective call → host op or device op it was seen as", (RULE,)
    ),
    RelationshipType(
        "ABOUT",
        (
            ("Finding", "Op"),
            ("Finding", "TraceFile"),
            ("Finding", "Rank"),
            ("Finding", "ProcessGroup"),
            ("Finding", "Collective"),
            ("Finding", "Run"),
        ),
        "finding → what it concerns",
        (p("role", "text", "part the node plays, e.g. orphan"),),
    ),
    RelationshipType("MADE", (("Repair", "Finding"),), "repair → finding it answers"),
)

INDEXES: tuple[Index, ...] = (
    Index("op_run_rank_node_id", "Op", ("run", "rank", "node_id")),
    Index("op_name", "Op", ("name",)),
    Index("host_op_run", "HostOp", ("run",)),
    Index("runtime_call_run", "RuntimeCall", ("run",)),
    Index("kernel_run", "Kernel", ("run",)),
    Index("sync_event_run", "SyncEvent", ("run",)),
    Index("collective_call_run", "CollectiveCall", ("run",)),
    Index("chakra_node_run", "ChakraNode", ("run",)),
    Index("collective_run", "Collective", ("run",)),
    Index("collective_number", "Collective", ("run", "group", "collective_seq_id")),
    Index("channel_run", "Channel", ("run",)),
    Index("cause_run", "Cause", ("run",)),
    Index("ctrl_repair", "CTRL", ("repair",), relationship=True),
)

LABEL_BY_NAME: dict[str, Label] = {label.name: label for label in LABELS}
TYPE_BY_NAME: dict[str, RelationshipType] = {kind.name: kind for kind in RELATIONSHIP_TYPES}
OP_KINDS: tuple[str, ...] = tuple(label.name for label in LABELS if label.kind_of == "Op")


def primary_label(name: str) -> str:
    """Return the label that stands first on a node of label `name` (`Op` for `Kernel`)."""
    return LABEL_BY_NAME[name].kind_of or name if name != "Op" else "Op"


def primary_labels() -> dict[str, tuple[str, tuple[Property, ...]]]:
    """Return {primary label: (key, properties)}; those of `Op` are the union over its kinds, in order."""
    out: dict[str, tuple[str, tuple[Property, ...]]] = {}
    union: dict[str, Property] = {}
    for label in LABELS:
        if label.kind_of == "Op":
            union.update({p.name: union.get(p.name, p) for p in label.properties})
            out["Op"] = ("uid", tuple(union.values()))
        else:
            out[label.name] = (label.key, label.properties)
    return out
