"""What would decide a job that cannot be decided: the file or the setting that is lacking.

In:  a `Matching`. Out: lines, the one that helps most first.
Decided here: the words, and which lack is told. What torch's settings are called: its page
"PYTORCH ProcessGroupNCCL Environment Variables" and, for the newer name, the code of torchtitan.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphstore.link.matching.messages import ranks_text
from graphstore.link.matching.model import JobMatching, Matching

_BUFFER = "TORCH_FR_BUFFER_SIZE (once TORCH_NCCL_TRACE_BUFFER_SIZE)"


def what_decides(matching: Matching, has_states: bool) -> list[str]:
    """Return what would decide the jobs that are not decided, each thing once; [] if all are.

    `has_states`: the calls are of Flight Recorder dumps; traces do not say which calls are unfinished.
    """
    lines = []
    if matching.healthy is None:
        lines += [f"the rank of {file}, as in --rank {file}=N" for file in _without_rank(matching)]
    undecided = [job for job in matching if job.healthy is None]
    for job in undecided:
        lines += _lacks(job)
    if undecided and not has_states:
        lines.append("Flight Recorder dumps: traces do not say which calls are unfinished")
    return list(dict.fromkeys(lines))


def _without_rank(matching: Matching) -> list[str]:
    return [file for file, why in matching.set_aside.items() if "rank is not known" in why]


def _lacks(job: JobMatching) -> Iterator[str]:
    verdicts = {*job.collectives["verdict"].unique(), *job.p2p["verdict"].unique()}
    if job.ranks["no_dump"]:
        yield f"the dump of {ranks_text(job.ranks['no_dump'])}"
    if job.ranks["empty"]:
        yield (
            f"a dump of {ranks_text(job.ranks['empty'])} that holds calls: {_BUFFER} above 0; of gloo's "
            "sends and recvs, which it does not record, a Kineto trace"
        )
    if any(cause.rule == "in_flight" for cause in job.causes):
        yield "dumps of all ranks some seconds later: does any rank still stand in the same call?"
    if verdicts & {"AMBIGUOUS", "LOST"}:
        yield f"dumps that reach further back: a larger {_BUFFER}"
    if verdicts & {"UNDECIDED", "WINDOW_ENDED"}:
        yield "dumps of all ranks that were written at one moment, by a version that writes pg_status"
    if "FILTERED" in verdicts:
        yield "dumps of all calls, not only of the active ones"
    if any(group.unseen for group in job.groups) or any("P2P_UNPLACED" in note for note in job.notes):
        yield "the Kineto trace or execution trace of each rank, beside the dumps: they list group members"
