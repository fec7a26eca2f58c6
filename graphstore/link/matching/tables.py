"""A matched job as tables and plain lists, as its readers want them.

In:  a `JobState` with its waits and causes. Out: a `JobMatching`.
Decided here: which runs of calls are told as one; nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import polars as pl

from graphstore.link.matching import absence
from graphstore.link.matching.collectives import Matched
from graphstore.link.matching.edges import Edge
from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import Cause, JobMatching
from graphstore.link.matching.notes import is_healthy, notes, version_texts
from graphstore.link.matching.waiting import WaitGraph, Waiting
from graphstore.model.ids import name_order, rank_ranges

COLLECTIVES: dict[str, Any] = {
    "group": pl.String,
    "pg_name": pl.String,
    "collective_seq_id": pl.Int64,
    "collective_kind": pl.String,
    "op_name": pl.String,
    "verdict": pl.String,
    "in_flight": pl.Boolean,
    "site_differs": pl.Boolean,
    "shape_differs": pl.Boolean,
    "classes": pl.String,  # JSON {class: ranks}
    "unfinished": pl.String,  # ranks that have the call and have not ended it
}
P2P: dict[str, Any] = {
    "group": pl.String,
    "pg_name": pl.String,
    "src": pl.Int64,
    "dst": pl.Int64,
    "sends": pl.Int64,
    "recvs": pl.Int64,
    "matched": pl.Int64,
    "solved": pl.Int64,
    "ambiguous": pl.Int64,
    "send_only": pl.Int64,
    "recv_only": pl.Int64,
    "size_mismatch": pl.Int64,
    "how": pl.String,
    "evicted_src": pl.Int64,
    "evicted_dst": pl.Int64,
    "offset": pl.Int64,
    "offset_low": pl.Int64,
    "offset_high": pl.Int64,
    "verdict": pl.String,
    "in_flight": pl.Boolean,
    "reordered": pl.Boolean,
}
PAIRS: dict[str, Any] = {
    "group": pl.String,
    "src": pl.Int64,
    "dst": pl.Int64,
    "send_record_id": pl.Int64,
    "recv_record_id": pl.Int64,
    "send_place": pl.Int64,
    "recv_place": pl.Int64,
    "how": pl.String,
}
COUNTERS: dict[str, Any] = {
    "rank": pl.Int64,
    "group": pl.String,
    "last_enqueued": pl.Int64,
    "last_completed": pl.Int64,
}


def tables(job: JobState, graph: WaitGraph, causes: list[Cause]) -> JobMatching:
    """Return a job as its readers want it."""
    out = JobMatching(
        ranks={
            "world": job.world,
            "dumped": sorted(job.dumps),
            "no_dump": [rank for rank in job.world if rank not in job.facts.ranks],
            "empty": sorted(job.facts.empty),
            "filtered": sorted(job.facts.filtered),
        },
        versions=version_texts(job),
        files=[name for _, dump in sorted(job.dumps.items()) for name in dump.file.split(", ")],
        groups=sorted(job.groups.items, key=lambda group: (name_order(group.name), group.members)),
        group_of={
            (rank, *written): job.groups.items[job.groups.of_call[rank, pg]].key
            for rank, dump in sorted(job.dumps.items())
            for written, pg in zip(dump.written or dump.pgs, dump.pgs, strict=True)
        },
        causes=causes,
        healthy=is_healthy(job, causes),
        notes=notes(job),
    )
    for _, matched in _by_name(job):
        _add_group(out, job, matched)
    out.collectives = _concat([_collectives(job, matched) for _, matched in _by_name(job)], COLLECTIVES)
    edges = [edge for _, edges in sorted(job.edges.items()) for edge in edges]
    edges.sort(key=lambda edge: (name_order(edge.group.name), edge.group.members, edge.src, edge.dst))
    out.p2p = pl.DataFrame([_edge_row(edge) for edge in edges], schema=P2P, orient="row")
    out.pairs = _pairs([edge for edge in edges if edge.how])
    out.counters = _counters(job)
    out.first_unfinished = {rank: _unfinished(job, waiting) for rank, waiting in graph.waiting.items()}
    out.waits_for = {rank: waits for rank in graph.waiting if (waits := graph.waits_of(rank))}
    out.divergences = [cause.divergence for cause in causes if cause.divergence]
    out.first_divergence = out.divergences[0] if out.divergences else None
    return out


def _by_name(job: JobState) -> list[tuple[int, Matched]]:
    return sorted(
        job.matched.items(),
        key=lambda item: (name_order(item[1].group.name), item[1].group.members),
    )


def _add_group(out: JobMatching, job: JobState, matched: Matched) -> None:
    """Add a group's windows, mismatches and runs of calls that are not simply matched."""
    group = matched.group
    out.windows[group.key] = {
        member.rank: (int(member.kept[0]), int(member.kept[-1]), int(member.kept.size))
        for member in matched.members
        if member.kept.size
    }
    out.mismatches += [
        {
            "group": group.name,
            "members": list(group.members),
            "seq": mismatch.seq,
            "verdict": mismatch.misfit.verdict,
            "by": mismatch.by,
            "sites": mismatch.sites,
        }
        for mismatch in matched.mismatches
    ]
    for first, last in _runs(matched, "INCOMPLETE"):
        out.incomplete.append(_incomplete(job, matched, first, last))
    for first, last in _runs(matched, "PROGRESS_DIFF"):
        pattern = matched.pattern_at(first)
        out.progress_diff.append(
            {"group": group.name}
            | _numbers(matched, first, last)
            | {"unfinished": pattern.undone, "finished": pattern.done}
        )
    out.undecided += [
        {"group": group.name, "seq": int(matched.seqs[cell]), "missing": _missing(matched, int(cell))}
        for cell in np.flatnonzero(matched.verdict == "UNDECIDED")
    ]


def _runs(matched: Matched, verdict: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last cell of each run of consecutive calls with one verdict and one pattern."""
    cells = np.flatnonzero(matched.verdict == verdict)
    if not cells.size:
        return
    breaks = (np.diff(matched.seqs[cells]) != 1) | (np.diff(matched.pattern[cells]) != 0)
    for run in np.split(cells, np.flatnonzero(breaks) + 1):
        yield int(run[0]), int(run[-1])


def _numbers(matched: Matched, first: int, last: int) -> dict[str, int]:
    return {"first_seq": int(matched.seqs[first]), "last_seq": int(matched.seqs[last])}


def _incomplete(job: JobState, matched: Matched, first: int, last: int) -> dict[str, Any]:
    return (
        {"group": matched.group.name, "members": list(matched.group.members)}
        | _numbers(matched, first, last)
        | {
            "first_op": job.signatures.items[matched.sig[first]].op_name,
            "present": matched.pattern_at(first).classes[absence.PRESENT],
            "missing": _missing(matched, first),
        }
    )


def _missing(matched: Matched, cell: int) -> dict[int, str]:
    classes = matched.pattern_at(cell).classes
    return dict(
        sorted((r, name) for name, ranks in classes.items() if name != absence.PRESENT for r in ranks)
    )


def _collectives(job: JobState, matched: Matched) -> pl.DataFrame:
    """Return a row per call of a group that anybody kept; texts are made once per pattern and signature."""
    _, first, which = np.unique(matched.pattern, return_index=True, return_inverse=True)
    patterns = [matched.pattern_at(int(cell)) for cell in first]
    classes = [
        orjson.dumps({name: rank_ranges(ranks) for name, ranks in pattern.classes.items()}).decode()
        for pattern in patterns
    ]
    codes, sig = np.unique(matched.sig, return_inverse=True)
    items = [job.signatures.items[code] for code in codes]
    return pl.DataFrame(
        {
            "group": pl.Series([matched.group.key]).new_from_index(0, matched.seqs.size),
            "pg_name": pl.Series([matched.group.name]).new_from_index(0, matched.seqs.size),
            "collective_seq_id": matched.seqs,
            "collective_kind": pl.Series([item.kind for item in items], dtype=pl.String).gather(sig),
            "op_name": pl.Series([item.op_name for item in items], dtype=pl.String).gather(sig),
            "verdict": pl.Series(matched.verdict.tolist(), dtype=pl.String),
            "in_flight": matched.in_flight,
            "site_differs": matched.site_differs,
            "shape_differs": matched.shape_differs,
            "classes": pl.Series(classes, dtype=pl.String).gather(which),
            "unfinished": pl.Series(
                [rank_ranges(pattern.undone) for pattern in patterns], dtype=pl.String
            ).gather(which),
        },
        schema=COLLECTIVES,
    )


def _edge_row(edge: Edge) -> dict[str, Any]:
    is_matched = edge.verdict in ("MATCHED", "INCOMPLETE", "SIZE_MISMATCH")
    fit = edge.paired - edge.misfits
    return {
        "group": edge.group.key,
        "pg_name": edge.group.name,
        "src": edge.src,
        "dst": edge.dst,
        "sends": edge.sends.size,
        "recvs": edge.recvs.size,
        "matched": fit if is_matched else 0,
        "solved": 0 if is_matched else fit,
        "ambiguous": edge.ambiguous,
        "send_only": edge.send_only,
        "recv_only": edge.recv_only,
        "size_mismatch": edge.misfits,
        "how": edge.how,
        "evicted_src": edge.dropped[0],
        "evicted_dst": edge.dropped[1],
        "offset": edge.offset,
        "offset_low": edge.limits[0],
        "offset_high": edge.limits[1],
        "verdict": edge.verdict,
        "in_flight": edge.in_flight,
        "reordered": edge.is_reordered,
    }


def _pairs(edges: list[Edge]) -> pl.DataFrame:
    """Return a row per paired send and recv: of all edges at once, for a frame of each takes milliseconds."""
    if not edges:
        return pl.DataFrame(schema=PAIRS)
    rows = [edge.pairs() for edge in edges]
    edge_of = np.repeat(np.arange(len(edges)), [sent.size for sent, _ in rows])
    sends = [(edge.sends, sent) for edge, (sent, _) in zip(edges, rows, strict=True)]
    recvs = [(edge.recvs, received) for edge, (_, received) in zip(edges, rows, strict=True)]
    return pl.DataFrame(
        {
            "group": pl.Series([edge.group.key for edge in edges]).gather(edge_of),
            "src": np.array([edge.src for edge in edges])[edge_of],
            "dst": np.array([edge.dst for edge in edges])[edge_of],
            "send_record_id": np.concatenate([side.record[own] for side, own in sends]),
            "recv_record_id": np.concatenate([side.record[own] for side, own in recvs]),
            "send_place": np.concatenate([side.place[own] for side, own in sends]),
            "recv_place": np.concatenate([side.place[own] for side, own in recvs]),
            "how": pl.Series([edge.how for edge in edges]).gather(edge_of),
        },
        schema=PAIRS,
    )


def _counters(job: JobState) -> pl.DataFrame:
    """Return how far each rank came in each group, in collective sequence numbers, where pg_status tells."""
    rows = [
        (rank, job.groups.items[number].key, c.at_least if c.at_least == c.at_most else None, c.completed)
        for number, counters in sorted(job.counters.items())
        for rank, c in sorted(counters.items())
    ]
    frame = pl.DataFrame(rows, schema=COUNTERS, orient="row")
    return frame.filter(pl.any_horizontal(pl.col("last_enqueued", "last_completed").is_not_null()))


def _unfinished(job: JobState, waiting: Waiting) -> dict[str, Any]:
    is_transfer = waiting.seq is None
    return {
        "kind": "p2p" if is_transfer else "coll",
        "group": job.groups.items[waiting.group].name,
        "at": list(waiting.ends) if is_transfer else waiting.seq,
        "op": job.signatures.items[waiting.sig].op_name,
        "site": job.signatures.site(waiting.site),
        "n": waiting.count,
    }


def _concat(frames: list[pl.DataFrame], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.concat(frames) if frames else pl.DataFrame(schema=schema)
