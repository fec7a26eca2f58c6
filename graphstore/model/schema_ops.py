"""Properties of the events of a trace: what every op has, then those of each kind.

Decided here: names follow PyTorch, Kineto and c10d in snake_case, units stand in names.
Joined in schema.py.
"""

from __future__ import annotations

from graphstore.model.schema_types import p

OP_COMMON = (
    p("uid", "int", "key, unique over all runs: run number << 32 | place in the run"),
    p("run", "text", "the run this node belongs to"),
    p("rank", "int", "global rank"),
    p("kind", "text", "the second label, repeated as a property"),
    p("name", "text", "as written in the trace"),
    p("start_ns", "int", "start since the run's origin; null where the files hold no time"),
    p("duration_ns", "int", "from start to end; null where the files hold no time"),
    p("trace_file", "int", "uid of the TraceFile the record was read from"),
)

TREE = (
    p("node_id", "int", "id in the execution trace or Chakra file; null for an op known to Kineto only"),
    p("parent_id", "int", "parent as recorded; null for a root, and for 0 which means unknown"),
    p("root", "int", "uid of the top of the op's tree of CTRL edges"),
    p("depth", "int", "CTRL edges between the op and that top"),
)

THREAD = (
    p("process", "int", "process id as in Kineto"),
    p("thread", "int", "thread id as in Kineto (an execution trace's tid is no thread)"),
)

HOST_OP = (
    *TREE,
    *THREAD,
    p("path", "text", "names from the top of the tree to the op, joined by ' / '"),
    p("node_id_origin", "text", "'repair' where a repair gave the op its node_id, else null"),
    p("tid", "int", "thread number of the execution trace"),
    p("rf_id", "int", "record function id; null when absent or 0"),
    p("external_id", "int", "Kineto's External id; its own counter, joins nothing by itself"),
    p("autograd_seq_id", "int", "autograd sequence number; null for -1"),
    p("fw_tid", "int", "thread number of the forward op; null for 0"),
    p("fw_parent", "int", "node_id of the forward op's parent; null for 0"),
    p("scope", "int", "RecordScope of the op"),
    p("category", "text", "Kineto category (cpu_op, user_annotation); null when in the execution trace only"),
    p("self_ns", "int", "duration less that of the ops it directly encloses on its thread"),
    p("encloser", "int", "uid of the innermost host op that encloses it in time on its thread"),
    p("step", "int", "number of the ProfilerStep it lies in"),
    p("op_schema", "text", "operator schema as recorded"),
    p("input_values", "json", "values of the inputs as recorded"),
    p("input_shapes", "json", "shapes of the inputs as recorded"),
    p("input_types", "json", "types of the inputs as recorded"),
    p("output_values", "json", "values of the outputs as recorded"),
    p("output_shapes", "json", "shapes of the outputs as recorded"),
    p("output_types", "json", "types of the outputs as recorded"),
    p(
        "input_bytes",
        "int",
        "bytes of the tensors it took, views by their own elements; null if not recorded",
    ),
    p("output_bytes", "int", "bytes of the tensors it returned, likewise"),
    p("comm_kind", "text", "on the host op that is a communication call: its collective_kind; else null"),
    p("synthetic", "bool", "true where a repair created the op"),
    p("repair", "text", "rid of the repair that created the op, else null"),
)

RUNTIME_CALL = (
    *THREAD,
    p("correlation", "int", "joins it to the device ops it launched; null for 0"),
    p("category", "text", "Kineto category (cuda_runtime, cuda_driver …)"),
    p("root", "int", "uid of the top of the CTRL tree it hangs in"),
    p("depth", "int", "CTRL edges between the call and that top"),
)

KERNEL = (
    p("correlation", "int", "joins it to its runtime call; null for 0"),
    p("device", "int", "device number"),
    p("stream", "int", "stream number"),
    p("context", "int", "device context"),
    p("device_kind", "text", "kernel, memcpy or memset"),
    p("category", "text", "Kineto category as written"),
    p(
        "launch_class",
        "text",
        "launched, graph_replay, before_window, lost, no_correlation or no_runtime_calls",
    ),
    p("external_id", "int", "Kineto's External id"),
    p("grid", "list[int]", "grid of a kernel"),
    p("block", "list[int]", "block of a kernel"),
    p("size_bytes", "int", "bytes of a copy or set"),
    p("collective_kind", "text", "kind of an NCCL or RCCL kernel's collective; else null"),
    p("work", "text", "computation, communication (NCCL, RCCL) or memory (a copy or set)"),
    p("idle_ns", "int", "how long its stream lay idle right before it; null for the first of a stream"),
    p("node_id", "int", "id in a merged execution trace (ET+); else null"),
    p("parent_id", "int", "parent in a merged execution trace (ET+); else null"),
)

SYNC_EVENT = (
    p("correlation", "int", "correlation of the synchronising call; null for 0"),
    p("device", "int", "device number"),
    p("stream", "int", "stream waited for or waiting; null = the whole context"),
    p("sync_kind", "text", "Stream Wait Event, Context Sync, Event Sync or Stream Sync"),
    p("wait_on_stream", "int", "stream that is waited for"),
    p("wait_on_event_id", "int", "CUDA event that is waited for"),
    p("wait_on_record_correlation", "int", "correlation of the call that recorded that event"),
)

COLLECTIVE_CALL = (
    p(
        "collective_kind",
        "text",
        "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, barrier, reduce, gather, scatter, "
        "send or recv",
    ),
    p("op_name", "text", "the call's own word (allreduce, _all_gather_base, c10d::allreduce_ …)"),
    p("group", "text", "group key of the process group; null when the files do not say"),
    p(
        "group_origin",
        "text",
        "recorded; splits: its pointer to the group is that of a call that split its tensor over the whole "
        "world; only_group: its rank has no other that it can be of; pairing: with another the sends and "
        "recvs of all ranks would not pair; or null",
    ),
    p("pg_name", "text", "process group name as recorded"),
    p("pg_desc", "text", "process group description as recorded"),
    p("pg_size", "int", "members of the group as recorded"),
    p(
        "group_rank",
        "int",
        "the caller's place in the group; null for a broadcast, whose field holds the root",
    ),
    p("root_rank", "int", "root of a broadcast, reduce, gather or scatter, as its place in the group"),
    p("dtype", "text", "element type as recorded"),
    p("in_msg_nelems", "int", "input elements of this rank"),
    p("out_msg_nelems", "int", "output elements of this rank"),
    p("in_split", "list[int]", "input split sizes"),
    p("out_split", "list[int]", "output split sizes"),
    p("size_bytes", "int", "input bytes of this rank; null when the files do not say"),
    p("peer", "int", "other side of a send or recv, as its place in the group"),
    p("peer_rank", "int", "other side of a send or recv as a global rank; null where that is not proven"),
    p(
        "peer_origin",
        "text",
        "what proves peer_rank: group: the place in its group; every_group: that rank has the place in every "
        "group it can be of; pairing: with another the sends and recvs of all ranks would not pair; or null",
    ),
    p("tag", "int", "tag of a send or recv"),
    p("collective_seq_id", "int", "number within the group; comparable between ranks"),
    p("is_p2p", "bool", "whether the call is a send or recv"),
    p("source", "text", "file kind the call was read from: et, kineto, flight_recorder"),
    p("node_id", "int", "id of the host op in the execution trace"),
    p("record_id", "int", "number of the Flight Recorder entry; counts over all groups of its process"),
    p("op_id", "int", "number of the call within the group on this rank, send and recv included"),
    p("p2p_seq_id", "int", "number of the send or recv within the group on this rank; of this rank alone"),
    p("pg_id", "int", "number of the group in its process; means nothing on another rank"),
    p("state", "text", "as recorded: scheduled, started or completed"),
    p("retired", "bool", "whether the recorder gave the call up as ended, well or not"),
    p("started_ns", "int", "when the device began it (UTC, ns); null when the dump does not say"),
    p("completed_ns", "int", "when the device ended it (UTC, ns); null when the dump does not say"),
    p("timeout_ms", "int", "time limit of the call as recorded"),
    p("site", "text", "file:line of the user's code that made the call; null without frames"),
    p("in_sizes", "json", "shapes of the inputs as recorded"),
    p("out_sizes", "json", "shapes of the outputs as recorded"),
    p("in_dtypes", "list[text]", "element types of the inputs as recorded"),
    p("out_dtypes", "list[text]", "element types of the outputs as recorded"),
    p(
        "joined_by",
        "text",
        "what joined the Flight Recorder entry to the trace's call: collective_seq_id, time, order or "
        "time and order; null where only one of them was read",
    ),
    p(
        "wait_ns",
        "int",
        "from this rank's start to that of the last member, clock offsets taken off; null where times lack",
    ),
    p(
        "exposed_ns",
        "int",
        "part of its time in which its rank computed nothing; with overlapped_ns the time of its kernels, "
        "without any of the backend's or c10d's op. Null where no file tells that",
    ),
    p("overlapped_ns", "int", "part of its time in which its rank computed"),
)

CHAKRA_NODE = (
    *TREE,
    p("chakra_kind", "text", "node type as in the Chakra schema: COMP_NODE, COMM_COLL_NODE …"),
    p("ctrl_deps", "list[int]", "ctrl deps as recorded"),
    p("data_deps", "list[int]", "data deps as recorded"),
    p("is_cpu_op", "bool", "attribute is_cpu_op; null when absent"),
    p("comm_kind", "text", "collective type or send or recv; null for other nodes"),
    p("size_bytes", "int", "attribute comm_size; null when absent"),
    p("comm_size_field", "text", "wire type of comm_size (int64, uint64 …); null when absent"),
    p("pg_name", "text", "attribute pg_name"),
    p("peer", "int", "attribute comm_dst or comm_src"),
    p("tag", "int", "attribute comm_tag"),
    p("stream", "int", "attribute stream; null when absent"),
    p("attributes", "json", "all attributes as recorded: {name: [wire type, value]}"),
    p("input_values", "text", "values of the inputs as recorded"),
    p("input_shapes", "text", "shapes of the inputs as recorded"),
    p("input_types", "text", "types of the inputs as recorded"),
    p("output_values", "text", "values of the outputs as recorded"),
    p("output_shapes", "text", "shapes of the outputs as recorded"),
    p("output_types", "text", "types of the outputs as recorded"),
)
