"""Fixtures shared by all tests: where the shared trace sets lie. Engines: tests/engines.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engines import (  # noqa: F401 - fixtures
    kglite_store,
    neo4j_server,
    neo4j_store,
    neo4j_wiped,
    store,
)

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of shared trace sets; skip, counted and visible, where it is absent."""
    folder = Path(os.environ.get("GRAPHSTORE_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (folder / "README.md").exists():
        pytest.skip(f"the shared trace sets are absent ({folder.name} not found); set GRAPHSTORE_TEST_DATA")
    return folder
