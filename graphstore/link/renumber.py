"""Move a run to another archive: another number, another id, the same graph.

In:  a RunGraph as a store holds it, with findings and repairs. Out: the same with uids of the new number and,
where asked for, the new id in every key that begins with it.
Decided here: which columns hold uids (UID_COLUMNS), and under which names the JSON of findings and repairs
does (UID_KEYS): numbers alone do not tell, a start in nanoseconds may look like a uid. Evidence that names
nodes by another word needs it here; tests/integration/test_moving.py compares with what the files give.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
import polars as pl

from graphstore.model.ids import UID_SHIFT, uid_of
from graphstore.model.records import EdgeTable, RunGraph

UID_COLUMNS = ("uid", "root", "encloser", "trace_file")
UID_KEYS = frozenset([*UID_COLUMNS, "uids", "parent", "src", "dst", "waits", "awaited", "kernel"])
RUN_KEYS = ("fid", "rid", "repair")  # keys of findings and repairs: they begin with the run's id
JSON_COLUMNS = {"Finding": ("evidence",), "Repair": ("evidence", "before", "after")}
TEXT_COLUMNS = {"Finding": "message", "Repair": "reason"}  # a node without another name is called 'uid N'

_UID_IN_TEXT = re.compile(r"\buid (\d+)")


def renumber(graph: RunGraph, run: str, run_no: int) -> RunGraph:
    """Return the graph as run `run` with number `run_no`; nothing else differs."""
    move = _Move(str(graph.run["run"]), run, int(graph.run["run_no"]), run_no)
    properties = graph.run | {"run": run, "run_no": run_no, "uid": uid_of(run_no, 0)}
    if properties["name"] == move.old:
        properties["name"] = run
    nodes = {label: move.nodes(label, frame) for label, frame in graph.nodes.items()}
    return RunGraph(properties, nodes, [move.edges(table) for table in graph.edges])


class _Move:
    """From one id and number to others."""

    def __init__(self, old: str, new: str, old_no: int, new_no: int) -> None:
        self.old, self.new = old, new
        self._first = old_no << UID_SHIFT
        self._shift = (new_no - old_no) << UID_SHIFT

    def nodes(self, label: str, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the nodes of a label, moved."""
        return frame.with_columns(
            pl.lit(self.new).alias("run"),
            *(pl.col(name) + self._shift for name in UID_COLUMNS if name in frame.columns),
            *(self._key(name) for name in RUN_KEYS if name in frame.columns),
            *(self._mapped(name, self._json) for name in JSON_COLUMNS.get(label, ())),
            *(self._mapped(name, self._text) for name in [TEXT_COLUMNS.get(label)] if name),
        )

    def edges(self, table: EdgeTable) -> EdgeTable:
        """Return the edges of a table between the moved nodes."""
        ends = []
        for end, label in (("src", table.source), ("dst", table.target)):
            if table.frame.schema[end] != pl.String:
                ends.append(pl.col(end) + self._shift)
            else:
                ends.append(pl.lit(self.new).alias(end) if label == "Run" else self._key(end))
        keys = [self._key("repair")] if "repair" in table.frame.columns else []
        return EdgeTable(table.type, table.source, table.target, table.frame.with_columns(*ends, *keys))

    def _key(self, name: str) -> pl.Expr:
        own = pl.col(name).str.starts_with(f"{self.old}:")
        moved = pl.lit(f"{self.new}:") + pl.col(name).str.slice(len(self.old) + 1)
        return pl.when(own).then(moved).otherwise(pl.col(name)).alias(name)

    def _mapped(self, name: str, change: Any) -> pl.Expr:
        return pl.col(name).map_elements(change, return_dtype=pl.String, skip_nulls=True)

    def _json(self, text: str) -> str:
        return orjson.dumps(self._value("", orjson.loads(text))).decode()

    def _value(self, key: str, value: Any) -> Any:
        """Return a value of JSON that stands under `key`, with its uids and keys moved."""
        if isinstance(value, dict):
            return {name: self._value(name, each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._value(key, each) for each in value]
        if key in UID_KEYS and isinstance(value, int) and not isinstance(value, bool):
            return self._uid(value)
        if key in RUN_KEYS and isinstance(value, str) and value.startswith(f"{self.old}:"):
            return self.new + value[len(self.old) :]
        return self.new if key == "run" and value == self.old else value

    def _text(self, text: str) -> str:
        return _UID_IN_TEXT.sub(lambda found: f"uid {self._uid(int(found[1]))}", text)

    def _uid(self, number: int) -> int:
        """Return a number moved, if it is a uid of the run."""
        return number + self._shift if number >> UID_SHIFT == self._first >> UID_SHIFT else number
