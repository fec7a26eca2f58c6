"""Measure an archive of many runs against an archive of one: opening it, and asking it.

In:  a folder of traces of one run (make_traces.py makes big ones). Out: a Markdown table on stdout.
The run is imported once and moved under new ids until there are as many as asked for. Each figure is the
command line as a person runs it, from its start to its end: the least CPU seconds of several times (a machine
with other work moves wall time, not these). Asking every run file grows with their number, the rest must not.

    python benchmarks/archive.py FOLDER [--runs 50] [--times 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from graphstore import api
from graphstore.settings import Settings

COMMAND = [sys.executable, "-c", "import sys; from graphstore.cli.app import main; sys.exit(main())"]
ASKED = {
    "`runs list`": ["runs", "list"],
    "`runs show latest`": ["runs", "show", "latest"],
    "`query time/show_steps --run latest`": ["query", "time/show_steps", "--run", "latest"],
    "`query archive/show_sums_by_kind`, all runs": ["query", "archive/show_sums_by_kind"],
    "`runs trend archive/show_sums_by_name self_ns --by name`": [
        *("runs", "trend", "archive/show_sums_by_name", "self_ns", "--by", "name"),
    ],
    "`query time/show_steps --runs all`": ["query", "time/show_steps", "--runs", "all"],
}


def filled(home: Path, file: Path, runs: int) -> int:
    """Make an archive of so many runs of the file; return its bytes."""
    here = Settings(store=str(home))
    for number in range(runs):
        api.import_archive(file, here, run=f"run-{number:03}")
    return sum(path.stat().st_size for path in home.rglob("*.kgl"))


def measured(home: Path, words: list[str], times: int) -> tuple[float, float]:
    """Return the least wall and CPU seconds of a command on an archive."""
    env = {**os.environ, "GRAPHSTORE_URI": str(home)}
    wall, cpu = [], []
    for _ in range(times):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [*COMMAND, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall.append(time.perf_counter() - start)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(wall), min(cpu)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphstore-archive-") as folder:
        root = Path(folder)
        first = Settings(store=str(root / "first"))
        api.import_runs([given.folder], api.ImportOptions(run="first"), first)
        (moved,) = api.export_archive(["first"], root / "run.zip", first)
        sizes = {runs: filled(root / str(runs), root / "run.zip", runs) for runs in (1, given.runs)}
        print(
            f"{moved.nodes:,} nodes and {moved.edges:,} edges a run; "
            f"{sizes[1]:,} bytes for 1 run, {sizes[given.runs]:,} for {given.runs}\n"
        )
        print(f"| | 1 run: seconds | CPU s | {given.runs} runs: seconds | CPU s | CPU to 1 run |")
        print("|---|--:|--:|--:|--:|--:|")
        for what, words in ASKED.items():
            one = measured(root / "1", words, given.times)
            many = measured(root / str(given.runs), words, given.times)
            figures = " | ".join(f"{figure:.2f}" for figure in (*one, *many, many[1] / one[1]))
            print(f"| {what} | {figures} |")


if __name__ == "__main__":
    main()
