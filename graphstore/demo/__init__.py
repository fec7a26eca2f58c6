"""The recorded run that ships with graphstore, for `graphstore demo` and for trying things out.

In:  nothing. Out: the folder of its trace files. What is in them: README.md beside this file.
"""

from __future__ import annotations

from pathlib import Path

TRACES = Path(__file__).resolve().parent / "traces"
