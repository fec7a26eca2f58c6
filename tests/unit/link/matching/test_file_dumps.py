from __future__ import annotations

import io
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from graphstore.link.matching.file_dumps import flight_dumps, reduce_records, reduced_dumps
from graphstore.link.matching.reduce import reduce_dump
from graphstore.link.matching.signatures import Signature
from graphstore.model.records import FileRecords
from graphstore.readers.transfer import receive_message, receive_records, send_records
from tests.data.dumps import dump, entry, read

SENDS: dict[str, Any] = {
    "profiling_name": "nccl:send 0->1",
    "is_p2p": True,
    "process_group": ("1", "pipeline"),
    "pg_id": 1,
    "frames": [],
}
ENTRIES = [entry(), entry(1, "nccl:barrier", input_sizes=[], input_dtypes=[]), entry(2, **SENDS), entry(3)]


def _sent(records: FileRecords) -> FileRecords:
    """Return records as the process receives them that asked for them."""
    stream = io.BytesIO()
    send_records(stream, records)
    stream.seek(0)
    header = receive_message(stream)
    assert header is not None
    received = receive_records(stream, orjson.loads(header))
    assert received is not None
    return received


def _read(folder: Path, *entries: dict[str, Any], rank: int | None = 0) -> FileRecords:
    records = read(folder / "rank_0", dump(*entries))
    records.facts["rank"] = rank
    return records


@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[:1], []], ids=["several", "one", "none"])
@pytest.mark.parametrize("crosses", [True, False])
def test_reduced_where_it_is_read_a_dump_is_what_it_would_be_here(
    entries: list[dict[str, Any]], crosses: bool, tmp_path: Path
) -> None:
    """All of it: numbers and what they stand for, groups, counters, the pairs of local numbers."""
    records = _read(tmp_path, *entries)
    (whole,) = flight_dumps([records])
    expected = reduce_dump(whole)

    kept = reduce_records(records)
    (found,) = reduced_dumps([_sent(kept) if crosses else kept])

    for field in fields(expected):
        mine, theirs = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(theirs, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
        else:
            assert mine == theirs, field.name


def test_little_of_a_dump_crosses(tmp_path: Path) -> None:
    """About 50 bytes a call, and the contents once each; the table of its entries stays where it was read."""
    many = [entry(n) for n in range(2_000)]
    kept = reduce_records(_read(tmp_path, *many))
    stream = io.BytesIO()

    send_records(stream, kept)

    assert "flight_entries" not in kept.tables
    assert len(stream.getvalue()) < 60 * len(many)


def test_equal_contents_of_two_dumps_are_one_list(tmp_path: Path) -> None:
    """The ranks of a job repeat the contents of their calls; 4,096 copies would be most of the memory."""
    one, other = (_sent(reduce_records(_read(tmp_path, *ENTRIES, rank=rank))) for rank in (0, 1))

    first, second = reduced_dumps([one, other])

    assert first.signatures is second.signatures
    assert all(isinstance(item, Signature) for item in first.signatures)


def test_a_refused_dump_and_a_file_of_another_kind_stay_as_they_are(tmp_path: Path) -> None:
    """Neither has entries to reduce, and the problem of the first is still told."""
    refused = read(tmp_path / "rank_1", dump(entry(retired="yes")))
    other = FileRecords("et", {"kind": "et", "name": "et"})

    assert refused.facts["problem"]
    assert reduce_records(refused) is refused
    assert reduce_records(other) is other
    assert list(reduced_dumps([refused, other])) == []


def test_groups_come_from_the_other_files_of_the_rank(tmp_path: Path) -> None:
    """What a dump of gloo lacks, a trace beside it lists; a trace of another rank does not count."""
    records = reduce_records(_read(tmp_path, *ENTRIES))
    group = {"pg_name": "1", "pg_desc": "pipeline", "ranks": [0, 1], "origin": "kineto"}
    trace = FileRecords("kineto", {"kind": "kineto", "name": "kineto", "rank": 0}, groups=[group])
    stranger = replace(trace, facts=trace.facts | {"rank": 7}, groups=[group | {"ranks": [7]}])

    (found,) = reduced_dumps([records, trace, stranger])

    assert found.groups == [group]
