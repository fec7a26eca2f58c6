"""Shared by all tests: where the shared trace sets lie, how hypothesis works. Engines: tests/engines.py.

A real browser: tests/chromium.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import chromium, chromium_browser  # noqa: F401 - fixtures
from tests.engines import (  # noqa: F401 - fixtures
    kglite_store,
    neo4j_server,
    neo4j_store,
    neo4j_wiped,
    neo4j_with_kit,
    store,
)

# No deadlines: what a busy machine is slow at is no fault. In CI the examples are always the same, so that a
# change is judged by what it changed; at a developer's they are new in every run.
settings.register_profile(
    "graphstore",
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("graphstore")

REPOSITORY = Path(__file__).resolve().parent.parent

# A config file of the developer's own steers no test.
os.environ["XDG_CONFIG_HOME"] = str(REPOSITORY / "tests" / "no-config")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give `--dist loadfile` the grouping that keeps workers from waiting for the server."""
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.scheduling import ByServer  # there is no xdist where nobody runs tests in parallel

    return ByServer(config, log)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of shared trace sets; skip, counted and visible, where it is absent."""
    folder = Path(os.environ.get("GRAPHSTORE_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (folder / "README.md").exists():
        pytest.skip(f"the shared trace sets are absent ({folder.name} not found); set GRAPHSTORE_TEST_DATA")
    return folder
