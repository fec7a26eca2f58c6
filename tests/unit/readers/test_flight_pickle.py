from __future__ import annotations

import io
import os
import pickle
import pickletools
import resource
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.readers import flight_pickle
from graphstore.readers.flight_pickle import DumpRefusedError, load_pickle, scan
from tests.data.dumps import dump, entry, refusal

PROTO = b"\x80\x02"
DUMP = pickle.dumps(dump(entry()), protocol=2)


def text(value: str) -> bytes:
    """Return the opcode that pushes a text."""
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def around(harm: bytes) -> bytes:
    """Return a pickle that looks like a dump and carries out `harm` as the value of a key."""
    head = text("version") + text("2.10") + text("pg_config") + b"}" + text("entries")
    fields = text("record_id") + b"K\x00" + text("profiling_name") + text("nccl:send") + text("harm") + harm
    return PROTO + b"}(" + head + b"](}(" + fields + b"ueu."


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        """Take the file the command would make."""
        self._mark = mark

    def __reduce__(self) -> Any:
        """Return what pickle would call."""
        return os.system, (f"touch {self._mark}",)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_dump_that_runs_code_is_refused_by_byte_and_name(tmp_path: Path, protocol: int) -> None:
    """Hidden in the last field of the last entry, in every protocol: refused in one line, and nothing ran."""
    mark = tmp_path / "ran"
    content = dump(entry(0), entry(1), entry(2, thread_name=Evil(mark)))

    said = refusal(tmp_path / "rank_0", content, protocol=protocol)

    assert "byte " in said
    assert ("names posix.system" if protocol < 4 else "STACK_GLOBAL") in said
    assert not mark.exists()


class Elsewhere(pickle.Pickler):
    """Leaves a value outside the pickle."""

    def persistent_id(self, value: Any) -> Any:
        """Return a name for the marked value."""
        return "module weights" if value == "outside" else None


def test_a_persistent_id_is_refused(tmp_path: Path) -> None:
    """What torch.save leaves outside of a pickle is nothing a dump has."""
    made = io.BytesIO()
    Elsewhere(made, protocol=2).dump(dump(entry(thread_name="outside")))

    assert "opcode BINPERSID" in refusal(tmp_path / "rank_0", made.getvalue())


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (b"cposix\nsystem\n", "opcode GLOBAL names posix.system"),
        (b"(iposix\nsystem\n", "opcode INST names posix.system"),
        (text("posix") + text("system") + b"\x93", "opcode STACK_GLOBAL"),
        (b"NNR", "opcode REDUCE"),
        (b"N}b", "opcode BUILD"),
        (b"\x82\x01", "opcode EXT1"),
        (b"Pmodule\n", "opcode PERSID"),
        (b"NQ", "opcode BINPERSID"),
        (b"N0N", "opcode POP"),
        (b"N2", "opcode DUP"),
        (b"I1\n", "opcode INT"),
        (b"B\x01\0\0\0a", "opcode BINBYTES"),
        (b"\x8d" + struct.pack("<Q", 1 << 40) + b"a", "opcode BINUNICODE8"),
        (b"Nr\xff\xff\xff\x03", "opcode LONG_BINPUT of memo place 67,108,863"),
        (b"Nr\0\0\x10\0", "opcode LONG_BINPUT of memo place 1,048,576"),
        (b"X\xff\xff\xff\xffab", "a text that reaches beyond the end"),
        (b"\x8c\xffab", "a text that reaches beyond the end"),
        (b"\x8a\x0a0123456789", "opcode LONG1"),
        (b"\x8b\xff\xff\xff\x7f", "opcode LONG4"),
        (b"\xff", "0xff is no opcode"),
        (b"N.", "opcode STOP is not the last byte"),
        (b"h\xc8", "does not load"),
        (b"(", "does not load"),
        (b"))\x86", "a tuple of other things"),
        (b"X\x01\0\0\0\xff", "does not load"),
    ],
)
def test_what_no_dump_holds_is_refused(tmp_path: Path, harm: bytes, says: str) -> None:
    """Opcodes by name and place, arguments too large, and pickles that do not fit together."""
    assert says in refusal(tmp_path / "rank_0", around(harm))


def test_the_pickle_around_the_harm_is_read_without_it(tmp_path: Path) -> None:
    """The near miss: the same file with None for the harm is a dump."""
    assert load_pickle(around(b"N"))["entries"] == [
        {"record_id": 0, "profiling_name": "nccl:send", "harm": None}
    ]


def doubled_tuples() -> bytes:
    """Return 207 bytes whose key would take 2^40 steps to hash."""
    return PROTO + b"})" + b"".join(b"q%ch%c\x86" % (n, n) for n in range(40)) + b"Ns."


def deep_tuples() -> bytes:
    """Return a key that would overflow the C stack when hashed."""
    return PROTO + b"})" + b"\x85" * 1_000_000 + b"Ns."


def hidden_tuples() -> bytes:
    """Return a tuple that comes into a tuple by way of the memo, past a mark and an empty list of items."""
    pair = text("a") + b"q\x00" + text("b") + b"q\x01\x86q\x02"
    return PROTO + b"}" + pair + b"(uq\x00h\x00h\x01\x86Ns."


@pytest.mark.parametrize("make", [doubled_tuples, deep_tuples, hidden_tuples])
def test_tuples_in_tuples_are_refused_before_they_are_hashed(make: Any) -> None:
    """A key is hashed while it is loaded, which would never end, or end the process."""
    begun = time.process_time()

    with pytest.raises(DumpRefusedError, match="a tuple of other things than texts and numbers"):
        load_pickle(make())

    assert time.process_time() - begun < 2


@pytest.mark.parametrize("value", [(), ("a",), ("a", "b"), (1, 2.5, None), (1, 2, 3, 4, True)])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_tuples_of_texts_and_numbers_are_tuples(value: Any, protocol: int) -> None:
    """The near miss, of every length."""
    assert load_pickle(pickle.dumps([value, {value: value}], protocol=protocol)) == [value, {value: value}]


def test_a_memo_bomb_takes_no_memory() -> None:
    """Nine bytes that make the unpickler remember 2^26 places are refused by the scan."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(DumpRefusedError, match="LONG_BINPUT"):
        load_pickle(PROTO + b"Nr\xff\xff\xff\x03.")

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB; the bomb takes 1 GB


@pytest.mark.parametrize("depth", [1_000, 1_000_000])
def test_deep_nesting_is_loaded_without_recursion(depth: int) -> None:
    """The unpickler builds it with a stack of its own, and freeing it does not recurse either."""
    value = load_pickle(PROTO + b"]" * depth + b"a" * (depth - 1) + b".")

    assert type(value) is list


def test_a_large_pickle_may_remember_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python remembers every list it writes: the places of a large dump run beyond 2^20, not beyond 2^24."""
    places = PROTO + b"Nr\0\0\x10\0j\0\0\x10\0\x86"

    with pytest.raises(DumpRefusedError, match="LONG_BINPUT of memo place 1,048,576"):
        load_pickle(places + b".")
    monkeypatch.setattr(flight_pickle, "LARGE_BYTES", 10)
    assert load_pickle(places + b".") == (None, None)
    with pytest.raises(DumpRefusedError, match="LONG_BINPUT of memo place 16,777,216"):
        load_pickle(PROTO + b"Nr\0\0\0\x01" + b"N" * 20 + b".")


def test_more_containers_than_a_dump_may_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte of a pickle can make 80 of memory, so there is a limit to how many may."""
    monkeypatch.setattr(flight_pickle, "MOST_CONTAINERS", 1_000)

    with pytest.raises(DumpRefusedError, match="more than 1,000 lists and dicts"):
        scan(PROTO + b"]" * 2_000 + b".")
    with pytest.raises(DumpRefusedError, match="more than 1,000 lists and dicts"):
        scan(PROTO + b"(" * 2_000 + b".")


def test_more_texts_than_a_dump_may_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of Python for each, so there is a limit to how many there may be."""
    monkeypatch.setattr(flight_pickle, "MOST_STEPS", 1_000)

    with pytest.raises(DumpRefusedError, match="more than 1,000 texts"):
        scan(PROTO + b"\x8c\x00" * 2_000 + b".")


@pytest.mark.parametrize("cut", range(2, len(DUMP), 7))
def test_a_dump_cut_anywhere_is_refused(cut: int) -> None:
    """Half a dump is none: what is missing might be what matters."""
    with pytest.raises(DumpRefusedError):
        load_pickle(DUMP[:cut])


@pytest.mark.parametrize("content", [b"", b"\x80", b"\x80\x01N.", b"\x80\x06N.", b"(lp0\n.", b"N."])
def test_other_protocols_are_no_pickle_of_a_dump(content: bytes) -> None:
    """Torch writes protocol 2, and tools 2 to 5; older ones are text."""
    with pytest.raises(DumpRefusedError, match="protocol 2 to 5"):
        load_pickle(content)


def test_loading_in_a_thread_with_a_small_stack_is_the_same() -> None:
    """Nothing needs stack in proportion to the file."""
    found: list[Any] = []
    size = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=lambda: found.append(load_pickle(DUMP)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)

    assert found == [pickle.loads(DUMP)]  # noqa: S301 - our own


NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
ATOMS = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False) | st.text(max_size=300)
VALUES = st.recursive(
    ATOMS | st.lists(ATOMS, max_size=5).map(tuple),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8) | NUMBERS, inner),
    max_leaves=60,
)


@given(value=VALUES, protocol=st.integers(2, 5))
@settings(deadline=None, max_examples=200)
def test_plain_data_is_loaded_as_pickle_loads_it(value: Any, protocol: int) -> None:
    """Whatever is made of containers, texts, numbers, booleans and None comes back equal."""
    assert load_pickle(pickle.dumps(value, protocol=protocol)) == value


@given(
    st.lists(st.sampled_from([chr(n) for n in range(256)]) | st.text(max_size=3), max_size=60),
    st.booleans(),
)
@settings(deadline=None, max_examples=500)
def test_the_scan_meets_the_opcodes_pickletools_meets(pieces: list[str], is_real: bool) -> None:
    """Junk behind a real beginning: what the scan lets through has no opcode that no dump holds."""
    junk = "".join(pieces).encode("latin-1", "ignore")
    content = (DUMP[: len(DUMP) // 2] if is_real else PROTO) + junk + b"."
    try:
        scan(content)
    except DumpRefusedError:
        return
    try:
        met = {opcode.name for opcode, _, _ in pickletools.genops(content)}
    except UnicodeDecodeError:  # a text that is none; the unpickler refuses it
        return
    assert met.isdisjoint({"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "PERSID", "BINPERSID"})
    assert met.isdisjoint({"NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "DUP", "POP", "BINUNICODE8"})


def test_pickles_of_the_standard_library_only_need_no_import() -> None:
    """A global that is imported already is refused like any other."""
    assert "posix" in sys.modules
    with pytest.raises(DumpRefusedError, match=r"names collections\.OrderedDict"):
        load_pickle(PROTO + b"ccollections\nOrderedDict\n.")
