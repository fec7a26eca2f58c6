"""The page cypher/README.md, made from the headers: `python -m graphstore.queries.page` writes it.

In:  the catalogue. Out: the text of the page; a test compares it with the file.
"""

from __future__ import annotations

import json

from graphstore.queries.catalog import TOPICS, Field, Query, catalog, folder


def page() -> str:
    """Return the text of cypher/README.md: every query with parameters, columns and meaning."""
    lines = [
        "# The catalogue of queries",
        "",
        "Made from the headers of the files by `python -m graphstore.queries.page`; a test compares.",
        "",
        "`find_` = a check (its rows become findings), `show_` and `count_` = look, `repair_` = changes the",
        "trace's graph, `write_` = keeps findings. Every statement runs on both engines and takes the run as",
        "`$run`, which the store binds. `graphstore query NAME --run RUN --param k=v` runs one.",
    ]
    for topic in TOPICS:
        found = [query for query in catalog().values() if query.topic == topic]
        if found:
            lines += ["", f"## {topic}"]
        for query in found:
            lines += _entry(query)
    return "\n".join(lines) + "\n"


def _entry(query: Query) -> list[str]:
    """Return the lines of one query in the page."""
    lines = ["", f"### {query.name}", "", query.meaning, ""]
    if query.rule:
        lines.append(f"- check `{query.rule}`, severity {query.severity}")
    if query.writes:
        lines.append(f"- writes {', '.join(query.writes)}")
    lines += [_parameter(f) for f in query.parameters if f.name != "run"]
    lines.append("- columns: " + "; ".join(f"`{f.name}` {f.type}, {f.meaning}" for f in query.columns))
    return lines


def _parameter(parameter: Field) -> str:
    """Return the line of a parameter: its default, if any, behind the type."""
    default = f" = {json.dumps(parameter.default, ensure_ascii=False)}" if parameter.optional else ""
    return f"- `${parameter.name}` {parameter.type}{default}: {parameter.meaning}"


if __name__ == "__main__":
    (folder() / "README.md").write_text(page(), encoding="utf-8")
