"""JSON written piece by piece: lists longer than memory, and times in µs with every ns.

In:  objects, one at a time. Out: bytes in a file. Decided here: a line an element, so that a text tool can
look into a file of any size, and that a time is written as a decimal number: a float of µs since 1970 has
no ns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import orjson

LINE = b",\n"


def microseconds(ns: int) -> orjson.Fragment:
    """Return ns as the text of a number of µs that loses nothing: 1500 → 1.5."""
    whole, rest = divmod(abs(ns), 1000)
    text = f"{whole}.{rest:03d}".rstrip("0").rstrip(".")
    return orjson.Fragment(f"-{text}" if ns < 0 else text)


def write_document(stream: BinaryIO, head: dict[str, Any], name: str, elements: Iterable[bytes]) -> int:
    """Write `head` as an object whose last member, `name`, is the list of `elements` (JSON each).

    Returns how many elements there are.
    """
    stream.write(orjson.dumps(head).removesuffix(b"}"))
    stream.write((b"," if head else b"") + orjson.dumps(name) + b":[\n")
    count = 0
    for count, element in enumerate(elements, start=1):
        if count > 1:
            stream.write(LINE)
        stream.write(element)
    stream.write(b"\n]}\n")
    return count
