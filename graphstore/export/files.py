"""Files of an export: made under a temporary name beside their place, moved into it when all are right.

In:  a folder. Out: the files in it, or nothing of them. Decided here: how the bytes reach the disk (fsync
before the rename, the folder after it), that Ctrl-C waits for the last rename, which message an unwritable
folder gives.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from graphstore.chakra import GlobalMetadata, MessageReader, Node
from graphstore.errors import TraceFormatError, UsageError

BUFFER_BYTES = 1 << 20


@contextlib.contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Give a temporary folder inside `out`, which is made if need be; both are gone again after a failure.

    Raises UsageError, naming the reason, where the disk does not take the files.
    """
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".graphstore-", dir=out))
        try:
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            if made and not any(out.iterdir()):
                out.rmdir()
    except OSError as error:
        raise UsageError(
            f"{out}: an export can't be written there ({error.strerror or error}). "
            "Nothing was changed in it. Make room or name another folder."
        ) from error


def publish(stage: Path, out: Path, names: Iterable[str]) -> None:
    """Move the files `names` from `stage` into `out`, in that order; first they are put on the disk."""
    names = list(names)
    taken = [name for name in names if (out / name).is_dir()]
    if taken:
        raise UsageError(f"{out / taken[0]} is a folder, so no file can take that name. Move it away.")
    for name in names:
        _sync(stage / name)
    with _undisturbed():
        for name in names:
            (stage / name).replace(out / name)
        _sync(out)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block: between two renames there are some files of an export.

    Only the main thread gets Ctrl-C; in another one there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


def _sync(path: Path) -> None:
    """Put a file or folder on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_et(path: Path, blocks: Iterable[bytes]) -> None:
    """Write a Chakra file of the bytes it holds, in blocks of any size."""
    with path.open("wb", buffering=BUFFER_BYTES) as stream:
        stream.writelines(blocks)


def read_nodes(path: Path) -> Iterator[Node]:
    """Yield the nodes of a Chakra file one by one; TraceFormatError where the file is cut or damaged."""
    with path.open("rb") as stream:
        messages = MessageReader(iter(lambda: stream.read(BUFFER_BYTES), b""), str(path))
        for place, payload in enumerate(messages):
            if place:
                yield Node.FromString(payload)
        if messages.cut_at is not None:
            raise TraceFormatError(f"{path}: cut at byte {messages.cut_at}: write it again")


def read_et(path: Path) -> tuple[GlobalMetadata, list[Node]]:
    """Return the metadata and all nodes of a Chakra file; TraceFormatError where it is cut or damaged."""
    with path.open("rb") as stream:
        messages = MessageReader(iter(lambda: stream.read(BUFFER_BYTES), b""), str(path))
        first = next(iter(messages), b"")
    return GlobalMetadata.FromString(first), list(read_nodes(path))


def facts_of(path: Path) -> dict[str, str | int]:
    """Return sha256 and size of a file, as the manifest names them."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"sha256": digest, "size_bytes": path.stat().st_size}
