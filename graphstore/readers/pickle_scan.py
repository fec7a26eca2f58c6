"""Look at a pickle without loading it: which texts it holds, and whether it would run code.

In:  the first bytes of a file. Out: a `PickleScan`, or None when they are no pickle.
Decided here: a pickle is only walked opcode by opcode (pickletools), within bounds; nothing of it is built.
Flight Recorder dumps hold dicts, lists, texts and numbers only, so a pickle that names code is none.
What is taken for a dump is gone through byte by byte before it is loaded: flight_pickle.py.
"""

from __future__ import annotations

import io
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass, field

MOST_OPCODES = 100_000
MOST_SHOWN = 80  # characters of a name in a message
CODE_OPCODES = {"GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "REDUCE", "BUILD"}
CODE_OPCODES |= {"EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"}
BINARY = re.compile(rb"\x80[\x02-\x05]")  # protocols 2 to 5
TEXT = re.compile(rb"[(\]}lcdp]")  # how protocols 0 and 1 begin


@dataclass
class PickleScan:
    """`texts`: the strings met so far; `code`: what it would call, None when nothing was met."""

    texts: set[str] = field(default_factory=set)
    code: str | None = None


def scan_pickle(head: bytes, is_enough: Callable[[set[str]], bool]) -> PickleScan | None:
    """Return what the pickle that starts with `head` holds; None for anything else.

    Looks no further once code was met, or when the texts met are enough to tell what it is (walking 64 KiB
    takes as long as loading a dump). Protocols 0 and 1 have no mark of their own: `head` must be one whole
    pickle then.
    """
    is_binary = BINARY.match(head) is not None
    if not is_binary and not TEXT.match(head):
        return None
    scan, before, last, stopped = PickleScan(), "", "", False
    try:
        for count, (opcode, argument, place) in enumerate(pickletools.genops(io.BytesIO(head))):
            if opcode.name in CODE_OPCODES and scan.code is None:
                named = argument.replace(" ", ".") if isinstance(argument, str) else f"{before}.{last}"
                scan.code = named.strip(".").replace("\n", " ")[:MOST_SHOWN] or opcode.name
            if isinstance(argument, str):
                scan.texts.add(argument)
                before, last = last, argument
            if is_binary and (scan.code is not None or (isinstance(argument, str) and is_enough(scan.texts))):
                break
            stopped = opcode.name == "STOP" and place == len(head) - 1
            if count > MOST_OPCODES:
                break
    except ValueError:  # the head ends inside an opcode, or this is no pickle
        pass
    return scan if is_binary or stopped else None
