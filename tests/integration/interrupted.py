"""The command line, interrupted at a known moment: `… -m tests.integration.interrupted WHERE N TIMES words…`.

WHERE is `module:name` of a function as it is called; before its Nth call this process gets SIGINT, as Ctrl-C
gives it, and with TIMES 2 once more 50 ms later. With `first,then` the calls of `then` are counted from the
first call of `first` on.
"""

from __future__ import annotations

import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from graphstore.cli import app


class Moment:
    """The call that is interrupted."""

    def __init__(self, nth: int, times: int, is_armed: bool) -> None:
        """Count calls from now on, or from `arm` on."""
        self.nth, self.times, self.is_armed = nth, times, is_armed

    def arm(self) -> None:
        """Count from now on."""
        self.is_armed = True

    def count(self) -> None:
        """Count a call, and interrupt this process if it is the one."""
        self.nth -= self.is_armed
        if self.nth == 0 and self.is_armed:
            if self.times > 1:
                again = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
                again.daemon = True
                again.start()
            os.kill(os.getpid(), signal.SIGINT)


def watch(name: str, before: Callable[[], None]) -> None:
    """Call `before` before each call of the function `module:name`."""
    place, _, last = name.replace(":", ".").rpartition(".")
    owner = pkgutil.resolve_name(place)
    function = getattr(owner, last)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        before()
        return function(*arguments, **named)

    setattr(owner, last, wrapped)


def main() -> int:
    """Arm the interrupt and run the command."""
    where, nth, times, *words = sys.argv[1:]
    first, comma, then = where.rpartition(",")
    moment = Moment(int(nth), int(times), is_armed=not comma)
    watch(then, moment.count)
    if comma:
        watch(first, moment.arm)
    sys.argv[1:] = words
    return app.main()


if __name__ == "__main__":
    sys.exit(main())
