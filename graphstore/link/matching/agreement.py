"""What the members of one collective must agree in (matching.md §5, "What must agree").

In:  the content of one call on each member that kept it. Out: None, or the `Misfit` with the parties.
Decided here: element counts are compared, never shapes; kinds before types before counts; a party of more
than half of the ranks is right, the others are at fault; without one nobody is blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore.link.matching.signatures import COALESCED, SAME_INPUT_KINDS, Signature

Call = tuple[int, Signature]  # rank and what it called
Parties = dict[Any, list[int]]  # what was called, reduced to what is compared → ranks


@dataclass(frozen=True)
class Members:
    """What is known of a group's members: as listed, their number where it is known, whether all called."""

    order: tuple[int, ...]
    size: int | None
    is_whole: bool


@dataclass(frozen=True)
class Misfit:
    """A mismatch: its verdict, the ranks it is between, and those a majority stands against."""

    verdict: str
    ranks: tuple[int, ...]
    blamed: tuple[int, ...] = ()


def judge(calls: Sequence[Call], members: Members) -> Misfit | None:
    """Return how the calls of one collective misfit; None when they agree as far as can be told."""
    by_word = _parties(calls, lambda item: item.word)
    if len(by_word) > 1:
        return _between("TYPE_MISMATCH", by_word)
    if calls[0][1].kind == COALESCED:
        return _judge_blocks(calls, members)
    by_types = _parties(((rank, item) for rank, item in calls if item.dtypes), _types)
    if len({types for pair in by_types for types in pair if types}) > 1:
        return _between("DTYPE_MISMATCH", by_types)
    sized = [(rank, item) for rank, item in calls if item.has_sizes]
    whole = Members(members.order, members.size, members.is_whole and len(sized) == len(calls))
    return _judge_sizes(sized, whole) if sized else None


def agrees_with_itself(item: Signature, size: int | None) -> bool:
    """Return whether members that all call exactly this agree, however many of them there are."""
    if item.parts:
        return all(agrees_with_itself(part, size) for part in item.parts)
    if item.in_dtypes and item.out_dtypes and set(item.in_dtypes) != set(item.out_dtypes):
        return False
    if not item.has_sizes:
        return True
    if item.kind in ("all_gather", "reduce_scatter"):
        gathers = item.kind == "all_gather"
        tensors = (item.out_nelems if gathers else item.in_nelems) or ()
        is_even = len(tensors) < 2 or set(tensors) == {_part_and_whole(item, gathers)[0]}
        return is_even and _fits(_part_and_whole(item, gathers), size)
    if item.kind in ("gather", "scatter"):
        return item.in_count == item.out_count == 0
    if item.kind == "all_to_all":
        return len({*(item.in_nelems or ()), *(item.out_nelems or ())}) <= 1 and (
            len(item.in_nelems or ()) == len(item.out_nelems or ())
        )
    return True


def _judge_blocks(calls: Sequence[Call], members: Members) -> Misfit | None:
    """Compare coalesced blocks call by call; those whose content is not known are left out."""
    known = [(rank, item) for rank, item in calls if item.parts]
    by_words = _parties(known, lambda item: tuple(part.word for part in item.parts))
    if len(by_words) > 1:
        return _between("TYPE_MISMATCH", by_words)
    whole = Members(members.order, members.size, members.is_whole and len(known) == len(calls))
    for place in range(len(known[0][1].parts) if known else 0):
        misfit = judge([(rank, item.parts[place]) for rank, item in known], whole)
        if misfit is not None:
            return misfit
    return None


def _judge_sizes(calls: Sequence[Call], members: Members) -> Misfit | None:
    kind = calls[0][1].kind
    if kind in SAME_INPUT_KINDS:
        by_count = _parties(calls, lambda item: item.in_count)
        return _between("SIZE_MISMATCH", by_count) if len(by_count) > 1 else None
    if kind in ("all_gather", "reduce_scatter"):
        return _judge_shared(calls, members, gathers=kind == "all_gather")
    if kind in ("gather", "scatter"):
        return _judge_rooted(calls, members, gathers=kind == "gather")
    if kind == "all_to_all":
        return _judge_exchange(calls, members)
    return None  # a barrier has nothing to agree in; of an unknown kind nothing is known


def _judge_shared(calls: Sequence[Call], members: Members, gathers: bool) -> Misfit | None:
    """Judge all_gather (every member's part, all parts out) and reduce_scatter (the same the other way).

    Parts are equal and the whole is their sum. Given as one tensor per member, they may be uneven.
    """
    by_counts = _parties(calls, lambda item: _part_and_whole(item, gathers))
    if all(_whole_is_list(item, gathers) for _, item in calls):
        return _judge_uneven(calls, members, gathers, by_counts)
    if len(by_counts) == 1 and _fits(next(iter(by_counts)), members.size):
        return None
    return _between("SIZE_MISMATCH", by_counts, is_right=lambda counts: _fits(counts, members.size))


def _judge_uneven(
    calls: Sequence[Call], members: Members, gathers: bool, by_counts: Parties
) -> Misfit | None:
    """Judge parts given tensor by tensor: the same list on all, each tensor as large as its member's part."""
    by_list = _parties(calls, lambda item: item.out_nelems if gathers else item.in_nelems)
    if len(by_list) > 1:
        return _between("SIZE_MISMATCH", by_list)
    listed: tuple[int, ...] = next(iter(by_list)) or ()
    place = {rank: at for at, rank in enumerate(members.order)}
    parts = {rank: _part_and_whole(item, gathers)[0] for rank, item in calls}
    if len(listed) == members.size == len(members.order):
        wrong = [rank for rank, part in parts.items() if listed[place[rank]] != part]
        if not wrong:
            return None
        return _between("SIZE_MISMATCH", {True: [r for r in parts if r not in wrong], False: wrong})
    if not members.is_whole or sum(parts.values()) == sum(listed):
        return None
    return _between("SIZE_MISMATCH", by_counts, is_right=lambda _: False)


def _judge_rooted(calls: Sequence[Call], members: Members, gathers: bool) -> Misfit | None:
    """Judge gather and scatter: equal parts, and one root that has as many of them as there are members."""
    by_part = _parties(calls, lambda item: _part_and_whole(item, gathers)[0])
    if len(by_part) > 1:
        return _between("SIZE_MISMATCH", by_part)
    whole = {rank: _part_and_whole(item, gathers)[1] for rank, item in calls}
    roots = tuple(rank for rank, count in whole.items() if count)
    part = next(iter(by_part))
    if len(roots) > 1:
        return Misfit("SIZE_MISMATCH", roots)
    if roots and not _fits((part, whole[roots[0]]), members.size):
        return Misfit("SIZE_MISMATCH", roots, roots if len(calls) > 2 else ())
    if not roots and members.is_whole and part:
        return Misfit("SIZE_MISMATCH", tuple(whole))
    return None


def _judge_exchange(calls: Sequence[Call], members: Members) -> Misfit | None:
    """Judge all_to_all: what goes from i to j where tensors are listed, else the sums over all members."""
    place = {rank: at for at, rank in enumerate(members.order)}
    lists = {
        rank: item
        for rank, item in calls
        if len(item.in_nelems or ()) == len(item.out_nelems or ()) == members.size == len(place) > 1
    }
    for rank, item in lists.items():
        for peer, other in lists.items():
            if (item.in_nelems or ())[place[peer]] != (other.out_nelems or ())[place[rank]]:
                return Misfit("SIZE_MISMATCH", tuple(sorted({rank, peer})))
    total = sum(item.in_count - item.out_count for _, item in calls)
    return Misfit("SIZE_MISMATCH", tuple(rank for rank, _ in calls)) if members.is_whole and total else None


def _between(
    verdict: str,
    parties: Parties,
    is_right: Callable[[Any], bool] | None = None,
) -> Misfit:
    """Return the misfit of the parties; blamed are the ranks outside one that holds more than half of them.

    `is_right` refuses a majority that cannot be right itself.
    """
    everybody = sorted(rank for ranks in parties.values() for rank in ranks)
    for content, ranks in parties.items():
        if 2 * len(ranks) > len(everybody) and (is_right is None or is_right(content)):
            blamed = tuple(rank for rank in everybody if rank not in set(ranks))
            return Misfit(verdict, blamed or tuple(everybody), blamed)
    return Misfit(verdict, tuple(everybody))


def _parties(calls: Iterable[Call], content: Callable[[Signature], Hashable]) -> Parties:
    out: dict[Hashable, list[int]] = {}
    for rank, item in calls:
        out.setdefault(content(item), []).append(rank)
    return out


def _types(item: Signature) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(item.in_dtypes), frozenset(item.out_dtypes)


def _part_and_whole(item: Signature, gathers: bool) -> tuple[int, int]:
    """Return the elements of a member's part and of all parts."""
    return (item.in_count, item.out_count) if gathers else (item.out_count, item.in_count)


def _whole_is_list(item: Signature, gathers: bool) -> bool:
    return len((item.out_nelems if gathers else item.in_nelems) or ()) > 1


def _fits(counts: tuple[int, int], size: int | None) -> bool:
    part, whole = counts
    return size is None or whole == size * part
