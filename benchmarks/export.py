"""Measure an export against what no export can do without: reading its columns and writing plain protobuf.

In:  a folder of traces (make_traces.py makes big ones). Out: a Markdown table on stdout.
Read: the columns of each rank and the details of its host ops, as an export asks the store for them. Plain:
the very nodes of the written files, kept as plain values, made into messages field by field and written. What
an export takes above the two is cutting threads, fitting, playing the file again and validating it; what it
saves is an object a node. Seconds are CPU seconds, which other work on the machine moves less than wall time.

    python benchmarks/export.py FOLDER [--times 3]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from graphstore import export, readers
from graphstore.api.importing import ImportOptions, import_files
from graphstore.api.verbs import scratch_store
from graphstore.chakra import GlobalMetadata, Node, framed
from graphstore.export.columns import read_details, read_rank
from graphstore.export.files import write_et
from graphstore.queries.columns import read_keys
from graphstore.settings import Settings, load
from graphstore.store.base import Store

Plain = tuple[tuple[Any, ...], list[int], list[int], tuple[str, str, str], list[tuple[str, str, Any]]]
DETAILS = "structure/show_host_op_details"
AT_ONCE = 20_000


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU time that a run takes, of all threads of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def read(store: Store, run: str) -> None:
    """Read what an export reads."""
    for keys in read_keys(store, run):
        uids = read_rank(store, run, keys).host["uid"].to_numpy()
        for first in range(0, len(uids), AT_ONCE):
            read_details(store, run, DETAILS, uids[first : first + AT_ONCE])


def plain(folder: Path) -> list[Plain]:
    """Return the nodes of written files as plain values."""
    return [
        (
            (node.id, node.name, node.type, node.start_time_micros, node.duration_micros),
            list(node.ctrl_deps),
            list(node.data_deps),
            (node.inputs.values, node.inputs.shapes, node.inputs.types),
            [(one.name, field := one.WhichOneof("value"), getattr(one, field)) for one in node.attr],
        )
        for path in sorted(folder.glob("*.et"))
        for node in export.read_nodes(path)
    ]


def messages(nodes: list[Plain]) -> Iterator[Any]:
    """Yield the messages of a file."""
    yield GlobalMetadata(version="0.0.4")
    for (number, name, kind, start, duration), ctrl, data, (values, shapes, types), attributes in nodes:
        node = Node(id=number, name=name, type=kind, start_time_micros=start, duration_micros=duration)
        node.ctrl_deps.extend(ctrl)
        node.data_deps.extend(data)
        if values or shapes or types:
            node.inputs.values, node.inputs.shapes, node.inputs.types = values, shapes, types
        for attribute, field, value in attributes:
            node.attr.add(**{"name": attribute, field: value})
        yield node


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=3, help="rounds; of each part the fastest counts")
    chosen = parser.parse_args()
    settings: Settings = load()
    with scratch_store(settings) as store, tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        found = readers.find_files([str(chosen.folder)], recursive=False)
        run = import_files(store, found, ImportOptions(), settings).run
        export.export_run(store, run, out)
        nodes = plain(out)
        works = (
            lambda: read(store, run),
            lambda: write_et(out / "plain.et", map(framed, messages(nodes))),
            lambda: export.export_run(store, run, out),
        )
        rounds = [[seconds(work) for work in works] for _ in range(chosen.times)]
    reading, writing, whole = map(min, zip(*rounds, strict=True))
    least = reading + writing
    print(f"{len(nodes):,} nodes\n")
    print("| read | plain protobuf | both | export | export to both |")
    print("|--:|--:|--:|--:|--:|")
    print(f"| {reading:.2f} s | {writing:.2f} s | {least:.2f} s | {whole:.2f} s | {whole / least:.2f} |")


if __name__ == "__main__":
    main()
