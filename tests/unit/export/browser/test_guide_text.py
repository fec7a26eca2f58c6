from __future__ import annotations

from graphstore.export.browser.guide import Guide, Slide, Step
from graphstore.export.browser.guide_text import as_adoc, as_html

NAME = "void k<float, 4>(T*) </pre><script>x</script>\n----\n== no heading"
GUIDE = Guide("Run r", (Slide("First", (Step("See:", (NAME,), "MATCH (n) WHERE n.a < 1 RETURN n"),)),))


def test_a_name_of_a_trace_is_no_markup_in_html() -> None:
    """It is shown as it is; the query runs at a click."""
    text = as_html(GUIDE).decode()

    assert "<script>" not in text
    assert "void k&lt;float, 4&gt;(T*) &lt;/pre&gt;&lt;script&gt;" in text
    assert '<pre class="code runnable">MATCH (n) WHERE n.a &lt; 1 RETURN n</pre>' in text
    assert text.count("<slide>") == text.count("</slide>") == 1


def test_a_name_of_a_trace_is_no_markup_in_asciidoc() -> None:
    """It stands on one line of a literal block: neither heading nor end of a block."""
    lines = as_adoc(GUIDE).decode().splitlines()

    assert lines[:3] == ["= Run r", "", "== First"]
    assert [line for line in lines if line.startswith("==")] == ["== First"]
    at = lines.index("....")
    assert lines[at + 1] == " ".join(NAME.split())
    assert lines[at + 2] == "...."


def test_only_a_foreign_browser_is_offered_the_colours() -> None:
    """By a link that runs the command; our own start page has put them on already."""
    assert "data-exec" not in as_html(GUIDE).decode()
    assert (
        'data-exec="style http://localhost:9/graphstore.grass"'
        in as_html(GUIDE, "http://localhost:9/graphstore.grass").decode()
    )
