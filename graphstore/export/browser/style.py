"""The style sheet of Neo4j Browser, made from the schema: how each label and relationship type looks.

In:  model/schema.py. Out: rules by selector, the form `:style`, a dropped `.grass` file and local storage
take. Decided here: sizes and lines. A finding is coloured by its severity (its second label); size tells
severities apart as well, so that colour is never alone.
"""

from __future__ import annotations

import orjson

from graphstore.model.schema import LABELS, RELATIONSHIP_TYPES, SEVERITY_LABELS
from graphstore.model.schema_types import Label

Rules = dict[str, dict[str, str]]

FILE = "graphstore.grass"
DIAMETER = "70px"  # so that the beginning of an op's name can be read
DIAMETER_BY_LABEL = {
    "Run": "90px",
    "Rank": "75px",
    "ProcessGroup": "75px",
    "Collective": "75px",
    "Repair": "75px",
    "Error": "90px",
    "Warning": "75px",
    "Note": "60px",
}
# Type → colour, width and caption of its line; a type that is not here has the line of the default.
LINE_BY_TYPE = {
    "CTRL": ("#7F8C9B", "2px", "<type>"),
    "LAUNCHES": ("#F16667", "3px", "<type>"),
    "DATA": ("#2E86C1", "2px", "<type>"),
    "SYNC": ("#8E5EA2", "3px", "{rule}"),
    "WAITS_FOR": ("#C2185B", "4px", "{wait}"),
    "PEER": ("#B9770E", "3px", "<type>"),
    "SEEN_AS": ("#B9B9B9", "1px", "<type>"),
    "ABOUT": ("#C2185B", "2px", "{role}"),
    "MADE": ("#2E8B57", "3px", "<type>"),
}
DARK, LIGHT = "#000000", "#FFFFFF"  # one of them has a contrast of 4.5 to any colour


def rules() -> Rules:
    """Return the rules by selector: defaults, then labels from the common to the special, then types."""
    op = Label("Op", "", "uid", ())
    labels = (op, *LABELS, *SEVERITY_LABELS.values())
    defaults: Rules = {
        "node": _node(op),
        "relationship": _line("#A5ABB6", "1px", "<type>")
        | {"font-size": "8px", "padding": "3px", "text-color-external": "#000000"},
    }
    by_label = {f"node.{label.name}": _node(label) for label in labels}
    by_type = {
        f"relationship.{kind.name}": _line(*LINE_BY_TYPE.get(kind.name, ("#A5ABB6", "1px", "<type>")))
        for kind in RELATIONSHIP_TYPES
    }
    return defaults | by_label | by_type


def grass() -> bytes:
    """Return the style sheet as the bytes of its file: JSON, which Browser takes as well as GraSS."""
    return orjson.dumps(rules(), option=orjson.OPT_INDENT_2) + b"\n"


def _node(label: Label) -> dict[str, str]:
    text = DARK if _luminance(label.colour) > 0.18 else LIGHT
    look = {
        "color": label.colour,
        "border-color": _darker(label.colour),
        "border-width": "2px",
        "text-color-internal": text,
        "caption": f"{{{label.caption}}}",
    }
    size = DIAMETER_BY_LABEL.get(label.name, DIAMETER)
    return look | {"diameter": size, "font-size": "9px"}


def _line(colour: str, width: str, caption: str) -> dict[str, str]:
    return {
        "color": colour,
        "shaft-width": width,
        "caption": caption,
        "text-color-internal": LIGHT,
    }


def _channels(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it; 0.18 is where black reads as white."""
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _darker(colour: str) -> str:
    return "#" + "".join(f"{int(value * 0.75):02X}" for value in _channels(colour))
