"""A real headless Chromium for tests of what a person sees, driven by Playwright.

The program is the machine's (`chromium`, `chromium-browser` or `google-chrome` on the PATH); none is ever
downloaded. Where there is none: a skip that says so; a failure where CI is set.
Each page has a fresh profile. Names of other hosts do not resolve, and every request is recorded, so that a
test can assert that nothing but this machine was asked.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost",
)
HERE = ("localhost", "127.0.0.1", "::1")
TIMEOUT_MS = 20_000  # of one step of a page; a busy machine is slow


@dataclass
class Chromium:
    """A running browser; the pages it opened, and the addresses that they asked."""

    browser: Browser
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)
    _blocked: list[str] = field(default_factory=list)

    def page(self, **options: Any) -> Page:
        """Return an empty page of a fresh profile; `options` are those of Playwright's new_context.

        For instance `viewport={"width": 390, "height": 844}` or `color_scheme="dark"`.
        """
        context = self.browser.new_context(**options)
        self._contexts.append(context)
        context.set_default_timeout(TIMEOUT_MS)
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("requestfailed", self._note_failure)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        page = context.new_page()
        page.on("websocket", lambda socket: self.asked.append(socket.url))
        return page

    def asked_elsewhere(self) -> list[str]:
        """Return the addresses that left this machine, but for those the page's own policy (CSP) stopped."""
        others = [url for url in self.asked if urlsplit(url).scheme in ("http", "https", "ws", "wss")]
        return [url for url in others if urlsplit(url).hostname not in HERE and url not in self._blocked]

    def close_pages(self) -> None:
        """Close every page, with its profile."""
        while self._contexts:
            self._contexts.pop().close()

    def _note_failure(self, request: Request) -> None:
        if request.failure and "csp" in request.failure.lower():
            self._blocked.append(request.url)


def find_chromium() -> str | None:
    """Return the path of the machine's Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def launched(program: str) -> Iterator[Browser]:
    """Give a headless browser of `program`; it ends with the block, and what it noted goes with it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as notes, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            headless=True,
            args=list(FLAGS),
            env={**os.environ, "XDG_CONFIG_HOME": notes},  # its crash reports, else in tests/no-config
        )
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def chromium_browser() -> Iterator[Browser]:
    """Return one browser for the tests of a module; skip, or fail in CI, where the machine has none."""
    program = find_chromium()
    if program is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with launched(program) as browser:
        yield browser


@pytest.fixture
def chromium(chromium_browser: Browser) -> Iterator[Chromium]:
    """Return a browser whose pages and records are this test's own."""
    mine = Chromium(chromium_browser)
    yield mine
    mine.close_pages()
