"""The links of the pages lead somewhere: files that are there, headings that stand in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "docker", "examples", "cypher", "graphstore", "tests", "benchmarks")
PAGES = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return what links to the headings of a page are called: small letters, no signs, blanks as dashes."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    texts = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """As GitHub reads them, which drops the slash and the dot of `health/show_findings.graph`."""
    links = re.findall(r"\]\(([^)\s]+)\)", prose(page))

    for link in (link for link in links if not re.match(r"[a-z]+:", link)):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
