"""Which runs a person means: one by id, `latest`, `latest~1` or name; several by tag, date and size.

In:  a store, words. Out: ids of runs, or their properties. Nothing else reads these words, so every verb that
takes a run understands all of them.
Decided here: an id goes before the words `latest…`, these before names; `latest~N` counts from the newest by
the time of import; conditions of a selection are joined by *and*; days are those of UTC, `until` included.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from graphstore.errors import UsageError
from graphstore.queries import run_query
from graphstore.store.base import Store

SHOWN = 5  # runs that a message names
_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)B?")
_POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

Run = dict[str, Any]  # the properties of a Run node


@dataclass(frozen=True)
class Selection:
    """Conditions that a run meets, all of them; without any, every run does.

    `runs` are words for single runs (id, latest~N, name). `tags` must all be there. `since` ≤ import <
    `until`, both with a time zone. `min_bytes` and `max_bytes` bound `trace_bytes`, the size of its files.
    """

    runs: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    world_size: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None


def resolve_run(store: Store, run: str | None) -> str:
    """Return the id of the ready run that `run` means, or of the only one when `run` is None.

    Raises UsageError that names the runs there are and near ones; StoreError for a run that is damaged.
    """
    runs = store.runs()
    if run is None:
        if len(runs) == 1:
            return str(runs[0]["run"])
        raise UsageError(f"say which run: id, latest or name. Runs in {store.address}: {_there(runs)}.")
    found = _meant(runs, run)
    if found is None:
        raise _unknown(store, runs, run)
    return found


def select_runs(store: Store, selection: Selection) -> list[Run]:
    """Return the properties of the ready runs that meet a selection, oldest first.

    Raises UsageError as resolve_run does for a word of `runs`; no run at all is no error.
    """
    runs = store.runs()
    if selection.runs:
        wanted = {resolve_run(store, word) for word in selection.runs}
        runs = [run for run in runs if run["run"] in wanted]
    return [run for run in runs if _meets(run, selection)]


def some_runs(store: Store, selection: Selection) -> list[Run]:
    """Return what select_runs does; raises UsageError when that is no run."""
    found = select_runs(store, selection)
    if not found:
        raise UsageError(f"no run is selected. Runs in {store.address}: {_there(store.runs())}.")
    return found


def read_time(word: str, *, end: bool = False) -> datetime:
    """Return a date or time (ISO 8601, UTC unless it says otherwise); of a date its start, or `end`.

    Raises UsageError for anything else.
    """
    try:
        found = datetime.fromisoformat(word)
        if end and re.fullmatch(r"[\d-]+", word):
            found += timedelta(days=1)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{word!r} is no date: want 2026-11-01 or 2026-11-01T13:00:00") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_size(word: str) -> int:
    """Return a size in bytes: 500, 10MB (10⁷), 1.5GiB (1.5 · 2³⁰). Raises UsageError for anything else."""
    match = _SIZE.fullmatch(word.strip())
    if match is None or (match[3] and not match[2]):
        raise UsageError(f"{word!r} is no size: want 500, 10MB or 1.5GiB")
    unit: int = (1024 if match[3] else 1000) ** _POWER[match[2].lower()]
    return round(float(match[1]) * unit)


def _meant(runs: Sequence[Run], word: str) -> str | None:
    """Return the id that a word means, None for none; UsageError where it counts too far or is ambiguous."""
    ids = [str(run["run"]) for run in runs]
    if word in ids:
        return word
    latest = _LATEST.fullmatch(word)
    if latest and ids:
        back = int(latest[1] or 0)
        if back >= len(ids):
            raise UsageError(f"{word}: there are {len(ids)} runs, the oldest is latest~{len(ids) - 1}")
        return ids[-1 - back]
    named = [str(run["run"]) for run in runs if run["name"] == word]
    if len(named) > 1:
        raise UsageError(f"{len(named)} runs are named {word!r}: {', '.join(named[:SHOWN])}. Name one by id.")
    return named[0] if named else None


def _unknown(store: Store, runs: Sequence[Run], word: str) -> UsageError:
    """Return what is said of a word that means no ready run; raises StoreError when its file is damaged."""
    with contextlib.suppress(UsageError):  # absent, as the list says
        run_query(store, word, "archive/show_run")
    known = {str(run[key]): str(run["run"]) for run in runs for key in ("name", "run")}
    near = dict.fromkeys(known[each] for each in difflib.get_close_matches(word, known, n=3))
    hint = f" Near it: {', '.join(near)}." if near else ""
    return UsageError(f"no run {word}.{hint} Runs in {store.address}: {_there(runs)}.")


def _there(runs: Sequence[Run]) -> str:
    """Return the newest runs as text, and how many more there are."""
    if not runs:
        return "none; `graphstore import PATH` makes one"
    shown = ", ".join(str(run["run"]) for run in runs[-SHOWN:])
    return shown + (f" and {len(runs) - SHOWN} older" if len(runs) > SHOWN else "")


def _meets(run: Run, wanted: Selection) -> bool:
    """Return whether a run meets every condition; a property it lacks meets none."""
    size, created = run["trace_bytes"], run["created"]
    when = read_time(created) if created else None
    return (
        set(wanted.tags) <= set(run["tags"] or ())
        and wanted.world_size in (None, run["world_size"])
        and (wanted.since is None or (when is not None and when >= wanted.since))
        and (wanted.until is None or (when is not None and when < wanted.until))
        and (wanted.min_bytes is None or (size is not None and size >= wanted.min_bytes))
        and (wanted.max_bytes is None or (size is not None and size <= wanted.max_bytes))
    )
