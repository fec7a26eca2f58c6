"""Exports as text that a person can read in a diff; `python -m tests.golden.exports` renews the files.

A golden file is what a run of known traces becomes, repaired: a line a node; the manifest without hashes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import orjson

from graphstore import queries, repairs
from graphstore.api.importing import ImportOptions, import_files
from graphstore.chakra.et_def_pb2 import IOInfo, Node, NodeType
from graphstore.demo import TRACES
from graphstore.export import export_et_plus, export_json, export_run, export_timeline, read_et
from graphstore.export.drawing import DrawOptions, drawing
from graphstore.export.pictures import FORMS, picture
from graphstore.readers import find_files
from graphstore.settings import Settings
from graphstore.store import Store, open_store

GOLDEN = Path(__file__).parent / "export"
DATA = Path(__file__).parent.parent / "data"
# name → folder of traces, files that are promised
RUNS = {
    "demo": (TRACES, ("demo.0.et", "comm_groups.json", "manifest.json")),
    "mini": (DATA / "missing_parent_hides_collective", ("mini.0.et", "comm_groups.json", "manifest.json")),
}
# What other tools read, promised of the smallest run: to the byte, since they are text.
OTHER_TOOLS = (export_et_plus, export_json, export_timeline)
OTHERS_OF = "mini"
LONG = 60  # characters of a text that are shown


def texts(name: str) -> dict[str, str]:
    """Return {golden file: text} of the export of a run."""
    folder, files = RUNS[name]
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        store = open_store(Settings(store=str(Path(scratch) / "archive")))
        found = find_files([str(folder)])
        import_files(store, found, ImportOptions(run=name), Settings(store="-"))
        queries.write_findings(store, name, queries.check(store, name))
        repairs.apply(store, name, repairs.plan(store, name), unsafe=True)
        export_run(store, name, out)
        others = _others(store, name, Path(scratch) / "others") if name == OTHERS_OF else {}
        store.close()
        return others | {f"{name}.{file.removeprefix(f'{name}.')}.txt": _text(out / file) for file in files}


def _others(store: Store, name: str, out: Path) -> dict[str, str]:
    """Return what other tools read of a run, and the pictures of all of it."""
    for export in OTHER_TOOLS:
        export(store, name, out)
    whole = drawing(store, name, DrawOptions(depth=9))
    pictures = {f"{name}.{form}.txt": picture(whole, form) for form in FORMS}
    return pictures | {f"{path.name}.txt": path.read_text(encoding="utf-8") for path in sorted(out.iterdir())}


def _text(path: Path) -> str:
    """Return a file as text: nodes in a line each, JSON as it is, a manifest without its hashes."""
    if path.suffix == ".et":
        metadata, nodes = read_et(path)
        return "\n".join([f"version {metadata.version}", *map(line, nodes)]) + "\n"
    content = orjson.loads(path.read_bytes())
    content.pop("files", None)
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"


def line(node: Node) -> str:
    """Return a node as one line."""
    parts = [
        f"{node.id} {NodeType.Name(node.type)} {node.name!r}",
        f"ctrl={list(node.ctrl_deps)} data={list(node.data_deps)}",
        f"start={node.start_time_micros} duration={node.duration_micros}",
        *(f"{a.name}={_value(a.WhichOneof('value'), a)}" for a in node.attr),
        *(
            f"{side}={_info(info)}"
            for side, info in (("in", node.inputs), ("out", node.outputs))
            if info.values
        ),
    ]
    return " ".join(parts)


def _value(field: str | None, attribute: object) -> str:
    value = getattr(attribute, field or "name")
    return f"{(field or 'none').removesuffix('_val')}:{_short(str(value))}"


def _info(info: IOInfo) -> str:
    return " ".join(_short(text) for text in (info.values, info.shapes, info.types))


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def renew() -> None:
    """Write every golden file anew."""
    GOLDEN.mkdir(exist_ok=True)
    for name in RUNS:
        for file, text in texts(name).items():
            (GOLDEN / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew()
