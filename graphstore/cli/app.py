"""The command `graphstore`: its verbs, and what happens at the end of each: one line and an exit code.

In:  the words of the command line. Out: the exit code. What is decided here: a mistake of the user, a file or
a store is one line on stderr, never a traceback; Ctrl-C is 130; a reader that closes the pipe is no error.
Exit codes: 0 done, 1 findings with --strict, slower with --fail-over (or a defect of graphstore), 2 usage,
3 bad input, 4 store, 124 time limit of a query, 130 interrupted, 141 the pipe was closed.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

import graphstore
from graphstore.cli import (
    browser,
    check,
    convert,
    demo,
    diff,
    doctor,
    draw,
    export,
    hang,
    import_,
    output,
    queries,
    query,
    repair,
    replay,
    report_,
    runs,
)
from graphstore.errors import GraphstoreError, QueryTimeoutError

PACKAGE = Path(graphstore.__file__).parent
INTERRUPTED = 130
PIPE_CLOSED = 141

# typer's own copy of click is private; its errors have this public subclass.
CommandLineError = cast(type[Exception], typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="graphstore",
    help=(
        "Load the traces of a distributed PyTorch job into a graph, ask it what is broken, repair what can "
        "be proven, and write Chakra traces that simulators accept."
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
FIRST = (convert, import_, check, repair, export, report_, replay)
for verb in (*FIRST, draw, browser, hang, diff, query, doctor, demo):
    app.command(name=verb.__name__.rpartition(".")[2].rstrip("_"))(verb.run)
app.add_typer(queries.app, name="queries")
app.add_typer(runs.app, name="runs")


def _version(wanted: bool) -> None:
    if wanted:
        output.show_text(f"graphstore {graphstore.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Without words it shows the help."""
    called_from_python = arguments is not None
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for names the encoding of the terminal lacks
    try:
        code = _call(arguments or ["--help"])
        sys.stdout.flush()
    except BrokenPipeError:
        code = PIPE_CLOSED
    if code == PIPE_CLOSED:
        _drop_stdout()
    if code == INTERRUPTED and not called_from_python:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # again: ends at once what is left, threads too
    return code


def _call(arguments: list[str]) -> int:
    """Run the verb; every way to fail becomes one line on stderr and its exit code."""
    try:
        result: Any = app(arguments, prog_name="graphstore", standalone_mode=False)
    except CommandLineError as error:
        return _fail(_usage_line(error), 2)
    except QueryTimeoutError as error:
        _fail(str(error), error.exit_code)
        _leave(error.exit_code)
    except GraphstoreError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        result = INTERRUPTED
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        result = PIPE_CLOSED  # typer ends the program itself when it meets a closed pipe
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or 'while writing the output'}", 3)
    except Exception as error:  # the last line of defence: a defect is one line, too
        return _fail(_defect_line(error), 1)
    if result == INTERRUPTED:  # typer gives this code back for most interrupts
        return _fail("interrupted; nothing half written is visible in the store", INTERRUPTED)
    return result if isinstance(result, int) else 0


def _usage_line(error: Exception) -> str:
    """Return a usage error as one line, with the command whose --help says more."""
    message: str = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "graphstore"
    sentence = " ".join(message.split()).replace("Value error, ", "").rstrip(".")
    return f"{sentence}. See `{command} --help`."


def _defect_line(error: Exception) -> str:
    """Return an error nobody foresaw as one line: what, and the innermost line of graphstore it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    where = f" at {Path(ours[-1].filename).relative_to(PACKAGE.parent)}:{ours[-1].lineno}" if ours else ""
    what = f"{type(error).__name__}: {error}"[:300]
    return f"a defect of graphstore{where}: {what}. Please report this line and the command."


def _fail(message: str, code: int) -> int:
    output.say(f"graphstore: {message}")
    return code


def _leave(code: int) -> NoReturn:
    """End the process at once: the engine may still be at work on the query that was given up."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _drop_stdout() -> None:
    """Let the interpreter's last flush go nowhere: the reader of the pipe has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
