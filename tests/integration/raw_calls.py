"""What a set's own JSON says, read by plain Python: the other side of the tests of the catalogue's answers.

Nothing of graphstore is used here: no reader, no linking. In: a folder. Out: dicts and tuples, times in ns.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

Event = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One NCCL call of a rank: what its record_param_comms says, and the kernel that did it."""

    rank: int
    seq: int
    name: str
    dtype: str
    elements: int
    size: int
    splits: tuple[int, ...]
    start: int
    duration: int
    stream: int

    @property
    def kind(self) -> str:
        """The catalogue's word: an all_to_all with splits is one, too."""
        return "all_reduce" if self.name == "allreduce" else "all_to_all"

    @property
    def end(self) -> int:
        """When the kernel ended."""
        return self.start + self.duration


def load(path: Path) -> Any:
    """Return the content of a .json.gz, numbers with a point as written."""
    return json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)


@lru_cache
def events(folder: Path, pattern: str) -> dict[int, list[Event]]:
    """Return {rank: complete events of its Kineto file}; `pattern` finds the files."""
    found = {}
    for path in sorted(folder.glob(pattern)):
        trace = load(path)["traceEvents"]
        found[_number(path)] = [event for event in trace if event.get("ph") == "X"]
    return found


@lru_cache
def nodes(folder: Path, pattern: str) -> dict[int, list[Event]]:
    """Return {rank: nodes of its execution trace}."""
    return {_number(path): load(path)["nodes"] for path in sorted(folder.glob(pattern))}


def _number(path: Path) -> int:
    """Return the first number in a file's name: in these sets the rank."""
    found = re.search(r"\d+", path.name)
    assert found is not None
    return int(found.group())


def ns(microseconds: Decimal | int) -> int:
    """Return µs as ns."""
    return round(Decimal(microseconds) * 1000)


def dlrm_calls(folder: Path) -> list[Call]:
    """Return the eight calls of each of the eight ranks of the dlrm run.

    Each rank's NCCL kernels are on one stream, so the n-th kernel is the n-th call that is no `wait`: both
    files hold eight. Arguments of a call (schema 1.0.1): tensors, number, group, rank, name, splits in, out.
    """
    out = []
    for rank, trace in nodes(folder, "dlrm_eg_*.json.gz").items():
        made = [
            node for node in trace if node["name"] == "record_param_comms" and node["inputs"][3] != "wait"
        ]
        made.sort(key=lambda node: int(node["inputs"][1]))
        spans = events(folder, "worker*.json.gz")[rank]
        kernels = [e for e in spans if e["cat"] == "kernel" and e["name"].startswith("nccl")]
        kernels.sort(key=lambda event: event["ts"])
        assert len(made) == len(kernels) == 8
        for node, kernel in zip(made, kernels, strict=True):
            given, (tensor, *_) = node["inputs"], tensors(node["inputs"])
            dtype = re.search(r"Tensor\((.*?)\)", node["input_types"][0])
            assert dtype is not None
            elements, each = tensor[3:5]
            start, lasts = ns(kernel["ts"]), ns(kernel["dur"])
            on = kernel["args"]["stream"]
            told = (rank, given[1], given[4], dtype[1], elements, elements * each, tuple(given[5]))
            out.append(Call(*told, start, lasts, on))
    return out


def dlrm_origin(folder: Path) -> int:
    """Return the earliest start of any event of the dlrm run that is kept: times count from it."""
    kept = ("cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset")
    spans = events(folder, "worker*.json.gz").values()
    return min(ns(event["ts"]) for events in spans for event in events if event.get("cat") in kept)


def together(calls: list[Call]) -> dict[int, list[Call]]:
    """Return the calls of each collective by its number."""
    out: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        out[call.seq].append(call)
    return out


def last_start(calls: list[Call]) -> dict[int, int]:
    """Return when the last rank entered each collective."""
    return {seq: max(call.start for call in members) for seq, members in together(calls).items()}


def transfers(calls: list[Call]) -> dict[int, int]:
    """Return the time of each collective without waiting: from its last start to the earliest end after."""
    last = last_start(calls)
    return {
        seq: min(call.end for call in members if call.end >= last[seq]) - last[seq]
        for seq, members in together(calls).items()
    }


def tensors(values: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the tensors in lists of lists: [tensor, storage, offset, elements, bytes of one, device]."""
    if not isinstance(values, list):
        return
    if (
        len(values) == 6
        and isinstance(values[5], str)
        and all(isinstance(value, int) for value in values[:5])
    ):
        yield tuple(values)
        return
    for value in values:
        yield from tensors(value)
