"""Load a pickled Flight Recorder dump without running anything of it, and within bounds.

In:  the bytes of a pickle. Out: dicts, lists, tuples, texts, numbers, booleans and None; or DumpRefusedError.
Decided here (matching.md 1): every opcode is looked at before one is carried out. A dump holds few kinds of
them; any other is refused, and named with its byte. Refusing globals alone is not enough, since plain opcodes
do harm too: a memo index of 2^26 takes 1 GB, a text length beyond the file makes room for it, and a dict key
is hashed while it is loaded, which never ends for tuples of tuples (207 bytes do) and overflows the C stack
where they are deep. So what a tuple holds is checked as it is made, and it may hold texts and numbers only.
What the values mean, and whether they are of the right types: flight_entries.py, flight_groups.py.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from typing import Any, NoReturn

MOST_CONTAINERS = 32 << 20  # lists, dicts and marks: 80 bytes each at least
MOST_STEPS = 16 << 20  # texts, tuples and runs of opcodes; a scan of that many takes some 10 s
LOOK_AHEAD_BYTES = 1 << 17  # as many as the unpickler looks ahead
SHOWN = 80  # characters of a name in a message

# Opcodes of a fixed size, the frequent ones first: BINGET, BINPUT and BININT1, those without an argument,
# LONG_BINGET and LONG_BINPUT of a memo place, BININT2, BININT, LONG1 up to 9 bytes, BINFLOAT.
# A counted repeat: an unlimited one keeps every round to go back to, and possessive ones err before 3.11.5.
_RUN = (
    rb"(?:[hqK].|[}\])(suaeN\x88\x89\x94]{1,16}|J....|[jr]..%s\x00|M..|"
    rb"\x8a(?:\x08.{8}|\x00|\x01.|\x02..|\x03.{3}|\x04.{4}|\x05.{5}|\x06.{6}|\x07.{7}|\x09.{9})|"
    rb"G.{8}){0,500}"
)
RUN = re.compile(_RUN % rb"[\x00-\x0f]", re.DOTALL)  # memo places below 2^20, which take 16 MB at most
LARGE_BYTES = 16 << 20  # of a pickle that may have more: Python, unlike torch, remembers every list
RUN_OF_LARGE = re.compile(_RUN % rb".", re.DOTALL)  # below 2^24, 256 MB
TEXT, SHORT_TEXT, STOP, FRAME = b"X"[0], 0x8C, b"."[0], 0x95
FRAME_BYTES = 9
TUPLES = frozenset(b"t\x85\x86\x87")  # TUPLE, TUPLE1, TUPLE2, TUPLE3
CHECK_TUPLE = b"Q"  # BINPERSID: has the unpickler ask for the value meant by the one on top of the stack
IN_TUPLE = {str, int, float, bool, type(None)}
PICKLE_2_TO_5 = re.compile(rb"\x80[\x02-\x05]")
OPCODE_NAMES = {opcode.code: opcode.name for opcode in pickletools.opcodes}
LOAD_ERRORS = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
)


class DumpRefusedError(ValueError):
    """A dump holds what none may hold; the message says what and where, without the file's name."""


def load_pickle(data: bytes) -> Any:
    """Return the value a pickle of protocol 2 to 5 holds; raise DumpRefusedError for any but plain data."""
    checked = scan(data)
    try:
        # Buffered, since a stream that cannot be looked ahead in is asked for every opcode on its own.
        return _PlainUnpickler(io.BufferedReader(io.BytesIO(checked), LOOK_AHEAD_BYTES)).load()
    except DumpRefusedError:
        raise
    except LOAD_ERRORS as error:
        raise DumpRefusedError(f"the pickle does not load: {one_line(str(error))}") from error
    except MemoryError as error:
        raise DumpRefusedError("the pickle takes more memory than there is") from error


def scan(data: bytes) -> bytes:
    """Go through all opcodes; raise DumpRefusedError at the first that no dump holds.

    Returns the pickle to load: the same, with CHECK_TUPLE behind each tuple and without frames. Time is
    linear: the regular expression takes runs of opcodes, a step of Python each text and tuple.
    """
    if not PICKLE_2_TO_5.match(data):
        raise DumpRefusedError("it is no pickle of protocol 2 to 5")
    if len(data) > MOST_CONTAINERS and sum(map(data.count, (b"]", b"}", b"("))) > MOST_CONTAINERS:
        raise DumpRefusedError(f"the pickle may hold more than {MOST_CONTAINERS:,} lists and dicts")
    pieces: list[bytes] = []
    match = (RUN if len(data) < LARGE_BYTES else RUN_OF_LARGE).match
    taken, at, last = 0, 2, len(data) - 1
    for _ in range(MOST_STEPS):
        found = match(data, at)
        end = found.end() if found else at
        opcode = data[end] if end <= last else None
        if opcode in TUPLES:
            at = end + 1
            pieces.append(data[taken:at])
            pieces.append(CHECK_TUPLE)
            taken = at
        elif opcode == TEXT:
            at = end + 5 + int.from_bytes(data[end + 1 : end + 5], "little")
        elif opcode == SHORT_TEXT and end < last:
            at = end + 2 + data[end + 1]
        elif opcode == STOP and end == last:
            pieces.append(data[taken:])
            return b"".join(pieces)
        elif opcode == FRAME:
            at = end + FRAME_BYTES
            pieces.append(data[taken:end])
            taken = at
        elif end > at:
            at = end  # the run may have ended with its rounds
        else:
            raise DumpRefusedError(_refusal(data, end))
        if at > last:
            raise DumpRefusedError(_refusal(data, end))
    raise DumpRefusedError(f"the pickle holds more than {MOST_STEPS:,} texts and tuples")


class _PlainUnpickler(pickle.Unpickler):
    """Refuses every global, though `scan` lets none through, and takes the tuples that `scan` points at."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise DumpRefusedError(f"the pickle names {one_line(f'{module}.{name}')}")

    def persistent_load(self, pid: Any) -> tuple[Any, ...]:
        if type(pid) is tuple and IN_TUPLE.issuperset(map(type, pid)):
            return pid
        raise DumpRefusedError("the pickle has a tuple of other things than texts and numbers")


def _refusal(data: bytes, place: int) -> str:
    """Return why the opcode at `place` is refused: its name, and what it would name or make room for."""
    if place >= len(data):
        return f"the pickle ends after {len(data):,} bytes without a STOP: it was cut"
    name = OPCODE_NAMES.get(chr(data[place]))
    if name is None:
        return f"byte {place:,}: 0x{data[place]:02x} is no opcode of a pickle"
    said = f"byte {place:,}: opcode {name}"
    number = int.from_bytes(data[place + 1 : place + 5], "little")
    if name in ("GLOBAL", "INST"):
        lines = data[place + 1 : place + 1 + 2 * SHOWN].split(b"\n")
        return f"{said} names {one_line(b'.'.join(lines[:2]).decode(errors='replace'))}"
    if name in ("BINUNICODE", "SHORT_BINUNICODE"):
        return f"{said} is a text that reaches beyond the end of the file, byte {len(data):,}"
    if name in ("LONG_BINPUT", "LONG_BINGET") and place + 5 < len(data):
        return f"{said} of memo place {number:,}, far more than a dump has"
    if name == "STOP":
        return f"{said} is not the last byte; {len(data) - place - 1:,} follow"
    return f"{said} is none of a dump's, or it is cut off"


def one_line(text: str) -> str:
    """Return `text` fit for a message: printable, on one line, not long."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[: SHOWN + 1])
    return shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…"
