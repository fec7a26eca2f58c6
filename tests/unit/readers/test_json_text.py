from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.readers.json_text import INCOMPLETE, NestingError, clean, end_of_value

MAX_DEPTH = 30
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(value=values, indent=st.sampled_from([None, 2]), follows=st.sampled_from([",", "]", "}", " ,", "\n]"]))
def test_a_value_ends_where_it_ends(value: Any, indent: int | None, follows: str) -> None:
    """Any JSON value has its end found, and nothing shorter than it has one."""
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass")

    assert end_of_value(text + follows.encode(), 0, MAX_DEPTH) == len(text)
    assert end_of_value(text[:-1], 0, MAX_DEPTH) == INCOMPLETE


@settings(deadline=None)
@given(value=values, indent=st.sampled_from([None, 1]))
def test_cleaning_leaves_clean_text_as_it_is(value: Any, indent: int | None) -> None:
    """What is valid JSON already is not touched."""
    text = json.dumps(value, indent=indent).encode()

    assert clean(text) == text


@pytest.mark.parametrize(
    ("dirty", "meant"),
    [
        (b'["a\x01b\tc\nd"]', ["a\x01b\tc\nd"]),
        (b'["caf\xe9"]', ["caf\ufffd"]),
        (b'{"name": "say "hi" twice", "id": 3}', {"name": 'say "hi" twice', "id": 3}),
        (b'["C:\\Users\\q"]', ["C:\\Users\\q"]),
        (b'["ends with a backslash\\\\"]', ["ends with a backslash\\"]),
        (b"[nan, -inf, 1.5, Infinity, -NaN]", ["nan", "-inf", 1.5, "Infinity", "-NaN"]),
        (b'["nan stays", "\\u0041\\n"]', ["nan stays", "A\n"]),
    ],
)
def test_dirty_text_becomes_what_was_meant(dirty: bytes, meant: Any) -> None:
    """Control bytes, foreign bytes, stray quotes and backslashes, and numbers JSON has no word for."""
    assert json.loads(clean(dirty)) == meant


@pytest.mark.parametrize(("depth", "fits"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False), (10_000, False)])
def test_nesting_is_bounded(depth: int, fits: bool) -> None:
    """At the limit a value has its end found; beyond it there is an error, not a recursion."""
    text = b"[" * depth + b"]" * depth

    if fits:
        assert end_of_value(text, 0, MAX_DEPTH) == len(text)
    else:
        with pytest.raises(NestingError, match="deeper than 30"):
            end_of_value(text, 0, MAX_DEPTH)
