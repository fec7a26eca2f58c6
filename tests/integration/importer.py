"""A process that imports one run and is killed on the way: `python -m tests.integration.importer …`.

Arguments: store address, run id, number of ops, and the moment to die: `N` kills with SIGKILL in the Nth call
of the store's progress, `save`, `rename`, `index` and `finish` at those steps, `never` not at all. It prints
'begun' when the writing begins, so that a parent may also kill it by the clock. Name and password come from
the environment.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from graphstore import settings
from graphstore.store import kglite_archive, kglite_files, neo4j_write, open_store
from tests.graphs import small_run


def die(*_: Any, **__: Any) -> None:
    """End this process as a crash would: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying(function: Callable[..., Any], before: bool) -> Callable[..., Any]:
    """Return `function` with a death before or after it."""

    def wrapped(*arguments: Any, **named: Any) -> None:
        if not before:
            function(*arguments, **named)
        die()

    return wrapped


def arm(moment: str) -> Callable[[str, int, int], None]:
    """Set the death for `moment` and return the progress callback that may deal it."""
    if moment == "save":  # everything is in memory, nothing in the file
        kglite_files.Writer.save = dying(kglite_files.Writer.save, before=True)  # type: ignore[method-assign]
    elif moment == "rename":  # the run file is in its place, the index does not know it
        kglite_archive.Archive.sync = dying(kglite_archive.Archive.sync, before=True)  # type: ignore[method-assign]
    elif moment == "index":  # the index is saved, the lease not given back
        kglite_archive.Archive.sync = dying(kglite_archive.Archive.sync, before=False)  # type: ignore[method-assign]
    elif moment == "finish":  # every node and edge is in, the Run is still loading
        neo4j_write.Writing._finish = dying(neo4j_write.Writing._finish, before=True)  # type: ignore[method-assign]
    calls = iter(range(1, 1_000_000))
    return lambda *_: die() if str(next(calls)) == moment else None


def main() -> None:
    """Import a run of `ops` ops, in many small batches, and die when told."""
    address, run, ops, moment = sys.argv[1:]
    neo4j_write.NODE_BATCH = neo4j_write.EDGE_BATCH = 200
    store = open_store(settings.load(address))
    progress = arm(moment)
    graph = small_run(run, store.allocate_run_no(), int(ops))
    print("begun", flush=True)
    store.write_run(graph, progress)
    print("done", flush=True)


if __name__ == "__main__":
    main()
