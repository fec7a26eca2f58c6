"""Causes that stand in the calls themselves: ranks that called something else, or one call more or less.

In:  the mismatches and divergences of a job. Out: `Cause`s, one per cause.
Decided here: a divergence explains the mismatches behind it; of mismatches in one group with the same ranks
at fault the first stands for all.
"""

from __future__ import annotations

from graphstore.link.matching import messages
from graphstore.link.matching.divergence import Divergence
from graphstore.link.matching.edges import Edge
from graphstore.link.matching.job import JobState
from graphstore.link.matching.mismatches import Mismatch
from graphstore.link.matching.model import Cause, Group

_WRONG = {"TYPE_MISMATCH": "wrong_op", "DTYPE_MISMATCH": "wrong_dtype", "SIZE_MISMATCH": "wrong_size"}


def find_faults(job: JobState) -> list[Cause]:
    """Return the causes that divergences, mismatches and unequal transfers are, group by group."""
    causes = []
    for number, matched in job.matched.items():
        divergences = job.divergences.get(number, [])
        causes += [
            _of_divergence(matched.group, divergence, len(matched.mismatches)) for divergence in divergences
        ]
        seen: set[tuple[int, ...]] = set()
        for mismatch in matched.mismatches:
            blamed = mismatch.misfit.blamed
            if blamed not in seen and not any(_explains(divergence, mismatch) for divergence in divergences):
                seen.add(blamed)
                causes.append(_of_mismatch(matched.group, mismatch))
    for edges in job.edges.values():
        causes += [_of_transfers(edge) for edge in edges if edge.verdict == "SIZE_MISMATCH"]
    return causes


def explained(job: JobState, group: int, seq: int) -> bool:
    """Return whether a missing call is the consequence of a mismatch or divergence at or before it."""
    at = [divergence.seq for divergence in job.divergences.get(group, [])]
    at += [mismatch.seq for mismatch in job.matched[group].mismatches]
    return any(first <= seq for first in at)


def _explains(divergence: Divergence, mismatch: Mismatch) -> bool:
    """Return whether a mismatch follows from calls pairing with the wrong ones."""
    if mismatch.seq < divergence.seq:
        return False
    return not divergence.blamed or set(mismatch.misfit.blamed) <= set(divergence.blamed)


def _of_divergence(group: Group, divergence: Divergence, misfits: int) -> Cause:
    with_it, without = divergence.others, divergence.differing
    if divergence.action == "extra":
        with_it, without = without, with_it
    call = f"{divergence.word}{messages.at_site(divergence.site)} as #{divergence.seq} on {group.label}"
    if divergence.action is None:
        line = (
            f"{messages.ranks_text(with_it)} called {call}, {messages.ranks_text(without)} did not; which is "
            f"wrong cannot be told{_from_how_many(divergence)}"
        )
        ranks = sorted({*with_it, *without})
        kind = "skipped_or_extra"
    else:
        verb = "skipped" if divergence.action == "skipped" else "made an extra call,"
        line = f"{messages.ranks_text(divergence.differing)} {verb} {call}"
        if divergence.is_swapped:
            line += " (calls in another order)"
        ranks, kind = divergence.differing, divergence.action
    rest = [seq for seq in divergence.explains if seq > divergence.seq]
    if rest:
        line += f". From there calls pair with the wrong ones; #{rest[-1]} is the last that does not fit"
    cause = Cause(
        "desync",
        ranks,
        line,
        group.name,
        divergence.seq,
        divergence.site,
        divergence.word,
        divergence=_first(group, divergence.seq, ranks, kind, divergence.word, divergence.site),
        evidence={"with": with_it, "without": without, "explains": divergence.explains, "misfits": misfits},
    )
    return _blame(cause, divergence.blamed, len(divergence.others))


def _from_how_many(divergence: Divergence) -> str:
    if len(divergence.differing) == len(divergence.others) == 1:
        return " from two ranks"
    return ": no majority"


def _of_mismatch(group: Group, mismatch: Mismatch) -> Cause:
    misfit, items = mismatch.misfit, dict(mismatch.calls)
    ranks = list(misfit.ranks)
    first = items[ranks[0]]
    cause = Cause(
        misfit.verdict.lower(),
        ranks,
        _mismatch_line(group, mismatch),
        group.name,
        mismatch.seq,
        mismatch.sites[ranks[0]],
        first.op_name,
        divergence=_first(
            group, mismatch.seq, ranks, _WRONG[misfit.verdict], first.op_name, mismatch.sites[ranks[0]]
        ),
        evidence={"by": mismatch.by, "sites": mismatch.sites},
    )
    return _blame(cause, list(misfit.blamed), len(items) - len(misfit.blamed))


def _mismatch_line(group: Group, mismatch: Mismatch) -> str:
    """Return the line of a mismatch: what the ranks at fault called first, then the others."""
    parties: dict[tuple[str, str | None], list[int]] = {}
    for rank, item in mismatch.calls:
        parties.setdefault((messages.content_brief(item), mismatch.sites[rank]), []).append(rank)
    blamed = set(mismatch.misfit.blamed)
    ordered = sorted(parties.items(), key=lambda party: (not blamed & set(party[1]), party[1]))
    if len(ordered) == 1:
        word, shapes = mismatch.calls[0][1].word, mismatch.calls[0][1]
        return (
            f"{messages.call_text(word, mismatch.seq, group)}: input {shapes.in_sizes} and output "
            f"{shapes.out_sizes} do not fit a group of {group.size}, on all {len(mismatch.calls)} ranks"
        )
    said = [
        f"{messages.ranks_text(ranks)} called {brief}{messages.at_site(site)}"
        for (brief, site), ranks in ordered[: messages.SHOWN]
    ]
    end = "" if blamed else "; no majority, so none is named"
    more = f"; {len(ordered) - messages.SHOWN} more differ" if len(ordered) > messages.SHOWN else ""
    return f"#{mismatch.seq} on {group.label}: {'; '.join(said)}{more}{end}"


def _of_transfers(edge: Edge) -> Cause:
    order = ", the same transfers in another order" if edge.is_reordered else ""
    line = (
        f"sends of rank {edge.src} to rank {edge.dst} on {edge.group.label} and the recvs differ in size or "
        f"type, {edge.misfits} of {edge.paired}{order}; which side is wrong cannot be told"
    )
    ranks = sorted({edge.src, edge.dst})
    return Cause(
        "size_mismatch",
        ranks,
        line,
        edge.group.name,
        op="send",
        undecided=ranks,
        divergence=_first(edge.group, None, ranks, "wrong_size", "send", None),
        evidence={"src": edge.src, "dst": edge.dst, "misfits": edge.misfits, "pairs": edge.paired},
    )


def _blame(cause: Cause, blamed: list[int], agreeing: int) -> Cause:
    """Say in a cause who is at fault and why, or among whom it is open."""
    if blamed:
        cause.blamed, cause.confidence = blamed, "high"
        cause.basis = f"{agreeing} of {agreeing + len(blamed)} ranks agree with each other"
    else:
        cause.undecided = cause.ranks
    return cause


def _first(
    group: Group, seq: int | None, ranks: list[int], kind: str, op: str, site: str | None
) -> dict[str, object]:
    return {
        "group": group.name,
        "members": list(group.members),
        "seq": seq,
        "ranks": ranks,
        "kind": kind,
        "op": op,
        "site": site,
    }
