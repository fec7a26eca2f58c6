"""Sums per name of a run, as the archive keeps them (model/schema_archive.py): the statement for any engine.

In:  nothing. Out: texts that take `$run`. Decided here: what is summed, and in two halves: a trace may hold
sizes whose sum is beyond 64 bits, which both engines refuse; such a sum is null, and the run is kept. The
embedded store puts the rows into archive.kgl (kglite_archive.py), Neo4j makes nodes of them where they are
(neo4j_write.py).
"""

from __future__ import annotations

_NAME = "CASE WHEN n.kind = 'CollectiveCall' THEN coalesce(n.collective_kind, n.name) ELSE n.name END"
_SUMMED = ("duration_ns", "self_ns", "size_bytes")
_HALF = 1 << 31
_EACH = ", ".join(
    f"count(n.{name}) AS {name}_known, sum(n.{name} / {_HALF}) AS {name}_high, "
    f"sum(n.{name} % {_HALF}) AS {name}_low"
    for name in _SUMMED
)
# In one step: to carry nodes through a WITH costs the embedded engine 6 kB each and seven times the time.
_SUMS = f"MATCH (n:Op) WHERE n.run = $run WITH n.kind AS kind, {_NAME} AS name, count(*) AS nodes, {_EACH}"
_COLUMNS = {"kind": "kind", "name": "name", "nodes": "nodes"} | {
    name: (
        f"CASE WHEN {name}_known = 0 OR abs({name}_high) >= {_HALF} THEN null "
        f"ELSE {name}_high * {_HALF} + {name}_low END"
    )
    for name in _SUMMED
}
_RETURNED = ", ".join(f"{what} AS {name}" for name, what in _COLUMNS.items())
_SET = ", ".join(f"{name}: {what}" for name, what in _COLUMNS.items())

READ = f"{_SUMS} RETURN {_RETURNED} ORDER BY kind, name"
REMOVE = "MATCH (s:NameSum) WHERE s.run = $run DELETE s"
MAKE = f"{_SUMS} CREATE (s:NameSum) SET s = {{run: $run, key: $run + '\t' + kind + '\t' + name, {_SET}}}"
