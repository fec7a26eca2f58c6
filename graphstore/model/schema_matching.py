"""Properties of what matching the ranks gives: collectives, channels of sends, causes (matching.md §9).

Joined in schema.py.
"""

from __future__ import annotations

from graphstore.model.schema_types import p

COLLECTIVE = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "kind and number, e.g. all_reduce #6"),
    p("group", "text", "group key of its process group"),
    p("pg_name", "text", "process group name"),
    p("collective_seq_id", "int", "number within the group, the same on all ranks"),
    p("collective_kind", "text", "kind that most members called; null where it is not known"),
    p("op_name", "text", "the call's own word, of the same members"),
    p(
        "verdict",
        "text",
        "MATCHED, TYPE_MISMATCH, DTYPE_MISMATCH, SIZE_MISMATCH, INCOMPLETE, PROGRESS_DIFF, UNDECIDED, "
        "NO_DUMP, FILTERED, LOST, EVICTED or WINDOW_ENDED",
    ),
    p("in_flight", "bool", "whether all members are in it and none has ended it"),
    p("site_differs", "bool", "whether members called it from different lines"),
    p("shape_differs", "bool", "whether members gave it tensors of different shapes (of equal size)"),
    p("classes", "json", "members by what their files prove: {class: ranks}, e.g. not_reached, no_dump"),
    p("unfinished", "text", "members that have the call and have not ended it, e.g. 0-2"),
    p("calls", "int", "members whose call is in the graph"),
    p("skew_ns", "int", "from the first start to the last, clock offsets taken off"),
    p("last_rank", "int", "member that started it last"),
    p("transfer_ns", "int", "from the last start to the earliest end after it: the time without waiting"),
)

CHANNEL = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "both ends and the group, e.g. 0->1 on pp[0,1]"),
    p("group", "text", "group key of its process group"),
    p("pg_name", "text", "process group name"),
    p("src", "int", "global rank that sends"),
    p("dst", "int", "global rank that receives"),
    p("sends", "int", "sends recorded"),
    p("recvs", "int", "recvs recorded"),
    p("matched", "int", "pairs that are proven"),
    p("solved", "int", "pairs found through counters or equal ends"),
    p("ambiguous", "int", "sends and recvs whose partner cannot be told"),
    p("send_only", "int", "sends that are proven to have no recv"),
    p("recv_only", "int", "recvs that are proven to have no send"),
    p("size_mismatch", "int", "pairs whose element counts or types differ"),
    p("how", "text", "anchor that settled it; empty where none did"),
    p("evicted_src", "int", "sends made before the first recorded one; null where not known"),
    p("evicted_dst", "int", "recvs made before the first recorded one; null where not known"),
    p("offset", "int", "place of the first send less that of the first recv; null where not known"),
    p("offset_low", "int", "smallest offset possible; null without bound"),
    p("offset_high", "int", "largest offset possible; null without bound"),
    p("verdict", "text", "MATCHED, SOLVED, AMBIGUOUS, INCOMPLETE, SIZE_MISMATCH or NO_DUMP"),
    p("in_flight", "bool", "whether its two ranks stand at both of its ends"),
    p("reordered", "bool", "whether both sides made the same transfers in different orders"),
)

CAUSE = (
    p("uid", "int", "key"),
    p("run", "text", "the run"),
    p("name", "text", "as the rule"),
    p("rule", "text", "never_called, behind, desync, size_mismatch, order_inversion, in_flight …"),
    p("place", "int", "place among the causes of the run, from 1"),
    p("proven", "bool", "whether a problem is proven; false where it cannot be decided"),
    p("message", "text", "one line: who, what, where, who suffers"),
    p("ranks", "list[int]", "ranks it is about"),
    p("blamed", "list[int]", "ranks at fault"),
    p("undecided", "list[int]", "ranks among whom the fault is, when it cannot be told whose"),
    p("confidence", "text", "high, medium, low or null"),
    p("basis", "text", "what the blame rests on"),
    p("group", "text", "group key of the call it is about; null for none"),
    p("collective_seq_id", "int", "number of that call"),
    p("op_name", "text", "the call's own word"),
    p("site", "text", "file:line of that call"),
    p("divergence", "json", "first call on which the ranks differ; null without"),
    p("evidence", "json", "what it rests on"),
)
