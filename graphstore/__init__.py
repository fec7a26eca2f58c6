"""A graph-database-backed store for the traces of distributed PyTorch jobs.

```python
import graphstore

here = graphstore.settings.load()
graphstore.import_runs(["run_dir"], graphstore.ImportOptions(run="nightly"), here)
findings = graphstore.check_run("nightly", here)
```

Every name of graphstore.api is one of this package, too; each is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphstore.api import *  # noqa: F403 - the names that api lists, no more

__version__ = "0.1.0"

_MODULES = ("api", "errors", "settings")

if not TYPE_CHECKING:  # to a type checker it would say that any name is there

    def __getattr__(name: str) -> Any:
        """Return a module that a person needs, or a name of the api; it stays here, so this is asked once."""
        if name in _MODULES:
            return import_module(f"graphstore.{name}")
        if not name.startswith("_"):
            api = import_module("graphstore.api")
            if name in api.__all__:
                globals()[name] = getattr(api, name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """Return the names a person may complete."""
        return sorted({*globals(), *_MODULES, *import_module("graphstore.api").__all__})
