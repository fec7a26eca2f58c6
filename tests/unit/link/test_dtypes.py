from __future__ import annotations

import pytest

from graphstore.link.dtypes import element_size


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("Float", 4),
        ("float", 4),
        ("c10::BFloat16", 2),
        ("BFloat16", 2),
        ("Tensor(float)", 4),
        ("Tensor(c10::Half)", 2),
        ("long int", 8),
        ("Long", 8),
        ("unsigned char", 1),
        ("Byte", 1),
        ("Float8_e4m3fn", 1),
        ("Float8_e5m2fnuz", 1),
        ("ComplexDouble", 16),
        ("c10::complex<float>", 8),
        ("Bool", 1),
        ("QInt32_of_tomorrow", None),
        ("", None),
        (None, None),
    ],
)
def test_the_size_of_an_element_by_any_of_its_names(dtype: str | None, size: int | None) -> None:
    """Each recorder's spelling has the same size; a type we don't know has none."""
    assert element_size(dtype) == size
