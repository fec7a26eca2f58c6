from __future__ import annotations

import json

import pytest

from graphstore.export.browser.style import grass, rules
from graphstore.model.schema import LABELS, RELATIONSHIP_TYPES, SEVERITY_LABELS


def test_every_label_and_type_has_a_look() -> None:
    """Nothing of the schema is left to the colours that Browser deals out by chance."""
    found = rules()

    wanted = [f"node.{label.name}" for label in (*LABELS, *SEVERITY_LABELS.values())]
    wanted += [f"relationship.{kind.name}" for kind in RELATIONSHIP_TYPES]
    assert set(wanted) <= set(found)
    assert json.loads(grass()) == found


def test_the_special_label_comes_after_the_common_one() -> None:
    """Of two labels of a node the later rule holds: the kind of an op, the severity of a finding."""
    order = list(rules())

    assert order[:2] == ["node", "relationship"]
    assert order.index("node.Op") < order.index("node.Kernel")
    assert order.index("node.Finding") < order.index("node.Error")


@pytest.mark.parametrize("selector", [name for name in rules() if name.startswith("node.")])
def test_captions_can_be_read(selector: str) -> None:
    """Text on a node has the contrast of at least 4.5 to 1 that WCAG 2 asks for."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    look = rules()[selector]
    low, high = sorted((luminance(look["color"]), luminance(look["text-color-internal"])))

    assert (high + 0.05) / (low + 0.05) >= 4.5
