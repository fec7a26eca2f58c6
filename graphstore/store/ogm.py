"""neomodel classes for people who script a Neo4j store: one a primary label, checked against the schema.

In:  a Neo4j database that graphstore filled (set neomodel's `get_config().database_url` first).
Out: nodes as objects, e.g. `Finding.nodes.filter(severity="error")`, `op.launches.all()`.
Decided here: one class `Op` with the kinds as optional labels, because a subclass a kind would repeat every
index. For looking and scripting only: graphstore itself writes through neo4j_write.py, never through these.
Declared by model/schema.py; tests/unit/store/test_ogm.py fails when they differ. A relationship bears its
type's name in lower case; `…_from` is the same against its direction. The classes of what matching gives
(Collective, Channel, Cause) stand in ogm_matching.py, those of relationships in ogm_edges.py.
"""

from __future__ import annotations

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphstore.store.ogm_edges import About, CallOf, Ctrl, Member, Peer, SeenAs, Sync, WaitsFor
from graphstore.store.ogm_matching import Cause, Channel, Collective

__all__ = [
    "Cause",
    "Channel",
    "Collective",
    "Finding",
    "Op",
    "ProcessGroup",
    "Rank",
    "Repair",
    "Run",
    "Stream",
    "Thread",
    "TraceFile",
]


class Run(StructuredNode):
    """An archived run: the files of all ranks of one job."""

    uid = IntegerProperty()
    run = StringProperty(unique_index=True, required=True)
    name = StringProperty()
    run_no = IntegerProperty()
    status = StringProperty()
    world_size = IntegerProperty()
    ranks = ArrayProperty(IntegerProperty())
    origin_ns = IntegerProperty()
    created = StringProperty()
    tool_version = StringProperty()
    content_hash = StringProperty()
    tags = ArrayProperty(StringProperty())
    note = StringProperty()
    trace_bytes = IntegerProperty()
    ledger = StringProperty()
    matched_from = StringProperty()
    healthy = BooleanProperty()
    matching = StringProperty()

    in_run_from_trace_file = RelationshipFrom("TraceFile", "IN_RUN")
    in_run_from_rank = RelationshipFrom("Rank", "IN_RUN")
    about_from = RelationshipFrom("Finding", "ABOUT", model=About)


class TraceFile(StructuredNode):
    """One input file, with what was read and left out."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    kind = StringProperty()
    path = StringProperty()
    sha256 = StringProperty()
    size_bytes = IntegerProperty()
    compression = StringProperty()
    schema = StringProperty()
    schema_known = BooleanProperty()
    rank = IntegerProperty()
    rank_origin = StringProperty()
    world_size = IntegerProperty()
    backend = StringProperty()
    pid = IntegerProperty()
    host_pids = ArrayProperty(IntegerProperty())
    recorded_at = StringProperty()
    host = StringProperty()
    device_name = StringProperty()
    records_read = IntegerProperty()
    kept = IntegerProperty()
    left_out = StringProperty()
    cut_at = StringProperty()
    metadata_missing = BooleanProperty()
    problem = StringProperty()
    step_marks = IntegerProperty()
    rf_id_verdict = StringProperty()
    lowest_runtime_correlation = IntegerProperty()
    partner = StringProperty()
    link_method = StringProperty()
    link_candidates = IntegerProperty()
    link_matched = IntegerProperty()
    link_names_agree = IntegerProperty()
    link_ids_meet = IntegerProperty()
    link_anchors = IntegerProperty()
    link_external_ids_meet = IntegerProperty()
    link_external_names_agree = IntegerProperty()
    mismatch = StringProperty()
    launches_enclosed = IntegerProperty()
    entries_joined = IntegerProperty()
    entry_joins_disagree = IntegerProperty()
    time_link_disagrees = IntegerProperty()
    external_id_disagrees = IntegerProperty()

    in_run = RelationshipTo("Run", "IN_RUN")
    on_rank = RelationshipTo("Rank", "ON_RANK")
    about_from = RelationshipFrom("Finding", "ABOUT", model=About)


class Rank(StructuredNode):
    """One rank of the job."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    rank = IntegerProperty()
    host = StringProperty()
    device_name = StringProperty()
    dump = StringProperty()
    first_unfinished = StringProperty()
    first_unfinished_group = StringProperty()
    first_unfinished_site = StringProperty()
    unfinished = IntegerProperty()
    clock_offset_ns = IntegerProperty()
    clock_offset_calls = IntegerProperty()
    clock_offset_spread_ns = IntegerProperty()
    device_span_ns = IntegerProperty()
    device_busy_ns = IntegerProperty()
    computing_ns = IntegerProperty()
    communicating_ns = IntegerProperty()
    overlapped_ns = IntegerProperty()
    waits_against_times = IntegerProperty()
    waits_against_times_by_rule = StringProperty()

    in_run = RelationshipTo("Run", "IN_RUN")
    on_rank_from_trace_file = RelationshipFrom("TraceFile", "ON_RANK")
    on_rank_from_thread = RelationshipFrom("Thread", "ON_RANK")
    on_rank_from_stream = RelationshipFrom("Stream", "ON_RANK")
    member = RelationshipTo("ProcessGroup", "MEMBER", model=Member)
    waits_for_collective = RelationshipTo("Collective", "WAITS_FOR", model=WaitsFor)
    waits_for_rank = RelationshipTo("Rank", "WAITS_FOR", model=WaitsFor)
    waits_for_from_collective = RelationshipFrom("Collective", "WAITS_FOR", model=WaitsFor)
    waits_for_from_rank = RelationshipFrom("Rank", "WAITS_FOR", model=WaitsFor)
    about_from = RelationshipFrom("Finding", "ABOUT", model=About)


class Thread(StructuredNode):
    """One CPU thread of a rank."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    rank = IntegerProperty()
    process = IntegerProperty()
    thread = IntegerProperty()
    tid = IntegerProperty()

    on_rank = RelationshipTo("Rank", "ON_RANK")


class Stream(StructuredNode):
    """One GPU stream of a rank."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    rank = IntegerProperty()
    device = IntegerProperty()
    stream = IntegerProperty()

    on_rank = RelationshipTo("Rank", "ON_RANK")


class Op(StructuredNode):
    """An event of a trace; its kind is its second label and the property kind."""

    __optional_labels__ = (
        "HostOp",
        "RuntimeCall",
        "Kernel",
        "SyncEvent",
        "CollectiveCall",
        "ChakraNode",
    )

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty()
    rank = IntegerProperty()
    kind = StringProperty()
    name = StringProperty(index=True)
    start_ns = IntegerProperty()
    duration_ns = IntegerProperty()
    trace_file = IntegerProperty()
    node_id = IntegerProperty()
    parent_id = IntegerProperty()
    root = IntegerProperty()
    depth = IntegerProperty()
    process = IntegerProperty()
    thread = IntegerProperty()
    path = StringProperty()
    node_id_origin = StringProperty()
    tid = IntegerProperty()
    rf_id = IntegerProperty()
    external_id = IntegerProperty()
    autograd_seq_id = IntegerProperty()
    fw_tid = IntegerProperty()
    fw_parent = IntegerProperty()
    scope = IntegerProperty()
    category = StringProperty()
    self_ns = IntegerProperty()
    encloser = IntegerProperty()
    step = IntegerProperty()
    op_schema = StringProperty()
    input_values = StringProperty()
    input_shapes = StringProperty()
    input_types = StringProperty()
    output_values = StringProperty()
    output_shapes = StringProperty()
    output_types = StringProperty()
    input_bytes = IntegerProperty()
    output_bytes = IntegerProperty()
    comm_kind = StringProperty()
    synthetic = BooleanProperty()
    repair = StringProperty()
    correlation = IntegerProperty()
    device = IntegerProperty()
    stream = IntegerProperty()
    context = IntegerProperty()
    device_kind = StringProperty()
    launch_class = StringProperty()
    grid = ArrayProperty(IntegerProperty())
    block = ArrayProperty(IntegerProperty())
    size_bytes = IntegerProperty()
    collective_kind = StringProperty()
    work = StringProperty()
    idle_ns = IntegerProperty()
    sync_kind = StringProperty()
    wait_on_stream = IntegerProperty()
    wait_on_event_id = IntegerProperty()
    wait_on_record_correlation = IntegerProperty()
    op_name = StringProperty()
    group = StringProperty()
    group_origin = StringProperty()
    pg_name = StringProperty()
    pg_desc = StringProperty()
    pg_size = IntegerProperty()
    group_rank = IntegerProperty()
    root_rank = IntegerProperty()
    dtype = StringProperty()
    in_msg_nelems = IntegerProperty()
    out_msg_nelems = IntegerProperty()
    in_split = ArrayProperty(IntegerProperty())
    out_split = ArrayProperty(IntegerProperty())
    peer = IntegerProperty()
    peer_rank = IntegerProperty()
    peer_origin = StringProperty()
    tag = IntegerProperty()
    collective_seq_id = IntegerProperty()
    is_p2p = BooleanProperty()
    source = StringProperty()
    record_id = IntegerProperty()
    op_id = IntegerProperty()
    p2p_seq_id = IntegerProperty()
    pg_id = IntegerProperty()
    state = StringProperty()
    retired = BooleanProperty()
    started_ns = IntegerProperty()
    completed_ns = IntegerProperty()
    timeout_ms = IntegerProperty()
    site = StringProperty()
    in_sizes = StringProperty()
    out_sizes = StringProperty()
    in_dtypes = ArrayProperty(StringProperty())
    out_dtypes = ArrayProperty(StringProperty())
    joined_by = StringProperty()
    wait_ns = IntegerProperty()
    exposed_ns = IntegerProperty()
    overlapped_ns = IntegerProperty()
    chakra_kind = StringProperty()
    ctrl_deps = ArrayProperty(IntegerProperty())
    data_deps = ArrayProperty(IntegerProperty())
    is_cpu_op = BooleanProperty()
    comm_size_field = StringProperty()
    attributes = StringProperty()

    ctrl = RelationshipTo("Op", "CTRL", model=Ctrl)
    ctrl_from = RelationshipFrom("Op", "CTRL", model=Ctrl)
    launches = RelationshipTo("Op", "LAUNCHES")
    launches_from = RelationshipFrom("Op", "LAUNCHES")
    data = RelationshipTo("Op", "DATA")
    data_from = RelationshipFrom("Op", "DATA")
    sync = RelationshipTo("Op", "SYNC", model=Sync)
    sync_from = RelationshipFrom("Op", "SYNC", model=Sync)
    in_group = RelationshipTo("ProcessGroup", "IN_GROUP")
    call_of_collective = RelationshipTo("Collective", "CALL_OF", model=CallOf)
    call_of_channel = RelationshipTo("Channel", "CALL_OF", model=CallOf)
    peer_to = RelationshipTo("Op", "PEER", model=Peer)  # `peer` is a property
    peer_from = RelationshipFrom("Op", "PEER", model=Peer)
    seen_as = RelationshipTo("Op", "SEEN_AS", model=SeenAs)
    seen_as_from = RelationshipFrom("Op", "SEEN_AS", model=SeenAs)
    about_from = RelationshipFrom("Finding", "ABOUT", model=About)


class ProcessGroup(StructuredNode):
    """Process group: name and member set."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    group = StringProperty()
    pg_name = StringProperty()
    pg_desc = StringProperty()
    members = ArrayProperty(IntegerProperty())
    group_size = IntegerProperty()
    backend = StringProperty()
    origin = StringProperty()
    complete = BooleanProperty()
    listed_by = ArrayProperty(IntegerProperty())

    member_from = RelationshipFrom("Rank", "MEMBER", model=Member)
    in_group_from_op = RelationshipFrom("Op", "IN_GROUP")
    in_group_from_collective = RelationshipFrom("Collective", "IN_GROUP")
    in_group_from_channel = RelationshipFrom("Channel", "IN_GROUP")
    about_from = RelationshipFrom("Finding", "ABOUT", model=About)


class Finding(StructuredNode):
    """One cause of trouble, with its evidence; its severity is its second label."""

    __optional_labels__ = ("Error", "Warning", "Note")

    fid = StringProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    rule = StringProperty()
    severity = StringProperty()
    confidence = StringProperty()
    message = StringProperty()
    evidence = StringProperty()
    rank = IntegerProperty()
    status = StringProperty()
    subjects = IntegerProperty()

    about_op = RelationshipTo("Op", "ABOUT", model=About)
    about_trace_file = RelationshipTo("TraceFile", "ABOUT", model=About)
    about_rank = RelationshipTo("Rank", "ABOUT", model=About)
    about_process_group = RelationshipTo("ProcessGroup", "ABOUT", model=About)
    about_collective = RelationshipTo("Collective", "ABOUT", model=About)
    about_run = RelationshipTo("Run", "ABOUT", model=About)
    made_from = RelationshipFrom("Repair", "MADE")


class Repair(StructuredNode):
    """One applied repair, with what it changed."""

    rid = StringProperty(unique_index=True, required=True)
    run = StringProperty()
    name = StringProperty()
    rule = StringProperty()
    rank = IntegerProperty()
    reason = StringProperty()
    evidence = StringProperty()
    before = StringProperty()
    after = StringProperty()
    safe = BooleanProperty()
    changes = IntegerProperty()
    applied_at = StringProperty()

    made = RelationshipTo("Finding", "MADE")
