"""Attributes of nodes (AttributeProto) as columns of bytes, for wire.py.

In:  a name, rows and values. Out: fields of Node. Decided here: which wire type a kind of value has: numbers
are int64, figures double, as the known readers of the format want them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.chakra import wire
from graphstore.chakra.et_def_pb2 import AttributeProto, Node


def integers(name: str, row: wire.Ints, values: wire.Ints) -> list[wire.Column]:
    """Return an int64 attribute of each row."""
    return _attribute(wire.number(AttributeProto.INT64_VAL_FIELD_NUMBER, row, values, _named(name)))


def figures(name: str, row: wire.Ints, values: wire.Floats) -> list[wire.Column]:
    """Return a double attribute of each row."""
    return _attribute(wire.double(AttributeProto.DOUBLE_VAL_FIELD_NUMBER, row, values, _named(name)))


def texts(name: str, row: wire.Ints, values: pl.Series) -> list[wire.Column]:
    """Return a string attribute of each row whose value is not empty."""
    return _attribute(wire.text(AttributeProto.STRING_VAL_FIELD_NUMBER, row, values, _named(name)))


def flags(name: str, row: wire.Ints, values: npt.NDArray[np.bool_]) -> list[wire.Column]:
    """Return a bool attribute of each row, false ones too."""
    return _attribute(wire.number(AttributeProto.BOOL_VAL_FIELD_NUMBER, row, values, _named(name)))


def _named(name: str) -> bytes:
    return AttributeProto(name=name).SerializeToString()


def _attribute(fields: list[wire.Column]) -> list[wire.Column]:
    return wire.delimited(Node.ATTR_FIELD_NUMBER, fields)
