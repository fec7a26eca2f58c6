"""The forest of calls: parents by recorded id, tops, depths, paths and inherited values.

In:  node ids, recorded parent ids and places in the file; then `parent`, a row number a node, -1 for none.
Out: arrays by row. Decided here: which of several nodes with one id is meant, what a node in a cycle gets
(no root, depth or path), and how long a path may grow. No recursion: all goes by doubling or by levels.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.nesting import Bools, Ints

PATH_SEPARATOR = " / "
PATH_SKIP = " / … / "
PATH_NAMES = 64  # a deeper op's path names its 64 outermost callers, then "…", then itself


def rows_named(node_id: Ints, order: Ints, wanted_id: Ints, wanted_order: Ints, known: Bools) -> Ints:
    """Return for each wanted id the row that bears it, -1 where none does or `known` is false.

    Nodes are written when their op exits, so a parent comes after its child: of several nodes with the id
    the first one written after the asker is meant, else the last before it.
    """
    if not node_id.size:
        return np.full(wanted_id.size, -1, dtype=np.int64)
    ids = np.sort(node_id)
    ids = ids[np.append(True, np.diff(ids) > 0)]  # np.unique hashes: 30 times slower on rising ids
    width = int(max(order.max(), wanted_order.max(initial=0))) + 2
    key = np.searchsorted(ids, node_id) * width + order
    by_key = np.argsort(key)
    dense = np.minimum(np.searchsorted(ids, wanted_id), ids.size - 1)
    present = known & (ids[dense] == wanted_id)
    after = np.searchsorted(key[by_key], dense * width + wanted_order, side="right")
    row_after = by_key[np.minimum(after, by_key.size - 1)]
    row_before = by_key[np.maximum(after - 1, 0)]
    is_after = (after < by_key.size) & (node_id[row_after] == wanted_id)
    return np.where(present, np.where(is_after, row_after, row_before), -1)


def tops(parent: Ints) -> tuple[Ints, Ints]:
    """Return (root row, depth) of each row; both -1 for a row whose callers run into a cycle.

    Doubling: after k rounds a row knows its ancestor 2^k up, so log2(depth) rounds do.
    """
    rows = np.arange(parent.size)
    is_root = parent < 0
    ancestor = np.where(is_root, rows, parent)
    depth = (~is_root).astype(np.int64)
    for _ in range(max(1, int(parent.size).bit_length())):
        if is_root[ancestor].all():
            break
        depth += depth[ancestor]
        ancestor = ancestor[ancestor]
    reached = is_root[ancestor]
    return np.where(reached, ancestor, -1), np.where(reached, depth, -1)


def nearest_marked(parent: Ints, marked: Bools) -> Ints:
    """Return for each row the nearest marked row on the way up, itself included; -1 where there is none."""
    rows = np.arange(parent.size)
    up = np.where(marked | (parent < 0), rows, parent)
    for _ in range(max(1, int(parent.size).bit_length())):
        further = up[up]
        if np.array_equal(further, up):
            break
        up = further
    return np.where(marked[up], up, -1) if up.size else up


def paths(names: pl.Series, parent: Ints, depth: Ints) -> pl.Series:
    """Return the names from the top of the tree to each row, joined by ' / '; null where depth is -1.

    Level by level over distinct paths: a million ops of a training loop share a few thousand of them.
    """
    name_code = names.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    path = np.full(parent.size, -1, dtype=np.int64)  # number of the row's path in `texts`
    texts: list[str] = []
    for level in range(min(int(depth.max(initial=-1)), PATH_NAMES - 1) + 1):
        rows = np.flatnonzero(depth == level)
        above = path[parent[rows]] if level else np.full(rows.size, -1, dtype=np.int64)
        path[rows] = _add_paths(texts, above, name_code[rows], names.gather(rows), PATH_SEPARATOR)
    deep = np.flatnonzero(depth >= PATH_NAMES)
    if deep.size:
        stem = nearest_marked(parent, (depth >= 0) & (depth < PATH_NAMES))[deep]
        path[deep] = _add_paths(texts, path[stem], name_code[deep], names.gather(deep), PATH_SKIP)
    at = pl.Series(np.where(path >= 0, path, len(texts)))
    return pl.Series("path", [*texts, None], dtype=pl.String).gather(at)


def _add_paths(texts: list[str], above: Ints, code: Ints, names: pl.Series, separator: str) -> Ints:
    """Append the distinct paths `above` + name to `texts`; return the number of each row's path."""
    key = (above + 1) * (int(code.max(initial=0)) + 1) + code
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    base = len(texts)
    texts.extend(
        name if stem < 0 else f"{texts[stem]}{separator}{name}"
        for stem, name in zip(above[first].tolist(), names.gather(first).to_list(), strict=True)
    )
    numbers: Ints = inverse.astype(np.int64) + base
    return numbers
