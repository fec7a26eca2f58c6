"""The framing of a Chakra file: a varint32 length before each message, until the end of the file.

In:  blocks of a file. Out: the bytes of one message after the other, with the place of a cut; or the
opposite, one message at a time (many at once: wire.py). Decided here: how long a message may be, and what is
a cut (the file ends inside a message) or damage (a length that cannot be). What the messages mean is the
reader's and the export's matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import BinaryIO

from google.protobuf.message import Message

from graphstore.errors import TraceFormatError

MAX_MESSAGE_BYTES = 256 << 20  # protobuf's own limit is 2 GiB; the largest message seen in a trace is 0.3 MB
MAX_VARINT32_BYTES = 5
BLOCK_BYTES = 1 << 20


@cache  # a file has few lengths and many messages
def varint32(value: int) -> bytes:
    """Return `value` (0 … 2^32 - 1) in protobuf's variable-length form; ValueError outside that range."""
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{value} does not fit a varint32")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def framed(message: Message) -> bytes:
    """Return a message as a file holds it, behind its length; ValueError where it is too long."""
    payload = message.SerializeToString(deterministic=True)
    return varint32(within_limit(len(payload))) + payload


def within_limit(length: int) -> int:
    """Return the length of a message that is to be written.

    ValueError where it is more than MAX_MESSAGE_BYTES: no reader of ours would take it back.
    """
    if length > MAX_MESSAGE_BYTES:
        raise ValueError(f"a message has {length} bytes; {MAX_MESSAGE_BYTES} are allowed")
    return length


class MessageReader:
    """Iterate over the bytes of each whole message of a file, given as blocks of bytes of any size.

    Afterwards `position` is the byte behind the last whole message, and `cut_at` the byte where a message
    begins that the file does not hold to its end (None when the file is whole). Memory: one message and a
    block. Raises TraceFormatError (with `name` and the byte) at a length that no message can have.
    """

    def __init__(
        self, blocks: Iterable[bytes], name: str, max_message_bytes: int = MAX_MESSAGE_BYTES
    ) -> None:
        """Read the messages in `blocks`; `name` is the file's name in error messages."""
        self._blocks = iter(blocks)
        self._name = name
        self._limit = max_message_bytes
        self._buffer = b""
        self._at = 0  # place of the next message in the buffer
        self._passed = 0  # bytes of the file before the buffer
        self.cut_at: int | None = None

    @property
    def position(self) -> int:
        """Return the byte of the file behind the last whole message read."""
        return self._passed + self._at

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes of each whole message."""
        while (header := self._length()) is not None:
            length, size_of_length = header
            whole = size_of_length + length
            if not self._fill(whole):
                self.cut_at = self.position
                return
            begin = self._at + size_of_length
            self._at += whole
            yield self._buffer[begin : begin + length]

    def _length(self) -> tuple[int, int] | None:
        """Return the next message's length and the bytes that length takes; None at the end or at a cut."""
        self._fill(MAX_VARINT32_BYTES)
        head = self._buffer[self._at : self._at + MAX_VARINT32_BYTES]
        value = 0
        for n, byte in enumerate(head):
            value |= (byte & 0x7F) << 7 * n
            if byte < 0x80:
                return self._checked(value), n + 1
        if len(head) == MAX_VARINT32_BYTES:
            self._checked(max(value, 1 << 32))
        if head:
            self.cut_at = self.position
        return None

    def _checked(self, length: int) -> int:
        """Return `length`; raise TraceFormatError where it is more than a message may have."""
        if length > self._limit:
            raise TraceFormatError(
                f"{self._name}: byte {self.position}: a message of {length} or more bytes; {self._limit} are "
                f"allowed. Nothing of it was loaded. Is it a Chakra file (.et), unpacked?"
            )
        return length

    def _fill(self, wanted: int) -> bool:
        """Return whether `wanted` bytes lie in the buffer behind the current place, after reading on."""
        missing = wanted - (len(self._buffer) - self._at)
        if missing <= 0:
            return True
        parts = [self._buffer[self._at :]]
        self._passed += self._at
        while missing > 0 and (block := next(self._blocks, None)) is not None:
            parts.append(block)
            missing -= len(block)
        self._buffer, self._at = b"".join(parts), 0
        return missing <= 0


def blocks_of(stream: BinaryIO, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield what is left of an open file in blocks of `size` bytes, for a MessageReader."""
    return iter(lambda: stream.read(size), b"")
