"""The files of the shared trace sets with the facts that expected.json counts of each, as parameters."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

FOLDER = Path(os.environ.get("GRAPHSTORE_TEST_DATA", REPOSITORY.parent / "shared" / "data"))


def files_of(kind: str) -> list[Any]:
    """Return a parameter (path below the folder, facts) for each file of `kind`; one that skips if absent.

    The path is None in that one: a test asks for the fixture data_dir as well, which skips with the reason.
    """
    found = [pytest.param(name, facts, id=name) for name, facts in _files(kind)]
    return found or [pytest.param(None, {}, id="the shared trace sets are absent")]


def _files(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for expected in sorted(FOLDER.glob("**/expected.json")):
        for name, facts in json.loads(expected.read_text()).get("files", {}).items():
            if facts.get("kind") == kind:
                yield str((expected.parent / name).relative_to(FOLDER)), facts
