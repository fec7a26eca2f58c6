"""Runs as one file, to be moved to another archive on any engine: written whole, every byte checked.

In:  RunGraphs, or a file. Out: a file, or its RunGraphs. The form is described in docs/archive.md.
Decided here: a zip of Arrow tables, one a label or kind of edge, and manifest.json, which names each with its
rows, bytes and sha256; the zip's comment holds the sha256 of the manifest. Nothing is unpacked to the disk,
sizes are compared before bytes are read, hashes before they are understood, columns and types with the schema
before they are used. What a run is in a store: store/whole.py. Numbers of the new place: link/renumber.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

import graphstore
from graphstore.errors import InputError, UsageError
from graphstore.export.files import BUFFER_BYTES, publish, staged
from graphstore.model.ids import RUN_ID
from graphstore.model.records import POLARS_TYPE, EdgeTable, RunGraph, key_of, node_schema
from graphstore.model.schema import LABEL_BY_NAME, TYPE_BY_NAME
from graphstore.settings import Settings

FORMAT = "graphstore-archive"
VERSION = 1
MANIFEST = "manifest.json"
MANIFEST_BYTES = 64 << 20  # no manifest is larger: 10,000 runs
_COMMENT = b"sha256:"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same run gives the same bytes
_LEVEL = 1  # of deflate: twice as fast as the default, a tenth larger
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def write_archive(out: Path, graphs: Iterable[RunGraph]) -> dict[str, Any]:
    """Write runs to the file `out`, in place of one that is there; return its manifest.

    Raises UsageError where the disk does not take it; then nothing was changed.
    """
    if out.is_dir():
        raise UsageError(f"{out} is a folder; -o names the file to write")
    with staged(out.parent) as stage:
        with zipfile.ZipFile(stage / out.name, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
            runs = [_write_run(archive, number, graph) for number, graph in enumerate(graphs, 1)]
            manifest = {
                "format": FORMAT,
                "version": VERSION,
                "tool_version": graphstore.__version__,
                "runs": runs,
            }
            content = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
            _add(archive, MANIFEST, content)
            archive.comment = _COMMENT + hashlib.sha256(content).hexdigest().encode()
        publish(stage, out.parent, [out.name])
    return manifest


def _write_run(archive: zipfile.ZipFile, number: int, graph: RunGraph) -> dict[str, Any]:
    """Write the tables of one run; return its part of the manifest."""
    nodes = [
        {"label": label} | _write_table(archive, f"runs/{number}/nodes/{label}.arrow", frame)
        for label, frame in graph.nodes.items()
    ]
    edges = [
        {"type": table.type, "source": table.source, "target": table.target}
        | _write_table(archive, f"runs/{number}/edges/{_edge_name(table)}.arrow", table.frame)
        for table in graph.edges
    ]
    return {"run": graph.run, "nodes": nodes, "edges": edges}


def _edge_name(table: EdgeTable) -> str:
    return f"{table.source}-{table.type}-{table.target}"


def _write_table(archive: zipfile.ZipFile, name: str, frame: pl.DataFrame) -> dict[str, Any]:
    buffer = io.BytesIO()
    frame.rechunk().write_ipc(buffer, compression="uncompressed", compat_level=pl.CompatLevel.oldest())
    content = buffer.getvalue()
    _add(archive, name, content)
    return {
        "file": name,
        "rows": frame.height,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content, compresslevel=_LEVEL)


@dataclass(frozen=True)
class ArchiveFile:
    """An open archive file whose manifest was read and checked; `runs` are its entries there."""

    path: Path
    archive: zipfile.ZipFile
    runs: list[dict[str, Any]]

    def check(self) -> None:
        """Hash every table against the manifest; raises InputError for one that is not what was written."""
        with _refused(self.path):
            for entry in self.runs:
                for table in [*entry["nodes"], *entry["edges"]]:
                    digest = hashlib.sha256()
                    with self.archive.open(str(table["file"])) as stream:
                        while part := stream.read(BUFFER_BYTES):
                            digest.update(part)
                    _same_hash(table, digest.hexdigest())

    def graph(self, entry: dict[str, Any]) -> RunGraph:
        """Return the run of an entry of `runs`. Raises InputError where it is not as the manifest says."""
        with _refused(self.path):
            nodes = {str(each["label"]): self._nodes(each) for each in entry["nodes"]}
            edges = [self._edges(each) for each in entry["edges"]]
            return RunGraph(_properties(self.path, entry["run"]), nodes, edges)

    def _nodes(self, entry: dict[str, Any]) -> pl.DataFrame:
        label = str(entry["label"])
        if label not in LABEL_BY_NAME or label == "Run":
            raise _unknown(self.path, f"label {label}")
        return self._table(entry, node_schema(label), needed=[LABEL_BY_NAME[label].key, "run"])

    def _edges(self, entry: dict[str, Any]) -> EdgeTable:
        kind, source, target = (str(entry[name]) for name in ("type", "source", "target"))
        if kind not in TYPE_BY_NAME or (source, target) not in TYPE_BY_NAME[kind].ends:
            raise _unknown(self.path, f"edges {source}-{kind}-{target}")
        schema = {"src": key_of(source)[1], "dst": key_of(target)[1]}
        schema |= {p.name: POLARS_TYPE[p.type] for p in TYPE_BY_NAME[kind].properties}
        return EdgeTable(kind, source, target, self._table(entry, schema, needed=["src", "dst"]))

    def _table(self, entry: dict[str, Any], schema: dict[str, Any], needed: list[str]) -> pl.DataFrame:
        """Return a table whose bytes and rows are those of the manifest, its columns those of the schema."""
        name = str(entry["file"])
        content = _content(self.archive, name, int(entry["bytes"]))
        _same_hash(entry, hashlib.sha256(content).hexdigest())
        frame = pl.read_ipc(io.BytesIO(content))
        if frame.height != entry["rows"]:
            raise ValueError(f"{name} has {frame.height} rows, not {entry['rows']}")
        wrong = sorted(name for name, kind in frame.schema.items() if schema.get(name) != kind)
        if wrong:
            raise _unknown(self.path, f"{name}: property {', '.join(wrong)}")
        if not set(needed) <= set(frame.columns):
            raise ValueError(f"{name} lacks {', '.join(sorted(set(needed) - set(frame.columns)))}")
        return frame


@contextlib.contextmanager
def open_archive(path: Path, settings: Settings) -> Iterator[ArchiveFile]:
    """Open an archive file and check all that can be told without its tables.

    Raises InputError, one line, for a file that is absent, no archive, cut, damaged, larger than
    `max_file_bytes` unpacked, or written by a newer graphstore.
    """
    with contextlib.ExitStack() as stack:
        with _refused(path):
            if not path.is_file():
                raise InputError(f"{path}: no such file")
            archive = stack.enter_context(zipfile.ZipFile(path))
            manifest = _manifest(path, archive)
            runs = list(manifest["runs"])
            _check_members(archive, runs, settings.max_file_bytes)
            for entry in runs:
                _properties(path, entry["run"])
        yield ArchiveFile(path, archive, runs)


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the manifest of a file, its hash checked."""
    if MANIFEST not in archive.namelist():
        raise InputError(f"{path}: a zip file, but no archive of graphstore: it holds no {MANIFEST}")
    size = archive.getinfo(MANIFEST).file_size
    if size > MANIFEST_BYTES:
        raise ValueError(f"its {MANIFEST} would take {size} bytes")
    content = _content(archive, MANIFEST, size)
    manifest = orjson.loads(content)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{path}: a zip file, but no archive of graphstore")
    if archive.comment != _COMMENT + hashlib.sha256(content).hexdigest().encode():
        raise ValueError(f"its {MANIFEST} is not what was written")
    if not 1 <= int(manifest["version"]) <= VERSION:
        raise InputError(
            f"{path}: an archive of form {manifest['version']}, written by graphstore "
            f"{manifest['tool_version']}; this one reads up to form {VERSION}. Update graphstore."
        )
    return manifest


def _properties(path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return every property of a Run, None where the file has none; raises for one the schema lacks."""
    schema = node_schema("Run")
    unknown = sorted(set(given) - set(schema))
    if unknown:
        raise _unknown(path, f"property {', '.join(unknown)} of a run")
    own: dict[str, Any] = pl.DataFrame([given], schema=schema, strict=True).to_dicts()[0]
    if not RUN_ID.fullmatch(own["run"]) or own["run_no"] is None:
        raise ValueError("a run in it has no id")
    return own


def _check_members(archive: zipfile.ZipFile, runs: list[dict[str, Any]], limit: int) -> None:
    """Raise ValueError unless the file holds just the tables of its manifest, as large, within the limit."""
    tables = [each for run in runs for each in [*run["nodes"], *run["edges"]]]
    named = [(str(each["file"]), int(each["bytes"])) for each in tables]
    held = [(info.filename, info.file_size) for info in archive.infolist() if info.filename != MANIFEST]
    if sorted(named) != sorted(held) or len(dict(named)) < len(named):
        raise ValueError(f"it does not hold the tables that its {MANIFEST} names")
    if sum(size for _, size in named) > limit:
        raise ValueError(f"it unpacks to more than {limit} bytes (the setting max_file_bytes)")


def _same_hash(entry: dict[str, Any], found: str) -> None:
    if found != entry["sha256"]:
        raise ValueError(f"{entry['file']} is not what was written")


def _content(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """Return the bytes of a member, which must be `size`; never reads more than one beyond."""
    with archive.open(name) as stream:
        content = stream.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{name} does not have {size} bytes")
    return content


@contextlib.contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn whatever reading damaged bytes raises into one line."""
    try:
        yield
    except _BROKEN as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{path}: no whole archive of graphstore: {what}. Nothing was imported; export it again."
        ) from error


def _unknown(path: Path, what: str) -> InputError:
    return InputError(
        f"{path}: {what} is unknown to graphstore {graphstore.__version__}. Update graphstore; "
        f"nothing was imported."
    )
