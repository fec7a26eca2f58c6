"""What a user may set: the environment variables and limits, read once, in this module only.

In:  the environment. Out: a frozen `Settings`. No other module reads `os.environ`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

REPLAY_TOLERANCE = 0.05  # error of a span, as upstream's integration test allows
DRAW_DEPTH, DRAW_LIMIT = 3, 300  # steps down from where a picture begins; nodes it may show
DATABASE_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


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

    @property
    def is_server(self) -> bool:
        """Whether the store is a Neo4j server (else a folder)."""
        return is_server_uri(self.store)


def is_server_uri(store: str) -> bool:
    """Return whether `store` names a Neo4j server by URI rather than a folder."""
    return store.split("://", 1)[0] in DATABASE_SCHEMES if "://" in store else False


def default_home(env: Mapping[str, str]) -> Path:
    """Return the folder of the embedded archive: GRAPHSTORE_HOME, else the user's data directory."""
    return (
        Path(env["GRAPHSTORE_HOME"])
        if env.get("GRAPHSTORE_HOME")
        else Path(platformdirs.user_data_dir("graphstore", appauthor=False))
    )


def load(store: str | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this call.

    `store` (the --store option) stands before GRAPHSTORE_URI, that before the folder of GRAPHSTORE_HOME.
    Name and password of a server come from NEO4J_USERNAME and NEO4J_PASSWORD, never from the command line.
    """
    env = os.environ if env is None else env
    return Settings(
        store=store or env.get("GRAPHSTORE_URI") or str(default_home(env)),
        username=env.get("NEO4J_USERNAME", "neo4j"),
        password=env.get("NEO4J_PASSWORD", ""),
        database=env.get("NEO4J_DATABASE") or None,
        processes=max(1, min(os.cpu_count() or 1, 8)),
    )
