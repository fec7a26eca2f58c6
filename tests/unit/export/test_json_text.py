from __future__ import annotations

import io
from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.export.json_text import microseconds, write_document


@given(st.integers(-(2**62), 2**62))
def test_a_time_in_us_keeps_every_ns(ns: int) -> None:
    """Read as a decimal it is the ns again, of whatever size and sign."""
    text = orjson.dumps(microseconds(ns)).decode()

    assert Decimal(text) * 1000 == ns


@pytest.mark.parametrize("head", [{}, {"schema": "x"}])
@pytest.mark.parametrize("elements", [[], [b"1"], [b"1", b'{"a":2}']])
def test_a_document_is_one_object_whose_last_member_is_the_list(
    head: dict[str, str], elements: list[bytes]
) -> None:
    """Whether or not anything stands before the list or in it."""
    stream = io.BytesIO()

    count = write_document(stream, head, "nodes", elements)

    assert orjson.loads(stream.getvalue()) == {**head, "nodes": [orjson.loads(e) for e in elements]}
    assert count == len(elements)
