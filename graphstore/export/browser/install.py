"""Put the kit into the Browser of a server we start: its own files and ours in one zip, made on this machine.

In:  the jar of Neo4j Browser, the home folder of a server. Out: HOME/web/neo4j-browser.zip, which the server
serves in place of the jar from its next start on; the settings that go with it.
Found out on Neo4j 2026.09: the name has to be this one (or one with a date); folder entries have to stand
before the files in them, or the server does not start; a change of the zip shows after a restart only.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path, PurePosixPath

from graphstore.export.browser import kit_for_any_run

ZIP = "neo4j-browser.zip"
OURS = PurePosixPath("browser/graphstore")
# Nothing on the page may ask another machine: Browser would, for scripts and fonts, even without telemetry.
POLICY = (
    "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; "
    "connect-src 'self' ws://localhost:* http://localhost:*"
)


def install(jar: Path, home: Path) -> Path:
    """Write the zip, unless it is there already for this jar and kit; return it."""
    kit = kit_for_any_run()
    said = hashlib.sha256(
        b"\0".join([jar.name.encode(), *(name.encode() + kit[name] for name in sorted(kit))])
    )
    out = home / "web" / ZIP
    if out.exists() and _comment(out) == said.hexdigest().encode():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part")
    with zipfile.ZipFile(jar) as jarred, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as packed:
        packed.comment = said.hexdigest().encode()
        own = {name: jarred.read(name) for name in jarred.namelist() if _is_browser_file(name)}
        _write(packed, own | {str(OURS / name): kit[name] for name in kit})
    part.replace(out)
    return out


def server_settings(http: int) -> dict[str, str]:
    """Return the settings of a server on HTTP port `http` that has the zip, as neo4j.conf names them.

    For those who open /browser/ itself: colours, the guide in the left drawer, reading only.
    """
    ours = f"http://localhost:{http}/{OURS}"
    commands = f"style {ours}/graphstore.grass; guide {ours}/guide.html; config useReadTransactions: true"
    return {
        "browser.post_connect_cmd": commands,
        "dbms.security.http_static_content_security_policy_header": POLICY,
    }


def _is_browser_file(name: str) -> bool:
    return name.startswith("browser/") and not name.endswith("/")


def _write(packed: zipfile.ZipFile, files: dict[str, bytes]) -> None:
    """Write files, each folder before what is in it."""
    folders = {f"{parent}/" for name in files for parent in PurePosixPath(name).parents if parent.name}
    for folder in sorted(folders):
        packed.writestr(folder, b"")
    for name, content in files.items():
        packed.writestr(name, content)


def _comment(path: Path) -> bytes | None:
    try:
        with zipfile.ZipFile(path) as packed:
            return packed.comment
    except zipfile.BadZipFile:
        return None
