"""Measure the main job on a run: seconds and peak memory, per stage and engine, against a plain typed parse.

In:  a folder of traces (make_traces.py makes big ones). Out: a Markdown table on stdout.
The measure to compare with is msgspec reading the same files into typed structs and nothing else. Each
measurement is a process of its own; its memory is that of the process and its children (shared pages counted
once, sampled twenty times a second). The last line is the command `graphstore convert` as a person runs it.

    python benchmarks/run.py FOLDER [--store bolt://localhost:7687]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil

SAMPLE_S = 0.05
MIB = 1 << 20


class Attribute(msgspec.Struct):
    """An attribute of an execution trace node."""

    name: str
    value: Any = None


class Values(msgspec.Struct):
    """Inputs or outputs of an execution trace node."""

    values: msgspec.Raw = msgspec.Raw()
    shapes: msgspec.Raw = msgspec.Raw()
    types: msgspec.Raw = msgspec.Raw()


class Node(msgspec.Struct):
    """An execution trace node."""

    id: int
    name: str
    ctrl_deps: int = 0
    inputs: Values | None = None
    outputs: Values | None = None
    attrs: list[Attribute] = []


class Event(msgspec.Struct):
    """A Kineto event."""

    ph: str
    name: str = ""
    cat: str = ""
    ts: float = 0.0
    dur: float = 0.0
    pid: int | str = 0
    tid: int | str = 0
    args: dict[str, Any] | None = None


class Trace(msgspec.Struct):
    """Either file: an execution trace has nodes, a Kineto trace has events."""

    nodes: list[Node] = []
    traceEvents: list[Event] = []  # noqa: N815 - the name in the file


@dataclass
class Measured:
    """Seconds, processor seconds (children included) and peak memory (MiB, absolute) of one stage."""

    stage: str
    seconds: float
    cpu_seconds: float
    peak_mib: float


class Meter:
    """Takes the time of stages, and samples the memory of a process and its children meanwhile."""

    def __init__(self, process: psutil.Process) -> None:
        """Measure `process`."""
        self.stages: list[Measured] = []
        self._process = process
        self._peak = 0
        self._sampling = 0.0  # processor seconds of the sampler, which are not the stage's

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what happens inside as one stage."""
        ended = threading.Event()
        sampler = threading.Thread(target=self._sample, args=(ended,))
        self._peak = _memory(self._process)
        sampler.start()
        begin, cpu_begin = time.perf_counter(), _cpu_seconds()
        try:
            yield
        finally:
            seconds = time.perf_counter() - begin
            ended.set()
            sampler.join()
            cpu_seconds = _cpu_seconds() - cpu_begin - self._sampling
            self._peak = max(self._peak, _memory(self._process))
            self.stages.append(Measured(name, seconds, cpu_seconds, self._peak / MIB))

    def _sample(self, ended: threading.Event) -> None:
        while not ended.wait(SAMPLE_S):
            self._peak = max(self._peak, _memory(self._process))
        used = resource.getrusage(resource.RUSAGE_THREAD)
        self._sampling = used.ru_utime + used.ru_stime


def _cpu_seconds() -> float:
    """Return the processor time of this process and its ended children."""
    return sum(os.times()[:4])


def _memory(process: psutil.Process) -> int:
    """Return the proportional memory of a process and its children in bytes; 0 for one that has ended."""
    total = 0
    try:
        for each in (process, *process.children(recursive=True)):
            try:
                total += each.memory_full_info().pss
            except psutil.NoSuchProcess:
                continue
    except psutil.NoSuchProcess:
        pass
    return total


def parse(folder: Path) -> list[Measured]:
    """Measure reading every JSON file of `folder` into typed structs, one after the other."""
    meter = Meter(psutil.Process())
    with meter.stage("plain typed parse"):
        for path in sorted(folder.glob("*.json*")):
            data = path.read_bytes()
            msgspec.json.decode(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, type=Trace)
    return meter.stages


def stages(folder: Path, address: str) -> list[Measured]:
    """Measure each stage of a convert on the store at `address`; the run is removed afterwards."""
    from graphstore import export, queries, readers, repairs, settings
    from graphstore.api.importing import ImportOptions, link_records
    from graphstore.store import open_store

    chosen = settings.load(address)
    meter = Meter(psutil.Process())
    with tempfile.TemporaryDirectory() as out, closing(open_store(chosen)) as store:
        run = f"benchmark-{time.time_ns()}"
        with meter.stage("read"):
            records = readers.read_files(readers.find_files([str(folder)]).files, chosen, set(), None)
        with meter.stage("link"):
            graph = link_records(store, run, run, records, ImportOptions(), chosen)
        del records
        with meter.stage("write to the store"):
            store.write_run(graph)
        del graph
        with meter.stage("check"):
            checked = queries.run_checks(store, run)
        with meter.stage("repair"):
            plan = repairs.plan(store, run, checked.rows)
            repairs.apply(store, run, plan, unsafe=True, found=checked.findings)
        with meter.stage("export"):
            export.export_run(store, run, Path(out))
        store.delete_run(run)
    return meter.stages


def convert(folder: Path, address: str) -> list[Measured]:
    """Measure `graphstore convert --no-keep` as a process, from its start to its end."""
    command = "import sys; from graphstore.cli.app import main; sys.exit(main())"
    with tempfile.TemporaryDirectory() as out:
        words = ["convert", str(folder), "-o", out, "--quiet", "--no-keep", "--store", address]
        running = subprocess.Popen([sys.executable, "-c", command, *words], stdout=subprocess.DEVNULL)
        meter = Meter(psutil.Process(running.pid))
        with meter.stage("graphstore convert"):
            if running.wait():
                raise SystemExit(f"convert of {folder} ended with exit code {running.returncode}")
    return meter.stages


WHAT: dict[str, Callable[..., list[Measured]]] = {"parse": parse, "stages": stages}


def measured(what: str, *words: str) -> list[Measured]:
    """Return the measurements of `what` made in a fresh process."""
    command = [sys.executable, __file__, "--measure", what, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [Measured(**row) for row in json.loads(done.stdout)]


def table(engine: str, rows: list[Measured], base: Measured) -> Iterator[str]:
    """Yield the lines of a Markdown table: per stage, seconds, peak memory, and the ratio to the parse."""
    yield f"| {engine} | seconds | CPU s | CPU to the parse | peak MiB |"
    yield "|---|--:|--:|--:|--:|"
    for row in rows:
        ratio = row.cpu_seconds / base.cpu_seconds
        times = f"{row.seconds:.2f} | {row.cpu_seconds:.2f} | {ratio:.1f}"
        yield f"| {row.stage} | {times} | {row.peak_mib:,.0f} |"


def total(rows: list[Measured]) -> Measured:
    """Return the stages as one."""
    seconds, cpu_seconds = sum(row.seconds for row in rows), sum(row.cpu_seconds for row in rows)
    return Measured("all stages", seconds, cpu_seconds, max(row.peak_mib for row in rows))


def main() -> None:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", help="a Neo4j server to measure, too")
    chosen = parser.parse_args()
    base = measured("parse", str(chosen.folder))[0]
    with tempfile.TemporaryDirectory() as archive:
        rows = measured("stages", str(chosen.folder), archive)
        rows = [base, *rows, total(rows), *convert(chosen.folder, archive)]
    print("\n".join(table("embedded", rows, base)))
    if chosen.store:
        rows = measured("stages", str(chosen.folder), chosen.store)
        print("\n" + "\n".join(table("Neo4j (time and memory of the client)", [*rows, total(rows)], base)))


def _measure(what: str, words: list[str]) -> None:
    rows = WHAT[what](Path(words[0]), *words[1:])
    print(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        _measure(sys.argv[2], sys.argv[3:])
    else:
        main()
