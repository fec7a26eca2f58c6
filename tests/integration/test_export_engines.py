"""What other tools read is the same, to the byte, from either engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphstore import queries
from graphstore.demo import TRACES
from graphstore.export import export_et_plus, export_json, export_timeline
from graphstore.export.drawing import DrawOptions, drawing
from graphstore.export.pictures import FORMS, picture
from graphstore.store import Store
from tests.integration.test_export_et_plus import imported

RUN = "demo"
Export = Callable[[Store, str, Path], dict[str, Any]]
EXPORTS: tuple[Export, ...] = (export_et_plus, export_json, export_timeline)


@pytest.mark.neo4j
def test_both_engines_give_the_same_bytes(kglite_store: Store, neo4j_store: Store, tmp_path: Path) -> None:
    """Of the run that ships with the package, with its findings: files, notes and pictures."""
    told: list[Any] = []
    for store in (kglite_store, neo4j_store):
        imported(store, RUN, TRACES)
        queries.write_findings(store, RUN, queries.check(store, RUN))
        whole = drawing(store, RUN, DrawOptions(limit=10_000, depth=99))
        pictures = [picture(whole, form) for form in FORMS]
        told.append([export(store, RUN, tmp_path / store.engine) for export in EXPORTS] + pictures)

    assert told[0] == told[1]
    assert sum(len(written["files"]) for written in told[0][:3]) == 9
