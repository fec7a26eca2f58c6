"""Read many files at once, each in a process of its own kind.

In:  paths, and perhaps what is to be done with the records of each file where they were read, so that only
what is kept of them crosses over. Out: FileRecords in the order of the paths.
Decided here: when processes pay, that the largest files begin first, and that a process that dies (killed
for memory, say) costs its file at most, after one more try, and never the others.
Processes are started as programs, not forked: polars' threads do not survive a fork, and
multiprocessing's other ways run the caller's main module again. What a process does: worker.py.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import orjson

from graphstore import errors
from graphstore.errors import GraphstoreError
from graphstore.model.records import FileRecords
from graphstore.readers.detect import NOT_A_TRACE
from graphstore.readers.reading import broken, read_file
from graphstore.readers.transfer import receive_message, receive_records
from graphstore.settings import Settings

Progress = Callable[[str, int, int], None]  # (what, done, total)
Then = Callable[[FileRecords], FileRecords]  # a function of a module, by whose name a process finds it

PAYS_BYTES = 4 << 20  # stored bytes; below this starting a process takes longer than reading
PROGRESS_NAME = "bytes read"
TRIES = 2
LIMITS = ("max_file_bytes", "max_dump_bytes", "max_depth")
# No reader calculates with matrices, so none needs the threads that numpy starts for it.
PROGRAM = (
    "import os, sys; os.environ['OPENBLAS_NUM_THREADS'] = '1'; sys.path[:] = {path!r}; "
    "from graphstore.readers.worker import main; main()"
)


def as_read(records: FileRecords) -> FileRecords:
    """Return the records as they are: all of a file is wanted."""
    return records


def read_files(
    paths: Sequence[str],
    settings: Settings,
    explicit: set[str],
    progress: Progress | None = None,
    then: Then = as_read,
) -> list[FileRecords]:
    """Return the records of each file, in the order of `paths`; broken ones have facts.problem.

    `progress` is told the stored bytes done and in all. `then` makes of the records of a file those that are
    returned. Raises LedgerError when a reader's counts do not add up, GraphstoreError for a defect of a
    reader or of `then`.
    """
    sizes = [_size(path) for path in paths]
    at_once = min(settings.processes, len(paths))
    if at_once < 2 or sum(sizes) < PAYS_BYTES or not sys.executable:
        return _read_here(paths, sizes, settings, explicit, progress, then)
    command = [sys.executable, "-c", PROGRAM.format(path=sys.path)]
    with Crew(command, settings, then) as crew, ThreadPoolExecutor(at_once) as pool:
        try:
            largest_first = sorted(range(len(paths)), key=lambda n: -sizes[n])
            places = {pool.submit(crew.read, paths[n], paths[n] in explicit): n for n in largest_first}
            found: dict[int, FileRecords] = {}
            done = 0
            for future in as_completed(places):
                found[places[future]] = future.result()
                done += sizes[places[future]]
                if progress is not None:
                    progress(PROGRESS_NAME, done, sum(sizes))
        except BaseException:  # Ctrl-C too: end the processes, or the pool waits for the files under way
            pool.shutdown(wait=False, cancel_futures=True)
            crew.close()
            raise
    return [found[n] for n in range(len(paths))]


class Crew:
    """Processes that read files, one per thread that asks; started when first needed."""

    def __init__(self, command: Sequence[str], settings: Settings, then: Then = as_read) -> None:
        """Take the command that starts a process which talks as worker.py does, and what it does."""
        self._command = list(command)
        limits = {name: getattr(settings, name) for name in LIMITS}
        self._work = orjson.dumps({"limits": limits, "then": f"{then.__module__}:{then.__qualname__}"})
        self._own = threading.local()
        self.processes: list[subprocess.Popen[bytes]] = []
        self._closed = False

    def __enter__(self) -> Crew:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self.close()

    def close(self) -> None:
        """End all processes, those at work too."""
        self._closed = True
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def read(self, path: str, explicit: bool) -> FileRecords:
        """Return the records of a file; when its process dies over it every time, facts.problem says so."""
        ending = 0
        for _ in range(TRIES):
            if self._closed:
                break
            process = self._process()
            records = _ask(process, path, explicit)
            if records is not None:
                return records
            ending = process.wait()
            self._own.process = None
        return _lost(path, ending)

    def _process(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None:
            # Its own session: Ctrl-C is for the caller, who ends it; and it ends when its input does.
            process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            self.processes.append(process)
            self._own.process = process
            _write_line(process, self._work)
        return process


def _read_here(
    paths: Sequence[str],
    sizes: Sequence[int],
    settings: Settings,
    explicit: set[str],
    progress: Progress | None,
    then: Then,
) -> list[FileRecords]:
    found = []
    done = 0
    for path, size in zip(paths, sizes, strict=True):
        found.append(then(read_file(path, settings, path in explicit)))
        done += size
        if progress is not None:
            progress(PROGRESS_NAME, done, sum(sizes))
    return found


def _size(path: str) -> int:
    """Return the stored bytes of a file, 0 for one that is not there: its reader says so."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _ask(process: subprocess.Popen[bytes], path: str, explicit: bool) -> FileRecords | None:
    """Return the records a process reads, None when it dies; raise what its reader raised."""
    answers = process.stdout
    if answers is None or not _write_line(process, orjson.dumps({"path": path, "explicit": explicit})):
        return None
    header = receive_message(answers)
    if header is None:
        return None
    told = orjson.loads(header)
    if "traceback" in told:
        kind = getattr(errors, told["error"] or "GraphstoreError")
        message = told["message"] if told["error"] else f"{path}: {told['message']}"
        error: GraphstoreError = kind(message)
        error.add_note(told["traceback"])
        raise error
    return receive_records(answers, told)


def _write_line(process: subprocess.Popen[bytes], line: bytes) -> bool:
    """Send a line to a process; return False when it is dead."""
    if process.stdin is None:
        return False
    try:
        process.stdin.write(line + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        return False
    return True


def _lost(path: str, ending: int) -> FileRecords:
    how = f"by signal {-ending}" if ending < 0 else f"with exit code {ending}"
    problem = (
        f"{path}: the process that read it ended {how}, twice. Nothing of it was loaded. "
        "Was there too little memory? Import it alone, or on a larger machine."
    )
    return broken(path, {"path": path, "name": Path(path).name, "kind": NOT_A_TRACE}, problem)
