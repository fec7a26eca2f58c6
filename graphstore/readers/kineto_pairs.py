"""Pair the begin (ph B) and end (ph E) events of a Chrome trace into spans with a duration.

In:  such events in the order of the file. Out: the begin event with `dur`, once its end has come.
PyTorch writes whole spans (ph X); other writers of the format, and hand-made files, write pairs.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import msgspec

from graphstore.readers.kineto_event import ABSENT, Event


class Pairs:
    """The spans still open, per thread; an end closes the last begin of its thread."""

    def __init__(self) -> None:
        """Start with no span open."""
        self.ends_alone = 0
        self._open: dict[tuple[str, str], list[tuple[int, Event]]] = {}

    @property
    def begins_alone(self) -> int:
        """Return how many spans have not ended."""
        return sum(map(len, self._open.values()))

    def add(self, order: int, event: Event) -> tuple[int, Event] | None:
        """Take a begin or end; return (place of the begin, whole span) where one ends."""
        stack = self._open.setdefault((str(event.pid), str(event.tid)), [])
        if event.ph == "B":
            event.ts = event.ts.copy()  # it outlives the batch it was decoded from
            stack.append((order, event))
            return None
        if not stack:
            self.ends_alone += 1
            return None
        place, begin = stack.pop()
        begin.dur = _between(begin.ts, event.ts)
        return place, begin


def _between(begin: msgspec.Raw, end: msgspec.Raw) -> msgspec.Raw:
    """Return the µs between two times, as text; absent where one of them is no number."""
    try:
        microseconds = Decimal(bytes(end).decode()) - Decimal(bytes(begin).decode())
    except InvalidOperation:
        return ABSENT
    return msgspec.Raw(str(microseconds).encode())
