"""An archive that imports sets of traces as they are asked for, each once; fixtures: conftest.py."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphstore import readers
from graphstore.api.importing import ImportOptions, import_files
from graphstore.queries import check, run_query
from graphstore.queries.findings import Finding
from graphstore.settings import Settings
from graphstore.store import Store


@dataclass
class Archive:
    """A store, and the runs that were imported into it already."""

    store: Store
    settings: Settings
    data: Path
    runs: dict[tuple[str, ...], str] = field(default_factory=dict)
    checked: dict[str, list[Finding]] = field(default_factory=dict)

    def run_of(self, *names: str) -> str:
        """Return the run of a set (a folder), or of single files; import it the first time."""
        if names not in self.runs:
            found = readers.find_files([str(self.data / name) for name in names], recursive=False)
            options = ImportOptions(run=f"set-{len(self.runs)}")
            result = import_files(self.store, found, options, self.settings)
            self.runs[names] = result.run
        return self.runs[names]

    def rows(self, names: str | tuple[str, ...], query: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query on a set."""
        run = self.run_of(*([names] if isinstance(names, str) else names))
        return run_query(self.store, run, query, **parameters).to_dicts()

    def findings(self, *names: str) -> list[Finding]:
        """Return the findings on a set; it is checked the first time."""
        run = self.run_of(*names)
        if run not in self.checked:
            self.checked[run] = check(self.store, run)
        return self.checked[run]

    def messages(self, rule: str, *names: str) -> list[str]:
        """Return what the findings of one rule say."""
        return [finding.message for finding in self.findings(*names) if finding.rule == rule]

    def expected(self, name: str) -> dict[str, Any]:
        """Return the facts counted of a set."""
        facts: dict[str, Any] = json.loads((self.data / name / "expected.json").read_text())
        return facts

    def files(self, name: str, *kinds: str) -> dict[int, dict[str, Any]]:
        """Return the facts of the files of a kind, by rank."""
        ranks = {row["name"]: row["rank"] for row in self.rows(name, "archive/show_files")}
        facts = self.expected(name)["files"]
        return {ranks[Path(file).name]: fact for file, fact in facts.items() if fact["kind"] in kinds}
