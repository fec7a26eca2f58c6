"""Read one file of whatever kind: what it holds, or the one line that says why nothing was read of it.

In:  a path. Out: FileRecords whose tally balances.
Decided here: that a broken file is a fact of the run and never stops the others. Many files at once:
parallel.py; telling the kind: detect.py.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphstore.errors import InputError, TraceFormatError
from graphstore.model.records import FileRecords
from graphstore.readers.detect import NOT_A_TRACE, Detected, detect
from graphstore.readers.source import Source, open_source
from graphstore.settings import Settings

Reader = Callable[[Source], FileRecords]

READERS = {  # by name: a process loads the reader of the files it is given, and what that needs
    "et": "graphstore.readers.execution_trace:read_execution_trace",
    "kineto": "graphstore.readers.kineto:read_kineto",
    "chakra_et": "graphstore.readers.chakra_trace:read_chakra_trace",
    "flight_recorder": "graphstore.readers.flight_recorder:read_flight_recorder",
}


def read_file(path: str, settings: Settings, explicit: bool) -> FileRecords:
    """Return the records of a file; never raises for what is wrong with the file itself.

    A broken or unreadable file has facts.problem and no tables. A file that is no trace has kind
    `not_a_trace`, and a problem only when `explicit`: when a person named it as one.
    """
    detected = Detected(NOT_A_TRACE)
    try:
        with open_source(path, settings) as source:
            try:
                detected = detect(source)
                records = _read(source, detected, explicit)
            except TraceFormatError as error:
                records = broken(path, source.facts() | {"kind": detected.kind}, str(error))
            except RecursionError:
                problem = f"{path}: lists and objects are nested too deep. Nothing of it was loaded."
                records = broken(path, source.facts() | {"kind": detected.kind}, problem)
    except InputError as error:
        facts = {"path": path, "name": Path(path).name, "kind": detected.kind}
        records = broken(path, facts, str(error))
    records.close_ledger()
    return records


def _read(source: Source, detected: Detected, explicit: bool) -> FileRecords:
    if detected.kind in READERS:
        read: Reader = pkgutil.resolve_name(READERS[detected.kind])
        return read(source)
    records = FileRecords(source.path, source.facts() | {"kind": detected.kind})
    if explicit:
        records.facts["problem"] = (
            f"{source.path}: is no trace but {detected.what}. Want an execution trace, a Kineto trace, a "
            "Flight Recorder dump or a Chakra file."
        )
    else:
        records.tally.read = 1
        records.tally.leave_out(f"not a trace: {detected.what}")
    return records


def broken(path: str, facts: dict[str, Any], problem: str) -> FileRecords:
    """Return what is left of a file nothing could be read of: its facts and the problem in one line."""
    return FileRecords(path, facts | {"problem": problem})
