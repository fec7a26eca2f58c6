"""Two dumps of one rank: one process dumped twice, or two processes (matching.md §2).

In:  two `Reduced` of one rank. Out: whether they are of one process, and the two joined.
Decided here: records shared with equal time of creation = one process; shared numbers with other times =
two. Without a shared number they are one process if the later records are the later made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphstore.link.matching.reduce import ABSENT, Reduced
from graphstore.link.matching.signatures import Ints

_COLUMNS = ("state", "is_p2p", "seq", "p2p_seq", "op_id", "record", "start")


def is_same_process(one: Reduced, other: Reduced) -> bool:
    """Return whether two dumps of one rank can be of one process."""
    if not one.size or not other.size:
        return True
    _, mine, theirs = np.intersect1d(one.record, other.record, return_indices=True)
    if mine.size:
        times, others = one.start[mine], other.start[theirs]
        return bool(((times == others) | (times == ABSENT) | (others == ABSENT)).all())
    first, second = sorted((one, other), key=lambda dump: int(dump.record.min()))
    if int(first.record.max()) > int(second.record.min()):
        return False
    return first.span is None or second.span is None or first.span[1] <= second.span[0]


def join(one: Reduced, other: Reduced) -> Reduced:
    """Return two dumps of one process as one: each record once, in its further state, with a site if known.

    Of the counters the further ones are kept, of the groups those of the dump that lists more.
    """
    richer, poorer = sorted((one, other), key=lambda dump: (-_listed(dump), dump.file))
    both = _stacked(richer, poorer)
    keep, twin = _first_of_each(both.record)
    joined = replace(both, **{name: getattr(both, name)[keep] for name in (*_COLUMNS, "pg", "sig", "site")})
    second = twin >= 0
    joined.state[second] = np.maximum(joined.state[second], both.state[twin[second]])
    joined.site[second] = np.maximum(joined.site[second], both.site[twin[second]])
    joined.flight = _joined_flight(richer.flight, poorer.flight)
    return joined


def _listed(dump: Reduced) -> int:
    return sum(1 for entry in dump.flight.get("pg_config") or () if entry.get("ranks"))


def _stacked(one: Reduced, other: Reduced) -> Reduced:
    """Return the rows of both, the numbers of the second's lists shifted behind those of the first."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in _COLUMNS
    }
    for name, shift in (("pg", len(one.pgs)), ("sig", len(one.signatures)), ("site", len(one.sites))):
        codes = getattr(other, name)
        columns[name] = np.concatenate([getattr(one, name), np.where(codes >= 0, codes + shift, codes)])
    return replace(
        one,
        file=f"{one.file}, {other.file}",
        groups=[*one.groups, *other.groups],
        pgs=[*one.pgs, *other.pgs],
        written=[*(one.written or one.pgs), *(other.written or other.pgs)],
        signatures=[*one.signatures, *other.signatures],
        sites=[*one.sites, *other.sites],
        local_ids={**{k: v + len(one.pgs) for k, v in other.local_ids.items()}, **one.local_ids},
        **columns,
    )


def _first_of_each(record: Ints) -> tuple[Ints, Ints]:
    """Return the rows to keep, by record, and for each the row of the same record to be joined (-1 = none).

    Rows without a number are all kept.
    """
    order = np.argsort(record, kind="stable")
    ordered = record[order]
    repeats = np.zeros(order.size, dtype=np.bool_)
    repeats[1:] = (ordered[1:] == ordered[:-1]) & (ordered[1:] != ABSENT)
    keep = np.flatnonzero(~repeats)
    twin = np.full(keep.size, -1, dtype=np.int64)
    twin[np.searchsorted(keep, np.flatnonzero(repeats), side="right") - 1] = order[repeats]
    return order[keep], twin


def _joined_flight(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return what both dumps say beside their entries: the first's words, and the further counters."""
    status = dict(other.get("pg_status") or {})
    for key, counters in (one.get("pg_status") or {}).items():
        theirs = status.get(key, {})
        status[key] = {name: max(value, theirs.get(name, value)) for name, value in counters.items()}
    return other | one | {"pg_status": status}
