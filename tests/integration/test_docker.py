"""The two ways to get a server that docker/ offers: the compose file, and the jars of Maven Central."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from graphstore.settings import Settings
from graphstore.store import open_store
from tests.engines import REPOSITORY, jars_module
from tests.graphs import small_run

COMPOSE = REPOSITORY / "docker" / "compose.yaml"


def compose() -> list[str]:
    """Return the command of a compose client; skip where there is none."""
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if (
        shutil.which("docker")
        and not subprocess.run(["docker", "compose", "version"], capture_output=True).returncode
    ):
        return ["docker", "compose"]
    pytest.skip("no compose client here (docker compose, docker-compose)")


def config(**environment: str) -> subprocess.CompletedProcess[str]:
    """Return what the compose client says of our file in an environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")} | environment
    return subprocess.run(
        [*compose(), "-f", str(COMPOSE), "config"], env=env, capture_output=True, text=True, timeout=60
    )


def test_the_compose_file_is_accepted() -> None:
    """Both ports on this machine only; LOAD CSV closed; no password but the given one."""
    said = config(NEO4J_AUTH="neo4j/a-password")

    assert said.returncode == 0, said.stderr
    for port in ("7474", "7687"):
        assert f"127.0.0.1:{port}:{port}" in said.stdout or "host_ip: 127.0.0.1" in said.stdout
    assert "neo4j/a-password" in said.stdout
    assert "0.0.0.0/0,::/0" in said.stdout


def test_the_compose_file_is_refused_without_a_password() -> None:
    """Nobody gets a server with a known one."""
    said = config()

    assert said.returncode != 0
    assert "set NEO4J_AUTH" in said.stderr


@pytest.fixture
def from_jars(tmp_path: Path) -> Iterator[Any]:
    """Return a server started from jars, beside the one of the suite; skip (fail in CI) where none can be."""
    module = jars_module()
    home = tmp_path / "home"
    try:
        server = module.start(home, quick=True)
    except module.ServerError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    yield server
    module.stop(home)


@pytest.mark.neo4j
@pytest.mark.slow
def test_a_server_from_jars_is_closed_to_others_and_keeps_its_data(from_jars: Any) -> None:
    """Two sockets on loopback; a password only its owner can read; the same runs after a stop and a start."""
    process, home, module = psutil.Process(from_jars.pid), Path(from_jars.home), jars_module()
    addresses = [each.laddr for each in process.net_connections() if each.status == psutil.CONN_LISTEN]
    assert {address.port for address in addresses} == {from_jars.bolt, from_jars.http}
    assert {address.ip.removeprefix("::ffff:") for address in addresses} == {"127.0.0.1"}

    assert {stat.S_IMODE((home / name).stat().st_mode) for name in ("password", "server.json")} == {0o600}
    assert from_jars.password not in " ".join(process.cmdline()) + repr(from_jars)

    assert module.start(home) == from_jars  # started twice it is the same server
    store = open_store(Settings(store=from_jars.uri, password=from_jars.password))
    store.write_run(small_run("small", store.allocate_run_no()))
    store.close()
    module.stop(home)
    assert module.find(home) is None
    again = module.start(home, quick=True)
    store = open_store(Settings(store=again.uri, password=from_jars.password))
    assert [run["run"] for run in store.runs()] == ["small"]
    store.close()
