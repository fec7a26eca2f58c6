"""Measure how long comparing two runs takes: seconds and peak memory of reading, aligning and judging.

In:  two folders of traces (make_traces.py makes big ones). Out: a Markdown table on stdout.
Both are imported once into an archive of their own; a comparison is a process of its own, as a person starts
it.

    python benchmarks/diff.py A B [--times 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from graphstore import api, settings

COMMAND = [sys.executable, "-c", "import sys; from graphstore.cli.app import main; sys.exit(main())"]


def main() -> None:
    """Import both, compare them `--times` times, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", type=Path, help="folder of traces")
    parser.add_argument("b", type=Path, help="folder of traces")
    parser.add_argument("--times", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        for run, folder in (("a", chosen.a), ("b", chosen.b)):
            api.import_runs([str(folder)], api.ImportOptions(run=run), settings.load(home))
        totals = api.diff_runs("a", "b", settings.load(home)).totals
        taken = [compare(home) for _ in range(chosen.times)]
    counted = {what: int(totals.filter(what=what)["count_a"].sum()) for what in ("op", "kernel")}
    print("| host ops | device ops | seconds (median) | MiB (median) |\n|---:|---:|---:|---:|")
    seconds, peak = (statistics.median(values) for values in zip(*taken, strict=True))
    print(f"| {counted['op']:,} | {counted['kernel']:,} | {seconds:.1f} | {peak:.0f} |")


def compare(home: str) -> tuple[float, float]:
    """Return how many seconds and MiB (largest resident set) the command takes."""
    begin = time.perf_counter()
    environment = {**os.environ, "GRAPHSTORE_HOME": home}
    process = subprocess.Popen([*COMMAND, "diff", "a", "b"], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit("the comparison failed")
    return time.perf_counter() - begin, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
