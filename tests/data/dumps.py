"""Small Flight Recorder dumps in a line each, as torch writes them (version 2.10), and files made of them.

`entry` and `dump` give plain objects; what is not named is as in a healthy job of two ranks.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

from graphstore.model.records import FileRecords
from graphstore.readers import read_file
from graphstore.settings import Settings

Value = dict[str, Any]

CREATED = 1_795_970_774_946_710_948  # ns
USER = {"name": "step", "filename": "/home/user/job/train.py", "line": 82}
TORCH = {
    "name": "all_reduce",
    "filename": "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
    "line": 3245,
}


def entry(record_id: int = 0, name: str = "nccl:all_reduce", **more: Any) -> Value:
    """Return an entry of the default group; its number in the group is one more than `record_id`."""
    made: Value = {
        "frames": [TORCH, USER],
        "record_id": record_id,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": record_id + 1,
        "p2p_seq_id": 0,
        "op_id": record_id + 1,
        "profiling_name": name,
        "time_created_ns": CREATED + record_id,
        "input_sizes": [[4, 4]],
        "input_dtypes": ["Float"],
        "output_sizes": [[4, 4]],
        "output_dtypes": ["Float"],
        "state": "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
        "retired": False,
        "timeout_ms": 600_000,
        "is_p2p": False,
        "thread_id": "140619622325120",
        "thread_name": "python",
    }
    return made | more


def group(name: str, desc: str, ranks: str) -> dict[str, Value]:
    """Return an item of pg_config."""
    return {name: {"name": name, "desc": desc, "ranks": ranks}}


def dump(*entries: Value, **more: Any) -> Value:
    """Return a dump of a rank of the group [0, 1]."""
    counters = {"last_enqueued_collective": len(entries), "last_started_collective": -1}
    made: Value = {
        "version": "2.10",
        "pg_config": group("0", "default_pg", "[0, 1]"),
        "pg_status": {"0": counters | {"last_completed_collective": 0}},
        "comm_lib_version": "2.27.3",
        "entries": list(entries),
    }
    return made | more


def read(file: Path, value: Any, *, form: str = "pickle", protocol: int = 2, **limits: Any) -> FileRecords:
    """Write `value` to a file and return what the reader makes of it; its ledger must balance."""
    file.write_bytes(
        value
        if isinstance(value, bytes)
        else pickle.dumps(value, protocol=protocol)
        if form == "pickle"
        else json.dumps(value).encode()
    )
    records = read_file(str(file), Settings(store="", **limits), explicit=True)
    records.tally.check(str(file))
    return records


def refusal(file: Path, value: Any, **how: Any) -> str:
    """Return why a file is refused: one line that names the file, and nothing loaded."""
    records = read(file, value, **how)
    problem = str(records.facts["problem"])
    assert problem.startswith(str(file))
    assert len(problem.splitlines()) == 1
    assert (records.tables, records.flight, records.tally.read) == ({}, None, 0)
    return problem
