"""Neo4j Browser 5 as a person uses it, by Playwright: connect, ask, look at what is drawn.

In:  a page, a server. Out: what is shown. The names of its parts are those of Browser 5.24's own tests.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

CONNECTED = re.compile("You are connected|You have a working connection")
KEPT_MS = 20_000
DRAWN_MS = 60_000  # Browser lays a graph out before it draws it; a busy machine takes long
DROP = """([name, kind, text]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const files = new DataTransfer();
    files.items.add(new File([bytes], name, { type: kind }));
    const event = { dataTransfer: files, bubbles: true, cancelable: true };
    document.querySelector('.filedrop').dispatchEvent(new DragEvent('drop', event));
}"""


@dataclass
class BrowserPage:
    """A page that shows Neo4j Browser."""

    page: Page

    def open(self, link: str, password: str) -> None:
        """Follow a link and give the password; back once Browser is connected."""
        self.page.goto(link)
        self.page.fill("[data-testid=password]", password)
        self.page.click("[data-testid=connect]")
        self.page.get_by_text(CONNECTED).first.wait_for()

    def ask(self, query: str) -> Locator:
        """Run a query; return the frame with its result."""
        self.page.click("#monaco-main-editor")
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(query)  # typing would close brackets by itself
        self.page.click("[data-testid=editor-Run]")
        return self.frame(query)

    def frame(self, query: str) -> Locator:
        """Return the frame of a query: frames of other commands come and go."""
        begin = " ".join(query.split())[:60]
        command = self.page.locator("[data-testid=frameCommand]", has_text=begin)
        return self.page.locator("[data-testid=frame]", has=command).first

    def drawn(self, frame: Locator, nodes: int) -> tuple[int, int]:
        """Wait until so many nodes are drawn in a frame; return the numbers of nodes and relationships."""
        frame.locator("svg g.node").nth(nodes - 1).wait_for(state="attached", timeout=DRAWN_MS)
        return frame.locator("svg g.node").count(), frame.locator("svg g.relationship").count()

    def label_counts(self, frame: Locator) -> dict[str, int]:
        """Return {label: nodes} as the overview beside the graph says."""
        shown = frame.locator("[data-testid^=property-details-overview-node-label-]").all_inner_texts()
        found = [re.fullmatch(r"(.+) \((\d+)\)", text.strip()) for text in shown]
        return {each[1]: int(each[2]) for each in found if each and each[1] != "*"}

    def kept(self, name: str) -> Any:
        """Return what Browser keeps under a name in local storage."""
        return json.loads(self.page.evaluate(f"localStorage.getItem('neo4j.{name}')") or "null")

    def wait_kept(self, name: str, part: str) -> None:
        """Wait until what Browser keeps under a name holds a text (it writes with some delay)."""
        for _ in range(KEPT_MS // 100):  # not by wait_for_function, which Browser's policy forbids
            if part in json.dumps(self.kept(name)):
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"neo4j.{name} does not hold {part!r}")

    def drop(self, file: Path, kind: str) -> None:
        """Drop a file on the page."""
        self.page.evaluate(DROP, [file.name, kind, base64.b64encode(file.read_bytes()).decode()])
