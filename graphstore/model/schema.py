"""The graph, declared once: every label, relationship type, property, key and index with its meaning.

From this module come the DDL of both engines, the schema page (graphstore/model/README.md), the Browser
style, and the columns of the tables (model/records.py); store/ogm.py is checked against it.
The facts behind the fields: docs of each reader; names follow PyTorch, Kineto and c10d in snake_case.

Rules both engines need: one primary label a node (`Op` for every event of a trace, the kind as second
label); `uid` (int64) is the key; every node has a `name`; no property is called id, title, type or label;
only SYNC, SEEN_AS, ABOUT, MEMBER and repair edges carry properties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PropertyType = Literal["int", "float", "text", "bool", "list[int]", "list[text]", "json"]


@dataclass(frozen=True)
class Property:
    """One property: its name (ending in the unit), its type (`json` is text holding JSON), its meaning."""

    name: str
    type: PropertyType
    meaning: str


@dataclass(frozen=True)
class Label:
    """One node label. `kind_of` names the primary label where this one is the second (`Op:Kernel`)."""

    name: str
    meaning: str
    key: str
    properties: tuple[Property, ...]
    kind_of: str | None = None
    colour: str = "#A5ABB6"
    caption: str = "name"


@dataclass(frozen=True)
class RelationshipType:
    """One relationship type, its ends as (source, target) primary labels, and its properties if any."""

    name: str
    ends: tuple[tuple[str, str], ...]
    meaning: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True)
class Index:
    """A secondary index; applied on Neo4j only (the embedded engine would rebuild it at every open)."""

    name: str
    on: str  # label or relationship type
    properties: tuple[str, ...]
    relationship: bool = False


def _p(name: str, type: PropertyType, meaning: str) -> Property:
    return Property(name, type, meaning)


OP_COMMON = (
    _p("uid", "int", "key, unique over all runs: run number << 32 | place in the run"),
    _p("run", "text", "the run this node belongs to"),
    _p("rank", "int", "global rank"),
    _p("kind", "text", "the second label, repeated as a property"),
    _p("name", "text", "as written in the trace"),
    _p("start_ns", "int", "start since the run's origin; null where the files hold no time"),
    _p("duration_ns", "int", "from start to end; null where the files hold no time"),
    _p("trace_file", "int", "uid of the TraceFile the record was read from"),
)

TREE = (
    _p("node_id", "int", "id in the execution trace or Chakra file; null for an op known to Kineto only"),
    _p("parent_id", "int", "parent as recorded; null for a root, and for 0 which means unknown"),
    _p("root", "int", "uid of the top of the op's tree of CTRL edges"),
    _p("depth", "int", "CTRL edges between the op and that top"),
)

THREAD = (
    _p("process", "int", "process id as in Kineto"),
    _p("thread", "int", "thread id as in Kineto (an execution trace's tid is no thread)"),
)

HOST_OP = (
    *TREE,
    *THREAD,
    _p("path", "text", "names from the top of the tree to the op, joined by ' / '"),
    _p("node_id_origin", "text", "'repair' where a repair gave the op its node_id, else null"),
    _p("tid", "int", "thread number of the execution trace"),
    _p("rf_id", "int", "record function id; null when absent or 0"),
    _p("external_id", "int", "Kineto's External id; its own counter, joins nothing by itself"),
    _p("autograd_seq_id", "int", "autograd sequence number; null for -1"),
    _p("fw_tid", "int", "thread number of the forward op; null for 0"),
    _p("fw_parent", "int", "node_id of the forward op's parent; null for 0"),
    _p("scope", "int", "RecordScope of the op"),
    _p(
        "category", "text", "Kineto category (cpu_op, user_annotation); null when in the execution trace only"
    ),
    _p("self_ns", "int", "duration less that of the ops it directly encloses on its thread"),
    _p("encloser", "int", "uid of the innermost host op that encloses it in time on its thread"),
    _p("step", "int", "number of the ProfilerStep it lies in"),
    _p("op_schema", "text", "operator schema as recorded"),
    _p("input_values", "json", "values of the inputs as recorded"),
    _p("input_shapes", "json", "shapes of the inputs as recorded"),
    _p("input_types", "json", "types of the inputs as recorded"),
    _p("output_values", "json", "values of the outputs as recorded"),
    _p("output_shapes", "json", "shapes of the outputs as recorded"),
    _p("output_types", "json", "types of the outputs as recorded"),
    _p("comm_kind", "text", "on the host op that is a communication call: its collective_kind; else null"),
    _p("synthetic", "bool", "true where a repair created the op"),
    _p("repair", "text", "rid of the repair that created the op, else null"),
)

RUNTIME_CALL = (
    *THREAD,
    _p("correlation", "int", "joins it to the device ops it launched; null for 0"),
    _p("category", "text", "Kineto category (cuda_runtime, cuda_driver …)"),
    _p("root", "int", "uid of the top of the CTRL tree it hangs in"),
    _p("depth", "int", "CTRL edges between the call and that top"),
)

KERNEL = (
    _p("correlation", "int", "joins it to its runtime call; null for 0"),
    _p("device", "int", "device number"),
    _p("stream", "int", "stream number"),
    _p("context", "int", "device context"),
    _p("device_kind", "text", "kernel, memcpy or memset"),
    _p("category", "text", "Kineto category as written"),
    _p(
        "launch_class",
        "text",
        "launched, graph_replay, before_window, lost, no_correlation or no_runtime_calls",
    ),
    _p("external_id", "int", "Kineto's External id"),
    _p("grid", "list[int]", "grid of a kernel"),
    _p("block", "list[int]", "block of a kernel"),
    _p("size_bytes", "int", "bytes of a copy or set"),
    _p("collective_kind", "text", "kind of an NCCL or RCCL kernel's collective; else null"),
    _p("node_id", "int", "id in a merged execution trace (ET+); else null"),
    _p("parent_id", "int", "parent in a merged execution trace (ET+); else null"),
)

SYNC_EVENT = (
    _p("correlation", "int", "correlation of the synchronising call; null for 0"),
    _p("device", "int", "device number"),
    _p("stream", "int", "stream waited for or waiting; null = the whole context"),
    _p("sync_kind", "text", "Stream Wait Event, Context Sync, Event Sync or Stream Sync"),
    _p("wait_on_stream", "int", "stream that is waited for"),
    _p("wait_on_event_id", "int", "CUDA event that is waited for"),
    _p("wait_on_record_correlation", "int", "correlation of the call that recorded that event"),
)

COLLECTIVE_CALL = (
    _p(
        "collective_kind",
        "text",
        "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, barrier, reduce, gather, scatter, "
        "send or recv",
    ),
    _p("op_name", "text", "the call's own word (allreduce, _all_gather_base, c10d::allreduce_ …)"),
    _p("group", "text", "group key of the process group; null when the files do not say"),
    _p("group_origin", "text", "recorded, only_group or null"),
    _p("pg_name", "text", "process group name as recorded"),
    _p("pg_desc", "text", "process group description as recorded"),
    _p("pg_size", "int", "members of the group as recorded"),
    _p(
        "group_rank",
        "int",
        "the caller's place in the group; null for a broadcast, whose field holds the root",
    ),
    _p("root_rank", "int", "root of a broadcast, reduce, gather or scatter, as its place in the group"),
    _p("dtype", "text", "element type as recorded"),
    _p("in_msg_nelems", "int", "input elements of this rank"),
    _p("out_msg_nelems", "int", "output elements of this rank"),
    _p("in_split", "list[int]", "input split sizes"),
    _p("out_split", "list[int]", "output split sizes"),
    _p("size_bytes", "int", "input bytes of this rank; null when the files do not say"),
    _p("peer", "int", "other side of a send or recv, as its place in the group"),
    _p("tag", "int", "tag of a send or recv"),
    _p("collective_seq_id", "int", "number within the group; comparable between ranks"),
    _p("is_p2p", "bool", "whether the call is a send or recv"),
    _p("source", "text", "file kind the call was read from: et, kineto, flight_recorder"),
    _p("node_id", "int", "id of the host op in the execution trace"),
    _p("record_id", "int", "number of the Flight Recorder entry; counts over all groups of its process"),
    _p("op_id", "int", "number of the call within the group on this rank, send and recv included"),
    _p("p2p_seq_id", "int", "number of the send or recv within the group on this rank; of this rank alone"),
    _p("pg_id", "int", "number of the group in its process; means nothing on another rank"),
    _p("state", "text", "as recorded: scheduled, started or completed"),
    _p("retired", "bool", "whether the recorder gave the call up as ended, well or not"),
    _p("started_ns", "int", "when the device began it (UTC, ns); null when the dump does not say"),
    _p("completed_ns", "int", "when the device ended it (UTC, ns); null when the dump does not say"),
    _p("timeout_ms", "int", "time limit of the call as recorded"),
    _p("site", "text", "file:line of the user's code that made the call; null without frames"),
    _p("in_sizes", "json", "shapes of the inputs as recorded"),
    _p("out_sizes", "json", "shapes of the outputs as recorded"),
    _p("in_dtypes", "list[text]", "element types of the inputs as recorded"),
    _p("out_dtypes", "list[text]", "element types of the outputs as recorded"),
)

CHAKRA_NODE = (
    *TREE,
    _p("chakra_kind", "text", "node type as in the Chakra schema: COMP_NODE, COMM_COLL_NODE …"),
    _p("ctrl_deps", "list[int]", "ctrl deps as recorded"),
    _p("data_deps", "list[int]", "data deps as recorded"),
    _p("is_cpu_op", "bool", "attribute is_cpu_op; null when absent"),
    _p("comm_kind", "text", "collective type or send or recv; null for other nodes"),
    _p("size_bytes", "int", "attribute comm_size; null when absent"),
    _p("comm_size_field", "text", "wire type of comm_size (int64, uint64 …); null when absent"),
    _p("pg_name", "text", "attribute pg_name"),
    _p("peer", "int", "attribute comm_dst or comm_src"),
    _p("tag", "int", "attribute comm_tag"),
    _p("stream", "int", "attribute stream; null when absent"),
    _p("attributes", "json", "all attributes as recorded: {name: [wire type, value]}"),
    _p("input_values", "text", "values of the inputs as recorded"),
    _p("input_shapes", "text", "shapes of the inputs as recorded"),
    _p("input_types", "text", "types of the inputs as recorded"),
    _p("output_values", "text", "values of the outputs as recorded"),
    _p("output_shapes", "text", "shapes of the outputs as recorded"),
    _p("output_types", "text", "types of the outputs as recorded"),
)

RUN_NODE = (
    _p("uid", "int", "lies outside the range of the run's ops: run number << 32 | 0"),
    _p("run", "text", "key: short immutable id of the run"),
    _p("name", "text", "free text; at first the id"),
    _p("run_no", "int", "number of the run in this archive; the upper half of every uid"),
    _p("status", "text", "loading, ready or deleting; only ready runs are shown"),
    _p("world_size", "int", "ranks of the job as recorded, else the ranks loaded"),
    _p("ranks", "list[int]", "ranks loaded"),
    _p("origin_ns", "int", "absolute time of start_ns = 0 (UTC, ns); null where no file holds times"),
    _p("created", "text", "when it was imported, ISO 8601 UTC"),
    _p("tool_version", "text", "version of graphstore that imported it"),
    _p("content_hash", "text", "sha256 over the files' sha256, sorted"),
    _p("tags", "list[text]", "tags given by people"),
    _p("ledger", "json", "records read, kept and left out per file kind"),
)

TRACE_FILE = (
    _p("uid", "int", "key"),
    _p("run", "text", "the run it belongs to"),
    _p("name", "text", "file name"),
    _p("kind", "text", "et, et_plus, kineto, flight_recorder, chakra_et, not_a_trace"),
    _p("path", "text", "where it was read from"),
    _p("sha256", "text", "hash of the bytes as stored"),
    _p("size_bytes", "int", "bytes as stored"),
    _p("compression", "text", "none, gz or zstd"),
    _p("schema", "text", "schema or version as written; null when absent"),
    _p("schema_known", "bool", "false where the schema is unknown or absent but its fields fit"),
    _p("rank", "int", "global rank; null for a file without"),
    _p("rank_origin", "text", "flag, content, file_name or assumed"),
    _p("world_size", "int", "as recorded, else null"),
    _p("backend", "text", "backend of the default group as recorded"),
    _p("pid", "int", "process id as recorded"),
    _p("host_pids", "list[int]", "process ids of its host ops; several where a file holds several ranks"),
    _p("recorded_at", "text", "local or UTC time text as recorded"),
    _p("host", "text", "host name as recorded"),
    _p("device_name", "text", "device of the first deviceProperties entry"),
    _p("records_read", "int", "records found in the file"),
    _p("kept", "int", "records that became nodes or properties of nodes"),
    _p("left_out", "json", "{reason: count} of the records that did not"),
    _p("cut_at", "text", "where a cut-off file ends; null when whole"),
    _p("problem", "text", "why nothing of it was read; null when read"),
    _p("step_marks", "int", "ProfilerStep marks in the file"),
    _p("rf_id_verdict", "text", "record function ids: usable, zero, absent or repeated"),
    _p("lowest_runtime_correlation", "int", "lowest correlation of a runtime call in a Kineto file"),
    _p("partner", "text", "on a Kineto file: name of the execution trace it was matched with"),
    _p("link_method", "text", "on a Kineto file: rf_id, name_order or none"),
    _p("link_candidates", "int", "execution trace ops that could have a Kineto event"),
    _p("link_matched", "int", "of these, matched"),
    _p("link_names_agree", "int", "ids that meet with equal names"),
    _p("link_ids_meet", "int", "ids that meet"),
    _p("link_anchors", "int", "by name order: pairs whose autograd sequence numbers agree; 0 = order alone"),
    _p("link_external_ids_meet", "int", "External ids that equal an rf_id: a test, nothing joins by them"),
    _p("link_external_names_agree", "int", "of these, with equal names"),
    _p("mismatch", "text", "what differs between the partners (pid, date, world size); null when nothing"),
    _p("launches_enclosed", "int", "device ops whose launch lies inside a host op of its thread"),
    _p(
        "time_link_disagrees",
        "int",
        "launches for which the latest op started on any thread is not the encloser",
    ),
    _p("external_id_disagrees", "int", "device ops whose External id names another op than the encloser"),
)

RANK = (
    _p("uid", "int", "key"),
    _p("run", "text", "the run"),
    _p("name", "text", "rank N"),
    _p("rank", "int", "global rank"),
    _p("host", "text", "host name as recorded"),
    _p("device_name", "text", "device as recorded"),
)

THREAD_NODE = (
    _p("uid", "int", "key"),
    _p("run", "text", "the run"),
    _p("name", "text", "thread name as recorded, else thread N"),
    _p("rank", "int", "global rank"),
    _p("process", "int", "process id"),
    _p("thread", "int", "thread id as in Kineto; null without a Kineto file"),
    _p("tid", "int", "thread number of the execution trace; null with a Kineto file"),
)

STREAM_NODE = (
    _p("uid", "int", "key"),
    _p("run", "text", "the run"),
    _p("name", "text", "device D stream S"),
    _p("rank", "int", "global rank"),
    _p("device", "int", "device number"),
    _p("stream", "int", "stream number"),
)

PROCESS_GROUP = (
    _p("uid", "int", "key"),
    _p("run", "text", "the run"),
    _p("name", "text", "as the group key"),
    _p("group", "text", "group key: pg_name and members, e.g. 0[0-3]"),
    _p("pg_name", "text", "name as in c10d"),
    _p("pg_desc", "text", "description as in c10d"),
    _p("members", "list[int]", "global ranks, sorted"),
    _p("group_size", "int", "members as recorded"),
    _p("backend", "text", "backend as recorded"),
    _p("origin", "text", "where the membership was read: et_init, kineto, communication, inferred"),
    _p("complete", "bool", "whether members is the whole set, not a lower bound"),
    _p("listed_by", "list[int]", "ranks whose files list the group"),
)

FINDING = (
    _p("fid", "text", "key: run:rule:hash of the subject; stable from check to check"),
    _p("run", "text", "the run"),
    _p("name", "text", "as the rule"),
    _p("rule", "text", "rule that found it, e.g. missing_parent"),
    _p("severity", "text", "error, warning or note"),
    _p("confidence", "text", "high, medium or low"),
    _p("message", "text", "one line: the fact, with names"),
    _p("evidence", "json", "what it rests on"),
    _p("rank", "int", "rank it concerns; null = the run"),
    _p("status", "text", "open or repaired"),
    _p("subjects", "int", "number of nodes concerned"),
)

REPAIR = (
    _p("rid", "text", "key: run:rule:rank"),
    _p("run", "text", "the run"),
    _p("name", "text", "as the rule"),
    _p("rule", "text", "rule of the repair, e.g. restore_from_kineto"),
    _p("rank", "int", "rank it concerns"),
    _p("reason", "text", "one line: why this is the right change"),
    _p("evidence", "json", "what it rests on"),
    _p("before", "json", "old values, per changed node"),
    _p("after", "json", "new values and new edges, per changed node"),
    _p("safe", "bool", "proven by time or by recorded ids"),
    _p("changes", "int", "number of changes"),
    _p("applied_at", "text", "ISO 8601 UTC"),
)


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
        "Finding", "one cause of trouble, with its evidence", "fid", FINDING, colour="#BF616A", caption="rule"
    ),
    Label(
        "Repair", "one applied repair, with what it changed", "rid", REPAIR, colour="#8DCC93", caption="rule"
    ),
)

RULE = _p("rule", "text", "what says so, e.g. recorded, order, stream_wait.timing")
REPAIR_EDGE = (
    _p("repair", "text", "rid of the repair that made the edge; null on a recorded edge"),
    _p("rule", "text", "rule of that repair"),
    _p("confidence", "text", "high, medium or low"),
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
    RelationshipType("MEMBER", (("Rank", "ProcessGroup"),), "rank is a member of the group"),
    RelationshipType("IN_GROUP", (("Op", "ProcessGroup"),), "collective call → its process group"),
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
            ("Finding", "Run"),
        ),
        "finding → what it concerns",
        (_p("role", "text", "part the node plays, e.g. orphan"),),
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
