"""The neomodel classes say what the schema says."""

from __future__ import annotations

from typing import Any

import pytest
from neomodel import (
    ArrayProperty,
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    StringProperty,
    StructuredNode,
    StructuredRel,
)
from neomodel.sync_.relationship_manager import RelationshipDefinition

from graphstore.model.schema import INDEXES, OP_KINDS, RELATIONSHIP_TYPES, primary_labels
from graphstore.model.schema_types import Property
from graphstore.store import ogm

CLASSES: dict[str, Any] = {
    name: each
    for name, each in vars(ogm).items()
    if isinstance(each, type) and issubclass(each, StructuredNode) and each is not StructuredNode
}
TYPES = {
    "int": IntegerProperty,
    "float": FloatProperty,
    "text": StringProperty,
    "json": StringProperty,
    "bool": BooleanProperty,
}
OUTGOING = 1


def says(declared: Property) -> tuple[type, type | None]:
    """Return the neomodel type of a property of the schema, and of a list's items."""
    if declared.type.startswith("list["):
        return ArrayProperty, TYPES[declared.type[5:-1]]
    return TYPES[declared.type], None


def held(of: Any) -> dict[str, tuple[type, type | None]]:
    """Return {property: types} of a neomodel class."""
    found = dict(of.__all_properties__) if issubclass(of, StructuredNode) else of.defined_properties()
    return {
        name: (type(each), getattr(type_of_items(each), "__class__", None)) for name, each in found.items()
    }


def type_of_items(each: Any) -> Any:
    """Return what an ArrayProperty holds; None for any other property."""
    return each.base_property if isinstance(each, ArrayProperty) else None


def test_there_is_a_class_for_every_primary_label_and_no_other() -> None:
    """One class a primary label; the kinds of Op are its optional labels."""
    assert set(CLASSES) == set(primary_labels())
    assert tuple(ogm.Op.__optional_labels__) == OP_KINDS


@pytest.mark.parametrize("label", primary_labels())
def test_a_class_has_the_properties_of_its_label(label: str) -> None:
    """Names and types, in both directions."""
    _, properties = primary_labels()[label]

    found = {
        name: (kind, None if kind is not ArrayProperty else items)
        for name, (kind, items) in held(CLASSES[label]).items()
    }

    assert found == {p.name: says(p) for p in properties}


@pytest.mark.parametrize("label", primary_labels())
def test_the_key_is_unique_and_indexed_properties_are_marked(label: str) -> None:
    """The key and nothing else is unique; an index over one property is marked on it."""
    key, _ = primary_labels()[label]
    properties = dict(CLASSES[label].__all_properties__)
    single = {i.properties[0] for i in INDEXES if i.on == label and len(i.properties) == 1}

    assert {name for name, each in properties.items() if each.unique_index} == {key}
    assert {name for name, each in properties.items() if each.index} == single


def test_relationships_are_those_of_the_schema() -> None:
    """(source, type, target) for each, once in and once out, with a class where the type has properties."""
    out: set[tuple[str, str, str]] = set()
    back: set[tuple[str, str, str]] = set()
    for label, each in CLASSES.items():
        for _, relationship in each.__all_relationships__:
            assert isinstance(relationship, RelationshipDefinition)
            definition: dict[str, Any] = relationship.definition
            other = str(relationship._raw_class).rpartition(".")[2]  # in full where it is of another module
            kind = definition["relation_type"]
            if definition["direction"].value == OUTGOING:
                out.add((label, kind, other))
            else:
                back.add((other, kind, label))

    declared = {(a, kind.name, b) for kind in RELATIONSHIP_TYPES for a, b in kind.ends}
    assert out == declared
    assert back == declared


def test_the_class_a_relationship_names_is_found() -> None:
    """Whichever module it stands in: neomodel looks the name up when the relationship is first used."""
    for each in CLASSES.values():
        for _, relationship in each.__all_relationships__:
            relationship.lookup_node_class()
            other = str(relationship._raw_class).rpartition(".")[2]
            assert relationship.definition["node_class"] is CLASSES[other]


@pytest.mark.parametrize("kind", RELATIONSHIP_TYPES, ids=lambda kind: kind.name)
def test_a_relationship_class_has_the_properties_of_its_type(kind: Any) -> None:
    """Types without properties have no class; the others' names and types agree."""
    models = {
        relationship.definition["model"]
        for each in CLASSES.values()
        for _, relationship in each.__all_relationships__
        if relationship.definition["relation_type"] == kind.name
    }

    (model,) = models
    if not kind.properties:
        assert model in (None, StructuredRel)
    else:
        assert {name: types[0] for name, types in held(model).items()} == {
            p.name: says(p)[0] for p in kind.properties
        }
