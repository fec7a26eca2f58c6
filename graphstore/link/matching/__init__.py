"""The calls of all ranks side by side: what is incomplete, who waits for whom, and why (matching.md).

In:  the calls that Flight Recorder dumps, execution traces or Kineto traces recorded, a `RankDump` per file.
Out: `Matching`: per job the groups, a verdict per collective and per edge of sends, waits, causes, notes.
The rule above all rules: say only what the files prove. Order of the steps: matching.py.
"""

from graphstore.link.matching.deciding import what_decides
from graphstore.link.matching.evidence import (
    EVIDENCE,
    KEPT,
    evidence_rows,
    held_by_rank,
    unfinished_text,
    waits,
)
from graphstore.link.matching.file_dumps import flight_dumps, reduce_records, reduced_dumps
from graphstore.link.matching.host_calls import numbered_calls, trace_dumps
from graphstore.link.matching.matching import match_dumps, match_reduced
from graphstore.link.matching.model import (
    MISMATCHES,
    Cause,
    Group,
    JobMatching,
    Matching,
    RankDump,
    group_label,
)
from graphstore.link.matching.reduce import reduce_dump

__all__ = [
    "EVIDENCE",
    "KEPT",
    "MISMATCHES",
    "Cause",
    "Group",
    "JobMatching",
    "Matching",
    "RankDump",
    "evidence_rows",
    "flight_dumps",
    "group_label",
    "held_by_rank",
    "match_dumps",
    "match_reduced",
    "numbered_calls",
    "reduce_dump",
    "reduce_records",
    "reduced_dumps",
    "trace_dumps",
    "unfinished_text",
    "waits",
    "what_decides",
]
