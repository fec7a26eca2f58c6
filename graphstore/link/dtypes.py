"""Element sizes: bytes of one element by the names that c10d, Kineto and execution traces give a type."""

from __future__ import annotations

import re

# c10::toString(ScalarType) and, behind "Tensor(…)", caffe2's type names; all in lower case, without c10::
_BYTES = {
    "float": 4,
    "float32": 4,
    "double": 8,
    "float64": 8,
    "half": 2,
    "float16": 2,
    "bfloat16": 2,
    "byte": 1,
    "unsigned char": 1,
    "uint8": 1,
    "char": 1,
    "signed char": 1,
    "int8": 1,
    "bool": 1,
    "short": 2,
    "int16": 2,
    "uint16": 2,
    "int": 4,
    "int32": 4,
    "uint32": 4,
    "long": 8,
    "long int": 8,
    "int64": 8,
    "uint64": 8,
    "complexhalf": 4,
    "complexfloat": 8,
    "complexdouble": 16,
    "complex<half>": 4,
    "complex<float>": 8,
    "complex<double>": 16,
}
_FLOAT8 = re.compile(r"float8_?\w*")


def element_size(dtype: str | None) -> int | None:
    """Return the bytes of one element of `dtype` ('Float', 'c10::BFloat16', 'long int'); None if unknown."""
    if dtype is None:
        return None
    name = dtype.strip().removeprefix("Tensor(").removesuffix(")").removeprefix("c10::").lower()
    return 1 if _FLOAT8.fullmatch(name) else _BYTES.get(name)
