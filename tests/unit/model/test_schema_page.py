"""The page on the schema is generated, and up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "graphstore" / "model" / "README.md"


def test_the_schema_page_says_what_the_schema_says() -> None:
    """`cog -r graphstore/model/README.md` renews it."""
    cogapp = pytest.importorskip("cogapp", reason="cog comes with the extra 'dev'")

    assert cogapp.Cog().main(["cog", "--check", str(PAGE)]) == 0
