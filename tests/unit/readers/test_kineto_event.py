"""Texts of recorded values in the events of a Kineto trace."""

from __future__ import annotations

import msgspec

from graphstore.readers.kineto_event import compact_texts


def test_recorded_values_lose_their_spaces_and_no_more() -> None:
    """Null where nothing was recorded. A number that no float holds is kept as it was written: it is JSON."""
    recorded = [msgspec.Raw(text) for text in (b'[1, "a b"]', b"", b"[1, 1e999]", b'["tab\there"]')]

    assert compact_texts("values", recorded).to_list() == [
        '[1,"a b"]',
        None,
        "[1, 1e999]",
        '["tab\\there"]',
    ]
