"""The pager: what is longer than the terminal is shown by the program a person reads long texts with.

In:  a text for stdout. Out: the text on stdout, or in the pager until it ends. Decided here: when there is a
pager at all (a terminal that can move its cursor, a text longer than it, not --quiet, not `cat`); that its
end, however it comes, is no error: the verb's exit code stands. One that is absent never hides a text.
Who it is: GRAPHSTORE_PAGER, `pager` of the user's config file, PAGER, less.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from graphstore import settings

NONE = ("", "cat")  # words that mean: no pager
STYLE = re.compile(r"\x1b\[[\d;]*m")  # takes no place on the screen


class Screen:
    """Stdout as a person sees it; `quiet` keeps the pager away."""

    def __init__(self) -> None:
        """Begin with a page for each text."""
        self.quiet = False
        self._parts: list[str] | None = None

    def show(self, text: str) -> None:
        """Show a text, or keep it for the page that is being made."""
        if self._parts is not None:
            self._parts.append(text)
        elif not (self._is_long(text) and _paged(text)):
            sys.stdout.write(text)
            sys.stdout.flush()

    @contextmanager
    def one_page(self) -> Iterator[None]:
        """Show what is printed inside together: the pager is called once, not for each part."""
        self._parts = []
        try:
            yield
            parts, self._parts = self._parts, None
            self.show("".join(parts))
        finally:
            self._parts = None

    def _is_long(self, text: str) -> bool:
        """Return whether a text goes to a terminal that it does not fit on."""
        if self.quiet or not sys.stdout.isatty() or is_dumb():
            return False
        size = shutil.get_terminal_size()
        lines = STYLE.sub("", text).splitlines()
        rows = sum(max(1, -(-len(line) // size.columns)) for line in lines)
        return rows >= size.lines  # the next prompt needs a line, too


def is_dumb() -> bool:
    """Return whether the terminal says that it can't move its cursor."""
    return settings.terminal() in ("", "dumb")


def _paged(text: str) -> bool:
    """Show a text in the pager and wait for its end; False where there is none."""
    command = settings.load().pager
    words = _words(command)
    if " ".join(words) in NONE:
        return False
    try:
        pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=settings.pager_environment())
    except OSError as error:
        print(f"graphstore: pager {command}: {error.strerror}; shown without it", file=sys.stderr)
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's: it knows what it means
    try:
        pager.communicate(text.encode(sys.stdout.encoding, "backslashreplace"))
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _words(command: str) -> list[str]:
    """Return a command as words; none for the default pager where it is not installed, or for bad quoting."""
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:
        return []
    return [] if words == [settings.PAGER] and not shutil.which(settings.PAGER) else words


screen = Screen()
