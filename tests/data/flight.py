"""Small Flight Recorder dumps in a line each, as their reader gives them: calls of a rank, and its dump.

A rank's calls are numbered as a recorder does: record_id over all groups, op_id per group, one number per
group for collectives and one for sends and recvs. What is given by hand stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphstore.link.matching.model import RankDump
from graphstore.model.collectives import collective_kind
from graphstore.model.records import frame

Row = dict[str, Any]
Members = Sequence[int]

DEFAULT = "0"
START_NS = 1_700_000_000_000_000_000
STEP_NS = 1_000


def call(
    name: str = "all_reduce",
    size: int | Sequence[int] = 4,
    out: int | Sequence[int] | None = None,
    group: str = DEFAULT,
    dtype: str = "Float",
    state: str | None = "completed",
    backend: str = "nccl",
    **more: Any,
) -> Row:
    """Return a collective of `size` elements in, and `out` (else as many) out.

    A sequence is a list of tensors.
    """
    ins = [size] if isinstance(size, int) else list(size)
    outs = ins if out is None else [out] if isinstance(out, int) else list(out)
    return {
        "op_name": f"{backend}:{name}",
        "collective_kind": collective_kind(name),
        "pg_name": group,
        "in_nelems": ins,
        "out_nelems": outs,
        "in_sizes": str([[n] for n in ins]),
        "out_sizes": str([[n] for n in outs]),
        "in_dtypes": [dtype] * len(ins),
        "out_dtypes": [dtype] * len(outs),
        "state": state,
        "retired": state == "completed",
        "is_p2p": False,
        "is_coalesced": name == "coalesced",
    } | more


def waiting(name: str = "all_reduce", **more: Any) -> Row:
    """Return a collective that has not ended."""
    return call(name, **({"state": "scheduled"} | more))


def gloo(name: str = "all_reduce", retired: bool = True, **more: Any) -> Row:
    """Return a collective as gloo records it: never completed, only retired."""
    return call(name, state="scheduled", backend="gloo", **more) | {"retired": retired}


def send(src: int, dst: int, group: str = DEFAULT, size: int = 4, **more: Any) -> Row:
    """Return a send between two places of a group."""
    return _transfer(f"send {src}->{dst}", src, dst, group, size, **more)


def recv(src: int, dst: int, group: str = DEFAULT, size: int = 4, **more: Any) -> Row:
    """Return a recv, source first, between two places of a group."""
    return _transfer(f"recv {dst}<-{src}", src, dst, group, size, **more)


def closing(group: str = DEFAULT, is_p2p: bool = False, state: str = "completed", **more: Any) -> Row:
    """Return the entry that closes a coalesced block and holds its state."""
    return call("coalesced", [], [], group, state=state) | {"is_p2p": is_p2p} | more


def dump(
    rank: int,
    calls: Sequence[Row],
    groups: Mapping[str, Members | None] | None = None,
    status: Mapping[int, tuple[int, int]] | None = None,
    *,
    first: int = 0,
    keep: Sequence[int] | None = None,
    file: str | None = None,
    version: tuple[int, ...] = (2, 10),
    known: Sequence[Row] = (),
) -> RankDump:
    """Return the dump of a rank: its calls as `numbered` gives them, and the groups it lists.

    `status`: {key: (last enqueued, last completed)}; `first`: so many calls the ring dropped; `keep`: places
    of the calls that a filter left; `known`: groups that the rank's other files list.
    """
    rows = numbered(calls)[first:]
    if keep is not None:
        rows = [row for row in rows if row["record_id"] in keep]
    listed = {DEFAULT: [0, 1]} if groups is None else groups
    flight = {
        "version": version,
        "pg_config": [
            {"pg_name": name, "pg_desc": description(name), "ranks": None if ranks is None else list(ranks)}
            for name, ranks in listed.items()
        ],
        "pg_status": {
            str(key): {"last_enqueued_collective": enqueued, "last_completed_collective": completed}
            for key, (enqueued, completed) in (status or {}).items()
        },
        "form": "pickle",
    }
    names = {name: [row.get(name) for row in rows] for name in rows[0]} if rows else {}
    return RankDump(file or f"rank_{rank}", rank, frame("flight_entries", names), flight, list(known))


def description(name: str) -> str:
    """Return the description of a group: that of the default group, none for one without a name."""
    return "default_pg" if name == DEFAULT else f"group_{name}" if name else ""


def numbered(calls: Sequence[Row]) -> list[Row]:
    """Return calls with the numbers and times that a recorder gives them, in order.

    A closing entry has the number of its block: the calls of its kind before it with `block` set.
    """
    counts: dict[tuple[str, str], int] = {}
    rows: list[Row] = []
    for place, row in enumerate(calls):
        group, counter = row["pg_name"], "p2p" if row["is_p2p"] else "collective"
        starts_block = row.get("block") and not (rows and _is_open(rows, row))
        if starts_block or not (row.get("block") or row["is_coalesced"]):
            _count(counts, group, counter)
        if not row["is_coalesced"]:
            _count(counts, group, "op")
        rows.append(
            {
                "order": place,
                "record_id": place,
                "pg_desc": description(group),
                "pg_id": int(group) if group.isdecimal() else None,
                "collective_seq_id": counts.get((group, "collective"), 0),
                "p2p_seq_id": counts.get((group, "p2p"), 0),
                "op_id": counts.get((group, "op"), 0),
                "start_ns": START_NS + place * STEP_NS,
                "name": row["op_name"],
                "site": None,
                "src": None,
                "dst": None,
            }
            | row
        )
    return [{name: value for name, value in row.items() if name != "block"} for row in rows]


def _is_open(rows: list[Row], row: Row) -> bool:
    """Return whether the last call of the same group and kind is in a block that goes on."""
    before = [r for r in rows if r["pg_name"] == row["pg_name"] and r["is_p2p"] == row["is_p2p"]]
    return bool(before) and bool(before[-1].get("block"))


def _count(counts: dict[tuple[str, str], int], group: str, counter: str) -> None:
    counts[group, counter] = counts.get((group, counter), 0) + 1


def _transfer(name: str, src: int, dst: int, group: str, size: int, **more: Any) -> Row:
    return call(name, size, group=group) | {"is_p2p": True, "src": src, "dst": dst} | more
