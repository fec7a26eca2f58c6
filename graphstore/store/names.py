"""The names of the runs, as quickly as can be: for a shell that completes a word while a person types.

In:  settings, how long it may take. Out: the ids of the runs there are. Decided here: of a folder the names
of its files tell, since a file that is there is a run; no library is loaded for that. A server is asked, and
left when it does not answer in time. What `runs` lists is Store.runs().
"""

from __future__ import annotations

import threading
from pathlib import Path

from graphstore.errors import GraphstoreError
from graphstore.settings import Settings

RUNS_FOLDER, RUN_ENDING = "runs", ".kgl"


def run_files(home: Path) -> dict[str, Path]:
    """Return {run: file} of every run in a folder of the embedded store."""
    found = sorted((home / RUNS_FOLDER).glob(f"*{RUN_ENDING}"))
    return {path.name.removesuffix(RUN_ENDING): path for path in found}


def run_names(settings: Settings, within_s: float) -> list[str]:
    """Return the ids of the runs; none where they can't be had in time, whatever the reason."""
    if not settings.is_server:
        return list(run_files(Path(settings.store).expanduser()))
    names: list[str] = []
    asking = threading.Thread(target=_ask_server, args=(settings, names), daemon=True)
    asking.start()
    asking.join(within_s)
    return list(names)


def _ask_server(settings: Settings, names: list[str]) -> None:
    from graphstore.store import open_store

    try:
        names += [str(run["run"]) for run in open_store(settings).runs()]
    except GraphstoreError:
        return  # out of reach, refused: the person learns it from the verb, not while typing
