"""Progress of long work: bars with rates on stderr, on a terminal only.

In:  calls (what, done, total) from the api; total 0 = unknown. Out: bars that vanish when the work is done,
and nothing at all under --quiet, on a dumb terminal, or when stderr is a file or a pipe.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphstore.cli.pager import is_dumb

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from graphstore.store.base import Progress


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """Yield the callback to hand to the api, or None where no bars are wanted."""
    if quiet or not sys.stderr.isatty() or is_dumb():
        yield None
        return
    with _bars() as bars:
        yield _Reporter(bars)


class _Reporter:
    """One bar for each `what`, in the order they come."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=total or None)
        self._bars.update(self._tasks[what], completed=done, total=total or None)


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Rate(ProgressColumn):
        """Things done per second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "")

    return RichProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
