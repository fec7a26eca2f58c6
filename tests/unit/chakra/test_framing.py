from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.chakra import GlobalMetadata, MessageReader, Node, blocks_of, framed
from graphstore.chakra.framing import MAX_MESSAGE_BYTES, varint32
from graphstore.errors import TraceFormatError

PAYLOADS = st.lists(st.binary(max_size=300), max_size=8)


def in_a_file(payloads: list[bytes]) -> bytes:
    """Return payloads as a file holds them."""
    return b"".join(varint32(len(payload)) + payload for payload in payloads)


def blocks(data: bytes, size: int) -> list[bytes]:
    """Return data cut into blocks of `size` bytes."""
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(payloads=PAYLOADS, size=st.integers(1, 400))
def test_messages_come_back_whatever_the_blocks(payloads: list[bytes], size: int) -> None:
    """Where the blocks of a file end does not matter to its messages."""
    data = in_a_file(payloads)
    reader = MessageReader(blocks(data, size), "x.et")

    assert list(reader) == payloads
    assert reader.cut_at is None
    assert reader.position == len(data)


@given(payloads=PAYLOADS.filter(bool), data=st.data())
def test_a_cut_at_any_byte_keeps_the_whole_messages_and_says_where(
    payloads: list[bytes], data: st.DataObject
) -> None:
    """Cut anywhere, the messages before are read, and the byte where the broken one begins is known."""
    whole = in_a_file(payloads)
    ends = [len(in_a_file(payloads[:n])) for n in range(len(payloads) + 1)]
    cut = data.draw(st.integers(0, len(whole)))
    kept = max(n for n, end in enumerate(ends) if end <= cut)
    reader = MessageReader([whole[:cut]], "x.et")

    assert list(reader) == payloads[:kept]
    assert reader.cut_at == (None if cut in ends else ends[kept])
    assert reader.position == ends[kept]


@pytest.mark.parametrize(
    "length", [varint32(MAX_MESSAGE_BYTES + 1), b"\xff\xff\xff\xff\x7f", b"\xff" * 6, b"\x80" * 6]
)
def test_a_length_no_message_can_have_is_refused_with_its_place(length: bytes) -> None:
    """Damage is not taken for a cut: file, byte and remedy are named, and nothing is allocated for it."""
    reader = MessageReader([in_a_file([b"abc"]) + length + b"rest"], "x.et")

    with pytest.raises(TraceFormatError, match=r"^x\.et: byte 4: a message of \d+ or more bytes"):
        list(reader)


def test_metadata_and_nodes_are_written_as_the_format_says(tmp_path: Path) -> None:
    """A written file is length, GlobalMetadata, length, Node …; id 0 is off the wire and comes back as 0."""
    file = tmp_path / "a.et"
    with file.open("wb") as out:
        out.writelines(map(framed, [GlobalMetadata(version="0.0.4"), Node(id=0, name="a"), Node(id=1)]))

    assert file.read_bytes() == b"\x07\x0a\x050.0.4" + b"\x03\x12\x01a" + b"\x02\x08\x01"
    with file.open("rb") as stream:
        payloads = list(MessageReader(blocks_of(stream, size=3), file.name))
    assert [Node.FromString(payload).id for payload in payloads[1:]] == [0, 1]


@pytest.mark.parametrize(
    ("value", "wire"), [(0, b"\0"), (127, b"\x7f"), (128, b"\x80\1"), (2**32 - 1, b"\xff\xff\xff\xff\x0f")]
)
def test_varints_are_seven_bits_a_byte_lowest_first(value: int, wire: bytes) -> None:
    """The bounds of each size are as in protobuf's encoding."""
    assert varint32(value) == wire


@pytest.mark.parametrize("value", [-1, 2**32])
def test_a_length_beyond_32_bits_is_no_varint32(value: int) -> None:
    """A length that no reader takes is refused when writing."""
    with pytest.raises(ValueError, match="does not fit"):
        varint32(value)


def test_an_oversized_message_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no reader of ours would take back is not written."""
    monkeypatch.setattr("graphstore.chakra.framing.MAX_MESSAGE_BYTES", 10)

    with pytest.raises(ValueError, match="a message has 22 bytes; 10 are allowed"):
        framed(Node(name="x" * 20))
