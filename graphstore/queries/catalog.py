"""The catalogue: every statement of `cypher/`, found, read and described. No Cypher text lies in Python.

In:  the folder `cypher/` (beside the package in a checkout, `graphstore/cypher` in a wheel).
Out: `Query` objects by name (`structure/find_missing_parents`), near names for a wrong one.
Decided here: where the folder lies, and what a header may say. A header is the `//` lines at the top:
the meaning first, then keys. A key the catalogue does not know is refused, so that a typing error is no
silent loss. `internal: WHO` marks what only our own code asks (whole columns for an export, say).
What a text may say is decided in lint.py, how it is run in run.py.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from graphstore.errors import QueryError, UsageError

BOUND_BY_STORE = "run"
OVER_RUNS = "runs"  # parameter of a statement that asks all runs at once: the ids of those asked
ENGINES = ("kglite", "neo4j")
SEVERITIES = ("error", "warning", "note")
TOPICS = ("health", "structure", "linking", "communication", "time", "memory", "archive")
# find_ = a check, its rows are findings; show_ and count_ = look; repair_ and write_ change the graph.
VERBS = ("find", "show", "count", "repair", "write")
WRITING_VERBS = ("repair", "write")
ValueType = Literal[
    "int", "float", "text", "bool", "list[int]", "list[float]", "list[text]", "json", "rows", "path"
]
VALUE_TYPES: tuple[str, ...] = get_args(ValueType)
_PYTHON_TYPE: dict[str, type | tuple[type, ...]] = {
    "int": int,
    "float": (int, float),
    "text": str,
    "json": str,
    "bool": bool,
    "list[int]": list,
    "list[float]": list,
    "list[text]": list,
    "rows": list,
}

_CHECK = re.compile(r"(?P<rule>[a-z][a-z0-9_]*)\s+severity:\s*(?P<severity>\w+)\s+engines:\s*(?P<engines>.+)")
_NAMED = re.compile(r"(?P<name>[a-z][a-z0-9_]*):\s*(?P<type>[a-z]+(\[[a-z]+\])?)\s*(?P<rest>[=,].*)")
_NEXT_FIELD = re.compile(r";\s+(?=[a-z][a-z0-9_]*:\s)")
_KEYS = ("check", "param", "column", "writes", "internal")
_KEY_LINE = re.compile(r"(?P<key>[a-z]+)(?=:\s|\s+[a-z][a-z0-9_]*:\s)(?P<rest>.*)")  # `key: …`, `key name: …`
_FILE_NAME = re.compile(r"(?P<verb>[a-z]+)_[a-z0-9_]+\.cypher")


@dataclass(frozen=True)
class Field:
    """A parameter or a column of a statement: its name, type and meaning.

    A parameter that is `optional` has a `default`; None means that the statement does not narrow by it.
    """

    name: str
    type: str
    meaning: str
    optional: bool = False
    default: Any = None

    @property
    def described(self) -> str:
        """`NAME: TYPE, MEANING`, with the default where there is one, as a header says it."""
        return f"{self.name}: {self.described_type}, {self.meaning}"

    @property
    def described_type(self) -> str:
        """`TYPE` or `TYPE = DEFAULT`."""
        return self.type + (f" = {json.dumps(self.default, ensure_ascii=False)}" if self.optional else "")

    def takes(self, value: Any) -> bool:
        """Return whether `value` is of the type; null is where it is the default."""
        if value is None:
            return self.optional and self.default is None
        is_bool = isinstance(value, bool) and self.type != "bool"
        return not is_bool and isinstance(value, _PYTHON_TYPE[self.type])


@dataclass(frozen=True)
class Query:
    """One statement of the catalogue, as its header describes it; `text` is the whole file."""

    name: str
    meaning: str
    text: str
    parameters: tuple[Field, ...] = ()
    columns: tuple[Field, ...] = ()
    rule: str | None = None
    severity: str | None = None
    engines: tuple[str, ...] = ENGINES
    writes: tuple[str, ...] = ()
    used_by: str | None = None

    @property
    def is_internal(self) -> bool:
        """Whether only graphstore itself asks it, not a person: it writes, or says whose statement it is."""
        return bool(self.writes) or self.used_by is not None

    @property
    def asked(self) -> tuple[Field, ...]:
        """The parameters a person gives: all but the run or runs asked."""
        return tuple(field for field in self.parameters if field.name not in (BOUND_BY_STORE, OVER_RUNS))

    @property
    def body(self) -> str:
        """The statement without its header."""
        lines = self.text.splitlines()
        start = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
        return "\n".join(lines[start:])

    @property
    def topic(self) -> str:
        """The folder it lies in."""
        return self.name.split("/")[0]

    @property
    def verb(self) -> str:
        """What it is for: find, show, count, repair or write."""
        return self.name.split("/")[1].split("_")[0]

    @property
    def over_runs(self) -> bool:
        """Whether it asks what the archive keeps of all runs, by $runs, rather than the graph of one."""
        return any(parameter.name == OVER_RUNS for parameter in self.parameters)

    @property
    def summary(self) -> str:
        """The first sentence of the meaning."""
        return re.split(r"(?<=\.)\s", self.meaning, maxsplit=1)[0]


@dataclass
class _Header:
    """What the lines of a header said so far."""

    meaning: list[str] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)


def folder() -> Path:
    """Return the folder of the statements: that of a wheel, else that of the checkout.

    Raises UsageError when neither is there, which means a broken installation.
    """
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "cypher", package.parent / "cypher"):
        if candidate.is_dir():
            return candidate
    raise UsageError(f"the statements are missing: no folder cypher/ beside or in {package}; install again")


def files(root: Path | None = None) -> list[Path]:
    """Return the .cypher files under `root` (default: the catalogue), sorted by topic and name."""
    return sorted((root or folder()).rglob("*.cypher"))


@cache
def catalog() -> dict[str, Query]:
    """Return every query by name, sorted. Raises QueryError where a header is not as it must be."""
    root = folder()
    return {query.name: query for query in (read_query(path, root) for path in files(root))}


def get(name: str) -> Query:
    """Return the query called `name`, with or without its topic.

    Raises UsageError, with the nearest names, when there is none or the short name fits several.
    """
    known = catalog()
    wanted = name.removesuffix(".cypher")
    if wanted in known:
        return known[wanted]
    short = [full for full in known if full.split("/")[1] == wanted]
    if len(short) == 1:
        return known[short[0]]
    if short:
        raise UsageError(f"query {name!r} is in several topics: {', '.join(short)}; name it in full")
    raise UsageError(f"no query {name!r}; {_near(wanted, known)}")


def checks(topic: str | None = None) -> list[Query]:
    """Return the checks (find_) of a topic, or all. Raises UsageError for a topic that does not exist."""
    return [query for query in listed(topic) if query.rule]


def listed(topic: str | None = None, *, internal: bool = False) -> list[Query]:
    """Return the queries a person asks, of a topic or all; with `internal` also those of our own code.

    Raises UsageError for a topic that does not exist.
    """
    if topic is not None and topic not in TOPICS:
        raise UsageError(f"no topic {topic!r}; topics are {', '.join(TOPICS)}")
    known = (query for query in catalog().values() if topic in (None, query.topic))
    return [query for query in known if internal or not query.is_internal]


def _near(wanted: str, known: dict[str, Query]) -> str:
    """Return what to try instead of an unknown name."""
    by_short = {full.split("/")[1]: full for full in known} | {full: full for full in known}
    near = difflib.get_close_matches(wanted, by_short, n=3, cutoff=0.5)
    near = list(dict.fromkeys(by_short[name] for name in near))
    return f"near it: {', '.join(near)}" if near else "`graphstore queries` lists them"


def read_query(path: Path, root: Path) -> Query:
    """Return the query in file `path` below `root`. Raises QueryError, naming file and line's text."""
    name = path.relative_to(root).with_suffix("").as_posix()
    _check_place(name, path)
    text = path.read_text(encoding="utf-8")
    header = read_header(text, name)
    one = {key: rest for key, rest in header.keys if key not in ("param", "column")}
    rule, severity, engines = _check_of(one.get("check"), name)
    query = Query(
        name=name,
        meaning=" ".join(header.meaning),
        text=text,
        parameters=_fields(header, "param", name),
        columns=_fields(header, "column", name),
        rule=rule,
        severity=severity,
        engines=engines,
        writes=tuple(word.strip() for word in one.get("writes", "").split(",") if word.strip()),
        used_by=one.get("internal"),
    )
    _check_whole(query)
    return query


def read_header(text: str, name: str) -> _Header:
    """Return the meaning and the keys at the top of `text`; `name` is for the message of a QueryError."""
    header = _Header()
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        content = line[2:].removeprefix(" ")
        key = _KEY_LINE.fullmatch(content)
        if key and key["key"] in _KEYS:
            header.keys.append((key["key"], key["rest"].lstrip(": ").rstrip()))
        elif header.keys or (key and difflib.get_close_matches(key["key"], _KEYS, cutoff=0.6)):
            raise QueryError(
                f"{name}: header line {content!r} is neither meaning (which comes first) nor one of "
                f"check:, param NAME:, column NAME:, writes:, internal:"
            )
        else:
            header.meaning.append(content.strip())
    return header


def _check_place(name: str, path: Path) -> None:
    """Refuse a file whose folder is no topic or whose name has no verb."""
    parts = name.split("/")
    match = _FILE_NAME.fullmatch(path.name.replace(".graph.cypher", ".cypher"))
    if len(parts) != 2 or parts[0] not in TOPICS or not match or match["verb"] not in VERBS:
        raise QueryError(
            f"{name}: want <topic>/<verb>_<noun>.cypher with a topic of {', '.join(TOPICS)} "
            f"and a verb of {', '.join(VERBS)}"
        )


def _check_of(line: str | None, name: str) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Return rule, severity and engines of a check line; (None, None, both engines) without one."""
    if line is None:
        return None, None, ENGINES
    match = _CHECK.fullmatch(line)
    engines = tuple(sorted(re.split(r"\s*,\s*", match["engines"].strip()))) if match else ()
    if not match or match["severity"] not in SEVERITIES or not set(engines) <= set(ENGINES):
        raise QueryError(
            f"{name}: header line 'check: {line}' is not 'check: RULE severity: "
            f"{'|'.join(SEVERITIES)} engines: {', '.join(ENGINES)}'"
        )
    return match["rule"], match["severity"], engines


def _fields(header: _Header, key: str, name: str) -> tuple[Field, ...]:
    """Return the parameters or columns of a header; several may share a line, parted by `;`."""
    out: list[Field] = []
    for part in (p for found, rest in header.keys if found == key for p in _NEXT_FIELD.split(rest)):
        field = _field(part.strip())
        if field is None or (field.optional and (key == "column" or not field.takes(field.default))):
            default = " = DEFAULT" if key == "param" else ""
            raise QueryError(
                f"{name}: header line '{key} {part.strip()}' is not '{key} NAME: TYPE{default}, MEANING' "
                f"with a type of {', '.join(VALUE_TYPES)}" + (", a default in JSON" if default else "")
            )
        out.append(field)
    return tuple(out)


def _field(text: str) -> Field | None:
    """Return the field of `NAME: TYPE, MEANING` or `NAME: TYPE = DEFAULT, MEANING`; None for another text."""
    match = _NAMED.fullmatch(text)
    if not match or match["type"] not in VALUE_TYPES:
        return None
    rest, default, optional = match["rest"], None, match["rest"].startswith("=")
    if optional:
        literal = rest[1:].lstrip()
        try:
            default, end = json.JSONDecoder().raw_decode(literal)
        except json.JSONDecodeError:
            return None
        rest = literal[end:].lstrip()
    meaning = rest.removeprefix(",").strip()
    if not rest.startswith(",") or not meaning:
        return None
    return Field(match["name"], match["type"], meaning, optional, default)


def _check_whole(query: Query) -> None:
    """Refuse a header that leaves out what its verb needs."""
    problem = None
    if not query.meaning:
        problem = "has no meaning: the first comment line says what the rows are"
    elif (query.verb == "find") != (query.rule is not None):
        problem = "a find_ query has a 'check:' line, and no other query has one"
    elif (query.verb in WRITING_VERBS) != bool(query.writes):
        problem = "a repair_ or write_ query has a 'writes:' line, and no other query has one"
    elif not query.columns:
        problem = "names no column"
    if problem:
        raise QueryError(f"{query.name}: {problem}")
