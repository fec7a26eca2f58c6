"""Two runs of one program compared op by op: what was added, removed, moved, slower or faster, and where."""

from graphstore.queries.diffing.diff import DiffResult, diff

__all__ = ["DiffResult", "diff"]
