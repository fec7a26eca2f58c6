"""The browser that tests look with: it draws, records what it asks, and reaches no other machine."""

from __future__ import annotations

from pathlib import Path

from tests.chromium import Chromium


def test_each_page_has_a_fresh_profile(chromium: Chromium, tmp_path: Path) -> None:
    """What one page keeps in local storage is not there for the next."""
    file = tmp_path / "page.html"
    file.write_text("<h1>kept</h1>")
    first, second = chromium.page(), chromium.page()

    first.goto(file.as_uri())
    first.evaluate("localStorage.setItem('seen', 'yes')")
    second.goto(file.as_uri())

    assert first.evaluate("localStorage.getItem('seen')") == "yes"
    assert second.evaluate("localStorage.getItem('seen')") is None


def test_a_request_that_leaves_the_machine_is_told(chromium: Chromium, tmp_path: Path) -> None:
    """A page that asks another host is found out, and the host is not reached."""
    file = tmp_path / "page.html"
    file.write_text('<img src="https://example.org/pixel.png"><img src="http://localhost:9/pixel.png">')

    page = chromium.page()
    page.goto(file.as_uri())

    assert chromium.asked_elsewhere() == ["https://example.org/pixel.png"]
    assert page.evaluate("document.images[0].naturalWidth") == 0


def test_a_request_stopped_by_the_page_s_policy_did_not_leave(chromium: Chromium, tmp_path: Path) -> None:
    """What a content security policy stops never was a request to another machine."""
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">'
    file = tmp_path / "page.html"
    file.write_text(f'{policy}<img src="https://example.org/pixel.png">')

    chromium.page().goto(file.as_uri())

    assert "https://example.org/pixel.png" in chromium.asked
    assert chromium.asked_elsewhere() == []
