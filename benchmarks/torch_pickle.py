"""Write plain data as a pickle of protocol 2, in the way torch's own pickler does.

In:  values, one after another. Out: bytes, and the places of the numbers that grow from step to step.
Decided here: only texts and what is `Shared` are remembered; lists and dicts have no place in the memo.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Rising(NamedTuple):
    """A number that grows by `by` from one step to the next."""

    value: int
    by: int


class Shared(dict[str, Any]):
    """A dict that is written once and referred to afterwards."""


class TorchPickle:
    """Plain data as a pickle of protocol 2, in the way torch's own pickler writes it."""

    def __init__(self) -> None:
        """Start an empty one."""
        self.out = bytearray(b"\x80\x02")
        self.rising: list[tuple[int, int, Rising]] = []  # (place, bytes, number)
        self._memo: dict[str | int, int] = {}

    def write(self, value: Any) -> None:
        """Append a value."""
        out = self.out
        if isinstance(value, str):
            self._remembered(value, b"X" + len(value).to_bytes(4, "little") + value.encode())
        elif value is None or value is True or value is False:
            out += {None: b"N", True: b"\x88", False: b"\x89"}[value]
        elif isinstance(value, Rising):
            out += b"J" if value.value < 1 << 31 else b"\x8a\x08"
            size = 4 if value.value < 1 << 31 else 8
            self.rising.append((len(out), size, value))
            out += value.value.to_bytes(size, "little")
        elif isinstance(value, int):
            out += _integer(value)
        elif isinstance(value, tuple):
            for item in value:
                self.write(item)
            out += b"\x86"
        elif isinstance(value, list):
            self._items(b"]", value, b"e")
        elif not isinstance(value, Shared):
            self._items(b"}", (part for item in value.items() for part in item), b"u")
        elif id(value) in self._memo:
            out += _place(b"hj", self._memo[id(value)])
        else:
            self._items(b"}", (part for item in value.items() for part in item), b"u")
            self._remember(id(value))

    def _items(self, start: bytes, items: Any, end: bytes) -> None:
        self.out += start + b"("
        for item in items:
            self.write(item)
        self.out += end

    def _remembered(self, key: str, written: bytes) -> None:
        if key in self._memo:
            self.out += _place(b"hj", self._memo[key])
        else:
            self.out += written
            self._remember(key)

    def _remember(self, key: str | int) -> None:
        self._memo[key] = len(self._memo)
        self.out += _place(b"qr", self._memo[key])


def _integer(value: int) -> bytes:
    if 0 <= value < 1 << 16:
        return b"K%c" % value if value < 1 << 8 else b"M" + value.to_bytes(2, "little")
    return b"J" + value.to_bytes(4, "little", signed=True)


def _place(codes: bytes, place: int) -> bytes:
    return bytes([codes[0], place]) if place < 1 << 8 else bytes([codes[1]]) + place.to_bytes(4, "little")
