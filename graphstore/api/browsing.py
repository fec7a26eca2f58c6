"""Neo4j Browser for a run: links into it, the kit as files, the kit served while a person looks.

In:  a run id and settings that name a Neo4j server. Out: links and files. What the kit holds: export/browser.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphstore.api.selection import resolve_run
from graphstore.api.verbs import opened
from graphstore.errors import UsageError
from graphstore.export import browser
from graphstore.export.browser import BrowserAt
from graphstore.export.browser.serving import KitServer, serving
from graphstore.settings import Settings
from graphstore.store.base import Store

ASKED_S = 2.0  # whether the start page is there
OURS = b'content="graphstore"'


@dataclass(frozen=True)
class Opening:
    """What to open for a run, and the addresses it leads to.

    `link` opens Browser for the run: our start page, where the server has it (`has_start_page`), else Browser
    with the guide, or with a first query when nothing is served. `guide`, `style` and `scripts` are the
    addresses of what is served, None when nothing is.
    """

    run: str
    link: str
    has_start_page: bool
    guide: str | None = None
    style: str | None = None
    scripts: str | None = None


def browser_at(settings: Settings) -> BrowserAt | None:
    """Return where the Browser of the server is, for links; None without a server, or where it doesn't say.

    Raises StoreError when the server does not answer.
    """
    if not settings.is_server:
        return None
    with opened(settings) as store:
        return _at(store, settings)


def write_browser_kit(run: str | None, out: Path, settings: Settings) -> tuple[str, list[str]]:
    """Write what a person drops on any Browser into the folder `out`; return the run and the files' names.

    These are the style sheet, the saved scripts, and the guide in both forms. Works for an embedded run, too.
    Raises UsageError for a run that is not there, OSError for a folder that can't be written; StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        return run, browser.write_kit(_kit(store, run, None), out)


def browser_links(run: str | None, settings: Settings) -> Opening:
    """Return how to open Browser for a run with nothing served from here.

    Raises UsageError for an embedded store, or a server that does not say where its Browser is.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        at = _required(store, settings)
        has_page = has_start_page(at)
        return Opening(run, at.start(run) if has_page else at.run(run), has_page)


@contextmanager
def browser_served(run: str | None, settings: Settings) -> Iterator[Opening]:
    """Serve the kit of a run to the server's Browser while the block lasts; give how to open it.

    Raises as `browser_links` does.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        at = _required(store, settings)
        server = KitServer(at.origin)
        server.kit = _kit(store, run, server.address)
    here, has_page = server.address, has_start_page(at)
    guide = f"{here}{browser.GUIDE}"
    with serving(server):
        link = at.start(run, here) if has_page else at.guide(guide)
        yield Opening(run, link, has_page, guide, f"{here}{browser.STYLE}", f"{here}{browser.SCRIPTS}")


def _kit(store: Store, run: str, address: str | None) -> browser.Kit:
    properties = next(each for each in store.runs() if each["run"] == run)
    return browser.kit_of(store, properties, address)


def _at(store: Store, settings: Settings) -> BrowserAt | None:
    origin = store.browser_origin()
    return None if origin is None else BrowserAt(origin, store.address, settings.username)


def _required(store: Store, settings: Settings) -> BrowserAt:
    at = _at(store, settings)
    if at is not None:
        return at
    raise UsageError(
        f"{store.address} does not say where its Browser is (HTTP is off, or this user may not ask): "
        "`graphstore browser --out DIR` writes the files for any Browser."
    )


def has_start_page(at: BrowserAt) -> bool:
    """Return whether the server has our start page in Browser's own origin."""
    try:
        with urllib.request.urlopen(f"{at.origin}/browser/graphstore/start.html", timeout=ASKED_S) as answer:
            return OURS in answer.read(4096)
    except (urllib.error.URLError, OSError):
        return False  # the page is an extra: without it Browser is opened with the guide
