"""What a schema is declared with: properties, labels, relationship types, indexes.

Decided here: the types a property may have. The declarations: schema.py and what it joins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PropertyType = Literal["int", "float", "text", "bool", "list[int]", "list[text]", "json"]


@dataclass(frozen=True)
class Property:
    """One property: its name (ending in the unit), its type (`json` is text holding JSON), its meaning."""

    name: str
    type: PropertyType
    meaning: str


@dataclass(frozen=True)
class Label:
    """One node label. `kind_of` names the primary label where this one is the second (`Op:Kernel`)."""

    name: str
    meaning: str
    key: str
    properties: tuple[Property, ...]
    kind_of: str | None = None
    colour: str = "#A5ABB6"
    caption: str = "name"


@dataclass(frozen=True)
class RelationshipType:
    """One relationship type, its ends as (source, target) primary labels, and its properties if any."""

    name: str
    ends: tuple[tuple[str, str], ...]
    meaning: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True)
class Index:
    """A secondary index; applied on Neo4j only (the embedded engine would rebuild it at every open)."""

    name: str
    on: str  # label or relationship type
    properties: tuple[str, ...]
    relationship: bool = False


def p(name: str, type: PropertyType, meaning: str) -> Property:
    """Return a property; short, because schemas are long lists of them."""
    return Property(name, type, meaning)
