"""Execute explore.ipynb and keep what it shows: `python examples/execute.py`, or `just notebook`.

In:  the notebook. Out: the same file with the outputs of a fresh kernel. Decided here: what of an execution
is no result (times, versions of the kernel, ids) and stays out of the file. The test of the notebook executes
it in the same way.
"""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
NOTEBOOK = FOLDER / "explore.ipynb"
TIMEOUT_S = 300


def executed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook of this folder with the outputs of a fresh kernel.

    Raises CellExecutionError, which shows the cell and its error.
    """
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=TIMEOUT_S,
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    # The caller's package, also where it is not installed.
    paths = [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    client.execute(env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)})
    return without_machine(notebook)


def without_machine(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook without what differs from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"explore-{number:02d}"
        cell.metadata = {}
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(nbformat.read(NOTEBOOK, as_version=4)), NOTEBOOK)
    print(f"{NOTEBOOK.name}: {NOTEBOOK.stat().st_size:,} bytes")
