"""Measure `graphstore hang` on a folder of dumps, and PyTorch's own analyzer on the same folder.

In:  a folder of pickled Flight Recorder dumps (make_dumps.py makes big ones), and perhaps a Python that has
torch. Out: a Markdown table on stdout. Each is measured as a process from its start to its end; memory is
that of the process and its children, as in run.py. torch is never needed: without it its row is left out.

    python benchmarks/hang.py FOLDER [--torch-python PATH] [--times 3]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from run import Measured, Meter

HANG = "import sys; from graphstore.cli.app import main; sys.exit(main())"
ANALYZER = "torch.distributed.flight_recorder.fr_trace"


def measured(name: str, command: Sequence[str], times: int) -> Measured:
    """Return the fastest of several runs of a command; exit when it fails."""
    runs = []
    for _ in range(times):
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        meter = Meter(psutil.Process(running.pid))
        with meter.stage(name):
            _, told = running.communicate()
        if running.returncode:
            raise SystemExit(f"{name} ended with exit code {running.returncode}: {told.decode()[-2000:]}")
        runs += meter.stages
    return min(runs, key=lambda run: run.seconds)


def has_torch(python: str) -> bool:
    """Return whether `python` can import torch's analyzer."""
    command = [
        python,
        "-c",
        f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({ANALYZER!r}))",
    ]
    try:
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def table(folder: Path, rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of a Markdown table; the ratio is the time of each to that of the first."""
    sizes = [path.stat().st_size for path in folder.iterdir() if path.is_file()]
    yield f"{len(sizes):,} files, {sum(sizes):,} bytes, {os.cpu_count()} processors"
    yield ""
    yield "| | seconds | CPU s | peak MiB | seconds to the first |"
    yield "|---|--:|--:|--:|--:|"
    for row in rows:
        times = f"{row.seconds:.2f} | {row.cpu_seconds:.2f}"
        yield f"| {row.stage} | {times} | {row.peak_mib:,.0f} | {row.seconds / rows[0].seconds:.1f} |"


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--torch-python", help="an interpreter with torch, to measure its analyzer too")
    parser.add_argument("--times", type=int, default=1, help="runs of each, of which the fastest counts")
    chosen = parser.parse_args()
    hang = [sys.executable, "-c", HANG, "hang", str(chosen.folder), "--quiet"]
    rows = [measured("graphstore hang", hang, chosen.times)]
    if chosen.torch_python and has_torch(chosen.torch_python):
        analyzer = [chosen.torch_python, "-m", ANALYZER, str(chosen.folder)]
        rows.append(measured("torch's fr_trace", analyzer, chosen.times))
    elif chosen.torch_python:
        print(f"{chosen.torch_python} has no {ANALYZER}", file=sys.stderr)
    print("\n".join(table(chosen.folder, rows)))


if __name__ == "__main__":
    main()
