"""One line per cause, its facts in this order: who, what, where, who suffers (matching.md §10).

In:  the parts of a cause. Out: text. Decided here: wording only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphstore.link.matching.edges import Edge
from graphstore.link.matching.model import Group, short_ranges
from graphstore.link.matching.signatures import Signature

SHOWN = 4  # calls listed in one line; the rest is counted


def ranks_text(ranks: Iterable[int]) -> str:
    """Return `rank 3` or `ranks 0-2,5`."""
    ordered = sorted(ranks)
    return f"rank {ordered[0]}" if len(ordered) == 1 else f"ranks {short_ranges(ordered)}"


def call_text(word: str, seq: int, group: Group) -> str:
    """Return `all_reduce #6 on default_pg[0-3]`."""
    return f"{word} #{seq} on {group.label}"


def transfer_text(edge: Edge, rank: int) -> str:
    """Return what a rank does on an edge: `send to rank 8 on PIPELINE[0,8]`."""
    way = f"send to rank {edge.dst}" if rank == edge.src else f"recv from rank {edge.src}"
    return f"{way} on {edge.group.label}"


def at_site(site: str | None) -> str:
    """Return ` at gen_fr.py:82`, or nothing where the site is not known."""
    return f" at {site}" if site else ""


def content_brief(item: Signature) -> str:
    """Return a call as a mismatch shows it: `broadcast [4,4] Float`."""
    if item.parts:
        return "a block of " + ", ".join(part.word for part in item.parts)
    shapes = (item.in_sizes or "[]").replace(" ", "")
    inner = shapes[1:-1] if len(shapes) > 2 else ""
    return " ".join(filter(None, [item.word, inner, "/".join(sorted(item.dtypes))]))


def never_called(
    ranks: list[int],
    call: str,
    also: list[int],
    waiters: Sequence[int],
    site: str | None,
    held_up: int,
    behind: int,
) -> str:
    """Return the line of ranks that never made a call; `also` are others that did not either."""
    others = f" (nor did {ranks_text(also)})" if also else ""
    waits = f"; {ranks_text(waiters)} {_verb(waiters, 'wait')} in it{at_site(site)}" if waiters else ""
    line = f"{ranks_text(ranks)} never called {call}{others}{waits}"
    if held_up:
        line += f"; {_count(held_up, 'rank')} held up in all"
    if behind:
        line += (
            f"; its own last {_count(behind, 'call', be=False)}, which its peers finished, are not finished"
        )
    return line


def never_sent(rank: int, edge: Edge, held_up: int) -> str:
    """Return the line of a rank whose side of a transfer is proven absent."""
    peer = edge.src if rank == edge.dst else edge.dst
    missing = "recv from" if rank == edge.dst else "send to"
    line = (
        f"rank {rank} never called the {missing} rank {peer} on {edge.group.label} that rank {peer} waits for"
    )
    return f"{line}; {_count(held_up, 'rank')} held up in all"


def behind(rank: int, calls: int, first: str, held_up: int) -> str:
    """Return the line of a rank that issued its calls but did not finish those its peers finished."""
    last = "call" if calls == 1 else f"{calls} calls"
    return (
        f"rank {rank} issued its calls but has not finished the last {last} that its peers finished "
        f"(first: {first}): its device or its recorder stopped there; {_count(held_up, 'rank')} held up"
    )


def no_dump(rank: int, waiters: Sequence[int], calls: Sequence[str]) -> str:
    """Return the line of a rank without a dump at which chains of waits end."""
    first = "; ".join(calls[:SHOWN]) + (f"; {len(calls) - SHOWN} more" if len(calls) > SHOWN else "")
    return (
        f"rank {rank} has no readable dump, and {ranks_text(waiters)} {_verb(waiters, 'wait')} for it "
        f"(first: {first}); whether it made the call cannot be told"
    )


def undecided(waiters: Sequence[int], call: str, ranks: Sequence[int]) -> str:
    """Return the line of a wait that the dumps cannot explain."""
    be = "is" if len(waiters) == 1 else "are"
    dumps = f"rank {ranks[0]}'s dump does" if len(ranks) == 1 else f"the dumps of {ranks_text(ranks)} do"
    it = "it" if len(ranks) == 1 else "they"
    return f"{ranks_text(waiters)} {be} in {call}; {dumps} not show whether {it} made the call"


def unseen(waiters: Sequence[int], call: str, group: Group) -> str:
    """Return the line of calls in a group of which some members are named by no file."""
    be = "is" if len(waiters) == 1 else "are"
    return (
        f"{ranks_text(waiters)} {be} in {call}; shapes prove {group.size} members, {group.unseen} of them in "
        "no file: whether they made the call cannot be told"
    )


def in_flight(ranks: Sequence[int], call: str) -> str:
    """Return the line of calls that all members have made and nobody has finished."""
    be = "is" if len(ranks) == 1 else "are"
    return (
        f"{ranks_text(ranks)} {be} in calls that all members have made and nobody has finished "
        f"(first: {call}): the job was running, or the fault lies below them"
    )


def _verb(ranks: Sequence[int], verb: str) -> str:
    return f"{verb}s" if len(ranks) == 1 else verb


def _count(number: int, noun: str, be: bool = True) -> str:
    if number == 1:
        return f"1 {noun}" + (" is" if be else "")
    return f"{number} {noun}s" + (" are" if be else "")
