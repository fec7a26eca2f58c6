"""Find queries of the catalogue by words: what is it called that says how long ranks wait?

In:  words of a person. Out: the queries that hold every word, the best first.
Decided here: where a word counts how much: in the name more than in the meaning, there more than in the names
of parameters and columns, there more than in their meanings. A word is found as a part of another (`wait` in
`wait_ns`), whatever its case. What a word may have meant is told where nothing holds it, and how many
queries hold each where none holds all.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from graphstore.errors import UsageError
from graphstore.queries.catalog import Query

NAME, MEANING, FIELD, FIELD_MEANING = 8, 4, 2, 1
WORD = re.compile(r"[a-z0-9]+")


def search(queries: Iterable[Query], words: Sequence[str]) -> list[Query]:
    """Return the queries that hold every word, the best first, equal ones by name.

    Raises UsageError, with near words where there are any, when none does.
    """
    known = list(queries)
    wanted = [part for word in words for part in WORD.findall(word.lower())]
    scores = {query.name: _score(query, wanted) for query in known}
    found = [query for query in known if scores[query.name]]
    if not found:
        raise UsageError(f"no query holds {' and '.join(words) or 'no word at all'}{_near(wanted, known)}")
    return sorted(found, key=lambda query: (-scores[query.name], query.name))


def _score(query: Query, wanted: Sequence[str]) -> int:
    """Return how well a query fits, 0 where it lacks one of the words."""
    each = [sum(weight for text, weight in _texts(query) if word in text) for word in wanted]
    return sum(each) if each and all(each) else 0


def _texts(query: Query) -> list[tuple[str, int]]:
    """Return what can be found in a query, and what a word there counts."""
    fields = [*query.parameters, *query.columns]
    return [
        (query.name.lower(), NAME),
        (query.meaning.lower(), MEANING),
        (" ".join(field.name for field in fields), FIELD),
        (" ".join(field.meaning.lower() for field in fields), FIELD_MEANING),
    ]


def _near(wanted: Sequence[str], known: Sequence[Query]) -> str:
    """Return the end of a message: what finds something, the words near those that find nothing."""
    alone = [(word, [query.name for query in known if _score(query, [word])]) for word in wanted]
    if len(wanted) > 1 and all(names for _, names in alone):
        return "; " + ", ".join(f"{word} alone: {len(names)}" for word, names in alone)
    every = sorted({word for query in known for text, _ in _texts(query) for word in WORD.findall(text)})
    near = [other for word in wanted if word not in every for other in _close(word, every)]
    return f"; near it: {', '.join(near)}" if near else "; `graphstore queries` lists them all"


def _close(word: str, every: Sequence[str]) -> list[str]:
    return difflib.get_close_matches(word, every, n=2, cutoff=0.75)
