"""Open a stored file: its bytes as stored are hashed and counted, its content is unpacked block by block.

In:  a path. Out: a `Source`: `blocks()` gives the unpacked bytes once, `peek()` looks at their beginning,
`facts()` gives path, name, sha256, size_bytes and compression for the TraceFile node.
Decided here: how a file is packed (by its first bytes, never by its name), how much may come out of it,
and that a packed stream which ends early is read as far as it goes (`damage` says where it ended).
What the bytes are: detect.py. Records of a JSON document, cut-off and dirty ones too: document.py:

    with open_source(path, settings) as source:
        document = Document(source, array="traceEvents")  # or "nodes"; also for a bare top-level list
        for records in document.batches(msgspec.json.Decoder(list[Event]).decode):
            ...                                           # list[Event], a few thousand at a time
        document.members     # the other top-level members, decoded; complete after the last batch
        document.cut_at      # None, or where a cut-off document ends: a sentence for facts["cut_at"]
        document.unreadable  # records no decoder could read, for the tally; first_error says why
        source.facts()       # after reading: hashes what was not read, too
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from graphstore.errors import InputError, TraceFormatError
from graphstore.settings import Settings

READ_BYTES = 1 << 20  # stored bytes read at once
BLOCK_BYTES = 4 << 20  # unpacked bytes given at once; bounds memory whatever a packed file expands to
ZSTD_WINDOW_BYTES = 128 << 20  # zstd's own default limit of a decoder
ZSTD_PIECE_BYTES = 1 << 10  # expands to 32 MB at most (measured on zeros)
ZSTD_READ_BYTES = 1 << 16
GZ_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Source:
    """One open file. `damage` is set when a packed stream ended early; read what came before it."""

    def __init__(self, path: str, stored: BinaryIO, settings: Settings) -> None:
        """Take an open file; `open_source` is the way in."""
        self.path = path
        self.name = Path(path).name
        self.settings = settings
        self.damage: str | None = None
        self._stored = stored
        self._hash = hashlib.sha256()
        self._stored_bytes = 0
        self._head: list[bytes] = []
        first = self._read_stored(READ_BYTES)
        self.compression = packing(first)
        self._unpacked = self._unpack(first)

    def peek(self, size: int) -> bytes:
        """Return the first `size` unpacked bytes (fewer when there are fewer) and leave them to `blocks`."""
        while sum(map(len, self._head)) < size:
            block = next(self._unpacked, None)
            if block is None:
                break
            self._head.append(block)
        self._head = [b"".join(self._head)]
        return self._head[0][:size]

    def blocks(self) -> Iterator[bytes]:
        """Yield the unpacked bytes from the beginning, once, in blocks of about BLOCK_BYTES."""
        head, self._head = self._head, []
        yield from (block for block in head if block)
        yield from self._unpacked

    def facts(self) -> dict[str, Any]:
        """Return path, name, sha256, size_bytes and compression; reads the stored rest to hash it."""
        while self._read_stored(READ_BYTES):
            pass
        return {
            "path": self.path,
            "name": self.name,
            "sha256": self._hash.hexdigest(),
            "size_bytes": self._stored_bytes,
            "compression": self.compression,
        }

    def _read_stored(self, size: int) -> bytes:
        try:
            chunk = self._stored.read(size)
        except OSError as error:
            raise InputError(
                f"{self.path}: reading stops at stored byte {self._stored_bytes}: {error.strerror}. "
                "Check the disk or copy the file again."
            ) from error
        self._hash.update(chunk)
        self._stored_bytes += len(chunk)
        return chunk

    def _unpack(self, first: bytes) -> Iterator[bytes]:
        unpackers = {"none": self._plain, "gz": self._gunzip, "zstd": self._unzstd}
        total = 0
        waiting: list[bytes] = []
        for piece in unpackers[self.compression](first):
            total += len(piece)
            if total > self.settings.max_file_bytes:
                raise TraceFormatError(
                    f"{self.path}: unpacks to more than {self.settings.max_file_bytes:,} bytes, the limit "
                    "of one file. Nothing of it was loaded. Is it a trace?"
                )
            waiting.append(piece)
            if sum(map(len, waiting)) >= BLOCK_BYTES:
                yield b"".join(waiting)
                waiting = []
        if waiting:
            yield b"".join(waiting)

    def _plain(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            yield chunk
            chunk = self._read_stored(BLOCK_BYTES)

    def _gunzip(self, chunk: bytes) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(wbits=31)
        total = 0
        while True:
            try:
                block = unpacker.decompress(chunk, BLOCK_BYTES)
            except zlib.error as error:
                self.damage = f"the gz data is damaged after {total:,} unpacked bytes ({error})"
                return
            total += len(block)
            if block:
                yield block
            if unpacker.eof:  # another member may follow: gz files put one after another are one file
                chunk = unpacker.unused_data or self._read_stored(READ_BYTES)
                if not chunk.startswith(GZ_MAGIC[:1]):
                    return  # the end, or padding after it
                unpacker = zlib.decompressobj(wbits=31)
                continue
            chunk = unpacker.unconsumed_tail
            if not chunk and len(block) < BLOCK_BYTES:  # else the unpacker still holds output
                chunk = self._read_stored(READ_BYTES)
                if not chunk:
                    self.damage = f"the gz stream ends early, after {total:,} unpacked bytes"
                    return

    def _unzstd(self, chunk: bytes) -> Iterator[bytes]:
        # decompressobj has no limit of output, but tells a cut stream; so it is fed in small pieces.
        unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompressobj()
        total = 0
        while chunk:
            piece, chunk = chunk[:ZSTD_PIECE_BYTES], chunk[ZSTD_PIECE_BYTES:]
            try:
                block = unpacker.decompress(piece)
            except zstandard.ZstdError as error:
                self.damage = f"the zstd data is damaged after {total:,} unpacked bytes ({error})"
                return
            total += len(block)
            if block:
                yield block
            chunk = unpacker.unused_data + chunk or self._read_stored(ZSTD_READ_BYTES)
            if unpacker.eof and chunk:  # another frame follows
                unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompressobj()
        if not unpacker.eof:
            self.damage = f"the zstd stream ends early, after {total:,} unpacked bytes"


def packing(first: bytes) -> str:
    """Return how a file that starts with `first` is packed: none, gz or zstd."""
    if first.startswith(GZ_MAGIC):
        return "gz"
    return "zstd" if first.startswith(ZSTD_MAGIC) else "none"


@contextmanager
def open_source(path: str, settings: Settings) -> Iterator[Source]:
    """Open `path` for reading; raise InputError when it is absent, not readable or no ordinary file."""
    try:
        # Not blocking: opening a pipe that nobody writes to must not hang.
        stored = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be opened: {error.strerror}. Check the path and its rights."
        ) from error
    with stored:
        if not stat.S_ISREG(os.fstat(stored.fileno()).st_mode):
            raise InputError(f"{path}: is no ordinary file. Give the files of the run, or their folder.")
        yield Source(path, stored, settings)
