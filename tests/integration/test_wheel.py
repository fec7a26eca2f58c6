"""What is installed from a wheel works without the checkout."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(REPOSITORY)], check=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_queries_and_demo_but_no_tests(wheel: Path) -> None:
    """cypher/ lies inside the package, the demo run beside it; what only a developer needs stays out."""
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {"graphstore/cypher/structure/find_missing_parents.cypher", "graphstore/py.typed"} <= names
    assert {f"graphstore/demo/traces/et_rank{rank}.json.gz" for rank in range(4)} <= names
    assert not [name for name in names if not name.startswith("graphstore")]


@pytest.mark.slow
def test_an_installed_wheel_finds_its_queries_and_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    """In a fresh environment, away from the checkout, the program is whole.

    The packages it needs are borrowed from this environment, so that the test needs no network.
    """
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (Path(site) / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel],
        check=True,
    )

    def run(*words: str) -> list[str]:
        command = [str(tmp_path / "env" / "bin" / "graphstore"), *words]
        environment = {"GRAPHSTORE_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.splitlines()

    assert any(line.startswith("structure/find_missing_parents ") for line in run("queries"))
    assert len(run("demo", "--format", "jsonl")) == 4
    where = [str(python), "-c", "import graphstore; print(graphstore.__file__)"]
    located = subprocess.run(where, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert located.startswith(str(tmp_path))
