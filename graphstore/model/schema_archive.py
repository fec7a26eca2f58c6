"""What the archive keeps over its runs, beside them: sums per name, so that no run need be opened for them.

In:  nothing. Out: labels that a store makes of what is in a run, and keeps true; they are no part of a run.
Decided here: one model on both engines, nodes of label NameSum. The embedded store keeps them in archive.kgl
(a file beside the run files), Neo4j among the runs; the same statement of cypher/archive/ asks either. Sums
made anew for every question would open every run file, and read every op of a server. The graph of a run:
schema.py.
"""

from __future__ import annotations

from graphstore.model.schema_types import Index, Label, p

NAME_SUM = Label(
    "NameSum",
    "sums over the ops of one run that bear one name",
    "key",
    (
        p("key", "text", "key: run, kind and name"),
        p("run", "text", "the run"),
        p("kind", "text", "kind of the ops: HostOp, Kernel, CollectiveCall …"),
        p("name", "text", "their name; of a CollectiveCall its collective_kind, where that is known"),
        p("nodes", "int", "how many"),
        p("duration_ns", "int", "sum from start to end; null where no time is known, or beyond 2⁶²"),
        p("self_ns", "int", "sum of their own time; null for kinds without"),
        p("size_bytes", "int", "sum of their bytes; null where none are known, or beyond 2⁶²"),
    ),
)
ARCHIVE_LABELS: tuple[Label, ...] = (NAME_SUM,)
ARCHIVE_INDEXES: tuple[Index, ...] = (Index("name_sum_run", "NameSum", ("run",)),)
