from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.errors import InputError, TraceFormatError
from graphstore.readers import source as source_module
from graphstore.readers.source import Source, open_source
from graphstore.settings import Settings

SETTINGS = Settings(store="")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda content: content,
    "gz": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_content_size=False).compress,
}


def unpacked(path: Path, settings: Settings = SETTINGS) -> tuple[bytes, Source]:
    """Return the whole content of a file and its (used up) source."""
    with open_source(str(path), settings) as source:
        content = b"".join(source.blocks())
        source.facts()
    return content, source


@pytest.mark.parametrize("compression", PACKERS)
def test_packing_is_told_by_the_bytes_not_the_name(tmp_path: Path, compression: str) -> None:
    """Plain, gz and zstd files called .txt give the same content; hash and size are of the stored bytes."""
    content = os.urandom(3000) + bytes(9_000_000)
    stored = PACKERS[compression](content)
    file = tmp_path / "trace.txt"
    file.write_bytes(stored)

    with open_source(str(file), SETTINGS) as source:
        assert source.peek(10) == content[:10]
        assert source.peek(5_000_000) == content[:5_000_000]
        assert b"".join(source.blocks()) == content
        facts = source.facts()

    assert source.damage is None
    assert facts == {
        "path": str(file),
        "name": "trace.txt",
        "sha256": hashlib.sha256(stored).hexdigest(),
        "size_bytes": len(stored),
        "compression": compression,
    }


@pytest.mark.parametrize("compression", ["gz", "zstd"])
def test_packed_files_put_one_after_another_are_one_content(tmp_path: Path, compression: str) -> None:
    """Members of a gz file, frames of a zstd file, and zero padding behind them."""
    pack = PACKERS[compression]
    file = tmp_path / "joined"
    file.write_bytes(pack(b"first ") + pack(b"second") + (bytes(512) if compression == "gz" else b""))

    content, source = unpacked(file)

    assert (content, source.damage) == (b"first second", None)


@pytest.mark.parametrize("compression", ["gz", "zstd"])
@settings(deadline=None)
@given(cut=st.integers(min_value=4, max_value=4000))
def test_a_packed_file_cut_anywhere_gives_what_came_before(
    tmp_path_factory: pytest.TempPathFactory, compression: str, cut: int
) -> None:
    """A cut stream yields a beginning of its content and says that it ends early."""
    whole = os.urandom(2500) + b"ab" * 2500
    stored = PACKERS[compression](whole)
    file = tmp_path_factory.mktemp("cut") / "cut"
    file.write_bytes(stored[: min(cut, len(stored) - 1)])

    content, source = unpacked(file)

    assert whole.startswith(content)
    assert source.damage is not None
    assert "ends early" in source.damage


def test_a_damaged_gz_file_says_where(tmp_path: Path) -> None:
    """Bytes overwritten inside a gz stream end it with a sentence, not with an exception."""
    stored = bytearray(gzip.compress(os.urandom(200_000)))
    stored[100_000:100_100] = bytes(100)
    file = tmp_path / "damaged.gz"
    file.write_bytes(stored)

    _, source = unpacked(file)

    assert source.damage is not None
    assert "damaged" in source.damage


def test_content_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    """A file that unpacks to more than max_file_bytes ends with one line; near the limit it is read."""
    file = tmp_path / "large.gz"
    file.write_bytes(gzip.compress(bytes(10_000_000)))

    with pytest.raises(TraceFormatError, match="more than 9,999,999 bytes"):
        unpacked(file, Settings(store="", max_file_bytes=9_999_999))
    content, _ = unpacked(file, Settings(store="", max_file_bytes=10_000_000))

    assert len(content) == 10_000_000


@pytest.mark.parametrize("compression", ["gz", "zstd"])
def test_blocks_stay_small_whatever_a_file_expands_to(tmp_path: Path, compression: str) -> None:
    """300 MB of packed zeros come in blocks whose size is bounded."""
    file = tmp_path / "zeros"
    file.write_bytes(PACKERS[compression](bytes(300 << 20)))

    with open_source(str(file), SETTINGS) as source:
        largest = max(len(block) for block in source.blocks())

    assert largest <= 2 * max(source_module.BLOCK_BYTES, 32 << 20)


@pytest.mark.parametrize("kind", ["absent", "folder", "pipe"])
def test_what_is_no_readable_file_is_an_input_error(tmp_path: Path, kind: str) -> None:
    """Absent paths, folders and pipes (which would hang) end with one line that names the path."""
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)

    with pytest.raises(InputError, match=str(path)) as caught, open_source(str(path), SETTINGS):
        pass

    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_rights_is_an_input_error(tmp_path: Path) -> None:
    """A file that may not be read ends with one line."""
    file = tmp_path / "secret"
    file.write_text("{}")
    file.chmod(0)

    with pytest.raises(InputError, match="Permission denied"), open_source(str(file), SETTINGS):
        pass
