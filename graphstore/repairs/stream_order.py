"""Order the device ops of a stream where a file has them as leaves. Only on request (unsafe).

In:  the device ops of a rank in which structure/find_gpu_leaves found none with a successor: a merged trace
     or a Chakra file that holds launches and nothing else.
Out: changes that add a SYNC edge, rule `stream_order`, from each op to the next on its device and stream.
None leads across streams: nothing in such a file proves one. As every op was a leaf, no cycle comes of it.
Runs read from ordinary traces need none of this: there the order of a stream follows from its properties.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphstore.repairs.change import Change
from graphstore.repairs.tree import Ints

RULE = "stream_order"


@dataclass
class DeviceOps:
    """Device ops of one rank that have a stream and a start; device -1 where the file does not say."""

    rank: int
    uid: Ints
    device: Ints
    stream: Ints
    start_ns: Ints
    duration_ns: Ints
    name: list[str]


def plan_stream_order(ops: DeviceOps) -> list[Change]:
    """Return the changes that order each stream by start (ties: by place in the file)."""
    order = np.lexsort((ops.uid, ops.start_ns, ops.stream, ops.device))
    same = (np.diff(ops.device[order]) == 0) & (np.diff(ops.stream[order]) == 0)
    return [
        _change(ops, before, after)
        for before, after in zip(order[:-1][same].tolist(), order[1:][same].tolist(), strict=True)
    ]


def _change(ops: DeviceOps, before: int, after: int) -> Change:
    """Return the change that puts one op after another."""
    src, dst = int(ops.uid[before]), int(ops.uid[after])
    evidence = {
        "device": int(ops.device[before]),
        "stream": int(ops.stream[before]),
        "start_ns": [int(ops.start_ns[before]), int(ops.start_ns[after])],
    }
    return Change(
        RULE,
        ops.rank,
        dst,
        False,
        f"{ops.name[after]} starts next after {ops.name[before]} on stream {ops.stream[before]}",
        evidence,
        {"edge": None},
        {"edge": {"kind": "SYNC", "src": src, "dst": dst, "rule": RULE}},
        (("gpu_leaves", ops.rank, None),),
    )
