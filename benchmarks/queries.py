"""Ask every question of the catalogue of one big run, on each engine, and say how long the answers take.

In:  a folder of traces (make_traces.py makes big ones). Out: Markdown tables on stdout: how many questions,
median and slowest, then the slowest by name. Left out is what changes the graph, and what hands the package
itself columns (pages of keys). Each question is asked three times with its defaults; the median counts, and
beside it stand the first time (with the plan made) and the processor time of this process. Parameters without
a default are filled with what the run holds: its longest op, the most frequent name, a group.

    python benchmarks/queries.py FOLDER [--store bolt://localhost:7687]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphstore import queries, readers, settings
from graphstore.api.importing import ImportOptions, import_files
from graphstore.queries import Query, catalog, run_query
from graphstore.store import Store, open_store

TIMES = 3
SLOWEST = 12
INTERNAL = {"first", "after", "page_keys", "rows"}  # parameters of pages of keys, and of what writes
MEDIAN_MARK_S, LIMIT_MARK_S = 1.0, 10.0


@dataclass(frozen=True)
class Asked:
    """One question: seconds of the first answer and the middle one, processor seconds here, rows.

    The embedded engine works in this process; of a server only what its client does counts here.
    """

    name: str
    first_s: float
    median_s: float
    cpu_s: float
    rows: int


def questions() -> list[Query]:
    """Return the queries that a person asks."""
    return [
        query
        for query in catalog().values()
        if not query.writes
        and not query.over_runs
        and not query.name.endswith("_columns")
        and not INTERNAL & {parameter.name for parameter in query.parameters}
    ]


def values_of(store: Store, run: str) -> dict[str, Any]:
    """Return a value of the run for each parameter that has no default."""
    kernel = run_query(store, run, "time/show_longest_kernels", count=1)["uid"][0]
    op = run_query(store, run, "time/show_longest_ops", count=1)["uid"][0]
    name = run_query(store, run, "time/show_time_by_name").sort("ops")["name"][-1]
    groups = run_query(store, run, "communication/show_groups")
    group = groups["group"][0] if groups.height else ""
    findings = run_query(store, run, "health/show_findings")
    values = {"kernel": kernel, "op": op, "name": name, "part": "conv", "rank": 0, "count": 20, "uids": [op]}
    values |= {"group": group, "collective_seq_id": 1, "first_seq": 1, "last_seq": 50, "node_id": 100}
    values |= {"absent_id": 4, "from_ns": 0, "to_ns": 50_000_000, "src": 0, "dst": 1}
    return values | {"fid": findings["fid"][0] if findings.height else ""}


def ask(store: Store, run: str, query: Query, values: dict[str, Any]) -> Asked:
    """Return how long a question takes."""
    given = {p.name: values[p.name] for p in query.parameters if not p.optional and p.name != "run"}
    taken, cpu = [], []
    for _ in range(TIMES):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        rows = run_query(store, run, query.name, **given).height
        taken.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - cpu_begin)
    done = Asked(query.name, taken[0], statistics.median(taken), statistics.median(cpu), rows)
    print(f"{done.median_s:8.3f} s  {done.cpu_s:8.3f} CPU s  {done.name}", file=sys.stderr)
    return done


def measure(folder: Path, address: str) -> tuple[int, list[Asked]]:
    """Return the nodes of the run and its questions; the run is removed from the store at `address` again."""
    chosen = settings.load(address)
    run = f"benchmark-{time.time_ns()}"
    with closing(open_store(chosen)) as store:
        import_files(store, readers.find_files([str(folder)]), ImportOptions(run=run), chosen)
        try:
            queries.write_findings(store, run, queries.check(store, run))
            labels = run_query(store, run, "archive/count_labels")
            values = values_of(store, run)
            asked = [ask(store, run, query, values) for query in questions()]
        finally:
            store.delete_run(run)
    return int(labels["nodes"].sum()), asked


def tables(found: dict[str, list[Asked]]) -> Iterator[str]:
    """Yield the lines of the tables: the engines side by side, then the slowest questions."""
    yield "| | questions | median s | nine of ten under s | slowest s | over 1 s | over 10 s |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for engine, asked in found.items():
        seconds = sorted(one.median_s for one in asked)
        over = " | ".join(str(sum(s > mark for s in seconds)) for mark in (MEDIAN_MARK_S, LIMIT_MARK_S))
        middle, tenth = statistics.median(seconds), seconds[len(seconds) * 9 // 10]
        yield f"| {engine} | {len(seconds)} | {middle:.2f} | {tenth:.2f} | {seconds[-1]:.2f} | {over} |"
    for engine, asked in found.items():
        yield ""
        yield f"| slowest on {engine} | first s | median s | CPU s | rows |"
        yield "|---|--:|--:|--:|--:|"
        for one in sorted(asked, key=lambda one: -one.median_s)[:SLOWEST]:
            yield f"| {one.name} | {one.first_s:.2f} | {one.median_s:.2f} | {one.cpu_s:.2f} | {one.rows:,} |"


def main() -> None:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", help="a Neo4j server to measure, too")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as archive:
        nodes, embedded = measure(chosen.folder, archive)
    print(f"{nodes:,} nodes\n")
    found = {"embedded": embedded}
    if chosen.store:
        found["Neo4j"] = measure(chosen.folder, chosen.store)[1]
    print("\n".join(tables(found)))


if __name__ == "__main__":
    main()
