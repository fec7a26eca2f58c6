"""What a person may set: limits and addresses, from the command line, the environment and config files.

In:  --store, the environment, config files (config.py). Out: a frozen `Settings` that knows where each value
came from. Order: command line, environment, the project's file, the user's file, default.
No module outside this room reads `os.environ`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from graphstore.settings import config

REPLAY_TOLERANCE = 0.05  # error of a span, as upstream's integration test allows
DRAW_DEPTH, DRAW_LIMIT = 3, 300  # steps down from where a picture begins; nodes it may show
MOST_PROCESSES = 8  # by default: more read no faster from one disk
DEFAULT = "default"
PAGER = "less"  # where it is installed
# What a pager needs to be told beside its name, as git tells it: colours pass, a short text is not held up.
PAGER_ENVIRONMENT = {"LESS": "FRX", "LV": "-c"}


@dataclass(frozen=True)
class Settings:
    """All limits and addresses of one call; sizes in bytes, times in seconds."""

    store: str  # folder of the embedded archive, or the URI of a Neo4j server
    username: str = "neo4j"
    password: str = field(default="", repr=False)  # never shown
    database: str | None = None  # Neo4j database; None = the user's home database
    processes: int = 2  # ranks read at once
    max_file_bytes: int = 64 << 30  # unpacked size of one trace file
    max_dump_bytes: int = 256 << 20  # unpacked size of one Flight Recorder dump (matching.md §1)
    max_depth: int = 512  # nesting of a JSON document
    query_timeout_s: float = 60.0
    row_limit: int = 10_000  # rows shown of a free-form query
    format: str = "table"  # how rows are printed where --format does not say
    pager: str = PAGER  # command for tables longer than the terminal; empty or cat = none
    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)  # {name: whence}
    config_files: tuple[str, ...] = field(default=(), repr=False, compare=False)  # that were read
    passed_over: tuple[str, ...] = field(default=(), repr=False, compare=False)  # a line each: why

    @property
    def is_server(self) -> bool:
        """Whether the store is a Neo4j server (else a folder)."""
        return config.is_server_uri(self.store)

    def origin(self, name: str) -> str:
        """Return where a value came from: --store, an environment variable, a file, or `default`."""
        return self.origins.get(name, DEFAULT)


def default_home() -> Path:
    """Return the folder of the embedded archive where nothing else is said: in the user's data directory."""
    return Path(platformdirs.user_data_dir("graphstore", appauthor=False))


def load(
    store: str | None = None, env: Mapping[str, str] | None = None, folder: Path | None = None
) -> Settings:
    """Return the settings of this call.

    `store` (the --store option) stands before GRAPHSTORE_URI, that before the folder of GRAPHSTORE_HOME, and
    these before the config files that are found from `folder` (default: the current one). The password of a
    server comes from NEO4J_PASSWORD only. Raises UsageError for a config file that can't be used.
    """
    env = os.environ if env is None else env
    found = config.find(folder)
    values: dict[str, Any] = {"store": str(default_home()), "processes": _processes()}
    origins: dict[str, str] = {}
    for layer in (_generic(env), *reversed(found.values_by_file.items()), *_particular(env, store)):
        origin, given = layer
        values |= given
        origins |= dict.fromkeys(given, origin)
    return Settings(
        **values, origins=origins, config_files=tuple(found.values_by_file), passed_over=found.passed_over
    )


def pager_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a pager: what a person set for it stands."""
    return {**PAGER_ENVIRONMENT, **(os.environ if env is None else env)}


def terminal(env: Mapping[str, str] | None = None) -> str:
    """Return the kind of terminal, empty where none is told."""
    return (os.environ if env is None else env).get("TERM", "" if os.name == "posix" else "windows")


def _processes() -> int:
    return max(1, min(os.cpu_count() or 1, MOST_PROCESSES))


def _generic(env: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return what is said for all programs, so that a config file, which is ours alone, stands before it."""
    return "PAGER", {"pager": env["PAGER"]} if "PAGER" in env else {}


def _particular(env: Mapping[str, str], store: str | None) -> list[tuple[str, dict[str, str]]]:
    """Return what the environment and the command line say, the weightiest last; empty says nothing."""
    names = (
        ("NEO4J_USERNAME", "username"),
        ("NEO4J_PASSWORD", "password"),
        ("NEO4J_DATABASE", "database"),
        ("GRAPHSTORE_HOME", "store"),
        ("GRAPHSTORE_URI", "store"),
    )
    said = [(variable, {name: env[variable]}) for variable, name in names if env.get(variable)]
    if "GRAPHSTORE_PAGER" in env:  # said to be empty: no pager
        said.append(("GRAPHSTORE_PAGER", {"pager": env["GRAPHSTORE_PAGER"]}))
    return [*said, ("--store", {"store": store})] if store else said
