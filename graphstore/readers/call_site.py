"""Where a person's code made a call: the first frame of a stack that is not of PyTorch or Python itself.

In:  the frames of a Flight Recorder entry, innermost first. Out: "train.py:82", or None.
Decided here (matching.md 6): which frames are nobody's: torch, the standard library, typing_extensions and
contextlib (wrappers around every collective), C++ frames, generated code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from graphstore.readers.flight_pickle import DumpRefusedError

MOST_FRAMES = 4_096  # a deep model adds three a module; the design's 64 would refuse real stacks
MOST_NAME = 4_096  # characters of a file name
FRAME_LISTS = {list, tuple, type(None)}
NOT_A_PERSONS = re.compile(
    r"(?:^|/)(?:site|dist)-packages/torch/"
    r"|(?:^|/)torch/(?:_dynamo|_functorch|_inductor|autograd|cuda|distributed|fx|jit|multiprocessing|nn|optim"
    r"|utils)/"
    r"|/lib(?:64)?/python\d[\d.]*/(?!(?:site|dist)-packages/)"
    r"|^[A-Za-z]:/.*/Lib/(?!site-packages/)"  # on Windows
    r"|(?:^|/)(?:typing_extensions|contextlib)\.py$"
    r"|^<(?!stdin>|ipython-input)"  # <string>, <frozen …>, <eval_with_key> …
    r"|\.(?:c|cc|cpp|cu|cuh|h|hpp|so|S)$"
    r"|^\??\??$"
)


def call_sites(stacks: Sequence[Any]) -> list[str | None]:
    """Return the call site of each entry's frames; None where there are no frames, or nobody's only.

    Raises DumpRefusedError for frames of other types. Only frames up to the site are looked at, a shared one
    or a shared stack once.
    """
    if not FRAME_LISTS.issuperset(map(type, stacks)):
        raise DumpRefusedError("frames of an entry are no list")
    site_of_frame: dict[int, str] = {}  # by id: all frames stay alive with `stacks`
    site_of_stack: dict[int, str | None] = {}
    for stack in stacks:
        if id(stack) in site_of_stack:
            continue
        site = None
        for frame in _bounded(stack):
            site = site_of_frame.get(id(frame))
            if site is None:
                site = site_of_frame[id(frame)] = _site_of_frame(frame)
            if site:
                break
        site_of_stack[id(stack)] = site or None
    return [site_of_stack[id(stack)] for stack in stacks]


def _bounded(stack: Sequence[Any] | None) -> Sequence[Any]:
    if stack is not None and len(stack) > MOST_FRAMES:
        raise DumpRefusedError(f"an entry has {len(stack):,} frames, more than {MOST_FRAMES:,}")
    return stack or ()


def _site_of_frame(frame: Any) -> str:
    """Return "file:line", or nothing when the frame is nobody's."""
    if type(frame) is not dict:
        raise DumpRefusedError(f"a frame is {type(frame).__name__}, not a dict")
    name, line = frame.get("filename"), frame.get("line")
    if type(name) is not str or type(line) is not int or len(name) > MOST_NAME or line.bit_length() > 63:
        raise DumpRefusedError("a frame has no file name and line")
    return f"{base_name(name)}:{line}" if is_persons(name) else ""


@lru_cache(maxsize=4096)
def is_persons(file_name: str) -> bool:
    """Return whether a file is one of the person whose job it is, as far as its path says."""
    return NOT_A_PERSONS.search(file_name.replace("\\", "/")) is None


def base_name(file_name: str) -> str:
    """Return a file name without its folders, written with / or backslash."""
    return re.split(r"[/\\]", file_name)[-1]
