"""A guide as text: HTML for Browser 5 (`:play URL`, `:guide URL`), AsciiDoc for newer Browsers.

In:  a `Guide`. Out: bytes. Decided here: how each Browser marks a query that runs at a click, and that what
comes from a trace can be no markup: escaped in HTML, a literal block in AsciiDoc.
"""

from __future__ import annotations

from html import escape

from graphstore.export.browser.guide import Guide, Slide, Step

HTML_FILE, ADOC_FILE = "guide.html", "guide.adoc"


def as_html(guide: Guide, style: str | None = None) -> bytes:
    """Return the guide for Browser 5; with the address of a style sheet its first slide can put it on."""
    slides = [_html_slide(slide) for slide in guide.slides]
    if style is not None:
        slides[0] = slides[0].replace("</slide>", f"{_colours(style)}</slide>")
    return f"<title>{escape(guide.title)}</title>\n{''.join(slides)}".encode()


def as_adoc(guide: Guide) -> bytes:
    """Return the guide for newer Browsers."""
    lines = [f"= {_one_line(guide.title)}", ""]
    for slide in guide.slides:
        lines += [f"== {_one_line(slide.heading)}", ""]
        for step in slide.steps:
            lines += _adoc_step(step)
    return "\n".join(lines).encode()


def _html_slide(slide: Slide) -> str:
    steps = "".join(_html_step(step) for step in slide.steps)
    return f'<slide>\n<div class="col-sm-12">\n<h3>{escape(slide.heading)}</h3>\n{steps}</div>\n</slide>\n'


def _html_step(step: Step) -> str:
    text = f"<p>{escape(step.text)}</p>\n" if step.text else ""
    lines = "".join(f"<p><i>{escape(_one_line(line))}</i></p>\n" for line in step.lines)
    query = f'<pre class="code runnable">{escape(step.query)}</pre>\n' if step.query else ""
    return text + lines + query


def _colours(style: str) -> str:
    """Return the paragraph for a Browser whose settings are not ours: it makes it ours at a click."""
    return (
        f'<p>Put on the <a data-exec="style {escape(style)}">colours of the trace store</a>, '
        'and make Browser <a data-exec="config useReadTransactions: true">read only</a>.</p>\n'
    )


def _adoc_step(step: Step) -> list[str]:
    lines = [step.text, ""] if step.text else []
    for line in step.lines:
        lines += ["....", _one_line(line), "....", ""]
    if step.query:
        lines += ["[source,cypher]", "----", step.query.strip(), "----", ""]
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())
