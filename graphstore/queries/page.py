"""The page cypher/README.md, made from the headers: `python -m graphstore.queries.page` writes it.

In:  the catalogue. Out: the text of the page; a test compares it with the file.
Decided here: the questions of a person come first, by topic, with a line each at the top of the page; what
only our own code asks stands behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphstore.queries.catalog import TOPICS, Field, Query, catalog, folder


def page() -> str:
    """Return the text of cypher/README.md: every query with parameters, columns and meaning."""
    asked = [query for query in catalog().values() if not query.is_internal]
    internal = [query for query in catalog().values() if query.is_internal]
    lines = [
        "# The catalogue of queries",
        "",
        "Made from the headers of the files by `python -m graphstore.queries.page`; a test compares.",
        "",
        "`find_` = a check (its rows become findings), `show_` and `count_` = look, `repair_` = changes the",
        "trace's graph, `write_` = keeps findings. Every statement runs on both engines and takes the run as",
        "`$run`, which the store binds. `graphstore query NAME --run RUN -p k=v` runs one,",
        "`graphstore queries search WORDS` finds one. A parameter with a default (`= …`) may be left out.",
        "",
        "## Contents",
        "",
        f"{len(asked)} questions of a person, by topic; behind them the {len(internal)} statements that only",
        "graphstore itself asks ([internal](#internal)).",
    ]
    for topic in TOPICS:
        lines += _contents(topic, [query for query in asked if query.topic == topic])
    for topic in TOPICS:
        lines += _section(topic, [query for query in asked if query.topic == topic])
    return "\n".join(lines + _section("internal", internal)) + "\n"


def _contents(topic: str, queries: Sequence[Query]) -> list[str]:
    """Return a topic's part of the contents: a line a query."""
    if not queries:
        return []
    rows = [f"- [{query.name.split('/')[1]}](#{_anchor(query.name)}): {query.summary}" for query in queries]
    return ["", f"**[{topic}](#{topic})**", "", *rows]


def _section(title: str, queries: Sequence[Query]) -> list[str]:
    """Return a heading and the entries below it; nothing for no queries."""
    if not queries:
        return []
    return ["", f"## {title}", *(line for query in queries for line in _entry(query))]


def _anchor(heading: str) -> str:
    """Return where a heading is jumped to: hosts drop the slash and the dot."""
    return heading.lower().replace("/", "").replace(".", "")


def _entry(query: Query) -> list[str]:
    """Return the lines of one query in the page."""
    lines = ["", f"### {query.name}", "", query.meaning, ""]
    if query.rule:
        lines.append(f"- check `{query.rule}`, severity {query.severity}")
    if query.writes:
        lines.append(f"- writes {', '.join(query.writes)}")
    if query.over_runs:
        lines.append(
            "- asks what the archive keeps of all runs, by `$runs`: `--runs all`, `--tag`, `--since` …"
        )
    if query.used_by:
        lines.append(f"- used by {query.used_by}")
    lines += [_parameter(parameter) for parameter in query.asked]
    lines.append("- columns: " + "; ".join(f"`{f.name}` {f.type}, {f.meaning}" for f in query.columns))
    return lines


def _parameter(parameter: Field) -> str:
    """Return the line of a parameter: its default, if any, behind the type."""
    return f"- `${parameter.name}` {parameter.described_type}: {parameter.meaning}"


if __name__ == "__main__":
    (folder() / "README.md").write_text(page(), encoding="utf-8")
