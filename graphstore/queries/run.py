"""Run a statement on one run: by catalogue name, from a file, or as a text. Reading only.

In:  a store, a run, a name or text, parameters. Out: a frame with the statement's columns.
Decided here: which of the three a word means, and that parameters are those the header declares, of its
types, and its defaults where none is given. A value typed at the command line (`k=v`) becomes what the header
says, without a header what it looks like. Limits of time and rows are the store's.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from graphstore.errors import InputError, QueryError, UsageError
from graphstore.queries.catalog import BOUND_BY_STORE, OVER_RUNS, Field, Query, get
from graphstore.queries.cypher_text import tokens
from graphstore.store.base import Store


def run_query(store: Store, run: str, name: str, /, **parameters: Any) -> pl.DataFrame:
    """Return the rows of the catalogue query `name`, all of them.

    Raises UsageError for an unknown name, a wrong, missing or unknown parameter, or a query that writes.
    """
    query = readable(name)
    return store.query(run, query.text, checked(query, parameters))


def run_over_archive(store: Store, runs: Sequence[str], name: str, /, **parameters: Any) -> pl.DataFrame:
    """Return the rows of a catalogue query that asks all of `runs` at once; raises as run_query does."""
    query = readable(name)
    return store.query_archive(query.text, {**checked(query, parameters), OVER_RUNS: list(runs)})


def is_over_runs(query: str) -> bool:
    """Return whether a catalogue name, file or text asks all runs at once: it takes $runs instead of $run.

    Raises UsageError for an unknown name, InputError for a file that can't be read.
    """
    if not _is_text(query):
        return get(query).over_runs
    text = _read_file(Path(query)) if _is_file(query) else query
    return any(token.kind == "param" and token.text[1:] == OVER_RUNS for token in tokens(text))


def run_any_over_archive(
    store: Store,
    runs: Sequence[str],
    query: str,
    parameters: Mapping[str, Any],
    *,
    row_limit: int | None = None,
    timeout_s: float | None = None,
) -> pl.DataFrame:
    """Return the rows of what asks all of `runs` at once (is_over_runs), as run_any does of one run."""
    text, bound = _prepared(query, parameters)
    given = {**bound, OVER_RUNS: list(runs)}
    return store.query_archive(text, given, timeout_s=timeout_s, row_limit=row_limit)


def run_any(
    store: Store,
    run: str,
    query: str,
    parameters: Mapping[str, Any],
    *,
    row_limit: int | None = None,
    timeout_s: float | None = None,
) -> pl.DataFrame:
    """Return the rows of a catalogue name, a `.cypher` file or a Cypher text.

    With `row_limit` one row more than that means: it was cut. Raises QueryError, UsageError, InputError.
    """
    text, bound = _prepared(query, parameters)
    return store.query(run, text, bound, timeout_s=timeout_s, row_limit=row_limit)


def read_parameters(query: str, pairs: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of `k=v` words, typed by the header of a catalogue query, else by their looks.

    Raises UsageError for a word without `=`, a name given twice, or a value that is not of its type.
    """
    fields = {} if _is_text(query) else {field.name: field for field in get(query).parameters}
    out: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"parameter {pair!r}: want NAME=VALUE")
        if name in out:
            raise UsageError(f"parameter {name} is given twice")
        out[name] = _typed(fields[name], value) if name in fields else _guessed(value)
    return out


def readable(name: str) -> Query:
    """Return the catalogue query `name`; UsageError when it writes, which only repair and check may."""
    query = get(name)
    if query.writes:
        raise UsageError(f"{query.name} writes {', '.join(query.writes)}: only `graphstore repair` runs it")
    return query


def checked(query: Query, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters `query` declares: those given, of its types, and the defaults of the others.

    Raises UsageError for one it does not declare, one missing that has no default, or a wrong type.
    """
    declared = {field.name: field for field in query.asked}
    defaults = {field.name: field.default for field in declared.values() if field.optional}
    unknown = sorted(set(parameters) - set(declared))
    missing = sorted(set(declared) - set(parameters) - set(defaults))
    if unknown or missing:
        what = "; ".join(field.described for field in declared.values())
        wrong = [f"{name} is not one{_near(name, declared)}" for name in unknown]
        wrong += [f"{name} is missing" for name in missing]
        raise UsageError(f"{query.name}: parameter {', '.join(wrong)}. It takes {what or 'none'}")
    for name, value in parameters.items():
        if not declared[name].takes(value):
            raise UsageError(f"{query.name}: parameter {name}={value!r} is no {declared[name].type}")
    return {**defaults, **parameters}


def _near(name: str, declared: Mapping[str, Field]) -> str:
    """Return the parameter that a wrong name is likely to mean, in brackets; empty when none is near."""
    near = difflib.get_close_matches(name, declared, n=1, cutoff=0.5)
    return f" (near it: {near[0]})" if near else ""


def _prepared(query: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return text and parameters of what `query` means."""
    if not _is_text(query):
        known = readable(query)
        return known.text, checked(known, parameters)
    text = _read_file(Path(query)) if _is_file(query) else query
    used = {token.text[1:] for token in tokens(text) if token.kind == "param"} - {BOUND_BY_STORE, OVER_RUNS}
    missing = sorted(used - set(parameters))
    if missing:
        raise QueryError(f"parameter {', '.join(missing)} of the text is missing: --param {missing[0]}=VALUE")
    return text, {name: value for name, value in parameters.items() if name in used}


def _is_text(query: str) -> bool:
    """Return whether `query` is a text or a file rather than a catalogue name."""
    return bool(re.search(r"[\s(]", query)) or _is_file(query)


def _is_file(query: str) -> bool:
    """Return whether `query` names a file: it ends in .cypher and is there, or begins as a path does."""
    return query.endswith(".cypher") and (query.startswith((".", "/", "~")) or Path(query).is_file())


def _read_file(path: Path) -> str:
    """Return the text of a file; InputError when it can't be read."""
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a Cypher text ({error})") from error


def _typed(field: Field, value: str) -> Any:
    """Return a typed word as the type a header declares; `null` where that is the default of no text."""
    if field.type in ("text", "json"):
        return value
    is_list = field.type.startswith("list") and not value.startswith("[") and value != "null"
    found = _guessed(f"[{value}]" if is_list else value)
    if field.type == "list[text]" and isinstance(found, str):
        found = [word.strip() for word in value.split(",")]
    if not field.takes(found):
        raise UsageError(f"parameter {field.name}={value}: want {field.type}")
    return found


def _guessed(value: str) -> Any:
    """Return a typed word as JSON if it is JSON (5, 2.5, true, [1, 2], "text"), else as the text it is."""
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
