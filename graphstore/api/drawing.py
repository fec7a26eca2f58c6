"""The verb draw: a part of a run as the text of a picture.

In:  a run id, what is wanted, settings. Out: the text and its counts; the file, whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphstore.api.selection import resolve_run
from graphstore.api.verbs import opened
from graphstore.export.drawing import DrawOptions, drawing
from graphstore.export.files import publish, staged
from graphstore.export.pictures import PictureForm, picture
from graphstore.settings import Settings


@dataclass(frozen=True)
class Drawn:
    """A picture. `missed`: keys that the rows of the query hold, but that are no ops drawn."""

    run: str
    text: str
    nodes: int
    edges: int
    missed: int


def draw_run(
    run: str | None,
    wanted: DrawOptions,
    settings: Settings,
    *,
    form: PictureForm = "dot",
    out: Path | None = None,
) -> Drawn:
    """Return a picture of a part of a run, and write it to `out` if a file is named.

    Raises UsageError: nothing chosen, too many nodes, a file that can't be written.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        found = drawing(store, run, wanted)
    text = picture(found, form)
    if out is not None:
        with staged(out.parent) as stage:
            (stage / out.name).write_text(text, encoding="utf-8")
            publish(stage, out.parent, [out.name])
    return Drawn(run, text, len(found.nodes), len(found.edges), found.missed)
