"""Config files: found, read, and held to what may stand in them.

In:  the folder where the search begins. Out: the values of the project's file and of the user's file.
Decided here: which keys there are, and what a project's file may not say. It may come with a checkout from
somebody else, so it sets nothing that sends a password somewhere (a server, a user name), runs a program (the
pager) or lifts a limit that protects this machine; and a file that another user of the machine owns is passed
over. Every mistake is one line with file, line, key and remedy.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from graphstore.errors import UsageError

FILE_NAME = "graphstore.toml"
PYPROJECT, TABLE = "pyproject.toml", "tool.graphstore"
DATABASE_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
FORMATS = ("table", "json", "jsonl", "csv", "parquet")


@dataclass(frozen=True)
class Key:
    """One key: the type of its value, its meaning, and whether only the user's own file may set it."""

    name: str
    type: type
    meaning: str
    user_only: bool = False
    least: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """What its value has to be, in words."""
        if self.choices:
            return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)
        what = {str: "a text in quotes", int: "a whole number", float: "a number"}[self.type]
        return what if self.least is None else f"{what}, {self.least:g} or more"

    def takes(self, value: object) -> bool:
        """Whether a value is of the type and within the bounds."""
        kinds = (int, float) if self.type is float else (self.type,)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return False
        if self.choices:
            return value in self.choices
        return self.least is None or (isinstance(value, int | float) and self.least <= value < math.inf)


KEYS = (
    Key("store", str, "folder of the archive, relative to this file; in the user's file also a server's URI"),
    Key("username", str, "name at a Neo4j server", user_only=True),
    Key("database", str, "Neo4j database; without it the user's home database"),
    Key("format", str, "how rows are printed where --format does not say", choices=FORMATS),
    Key("query_timeout_s", float, "seconds a query may take", least=0.001),
    Key("row_limit", int, "rows shown of a query at most", least=1),
    Key("processes", int, "files read at once", least=1),
    Key("pager", str, 'command for tables longer than the terminal; "" = none', user_only=True),
    Key("max_file_bytes", int, "unpacked size of one trace file at most", user_only=True, least=1),
    Key("max_dump_bytes", int, "unpacked size of one dump at most", user_only=True, least=1),
    Key("max_depth", int, "nesting of a JSON document at most", user_only=True, least=1),
)
KEY_BY_NAME = {key.name: key for key in KEYS}


@dataclass(frozen=True)
class Found:
    """What was found: {file: values}, the project's file first, and a line for each file passed over."""

    values_by_file: dict[str, dict[str, Any]]
    passed_over: tuple[str, ...] = ()


def is_server_uri(store: str) -> bool:
    """Return whether `store` names a Neo4j server by URI rather than a folder."""
    return store.split("://", 1)[0] in DATABASE_SCHEMES if "://" in store else False


def user_file() -> Path:
    """Return where the user's own config file lies, whether it is there or not."""
    return Path(platformdirs.user_config_dir("graphstore", appauthor=False)) / FILE_NAME


def find(folder: Path | None = None) -> Found:
    """Return the values of the nearest file from `folder` upwards, and of the user's file.

    The search ends at the home folder, or at the root where it began elsewhere. Raises UsageError for a file
    that is no TOML or says what it may not.
    """
    values: dict[str, dict[str, Any]] = {}
    passed_over: list[str] = []
    own = user_file()
    for path in _candidates(folder):
        if path == own or not _speaks_to_us(path):
            continue
        if not _is_ours(path):
            passed_over.append(f"{path} belongs to another user of this machine")
            continue
        table = _table(path)
        if table is not None:
            values[str(path)] = _checked(path, table, of_user=False)
            break
    if _speaks_to_us(own):
        values[str(own)] = _checked(own, _table(own) or {}, of_user=True)
    return Found(values, tuple(passed_over))


def _candidates(folder: Path | None) -> Iterator[Path]:
    """Yield where a project's file may lie, the nearest first."""
    try:
        start = (folder or Path.cwd()).absolute()
        home = Path.home()
    except (OSError, RuntimeError):  # the current folder is gone; no home is known
        return
    for place in (start, *start.parents):
        yield place / FILE_NAME
        yield place / PYPROJECT
        if place == home:
            return


def _speaks_to_us(path: Path) -> bool:
    """Return whether there is a file that may be meant for us: of our name, or one that names us."""
    try:
        return path.is_file() and (path.name != PYPROJECT or b"graphstore" in path.read_bytes())
    except OSError:  # in a folder that we may not enter, or somebody else's project
        return False


def _is_ours(path: Path) -> bool:
    """Return whether a file is this user's or the administrator's: others may not steer our calls."""
    if not hasattr(os, "getuid"):
        return True
    return path.stat().st_uid in (os.getuid(), 0)


def _table(path: Path) -> dict[str, Any] | None:
    """Return what a file says to us; None where a pyproject.toml has no table of ours."""
    import tomllib  # only where there is a file

    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: can't be read: {error.strerror}. Make it readable.") from error
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))  # some editors begin with a byte order mark
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError are both
        raise UsageError(f"{path}: is no TOML: {' '.join(str(error).split())}. Mend it.") from error
    if path.name != PYPROJECT:
        return document
    tool = document.get("tool")
    table = tool.get("graphstore") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{path}: {TABLE} is no table. Write [{TABLE}] and a key in each line below it.")
    return table


def _checked(path: Path, table: dict[str, Any], of_user: bool) -> dict[str, Any]:
    """Return the values of a table as settings take them; UsageError names the first that is wrong."""
    for name, value in table.items():
        fault = _fault(name, value, of_user)
        if fault:
            raise UsageError(f"{_place(path, name)}: {fault}")
    if "store" in table and not is_server_uri(table["store"]):
        table = {**table, "store": os.path.join(path.parent, os.path.expanduser(table["store"]))}
    return table


def _fault(name: str, value: object, of_user: bool) -> str | None:
    """Return what is wrong with a key, without its value: it may be a secret."""
    if "password" in name.lower():
        return f"{name} may not stand in a file. Set NEO4J_PASSWORD."
    key = KEY_BY_NAME.get(name)
    if key is None and isinstance(value, dict):
        return f"[{name}] is no table that is known. In {FILE_NAME} keys stand in no table."
    if key is None:
        near = difflib.get_close_matches(name, KEY_BY_NAME, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(KEY_BY_NAME)}."
        return f"no key {name}. {hint}"
    if not key.takes(value):
        return f"{name} wants {key.wanted}."
    if key.user_only and not of_user:
        return f"{name} may not be set by a project's file, only by {user_file()}."
    return _store_fault(str(value), of_user) if name == "store" else None


def _store_fault(store: str, of_user: bool) -> str | None:
    if not is_server_uri(store):
        known = ", ".join(f"{scheme}://" for scheme in DATABASE_SCHEMES)
        return None if store and "://" not in store else f"store wants a folder, or a server by {known}."
    if "@" in store.split("://", 1)[1]:
        return "store holds a name or password. Leave it out; set NEO4J_USERNAME and NEO4J_PASSWORD."
    if not of_user:
        return (
            "store names a server; a project's file may not, because NEO4J_PASSWORD would be sent to it. "
            f"Name it in {user_file()}, in GRAPHSTORE_URI or by --store."
        )
    return None


def _place(path: Path, name: str) -> str:
    """Return `file:line` of a key; the file alone where the key is written in another way."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = 0
    if path.name == PYPROJECT:
        header = re.compile(rf"\s*\[\s*{re.escape(TABLE)}\s*[\].]")
        start = next((n for n, line in enumerate(lines, 1) if header.match(line)), 0)
    written = re.compile(rf"""\s*\[*\s*["']?{re.escape(name)}["']?\s*[=.\]]""")
    found = next((n for n, line in enumerate(lines[start:], start + 1) if written.match(line)), None)
    return str(path) if found is None else f"{path}:{found}"
