"""The notebook, executed in a fresh kernel: it runs, says what is true, and holds nothing of the machine."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MOST_BYTES = 150_000
# What the texts between the cells say. 4 ranks of 21 calls; a walk over the recorded tree meets 11 of each
# (graphstore/demo/README.md); 9 + 12 + 12 collectives in its three groups of more than a pair of stages.
RESULTS = """
import json
print(json.dumps({
    "kept": int(ledger["kept"].sum()),
    "read": int(ledger["records_read"].sum()),
    "left_out": sum(sum(json.loads(text).values()) for text in ledger["left_out"]),
    "calls": int(before["calls"].sum()),
    "reached": [int(before["reached"].sum()), int(after["reached"].sum())],
    "absent": findings.filter(pl.col("rule") == "missing_parent")["rank"].to_list(),
    "safe": int(changes["safe"].sum()),
    "late": [worst["last_rank"][0], round(worst["skew_ns"][0] / 1e9)],
    "healthy": hang.record["healthy"],
    "matched": hang.record["verdicts"],
    "written": sum(rank["communications"] for rank in manifest["ranks"].values()),
    "off": max(abs(row[name]) for row in replay.rows for name in ("error", "joint_error", "unexplained")),
}))
"""


def load_execute() -> ModuleType:
    """Return examples/execute.py as a module (its folder is no package)."""
    spec = importlib.util.spec_from_file_location("execute", EXAMPLES / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def committed() -> Any:
    """Return the notebook as it lies in the checkout."""
    return nbformat.read(EXAMPLES / "explore.ipynb", as_version=4)


@pytest.fixture(scope="module")
def executed() -> Any:
    """Return the notebook with the outputs of a fresh kernel, and a last cell that tells its key results."""
    notebook = nbformat.read(EXAMPLES / "explore.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(RESULTS))
    return load_execute().executed(notebook)


def words(cell: Any) -> list[str]:
    """Return the words and numbers that a cell shows as text, however its tables are drawn."""
    shown = [
        output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs
    ]
    return re.findall(r"[\w.+%#:-]*\w[\w%]*", "\n".join(text for text in shown if "<Figure" not in text))


def test_the_texts_of_the_notebook_are_true(executed: Any) -> None:
    """What is said between the cells is what the cells find."""
    told = json.loads(executed.cells[-1].outputs[0].text)

    assert told.pop("off") < 0.01
    assert told.pop("read") == told.pop("kept") + told.pop("left_out")
    assert told == {
        "calls": 84,
        "reached": [44, 84],
        "absent": [0, 1, 2, 3],
        "safe": 50,
        "late": [1, 4],
        "healthy": True,
        "matched": {"MATCHED": 33},
        "written": 84,
    }


def test_what_the_checkout_shows_is_what_a_fresh_kernel_shows(executed: Any, committed: Any) -> None:
    """`just notebook` renews it."""
    for old, new in zip(committed.cells, executed.cells, strict=False):
        assert old.source == new.source
        if old.cell_type == "code":
            assert words(new) == words(old), old.source
            assert ["image/png" in o.get("data", {}) for o in new.outputs] == [
                "image/png" in o.get("data", {}) for o in old.outputs
            ]


def test_the_notebook_holds_nothing_of_a_machine() -> None:
    """No path, time, host or version of where it was executed; small enough to read in a review."""
    text = (EXAMPLES / "explore.ipynb").read_text(encoding="utf-8")
    document = json.loads(text)
    without_pictures = re.sub(r'"image/png": "[^"]*"', "", text)

    assert len(text) < MOST_BYTES
    assert not re.search(r"/(tmp|root|home|Users|opt|var)/|[A-Z]:\\\\", without_pictures)
    assert not re.search(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", without_pictures)
    assert document["metadata"]["language_info"] == {"name": "python"}
    assert all(cell["metadata"] == {} for cell in document["cells"])


def test_every_cell_of_the_checkout_was_executed_in_order(committed: Any) -> None:
    """Counts ascend from 1, nothing failed, nothing was written to stderr."""
    code = [cell for cell in committed.cells if cell.cell_type == "code"]

    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert {output.output_type for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)
