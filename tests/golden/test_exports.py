from __future__ import annotations

import pytest

from tests.golden.exports import GOLDEN, RUNS, texts


@pytest.mark.parametrize("name", RUNS)
def test_exports_are_as_promised(name: str) -> None:
    """A change of what is written shows as a diff; `python -m tests.golden.exports` renews the files."""
    for file, text in texts(name).items():
        assert (GOLDEN / file).read_text(encoding="utf-8") == text, file
