"""The command line on a real terminal (a pty): what a person would see, and what they type.

In:  words, an environment, a size, keys to type once something is seen. Out: what was shown, the exit code.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COMMAND = [sys.executable, "-c", "import sys; from graphstore.cli.app import main; sys.exit(main())"]
DEADLINE_S = 120.0
# What a developer's own shell may say, and what would change the answer.
UNSET = ("GRAPHSTORE_", "NEO4J_", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "PAGER", "LESS", "LC_")


def environment(home: Path, **changes: str) -> dict[str, str]:
    """Return the environment of a person with an archive at `home` and an ordinary terminal."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(UNSET)}
    return {**kept, "GRAPHSTORE_HOME": str(home), "TERM": "xterm", "LC_ALL": "C.UTF-8", **changes}


@dataclass(frozen=True)
class Shown:
    """What a terminal showed, both streams together, and the exit code."""

    data: bytes
    code: int

    @property
    def text(self) -> str:
        """The bytes as text, lines ended by a line feed alone."""
        return self.data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def on_terminal(
    words: Sequence[str | Path],
    env: Mapping[str, str],
    *,
    columns: int = 80,
    lines: int = 24,
    keys: Sequence[tuple[bytes, bytes]] = (),
    cwd: Path | None = None,
) -> Shown:
    """Run the command with stdin, stdout and stderr on a terminal of that size.

    `keys`: pairs of what has to be seen and what is typed then, one after the other.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)],
        env=dict(env),
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_control,
    )
    os.close(slave)
    try:
        seen = _watch(process, master, list(keys))
        return Shown(seen, process.wait(timeout=10))
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _control() -> None:
    """Make the terminal that of the process, so that a typed Ctrl-C is a signal to it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _watch(process: subprocess.Popen[bytes], master: int, keys: list[tuple[bytes, bytes]]) -> bytes:
    """Return all that is shown until the process ends; type `keys` as their marks are seen."""
    seen, looked = b"", 0
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if keys and keys[0][0] in seen[looked:]:
            looked = len(seen)
            os.write(master, keys.pop(0)[1])
        if select.select([master], [], [], 0.05)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed: everything was read
                return seen
            seen += piece
        elif process.poll() is not None:
            return seen
    raise AssertionError(f"no end after {DEADLINE_S:g} s; shown so far: {seen[-2000:]!r}")
