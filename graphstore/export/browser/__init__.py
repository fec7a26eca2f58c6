"""The kit that makes a person at home in Neo4j Browser: colours, saved scripts, a guide, a start page.

In:  a store and a run, or neither (for a server that is being set up). Out: files by name; links (links.py).
Decided here: which files there are. What each says: style.py, scripts.py, guide.py. Serving them from this
machine: serving.py; putting them into the Browser of a server we start: install.py. Browser itself is GPLv3
and is never shipped with this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from graphstore.export.browser import guide, guide_text, scripts, style
from graphstore.export.browser.examples import examples_of, no_run
from graphstore.export.browser.links import BrowserAt
from graphstore.store.base import Store

__all__ = ["GUIDE", "SCRIPTS", "STYLE", "BrowserAt", "Kit", "kit_for_any_run", "kit_of", "write_kit"]

START_FILES = ("start.html", "start.js")
STYLE, SCRIPTS, GUIDE = style.FILE, scripts.BUNDLE, guide_text.HTML_FILE
TO_DROP = (style.FILE, scripts.BUNDLE, guide_text.HTML_FILE, guide_text.ADOC_FILE)

Kit = Mapping[str, bytes]


def kit_of(store: Store, run: dict[str, Any], address: str | None = None) -> Kit:
    """Return the files for one run; `run` holds the properties of its Run node.

    `address` is where they will be served, ending in `/`: the guide then offers the style sheet there.
    """
    ranks = run["ranks"] or [0]
    examples = examples_of(store, run["run"], ranks[0])
    found = scripts.scripts(examples, run["run"])
    made = guide.guide_of(store, run, examples)
    return {
        style.FILE: style.grass(),
        scripts.BUNDLE: scripts.bundle(found),
        scripts.JSON_FILE: scripts.as_json(found),
        guide_text.HTML_FILE: guide_text.as_html(made, address and address + style.FILE),
        guide_text.ADOC_FILE: guide_text.as_adoc(made),
    }


def kit_for_any_run() -> Kit:
    """Return the files that are put into Browser's own origin, start page included."""
    found = scripts.scripts(no_run(), None)
    start = {name: files(__package__).joinpath(name).read_bytes() for name in START_FILES}
    return start | {
        style.FILE: style.grass(),
        scripts.JSON_FILE: scripts.as_json(found),
        guide_text.HTML_FILE: guide_text.as_html(guide.general_guide(no_run())),
    }


def write_kit(kit: Kit, out: Path) -> list[str]:
    """Write the files a person drops on Browser or serves to it into the folder `out`; return their names."""
    out.mkdir(parents=True, exist_ok=True)
    for name in TO_DROP:
        part = out / f".{name}.part"
        part.write_bytes(kit[name])
        part.rename(out / name)
    return list(TO_DROP)
