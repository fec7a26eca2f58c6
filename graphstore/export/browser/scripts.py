"""The catalogue as saved scripts of Neo4j Browser: a folder a topic, a script a query.

In:  the catalogue and the examples of a run. Out: scripts; as the `.zip` to drop on Browser (of
`Folder/script.cypher`, whose first line is the name), or as the JSON that the start page keeps.
Decided here: that values stand in the text: Browser shows no picture of a script that sets parameters itself.
"""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import orjson

from graphstore.export.browser.examples import Examples
from graphstore.queries import Query
from graphstore.queries.catalog import listed
from graphstore.queries.cypher_text import with_values

BUNDLE, JSON_FILE = "graphstore-scripts.zip", "queries.json"
GRAPH = ".graph"
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the same kit twice is the same file


@dataclass(frozen=True)
class Script:
    """One saved script: its folder, its name, its text without the line of the name."""

    folder: str
    name: str
    text: str


def scripts(examples: Examples, run: str | None) -> list[Script]:
    """Return a script for each query a person may ask, by folder and name.

    With a run, its values stand in the texts; without, `$run` stays a parameter. A query that the run has no
    example for (a kernel, where it has none) is left out.
    """
    out = []
    for query in listed():
        text = statement(query, examples, run)
        if text is not None:
            meaning = textwrap.fill(query.meaning, 100, initial_indent="// ", subsequent_indent="// ")
            out.append(Script(f"Trace store {query.topic}", title(query), f"{meaning}\n{text}"))
    return sorted(out, key=lambda script: (script.folder, script.name))


def statement(query: Query, examples: Examples, run: str | None) -> str | None:
    """Return the text of a query without its header, with its values; None without an example for it."""
    values = examples.values_for(query)
    if values is None:
        return None
    return with_values(query.body, values if run is None else {**values, "run": run})


def title(query: Query) -> str:
    """Return the name of a query as a person reads it: 'Show top ops'; 'A graph: call tree' for a picture.

    Browser sorts a folder by name: so pictures come first.
    """
    verb, *words = query.name.split("/")[1].removesuffix(GRAPH).split("_")
    return f"A graph: {' '.join(words)}" if query.name.endswith(GRAPH) else " ".join([verb.title(), *words])


def bundle(found: Sequence[Script]) -> bytes:
    """Return the scripts as the zip to drop on Browser."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for script in found:
            name = script.name.replace(": ", " ")  # no `:` in a file name on Windows
            file = zipfile.ZipInfo(f"{script.folder}/{name}.cypher", _NO_TIME)
            packed.writestr(file, f"// {script.name}\n{script.text}")
    return out.getvalue()


def as_json(found: Sequence[Script]) -> bytes:
    """Return the scripts as the start page reads them."""
    return orjson.dumps([asdict(script) for script in found])
