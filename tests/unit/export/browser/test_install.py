from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

import pytest

from graphstore.export.browser.install import install, server_settings


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """Return a jar as that of Browser is laid out."""
    made = tmp_path / "neo4j-browser-5.24.0.jar"
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("META-INF/MANIFEST.MF", "")
        packed.writestr("browser/index.html", "<html>")
        packed.writestr("browser/assets/fonts/a.woff", "font")
    return made


def test_browser_and_our_files_are_in_one_zip(jar: Path, tmp_path: Path) -> None:
    """Each folder stands before its files, or the server does not start; the manifest is not served."""
    out = install(jar, tmp_path / "home")

    assert out == tmp_path / "home" / "web" / "neo4j-browser.zip"
    with zipfile.ZipFile(out) as packed:
        names = packed.namelist()
        assert packed.read("browser/index.html") == b"<html>"
        assert b"graphstore" in packed.read("browser/graphstore/start.html")
    for place, name in enumerate(names):
        folder = f"{PurePosixPath(name).parent}/"
        assert folder == "./" or folder in names[:place]
    ours = {name.rpartition("/")[2] for name in names if name.startswith("browser/graphstore/")} - {""}
    assert ours == {"start.html", "start.js", "guide.html", "graphstore.grass", "queries.json"}
    assert not [name for name in names if name.startswith("META-INF")]


def test_what_is_there_already_is_not_made_again(jar: Path, tmp_path: Path) -> None:
    """The same jar and kit leave the zip alone; one that is no zip is replaced."""
    out = install(jar, tmp_path)
    first = out.stat().st_mtime_ns

    assert install(jar, tmp_path).stat().st_mtime_ns == first
    out.write_bytes(b"cut off")
    with zipfile.ZipFile(install(jar, tmp_path)) as packed:
        assert packed.testzip() is None
    assert [path.name for path in out.parent.iterdir()] == ["neo4j-browser.zip"]


def test_the_settings_keep_browser_on_this_machine() -> None:
    """No address but the server's own and this machine's may be asked."""
    settings = server_settings(7474)

    policy = settings["dbms.security.http_static_content_security_policy_header"]
    assert [word for word in policy.split() if "//" in word] == ["ws://localhost:*", "http://localhost:*"]
    assert "config useReadTransactions: true" in settings["browser.post_connect_cmd"]
