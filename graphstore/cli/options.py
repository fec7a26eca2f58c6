"""The options that several verbs share, each with its meaning, and what their words become.

In:  words of the command line. Out: values for the api. Wrong words raise UsageError with the right form.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from graphstore import api, settings
from graphstore.cli import output
from graphstore.cli.pager import screen
from graphstore.errors import GraphstoreError, UsageError

if TYPE_CHECKING:
    from graphstore.queries.catalog import Query


COMPLETE_S = 1.0  # that a person waits for a server when completing a word


class Detail(StrEnum):
    """How much of dumps becomes nodes."""

    AUTO = "auto"
    FULL = "full"


class Target(StrEnum):
    """Whom Chakra files are for."""

    CHAKRA = "chakra"
    ASTRA_SIM = "astra-sim"


class PieceForm(StrEnum):
    """How finely Chakra files cut host time."""

    EXACT = "exact"
    COMPACT = "compact"


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the runs of the archive that begin so, for the shell; none when it can't be asked at once."""
    from graphstore.store.names import run_names  # needed by the shell alone

    try:
        chosen = settings.load(ctx.params.get("store"))
        return [name for name in run_names(chosen, COMPLETE_S) if name.startswith(incomplete)]
    except (GraphstoreError, OSError):  # the verb itself will say what is wrong
        return []


def complete_run_or_path(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the runs that begin so, and the files beside them; where no run does, the shell knows files."""
    runs = complete_run(ctx, incomplete)
    if not runs:
        return []
    return runs + sorted(glob(f"{escape(incomplete)}*"))


def complete_query(incomplete: str) -> list[str]:
    """Return the catalogue queries whose name begins so, with or without its topic, for the shell."""
    names = [query.name for query in api.list_queries()]
    if "/" not in incomplete:
        names += [
            name.split("/")[1] for name in names if incomplete
        ]  # the topics first, then what is in them
    return [name for name in names if name.startswith(incomplete)]


def complete_topic(incomplete: str) -> list[str]:
    """Return the topics of the catalogue that begin so, for the shell."""
    topics = dict.fromkeys(query.topic for query in api.list_queries())
    return [topic for topic in topics if topic.startswith(incomplete)]


def complete_parameter(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the parameters of the query typed before that begin so, as `NAME=`, for the shell.

    Behind `NAME=` its default, if it has one; none of a text, a file or an unknown query.
    """
    # The word being completed still lacks its value: what stands before it is parsed, or left over in args.
    words = [str(ctx.params.get("query") or ""), *ctx.args]
    given = {word.partition("=")[0] for word in (*ctx.args, *(ctx.params.get("param") or ()))}
    asked = next((query.asked for query in map(_known_query, words) if query is not None), ())
    offered = [
        f"{parameter.name}={parameter.default}" if "=" in incomplete else f"{parameter.name}="
        for parameter in asked
        if parameter.name not in given and ("=" not in incomplete or parameter.default is not None)
    ]
    return [word for word in offered if word.startswith(incomplete)]


def _known_query(name: str) -> Query | None:
    """Return the query called so, None if there is none."""
    try:
        return api.show_query(name)
    except GraphstoreError:
        return None


def configured_form(
    ctx: typer.Context, param: typer.CallbackParam, form: output.Format | None
) -> output.Format | None:
    """Return the form of rows: what the command line says, else `format` of a config file.

    Raises UsageError where it can't be shown, before the verb does anything.
    """
    if ctx.resilient_parsing or form is None:  # a shell completes a word
        return form
    source = ctx.get_parameter_source(param.name or "")
    if source is not None and source.name == "DEFAULT":
        form = output.Format(settings.load().format)
    output.refuse_terminal(form)
    return form


def kept_quiet(quiet: bool) -> bool:
    """Keep the pager away from a quiet call."""
    screen.quiet = quiet
    return quiet


Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FOLDER|URI",
        help="Where the archive lies: a folder, or a Neo4j server (bolt://…, neo4j://…, neo4j+s://…; name "
        "and password in NEO4J_USERNAME and NEO4J_PASSWORD). Default: GRAPHSTORE_URI, else the folder "
        "GRAPHSTORE_HOME, else your data folder.",
        show_default=False,
    ),
]
Form = Annotated[
    output.Format,
    typer.Option("--format", help="How rows are written to stdout.", callback=configured_form),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No progress and no remarks on stderr, no pager.", callback=kept_quiet
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 when a finding of severity error stays open.")]
TargetOption = Annotated[
    Target,
    typer.Option(
        "--target",
        help="Whom the Chakra files are for: all who read the schema, or ASTRA-sim, which takes less; the "
        "manifest lists what it can't take.",
    ),
]
Pieces = Annotated[
    PieceForm,
    typer.Option(
        "--pieces",
        help="How Chakra files cut host time: exact, wherever the running op changes; compact joins pieces "
        "of at most 10 µs (about a third fewer nodes, the same timing).",
    ),
]
Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Trace files of one run, or folders that hold them directly."),
]
OneRun = Annotated[
    str,
    typer.Argument(metavar="RUN", help="The run: id, latest, latest~N or name.", autocompletion=complete_run),
]
Run = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN",
        help="The run: id, latest, latest~N or name; needless while the archive holds only one.",
        autocompletion=complete_run,
        show_default=False,
    ),
]
RunOption = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="RUN",
        help="The run to ask: id, latest, latest~N or name; needless while the archive holds only one.",
        autocompletion=complete_run,
    ),
]
NewRun = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="ID",
        help="Id of the new run. Default: the folder's name and 4 characters of the content's hash.",
    ),
]
QueryName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a catalogue query.", autocompletion=complete_query)
]
Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="OUT", help="Folder for the files.", file_okay=False)
]
Rank = Annotated[
    list[str] | None,
    typer.Option(
        "--rank", metavar="FILE=N", help="Rank of a file, where its content and name don't tell. Repeatable."
    ),
]
Recursive = Annotated[
    bool, typer.Option("--recursive", help="Enter subfolders; each that holds traces is a run of its own.")
]
FullDetail = Annotated[
    Detail,
    typer.Option(
        "--detail",
        help="Which entries of Flight Recorder dumps become nodes: auto = all up to a million, beyond that "
        "those a fault concerns; full = all, at about 2 GB a million.",
    ),
]
AllowMismatch = Annotated[
    bool, typer.Option("--allow-mismatch", help="Take files that look like different runs as one run.")
]

Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Runs with this tag. Repeatable: all must be there."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Runs imported then or later: 2026-11-01, or with T13:00."),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="DATE", help="Runs imported before then; a day is included.")
]
WorldSize = Annotated[
    int | None, typer.Option("--world-size", metavar="N", min=1, help="Runs of a job of so many ranks.")
]
MinSize = Annotated[
    str | None,
    typer.Option("--min-size", metavar="SIZE", help="Runs whose trace files are as large: 500, 10MB, 2GiB."),
]
MaxSize = Annotated[
    str | None, typer.Option("--max-size", metavar="SIZE", help="Runs whose trace files are no larger.")
]
RunWords = Annotated[
    list[str] | None,
    typer.Option(
        "--runs",
        metavar="all|RUN",
        help="Ask several runs: all, or a run (repeatable). The conditions below narrow them.",
        autocompletion=complete_run,
    ),
]
SomeRuns = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN", help="Runs: id, latest, latest~N or name.", autocompletion=complete_run),
]


def selection(
    runs: Iterable[str] | None = None,
    tags: Iterable[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    world_size: int | None = None,
    min_size: str | None = None,
    max_size: str | None = None,
) -> api.Selection:
    """Return the selection that the options name; `all` among the runs is every run.

    Raises UsageError for what is no date or size.
    """
    words = tuple(runs or ())
    return api.Selection(
        runs=() if "all" in words else words,
        tags=tuple(tags or ()),
        since=api.read_time(since) if since else None,
        until=api.read_time(until, end=True) if until else None,
        world_size=world_size,
        min_bytes=api.read_size(min_size) if min_size else None,
        max_bytes=api.read_size(max_size) if max_size else None,
    )


class ListFirst(TyperGroup):
    """A group of verbs whose first is `list`: without a verb, that one is meant, options and all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `list` before the words unless they begin with a verb or ask for help."""
        asks_list = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if asks_list else args)


def rank_flags(words: Iterable[str] | None) -> dict[str, int]:
    """Return {file: rank} from `FILE=N` words. Raises UsageError for any other form or a second rank."""
    flags: dict[str, int] = {}
    for word in words or ():
        file, sign, number = word.rpartition("=")
        if not (sign and file and number.isascii() and number.isdigit()):
            raise UsageError(f"--rank {word}: want FILE=N, as in --rank trace.json=3.")
        if flags.setdefault(file, int(number)) != int(number):
            raise UsageError(f"--rank {word}: {file} was given rank {flags[file]} before.")
    return flags
