"""Make the Flight Recorder dumps of a big job that hangs: a pickle per rank, as torch writes them.

In:  the number of ranks and of entries a rank. Out: OUT/nccl_trace_rank_N, and what was planted on stdout.
The job trains with tensor, data and pipeline parallelism (Megatron's layout: tensor ranks side by side), has
run for over 70,000 steps, and its ring holds the last entries. One rank never makes its last call, an
all_reduce of the default group, which all others wait in. Only texts and frames are remembered in the pickle,
as torch does it. Of a rank four steps are written value by value, the rest by numpy: a step differs from the
one before in numbers only, and those grow evenly.

    python benchmarks/make_dumps.py OUT --ranks 64 --entries 2000 [--tensor 8] [--pipeline 4] [--fault 21]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch_pickle import Rising, Shared, TorchPickle

STEPS_BEFORE = 70_000  # so that each number that grows takes four bytes
START_NS = 1_758_600_000_000_000_000
STEP_NS = 900_000_000
CALL_NS = 17_000_000
LAYERS = 8
LEAST_ENTRIES = 150  # four steps
HIDDEN = [4096, 1, 5120]
GATHERED = [32768, 1, 5120]
TORCH = "/opt/venv/lib/python3.12/site-packages/torch/"
DEFAULT, TENSOR, PIPELINE, DATA = range(4)  # the number of a group in its process
DESCS = ("default_pg", "TENSOR_MODEL_PARALLEL_GROUP", "PIPELINE_MODEL_PARALLEL_GROUP", "DATA_PARALLEL_GROUP")
Value = dict[str, Any]
Frame = tuple[str, str, int]  # file, function, line


class Group(NamedTuple):
    """A group of a rank."""

    name: str
    desc: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One call of a step: its group's number in the process, what is called, shapes, and where."""

    group: int
    name: str
    sizes: tuple[list[int], list[int]]
    dtype: str
    stack: tuple[Frame, ...]

    @property
    def is_p2p(self) -> bool:
        """Return whether it is a send or recv."""
        return "send" in self.name or "recv" in self.name


@dataclass(frozen=True)
class Layout:
    """Which rank stands where."""

    ranks: int
    tensor: int
    pipeline: int

    @property
    def data(self) -> int:
        """Return how many ranks a data parallel group has."""
        return self.ranks // (self.tensor * self.pipeline)

    def groups(self, rank: int) -> list[Group]:
        """Return the groups of a rank, in the order of their numbers in its process."""
        tensor, data = self.tensor, self.data
        t, d, p = rank % tensor, rank // tensor % data, rank // (tensor * data)
        stage = tensor * data
        members = (
            tuple(range(self.ranks)),
            tuple(range(rank - t, rank - t + tensor)),
            tuple(range(t + tensor * d, self.ranks, stage)),
            tuple(range(p * stage + t, (p + 1) * stage, tensor)),
        )
        first_pipeline = 1 + self.ranks // tensor
        first_data = first_pipeline + stage
        numbers = (0, 1 + rank // tensor, first_pipeline + t + tensor * d, first_data + t + tensor * p)
        return [Group(str(n), desc, m) for n, desc, m in zip(numbers, DESCS, members, strict=True)]

    def count(self) -> int:
        """Return how many groups the job has."""
        stage = self.tensor * self.data
        return 1 + self.ranks // self.tensor + stage + self.tensor * self.pipeline


@cache
def stack(function: str, line: int, *own: Frame) -> tuple[Frame, ...]:
    """Return the frames of a call: torch's, those given, and those that every call of the job has."""
    return (
        (f"{TORCH}distributed/distributed_c10d.py", function, 2500 + line),
        (f"{TORCH}distributed/c10d_logger.py", "wrapper", 81),
        *own,
        ("/job/megatron/core/pipeline_parallel/schedules.py", "forward_backward_pipelining", 1412),
        ("/job/megatron/training/training.py", "train_step", 1063),
        ("/job/megatron/training/training.py", "train", 1899),
        ("/job/megatron/training/training.py", "pretrain", 746),
        ("/job/pretrain_gpt.py", "<module>", 288),
    )


@cache
def frame(file: str, function: str, line: int) -> Shared:
    """Return a frame as the recorder writes it."""
    return Shared(name=function, filename=file, line=line)


def tensor_call(name: str, function: str, backward: bool, number: int) -> Call:
    """Return a call of a layer: all_gather of its input or reduce_scatter of its output."""
    sizes = (HIDDEN, GATHERED) if "gather" in name else (GATHERED, HIDDEN)
    mappings = "/job/megatron/core/tensor_parallel/mappings.py"
    own: tuple[Frame, ...] = ((mappings, f"_{function}_along_first_dim", 100 + len(function)),)
    if backward:
        own += ((mappings, "backward", 300 + number), (f"{TORCH}autograd/function.py", "apply", 307))
    else:
        own += (
            (f"{TORCH}autograd/function.py", "apply", 575),
            ("/job/megatron/core/tensor_parallel/layers.py", "forward", 700 + number),
            (f"{TORCH}nn/modules/module.py", "_call_impl", 1762),
            ("/job/megatron/core/transformer/transformer_layer.py", "forward", 390 + number),
            (f"{TORCH}nn/modules/module.py", "_call_impl", 1762),
            ("/job/megatron/core/transformer/transformer_block.py", "forward", 493),
        )
    return Call(TENSOR, name, sizes, "BFloat16", stack(function, len(function), *own))


def p2p_call(kind: str, own: int, peer: int) -> Call:
    """Return a send or recv between two stages."""
    arrow = "->" if kind == "send" else "<-"
    file = "/job/megatron/core/pipeline_parallel/p2p_communication.py"
    frames = stack(f"i{kind}", 11, (file, "_p2p_ops", 180 + len(kind)), (file, "_communicate", 370))
    return Call(PIPELINE, f"nccl:{kind} {own}{arrow}{peer}", (HIDDEN, HIDDEN), "BFloat16", frames)


@cache
def step(stage: int, stages: int) -> list[Call]:
    """Return the calls of one step of a rank in a pipeline's stage."""
    calls = []
    if stage > 0:
        calls.append(p2p_call("recv", stage, stage - 1))
    for _ in range(LAYERS):
        calls.append(tensor_call("nccl:_all_gather_base", "all_gather_into_tensor", False, 1))
        calls.append(tensor_call("nccl:_reduce_scatter_base", "reduce_scatter_tensor", False, 2))
    if stage < stages - 1:
        calls.append(p2p_call("send", stage, stage + 1))
        calls.append(p2p_call("recv", stage, stage + 1))
    for _ in range(LAYERS):
        calls.append(tensor_call("nccl:_all_gather_base", "all_gather_into_tensor", True, 3))
        calls.append(tensor_call("nccl:_reduce_scatter_base", "reduce_scatter_tensor", True, 4))
    if stage > 0:
        calls.append(p2p_call("send", stage, stage - 1))
    file = "/job/megatron/core/distributed/param_and_grad_buffer.py"
    for name, function, dtype, line in (
        ("nccl:_reduce_scatter_base", "reduce_scatter_tensor", "Float", 301),
        ("nccl:_all_gather_base", "all_gather_into_tensor", "BFloat16", 300),
    ):
        frames = stack(function, 70, (file, "start_sync", line))
        calls.append(Call(DATA, name, ([], []), dtype, frames))
    norm = stack("all_reduce", 90, ("/job/megatron/core/optimizer/clip_grads.py", "get_grad_norm", 131))
    calls.append(Call(DEFAULT, "nccl:all_reduce", ([1], [1]), "Float", norm))
    return calls


def sizes_of(call: Call, layout: Layout) -> tuple[list[int], list[int]]:
    """Return the shapes of a call; those of a data parallel group depend on its size."""
    if call.group != DATA:
        return call.sizes
    whole, part = [4096 * layout.data], [4096]
    return (whole, part) if "scatter" in call.name else (part, whole)


class Rank:
    """The recorder of one rank: it numbers the calls of its steps."""

    def __init__(self, layout: Layout, rank: int) -> None:
        """Take the rank's place in the layout."""
        self.layout, self.rank = layout, rank
        self.groups = layout.groups(rank)
        self.calls = step(rank // (layout.tensor * layout.data), layout.pipeline)
        self.per_step = Counter((call.group, call.is_p2p) for call in self.calls)

    def entries(self, number: int) -> Iterator[Value]:
        """Yield the entries of step `number`, all completed."""
        made: Counter[tuple[int, bool]] = Counter()
        for place, call in enumerate(self.calls):
            made[call.group, call.is_p2p] += 1
            counts = {
                is_p2p: Rising(
                    self.per_step[call.group, is_p2p] * number + made[call.group, is_p2p],
                    self.per_step[call.group, is_p2p],
                )
                for is_p2p in (False, True)
                if self.per_step[call.group, is_p2p]
            }
            record = Rising(len(self.calls) * number + place, len(self.calls))
            operations = Rising(sum(c.value for c in counts.values()), sum(c.by for c in counts.values()))
            created = START_NS + STEP_NS * number + CALL_NS * place + 1_000 * (self.rank % 997)
            yield self._entry(call, record, counts, operations, created)

    def _entry(
        self, call: Call, record: Rising, counts: dict[bool, Rising], operations: Rising, created: int
    ) -> Value:
        group = self.groups[call.group]
        inputs, outputs = sizes_of(call, self.layout)
        return {
            "frames": [frame(*each) for each in call.stack],
            "record_id": record,
            "pg_id": call.group,
            "process_group": (group.name, group.desc),
            "thread_name": "pt_autograd_0" if "backward" in call.stack[3] else "python3",
            "thread_id": f"{23_437_652_547_264 + 4096 * self.rank}",
            "collective_seq_id": counts.get(False, 0),
            "p2p_seq_id": counts.get(True, 0) if call.is_p2p else 0,
            "op_id": operations,
            "profiling_name": call.name,
            "time_created_ns": Rising(created, STEP_NS),
            "input_sizes": [inputs],
            "input_dtypes": [call.dtype],
            "output_sizes": [outputs],
            "output_dtypes": [call.dtype],
            "state": "completed",
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": Rising(created + CALL_NS // 2, STEP_NS),
            "retired": True,
            "timeout_ms": 600_000,
            "is_p2p": call.is_p2p,
        }

    def status(self, last: int, is_faulty: bool) -> Value:
        """Return pg_status after step `last`; NCCL tells sends and recvs where those came last."""
        out = {}
        for group in range(len(self.groups)):
            made = self.per_step[group, group == PIPELINE] * (last + 1)
            enqueued = made - (is_faulty and group == DEFAULT)
            done = made - (group == DEFAULT)
            out[str(group)] = {
                "last_enqueued_collective": enqueued,
                "last_started_collective": -1,
                "last_completed_collective": done,
            }
        return out


@cache
def listed(ranks: tuple[int, ...]) -> str:
    """Return the members of a group as the recorder writes them."""
    return str(list(ranks))


def write_dump(recorder: Rank, count: int, is_faulty: bool) -> bytes:
    """Return the dump of a rank whose ring holds `count` entries; the faulty one lacks the last of them."""
    size = len(recorder.calls)
    last = STEPS_BEFORE + count  # the same for all ranks, however many calls their steps have
    pickled = TorchPickle()
    out = pickled.out
    out += b"}("
    config = {g.name: {"name": g.name, "desc": g.desc, "ranks": listed(g.ranks)} for g in recorder.groups}
    head = {"version": "2.9", "pg_config": config, "nccl_version": "2.27.3"}
    for key, value in (head | {"pg_status": recorder.status(last, is_faulty)}).items():
        pickled.write(key)
        pickled.write(value)
    pickled.write("entries")
    out += b"]("
    whole = count // size
    first = last - whole + 1
    cut = [*recorder.entries(first - 1)][size - count % size :]
    for made in (*cut, *recorder.entries(first)):
        pickled.write(made)
    pickled.rising.clear()
    start = len(out)
    for made in recorder.entries(first + 1):  # all texts and frames are known: steps differ in numbers only
        pickled.write(made)
    out += repeated(bytes(out[start:]), start, pickled.rising, whole - 3)
    for place, made in enumerate(recorder.entries(last)):
        if place == size - 1 and not is_faulty:
            made |= {"state": "scheduled", "time_discovered_completed_ns": None, "retired": False}
        if place < size - 1 or not is_faulty:
            pickled.write(made)
    out += b"eu."
    return bytes(out)


def repeated(written: bytes, start: int, rising: list[tuple[int, int, Rising]], times: int) -> bytes:
    """Return the next `times` steps after `written`, which starts at `start` and holds `rising` numbers."""
    rows = np.tile(np.frombuffer(written, dtype=np.uint8), (times, 1))
    turns = np.arange(1, times + 1)
    for place, size, number in rising:
        values = (number.value + number.by * turns).astype(f"<i{size}")
        rows[:, place - start : place - start + size] = values.view(np.uint8).reshape(times, size)
    return rows.tobytes()


def make(out: Path, layout: Layout, count: int, fault: int) -> int:
    """Write the dumps of all ranks; return the bytes written."""
    out.mkdir(parents=True, exist_ok=True)
    written = 0
    for rank in range(layout.ranks):
        data = write_dump(Rank(layout, rank), count, rank == fault)
        (out / f"nccl_trace_rank_{rank}").write_bytes(data)
        written += len(data)
    return written


def main() -> None:
    """Read the command line, write the dumps, print what they hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--entries", type=int, default=2_000, help="entries a rank")
    parser.add_argument("--tensor", type=int, default=8, help="ranks of a tensor parallel group")
    parser.add_argument("--pipeline", type=int, default=4, help="stages of a pipeline")
    parser.add_argument("--fault", type=int, help="rank that never makes its last call (a third of the way)")
    chosen = parser.parse_args()
    if chosen.ranks % (chosen.tensor * chosen.pipeline):
        parser.error(f"--ranks must be a multiple of {chosen.tensor * chosen.pipeline}")
    if chosen.entries < LEAST_ENTRIES:
        parser.error(f"--entries must be {LEAST_ENTRIES} at least")
    layout = Layout(chosen.ranks, chosen.tensor, chosen.pipeline)
    fault = chosen.ranks // 3 if chosen.fault is None else chosen.fault
    written = make(chosen.out, layout, chosen.entries, fault)
    print(
        f"{layout.ranks:,} dumps of {chosen.entries:,} entries, {layout.count():,} groups, {written:,} bytes;"
        f" rank {fault} never made its last all_reduce of the default group"
    )


if __name__ == "__main__":
    main()
