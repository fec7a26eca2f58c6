"""One kglite file on the disk: opened for reading or under a writer's lease, saved whole, tidied up.

In:  a path. Out: a graph to ask, or a `Writer` to change and save. Decided here: files are read with every
checksum verified, by readers who never wait; writers open without a log and make one atomic save, so that
several statements are all in or none; saves are compact; no graph is closed (close() rewrites the file in a
layout ten times larger). What is asked of a graph: kglite_engine.py. Which files there are:
kglite_archive.py.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kglite

from graphstore.errors import StoreError

EMPTY_LOG_BYTES = 5  # a log of this size or less holds no commit
_TEMPORARY = re.compile(r"\.tmp\.(\d+)\.\d+$")  # what a killed save leaves: <file>.tmp.<pid>.<n>


class LeaseHeldError(StoreError):
    """Another process (or this one) writes the file now; waiting can help."""


class Writer:
    """The lease on one file, with the graph opened for writing.

    The graph's life is the lease, so nobody else may keep it: it is asked through this object (which takes
    the place of a graph in kglite_engine.py), and is gone once the lease is given back. A reference in the
    frames of an error that somebody keeps would hold the file as long as the error.
    """

    def __init__(self, path: Path, graph: Any) -> None:
        """Hold `graph`, opened from `path`."""
        self.path = path
        self._graph: Any = graph

    @property
    def is_new(self) -> bool:
        """Return whether the graph holds nothing yet, not even declared labels."""
        return not self._graph.node_types

    def cypher(self, text: str, **options: Any) -> Any:
        """Ask the graph, as kglite's method of this name."""
        return self._graph.cypher(text, **options)

    def add_nodes(self, *arguments: Any, **options: Any) -> Any:
        """Load nodes, as kglite's method of this name."""
        return self._graph.add_nodes(*arguments, **options)

    def release(self) -> None:
        """Give the lease back."""
        self._graph = None

    def save(self, graph: Any | None = None) -> None:
        """Write `graph` (else the one opened) to the leased path: whole and renamed into it, or not at all.

        Raises StoreError when the disk does not take it; the file then is what it was before.
        """
        try:
            (self._graph if graph is None else graph).save(str(self.path), layout="compact")
        except (kglite.KgError, OSError, ValueError) as error:
            remove_temporaries(self.path, os.getpid())
            raise StoreError(
                f"{self.path}: can't be written, the archive is unchanged: {one_line(error)}. "
                f"Make room there, or move the archive with GRAPHSTORE_HOME."
            ) from error


@contextlib.contextmanager
def writer(path: Path, replace: bool = False) -> Iterator[Writer]:
    """Open `path` for writing under its lease, new when it is absent; the lease ends with the block.

    Nothing is written unless `save` is called. With `replace` the old content is not wanted: a damaged file
    is put aside as <file>.damaged. Raises StoreError naming the process that holds the lease, or when the
    file is damaged.
    """
    try:
        recover_log(path)
        held = Writer(path, _open(path, replace))
    except (kglite.KgError, OSError, ValueError) as error:
        raise _file_error(path, error) from error
    try:
        remove_temporaries(path)
        yield held
    finally:
        held.release()


def _open(path: Path, replace: bool) -> Any:
    try:
        return kglite.open(str(path), durable="off")
    except kglite.FileFormatError:
        if not replace:
            raise
    path.replace(damaged(path))
    return kglite.open(str(path), durable="off")


def damaged(path: Path) -> Path:
    """Return where a damaged file is put aside when a new one takes its place."""
    return path.with_name(f"{path.name}.damaged")


def read(path: Path) -> Any:
    """Return the graph of `path`, read-only, every section's checksum verified; takes no lease.

    Raises StoreError when the file is absent or damaged.
    """
    try:
        recover_log(path)
        graph = kglite.load(str(path), defer_index_rebuild=True, verify="eager")
    except (kglite.KgError, OSError, ValueError) as error:
        raise _file_error(path, error) from error
    graph.read_only(True)
    return graph


def recover_log(path: Path) -> None:
    """Fold what another program committed to the file's log into the file: load() does not read logs.

    A log whose writer still lives is left to it.
    """
    log = Path(f"{path}-wal")
    if not path.exists() or not log.exists() or log.stat().st_size <= EMPTY_LOG_BYTES:
        return
    with contextlib.suppress(kglite.WriterLeaseHeldError):
        kglite.open(str(path), durable="normal").save(layout="compact")


def is_being_written(temporary: Path) -> bool:
    """Return whether the process that began this unfinished save is alive (or its number is in use again)."""
    match = _TEMPORARY.search(temporary.name)
    if match is None:
        return False
    try:
        os.kill(int(match[1]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def remove_temporaries(path: Path, pid: int | None = None) -> list[Path]:
    """Remove what killed saves of `path` left, of process `pid` only when given; return what went.

    Called under the lease (or for our own pid), so no other process is writing them.
    """
    gone = [
        left
        for left in path.parent.glob(f"{path.name}.tmp.*")
        if (match := _TEMPORARY.search(left.name)) and pid in (None, int(match[1]))
    ]
    for left in gone:
        left.unlink(missing_ok=True)
    return gone


def _file_error(path: Path, error: Exception) -> StoreError:
    if isinstance(error, kglite.WriterLeaseHeldError):
        holder = error.holder
        who = "this very process" if holder.get("self") else f"process {holder.get('pid')}"
        return LeaseHeldError(
            f"{path}: held for writing by {who} since {holder.get('since')}; wait or end it"
        )
    if isinstance(error, kglite.FileFormatError):
        return StoreError(
            f"{path}: damaged: {one_line(error)}. "
            f"Import its files again; `graphstore runs delete` removes it."
        )
    return StoreError(f"{path}: can't be opened: {one_line(error)}")


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__
