"""What every export asks first: the run's own properties.

In:  a store and a run's id. Out: the properties of its Run node. An unknown run is a mistake of the user.
"""

from __future__ import annotations

from typing import Any

from graphstore.errors import UsageError
from graphstore.store.base import Store


def facts_of_run(store: Store, run: str) -> dict[str, Any]:
    """Return the properties of the Run; UsageError when the archive has no such run."""
    for facts in store.runs():
        if facts["run"] == run:
            return facts
    raise UsageError(f"no run {run!r} in {store.address}; `graphstore runs` lists them")
