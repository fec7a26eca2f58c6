r"""Where a JSON value ends, and how dirty text is made readable. Pure functions over bytes.

In:  the bytes of a document. Out: positions, or clean bytes.
Decided here: a quote closes a string only where `,`, `:`, `}` or `]` follows, which every writer keeps to;
so names with stray quotes still have one end. Control bytes become `\u00XX`, bytes that are no UTF-8
become U+FFFD, bare `nan` and `inf` become text (PyTorch writes them where JSON has no word).
Cutting a document into records: document.py.
"""

from __future__ import annotations

import re
import sys

INCOMPLETE = -1

# A string can be read in one way only, so giving nothing back ("*+") changes no match; it saves memory.
# Before 3.11.5 Python matches a group that gives nothing back wrongly (its issue 106052).
OFTEN = rb"*+" if sys.version_info >= (3, 11, 5) else rb"*"
STRING = rb'"[^"\\]*+(?:(?:\\.|"(?!\s*+[,:}\]]))[^"\\]*+)' + OFTEN + rb'"(?=\s*+[,:}\]])'
# From one bracket to the next, over strings and all else; a lone quote is a string that does not end here.
BRACKET = re.compile(rb'(?:[^"{}\[\]]++|' + STRING + rb")" + OFTEN + rb'([{}\[\]"])', re.DOTALL)
SCALAR = re.compile(rb'[^\s,:{}\[\]"]++(?=[\s,}\]])')
WHOLE_STRING = re.compile(STRING, re.DOTALL)
CLEANED = re.compile(STRING + rb"|-?\b(?:nan|inf|infinity)\b", re.DOTALL | re.IGNORECASE)
IN_STRING = re.compile(rb'\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]|["\\\x00-\x1f]')


class NestingError(ValueError):
    """Lists and objects lie in each other deeper than allowed."""


def end_of_value(text: bytes, start: int, max_depth: int) -> int:
    """Return the position after the JSON value that begins at `start`, or INCOMPLETE where it goes on.

    Raises NestingError when it is nested deeper than `max_depth`.
    """
    first = text[start : start + 1]
    if first == b'"':
        string = WHOLE_STRING.match(text, start)
        return string.end() if string else INCOMPLETE
    if first not in (b"{", b"["):
        scalar = SCALAR.match(text, start)
        return scalar.end() if scalar else INCOMPLETE
    depth, at = 0, start
    while found := BRACKET.match(text, at):  # match, not search: a search would look into an open string
        bracket, at = found.group(1), found.end()
        if bracket in b"{[":
            depth += 1
            if depth > max_depth:
                raise NestingError(f"nested deeper than {max_depth}")
        elif bracket in b"}]":
            depth -= 1
            if depth == 0:
                return at
        else:
            return INCOMPLETE
    return INCOMPLETE


def clean(text: bytes) -> bytes:
    """Return the JSON `text` with its strings and bare words made valid; its structure stays as it is."""
    whole = text.decode("utf-8", errors="replace").encode()
    return CLEANED.sub(lambda found: _clean_token(found.group()), whole)


def _clean_token(token: bytes) -> bytes:
    if not token.startswith(b'"'):
        return b'"' + token + b'"'
    inner = IN_STRING.sub(lambda found: _clean_byte(found.group()), token[1:-1])
    return b'"' + inner + b'"'


def _clean_byte(found: bytes) -> bytes:
    if found in (b'"', b"\\"):  # a stray quote, or a backslash that begins no escape
        return b"\\" + found
    return found if len(found) > 1 else b"\\u%04x" % found[0]
