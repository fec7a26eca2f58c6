from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.integration.flight_fuzz import MOST_KB

COUNT = 14_000
SEEDS = (1, 2)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_dumps_are_read_or_refused(data_dir: Path, tmp_path: Path, seed: int) -> None:
    """Thousands of damaged real dumps: none ends, hangs or fills the process; refusals are one line each."""
    command = [sys.executable, "-m", "tests.integration.flight_fuzz", str(data_dir), str(COUNT // len(SEEDS))]

    done = subprocess.run(
        [*command, str(seed), str(tmp_path / "rank_0")],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2_000:]
    told = json.loads(done.stdout)
    assert sum(told["outcomes"].values()) == COUNT // len(SEEDS)
    assert min(told["outcomes"][kind] for kind in ("flight_recorder", "refused", "not_a_trace")) > 100
    assert told["longest"] < 10
    assert told["most_kb"] < MOST_KB
