"""Make the screenshots of the pages from what a real Chromium shows: `python docs/make_screenshots.py DATA`.

In:  the demo run that ships with the package, and of the shared trace sets under DATA a run with GPUs
(public/dlrm_8r) and dumps of a hang (fr/gloo/skip). Out: docs/images/report-*.png.
The browser is the machine's own (chromium or google-chrome on the PATH); none is downloaded.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from graphstore import api, demo, settings

IMAGES = Path(__file__).resolve().parent / "images"
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 780}


def main(data: Path) -> None:
    """Write every screenshot."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("no Chromium: neither chromium, chromium-browser nor google-chrome is on the PATH")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        report(browser, Path(folder), data)
        browser.close()


def report(browser: Browser, folder: Path, data: Path) -> None:
    """Make the pictures of docs/report.md: on a desktop, in dark mode, on a phone, of a hang."""
    chosen = settings.load(str(folder / "archive"))
    runs = {
        "demo": demo.TRACES,
        "dlrm_8r": data / "public" / "dlrm_8r",
        "hang": data / "fr" / "gloo" / "skip",
    }
    for run, traces in runs.items():
        api.import_runs([str(traces)], api.ImportOptions(run=run), chosen)
        api.check_run(run, chosen)
        api.write_report(run, folder / f"{run}.html", chosen)
    shot(browser, folder / "dlrm_8r.html", "#timeline", "report-timeline", viewport=DESKTOP)
    shot(
        browser,
        folder / "dlrm_8r.html",
        "#communication",
        "report-dark",
        viewport=DESKTOP,
        color_scheme="dark",
    )
    shot(browser, folder / "demo.html", "#findings", "report-findings", viewport=DESKTOP)
    shot(browser, folder / "dlrm_8r.html", "", "report-phone", viewport=PHONE)
    shot(browser, folder / "hang.html", "#findings", "report-hang", viewport={"width": 760, "height": 560})


def shot(browser: Browser, page: Path, place: str, name: str, **options: object) -> None:
    """Write what a window shows of a page as docs/images/NAME.png, from `place` (an id) on."""
    context = browser.new_context(reduced_motion="reduce", **options)  # type: ignore[arg-type]
    opened = context.new_page()
    opened.goto(page.as_uri() + place)
    opened.screenshot(path=IMAGES / f"{name}.png")
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
