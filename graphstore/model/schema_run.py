"""Properties of what a run is made of beside its ops: files, ranks, groups; findings and repairs.

Joined in schema.py.
"""

from __future__ import annotations

from graphstore.model.schema_types import p

RUN_NODE = (
    p("uid", "int", "lies outside the range of the run's ops: run number << 32 | 0"),
    p("run", "text", "key: short immutable id of the run"),
    p("name", "text", "free text; at first the id"),
    p("run_no", "int", "number of the run in this archive; the upper half of every uid"),
    p("status", "text", "loading, ready or deleting; only ready runs are shown"),
    p("world_size", "int", "ranks of the job as recorded, else the ranks loaded"),
    p("ranks", "list[int]", "ranks loaded"),
    p("origin_ns", "int", "absolute time of start_ns = 0 (UTC, ns); null where no file holds times"),
    p("created", "text", "when it was imported, ISO 8601 UTC"),
    p("tool_version", "text", "version of graphstore that imported it"),
    p("content_hash", "text", "sha256 over the files' sha256, sorted"),
    p("tags", "list[text]", "tags given by people"),
    p("note", "text", "what people wrote about it; null without"),
    p("trace_bytes", "int", "bytes of its files as stored, dumps and what is no trace included"),
    p("ledger", "json", "records read, kept and left out per file kind"),
    p("matched_from", "text", "whose calls were matched across ranks: flight_recorder or traces; or null"),
    p("healthy", "bool", "true: every call is settled, false: a problem is proven, null: undecided"),
    p("matching", "json", "what matching says of the run as a whole: notes, versions, what would decide it"),
)

TRACE_FILE = (
    p("uid", "int", "key"),
    p("run", "text", "the run it belongs to"),
    p("name", "text", "file name"),
    p("kind", "text", "et, et_plus, kineto, flight_recorder, chakra_et, not_a_trace"),
    p("path", "text", "where it was read from"),
    p("sha256", "text", "hash of the bytes as stored"),
    p("size_bytes", "int", "bytes as stored"),
    p("compression", "text", "none, gz or zstd"),
    p("schema", "text", "schema or version as written; null when absent"),
    p("schema_known", "bool", "false where the schema is unknown or absent but its fields fit"),
    p("rank", "int", "global rank; null for a file without"),
    p("rank_origin", "text", "flag, content, file_name or assumed"),
    p("world_size", "int", "as recorded, else null"),
    p("backend", "text", "backend of the default group as recorded"),
    p("pid", "int", "process id as recorded"),
    p("host_pids", "list[int]", "process ids of its host ops; several where a file holds several ranks"),
    p("recorded_at", "text", "local or UTC time text as recorded"),
    p("host", "text", "host name as recorded"),
    p("device_name", "text", "device of the first deviceProperties entry"),
    p("records_read", "int", "records found in the file"),
    p("kept", "int", "records that became nodes or properties of nodes"),
    p("left_out", "json", "{reason: count} of the records that did not"),
    p("cut_at", "text", "where a cut-off file ends; null when whole"),
    p("metadata_missing", "bool", "true for a Chakra file that begins with a node; else null"),
    p("problem", "text", "why nothing of it was read; null when read"),
    p("step_marks", "int", "ProfilerStep marks in the file"),
    p("rf_id_verdict", "text", "record function ids: usable, zero, absent or repeated"),
    p("lowest_runtime_correlation", "int", "lowest correlation of a runtime call in a Kineto file"),
    p("partner", "text", "on a Kineto file: name of the execution trace it was matched with"),
    p("link_method", "text", "on a Kineto file: rf_id, name_order or none"),
    p("link_candidates", "int", "execution trace ops that could have a Kineto event"),
    p("link_matched", "int", "of these, matched"),
    p("link_names_agree", "int", "ids that meet with equal names"),
    p("link_ids_meet", "int", "ids that meet"),
    p("link_anchors", "int", "by name order: pairs whose autograd sequence numbers agree; 0 = order alone"),
    p("link_external_ids_meet", "int", "External ids that equal an rf_id: a test, nothing joins by them"),
    p("link_external_names_agree", "int", "of these, with equal names"),
    p("mismatch", "text", "what differs between the partners (pid, date, world size); null when nothing"),
    p("launches_enclosed", "int", "device ops whose launch lies inside a host op of its thread"),
    p("entries_joined", "int", "on a dump: its entries that are a call of the rank's traces, too"),
    p("entry_joins_disagree", "int", "entries that time and order join to different calls: to none, then"),
    p(
        "time_link_disagrees",
        "int",
        "launches for which the latest op started on any thread is not the encloser",
    ),
    p("external_id_disagrees", "int", "device ops whose External id names another op than the encloser"),
)

RANK = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "rank N"),
    p("rank", "int", "global rank"),
    p("host", "text", "host name as recorded"),
    p("device_name", "text", "device as recorded"),
    p(
        "dump",
        "text",
        "what its Flight Recorder dump holds: 'kept' calls, 'active only', 'none'; 'no file' where others "
        "have one; null without any",
    ),
    p("first_unfinished", "text", "first call that it has not finished, e.g. all_reduce #6; null for none"),
    p("first_unfinished_group", "text", "process group name of that call"),
    p("first_unfinished_site", "text", "file:line that made that call"),
    p("unfinished", "int", "calls that it has not finished"),
    p(
        "clock_offset_ns",
        "int",
        "its clock less that of the lowest rank, by the ends of collectives: 0 where these come in either "
        "order, null where none tells",
    ),
    p("clock_offset_calls", "int", "collectives that the offset rests on"),
    p("clock_offset_spread_ns", "int", "largest less smallest difference found among these"),
    p("device_span_ns", "int", "from the start of its first device op to the end of the last; null for none"),
    p("device_busy_ns", "int", "time in which a device op ran, on any stream"),
    p("computing_ns", "int", "time in which a device op that computes ran"),
    p("communicating_ns", "int", "time in which an NCCL or RCCL kernel ran"),
    p("overlapped_ns", "int", "time in which both ran"),
    p("waits_against_times", "int", "waits that its rules name and its times contradict: no SYNC edges"),
    p("waits_against_times_by_rule", "json", "these by rule"),
)

THREAD_NODE = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "thread name as recorded, else thread N"),
    p("rank", "int", "global rank"),
    p("process", "int", "process id"),
    p("thread", "int", "thread id as in Kineto; null without a Kineto file"),
    p("tid", "int", "thread number of the execution trace; null with a Kineto file"),
)

STREAM_NODE = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "device D stream S"),
    p("rank", "int", "global rank"),
    p("device", "int", "device number"),
    p("stream", "int", "stream number"),
)

PROCESS_GROUP = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "as the group key"),
    p("group", "text", "group key: pg_name and members, e.g. 0[0-3]"),
    p("pg_name", "text", "name as in c10d"),
    p("pg_desc", "text", "description as in c10d"),
    p("members", "list[int]", "global ranks, sorted"),
    p("group_size", "int", "members as recorded"),
    p("backend", "text", "backend as recorded"),
    p(
        "origin",
        "text",
        "where the membership was read or what proves it: pg_config, et_init, kineto, communication, peer, "
        "unnamed_pg_config, inferred_default, inferred, the last two with +shapes where calls prove the size",
    ),
    p("complete", "bool", "whether members is the whole set, not a lower bound"),
    p("listed_by", "list[int]", "ranks whose files list the group"),
)

FINDING = (
    p("fid", "text", "key: run:rule:hash of the subject; stable from check to check"),
    p("run", "text", "the run"),
    p("name", "text", "as the rule"),
    p("rule", "text", "rule that found it, e.g. missing_parent"),
    p("severity", "text", "error, warning or note; also its second label: Error, Warning or Note"),
    p("confidence", "text", "high, medium or low"),
    p("message", "text", "one line: the fact, with names"),
    p("evidence", "json", "what it rests on"),
    p("rank", "int", "rank it concerns; null = the run"),
    p("status", "text", "open or repaired"),
    p("subjects", "int", "number of nodes concerned"),
)

REPAIR = (
    p("rid", "text", "key: run:rule:rank"),
    p("run", "text", "the run"),
    p("name", "text", "as the rule"),
    p("rule", "text", "rule of the repair, e.g. restore_from_kineto"),
    p("rank", "int", "rank it concerns"),
    p("reason", "text", "one line: why this is the right change"),
    p("evidence", "json", "what it rests on"),
    p("before", "json", "old values, per changed node"),
    p("after", "json", "new values and new edges, per changed node"),
    p("safe", "bool", "proven by time or by recorded ids"),
    p("changes", "int", "number of changes"),
    p("applied_at", "text", "ISO 8601 UTC"),
)
