"""Make the pictures of docs/browser.md from the real thing: `python -m docs.make_browser_screenshots`.

In:  the demo run that ships with the package; Chromium or Chrome, and what docker/neo4j_from_jars.py needs.
Out: docs/images/browser_*.png. A server is started on an empty folder for it and stopped again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from graphstore import api, demo
from graphstore.settings import Settings
from tests.chromium import Chromium, find_chromium, launched
from tests.engines import Server, jars_module
from tests.neo4j_browser import BrowserPage

IMAGES = Path(__file__).resolve().parent / "images"
SIZE = {"width": 1240, "height": 700}
RUN = "demo"
LAID_OUT_MS = 6_000  # after the first drawing the graph still moves


def main() -> None:
    """Start a server, load the demo run, take every picture."""
    program = find_chromium()
    if program is None:
        raise SystemExit("no Chromium or Chrome is on the PATH")
    jars = jars_module()
    with tempfile.TemporaryDirectory() as folder:
        started = jars.start(Path(folder), quick=True)
        server = Server(started.uri, "neo4j", started.password)
        try:
            prepare(server.settings())
            with launched(program) as browser:
                take(Chromium(browser), server)
        finally:
            jars.stop(Path(folder))


def prepare(settings: Settings) -> None:
    """Load the demo run, keep its findings, apply its repairs."""
    api.import_runs([str(demo.TRACES)], api.ImportOptions(RUN), settings)
    api.check_run(RUN, settings)
    api.repair_run(RUN, settings, apply=True, unsafe=True)


def take(chromium: Chromium, server: Server) -> None:
    """Open Browser as `graphstore browser` does and save each picture."""
    with api.browser_served(RUN, server.settings()) as opening:
        for name, picture in PICTURES.items():
            shown = BrowserPage(chromium.page(viewport=SIZE))
            shown.open(opening.link, server.password)
            shown.page.get_by_text("4 ranks, imported").wait_for()
            picture(shown)
            shown.page.screenshot(path=IMAGES / f"browser_{name}.png")
            chromium.close_pages()


def guide(shown: BrowserPage) -> None:
    """The guide's slide of findings, and the first finding as its query draws it."""
    drawer = shown.page.locator("[data-testid=guidesDrawer]")
    drawer.get_by_text("Next", exact=True).click()
    runnable = drawer.locator("pre", has_text="f.fid =").first
    shown.drawn(shown.ask(runnable.inner_text().strip()), 2)
    shown.page.wait_for_timeout(LAID_OUT_MS)


def scripts(shown: BrowserPage) -> None:
    """The saved scripts, one folder open, and a script's table."""
    shown.page.click("[data-testid=navigationFavorites]")
    shown.page.click("[data-testid='expandFolder-Trace store communication']")
    shown.ask(script(shown, "Show skewed collectives")).locator("table").first.wait_for()


def graph(name: str) -> Callable[[BrowserPage], None]:
    """Return what shows the picture of a saved script over the whole width."""

    def picture(shown: BrowserPage) -> None:
        shown.page.click("[data-testid=navigationGuides]")  # closes the drawer
        frame = shown.ask(script(shown, name))
        shown.drawn(frame, 2)
        shown.page.wait_for_timeout(LAID_OUT_MS)

    return picture


def script(shown: BrowserPage, name: str) -> str:
    """Return the text of a saved script."""
    texts = [str(item["content"]) for item in shown.kept("documents")]
    return next(text for text in texts if text.startswith(f"// {name}\n")).partition("\n")[2]


PICTURES = {
    "guide": guide,
    "scripts": scripts,
    "findings": graph("A graph: findings"),
    "collective": graph("A graph: calls of collective"),
    "calls": graph("A graph: call tree"),
    "repairs": graph("A graph: repairs"),
    "run": graph("A graph: run"),
}

if __name__ == "__main__":
    main()
