"""The calls of a rank as a forest in the order of entry, ready to be laid beside that of another run.

In:  the host ops of one rank in two runs. Out: a `Tree` each, with codes that mean the same in both.
Decided here: what makes two ops the same by name (the marks of all steps are one name), that the recorder's
roots (process, thread) are no callers, nor step marks where only one run has them, and which threads
correspond: by role, which is what runs on them, for thread ids differ from run to run. Threads of a pool
(gloo, nccl …) share one role, as work falls on them by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.forest import paths, tops
from graphstore.link.nesting import Bools, Ints
from graphstore.model.markers import GROUP_INIT, PROCESS_ROOTS, STEP_NAME, THREAD_ROOTS
from graphstore.queries.diffing.columns import NONE

STEP = "ProfilerStep"
ROOTS = (*PROCESS_ROOTS, *THREAD_ROOTS, GROUP_INIT)
MAIN, BACKWARD, RECORDER = "main", "backward", "recorder"
BACKWARD_OP = "autograd::engine::evaluate_function"

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]
_PLACE, _CHILD, _NAME = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xC2B2AE3D27D4EB4F),
    np.uint64(0x165667B19E3779F9),
)


@dataclass(frozen=True)
class Tree:
    """The host ops of a rank in preorder: the subtree of row r is rows r to r + size[r].

    `parent`: row of the caller, -1 for an outermost op; `role`: of the thread, equal text in both runs;
    `code` and `path`: numbers of name and path, equal in both runs; `shape`: equal where two subtrees have
    the same names in the same order; `encloser`: row of the innermost op around it in time, -1 for none.
    """

    ops: pl.DataFrame
    uid: Ints
    parent: Ints
    size: Ints
    code: Ints
    path: Ints
    shape: Hashes
    start: Ints
    duration: Ints
    own: Ints
    step: Ints
    encloser: Ints
    role: pl.Series
    child_rows: Ints
    first_child: Ints

    @property
    def timed(self) -> Bools:
        """Return whether each op has a time."""
        known: Bools = self.duration != NONE
        return known

    @property
    def main(self) -> Bools:
        """Return which ops have a time and are on the main thread."""
        return (self.role == MAIN).to_numpy() & self.timed

    @property
    def end(self) -> Ints:
        """Return the end of each op; without meaning where it has no time."""
        return self.start + self.duration

    def children(self, row: int) -> Ints:
        """Return the rows an op called, in their order."""
        return self.child_rows[self.first_child[row] : self.first_child[row + 1]]

    def rows_of(self, uids: pl.Series) -> Ints:
        """Return the rows with these uids, -1 where there is none."""
        if not self.uid.size:
            return np.full(uids.len(), NONE, dtype=np.int64)
        order = np.argsort(self.uid)
        wanted = uids.to_numpy()
        place = np.minimum(np.searchsorted(self.uid[order], wanted), self.uid.size - 1)
        return np.where(self.uid[order][place] == wanted, order[place], NONE)


def plain_names(names: pl.Series) -> pl.Series:
    """Return names without what numbers them: the marks of all steps are one name."""
    return names.to_frame("n").select(pl.col("n").str.replace(STEP_NAME, STEP)).to_series()


def grow(hosts: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[Tree, Tree, pl.Series]:
    """Return the trees of two runs, and the text of each path by its number."""
    names = pl.concat([plain_names(host["name"]) for host in hosts])
    codes = names.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() if names.len() else _none(0)
    marked = [bool((plain_names(host["name"]) == STEP).any()) for host in hosts]
    no_callers = ROOTS if all(marked) else (*ROOTS, STEP)
    parents = [_parents(host.with_row_index("row"), no_callers) for host in hosts]
    cut = hosts[0].height
    parent = np.concatenate([parents[0], np.where(parents[1] >= 0, parents[1] + cut, NONE)])
    _, depth = tops(parent)
    texts = paths(names, parent, depth)
    path = texts.rank("dense").cast(pl.Int64).to_numpy() - 1 if names.len() else _none(0)
    text_of = texts.unique().sort()
    made = []
    for host, above, rows in (
        (hosts[0], parents[0], slice(0, cut)),
        (hosts[1], parents[1], slice(cut, None)),
    ):
        made.append(_tree(host, above, codes[rows], path[rows], depth[rows]))
    return made[0], made[1], text_of


def _none(size: int) -> Ints:
    return np.full(size, NONE, dtype=np.int64)


def _parents(host: pl.DataFrame, no_callers: Sequence[str]) -> Ints:
    """Return the row of each op's caller; -1 for none, for what is no caller, and in a cycle."""
    rows = host.filter(~plain_names(host["name"]).is_in(no_callers)).select(
        pl.col("uid").alias("caller"), "row"
    )
    found = host.select("caller").join(rows, on="caller", how="left", maintain_order="left")["row"]
    parent = found.fill_null(NONE).cast(pl.Int64).to_numpy()
    _, depth = tops(parent)
    return np.where(depth >= 0, parent, NONE)


def _tree(host: pl.DataFrame, parent: Ints, code: Ints, path: Ints, depth: Ints) -> Tree:
    """Return the tree of one run."""
    roles = _roles(host, parent)
    order = _preorder(parent, roles)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    ops = host[order]
    above = np.where(parent[order] >= 0, place[np.maximum(parent[order], 0)], NONE) if order.size else order
    levels = _levels(depth[order])
    child_rows = np.argsort(above, kind="stable")
    size = np.ones(order.size, dtype=np.int64)
    for rows in levels[:0:-1]:
        np.add.at(size, above[rows], size[rows])
    tree = Tree(
        ops=ops,
        uid=ops["uid"].to_numpy(),
        parent=above,
        size=size,
        code=code[order],
        path=path[order],
        shape=_shapes(code[order], above, levels),
        start=ops["start_ns"].to_numpy(),
        duration=ops["duration_ns"].to_numpy(),
        own=ops["self_ns"].to_numpy(),
        step=_step_places(ops["step"]),
        encloser=_none(order.size),
        role=roles[order],
        child_rows=child_rows,
        first_child=np.searchsorted(above[child_rows], np.arange(order.size + 1)),
    )
    tree.encloser[:] = tree.rows_of(ops["encloser"])
    return tree


def _levels(depth: Ints) -> list[Ints]:
    """Return the rows of each depth, the outermost first."""
    order = np.argsort(depth, kind="stable")
    ends = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    return [order[ends[k] : ends[k + 1]] for k in range(ends.size - 1)]


def _places(above: Ints) -> Ints:
    """Return the place of each row among the rows of the same caller."""
    order = np.argsort(above, kind="stable")
    rising = np.arange(order.size)
    begins = np.append(True, np.diff(above[order]) != 0)
    out = np.empty_like(rising)
    out[order] = rising - np.maximum.accumulate(np.where(begins, rising, 0))
    return out


def _shapes(code: Ints, above: Ints, levels: list[Ints]) -> Hashes:
    """Return a number for each subtree that says which names it holds in which order (64 bits, wrapping)."""
    place = _places(above).astype(np.uint64) if above.size else above.astype(np.uint64)
    inner = np.zeros(code.size, dtype=np.uint64)
    shape = np.zeros(code.size, dtype=np.uint64)
    for rows in levels[::-1]:
        shape[rows] = _mixed(code[rows].astype(np.uint64) * _NAME + inner[rows])
        inside = rows[above[rows] >= 0]
        np.add.at(inner, above[inside], _mixed(shape[inside] + place[inside] * _PLACE) * _CHILD)
    return shape


def _mixed(values: Hashes) -> Hashes:
    """Return values whose bits depend on all bits of the given ones (the finish of MurmurHash3)."""
    out = values ^ (values >> np.uint64(33))
    out = out * np.uint64(0xFF51AFD7ED558CCD)
    out = out ^ (out >> np.uint64(33))
    out = out * np.uint64(0xC4CEB9FE1A85EC53)
    mixed: Hashes = out ^ (out >> np.uint64(33))
    return mixed


def _preorder(parent: Ints, roles: pl.Series) -> Ints:
    """Return the rows in preorder: by role, callers before what they call, else as they stand."""
    key = roles.rank("dense").to_numpy()
    children: dict[int, list[int]] = {}
    for row, above in zip(range(parent.size - 1, -1, -1), parent[::-1].tolist(), strict=True):
        if above >= 0:
            children.setdefault(above, []).append(row)
    outer = np.flatnonzero(parent < 0)
    stack = outer[np.argsort(key[outer], kind="stable")][::-1].tolist()
    out = []
    while stack:
        row = stack.pop()
        out.append(row)
        stack.extend(children.get(row, ()))
    return np.array(out, dtype=np.int64)


_THREAD = ("process", "thread", "tid")


def _roles(host: pl.DataFrame, parent: Ints) -> pl.Series:
    """Return for each op the role of its thread; the recorder's own roots have one to themselves."""
    on_thread = pl.col("thread") != NONE
    of_backward = pl.col("name").str.starts_with(BACKWARD_OP)
    ops = host.select(
        pl.when(on_thread).then("process").otherwise(NONE).alias("process"),
        "thread",
        pl.when(on_thread).then(NONE).otherwise("tid").alias("tid"),
        pl.col("name").is_in(ROOTS).alias("root"),
        pl.col("name").str.contains(STEP_NAME).alias("mark"),
        of_backward.alias("backward"),
        (pl.Series(parent < 0) & ~of_backward).alias("outermost"),
        pl.col("name").str.split(":").list.first().alias("word"),
    )
    known = ops.filter(~pl.col("root"))
    words = known.group_by(*_THREAD, "word").len().sort("len", "word", descending=[True, False])
    threads = (
        known.group_by(_THREAD, maintain_order=True)
        .agg(pl.col("mark", "backward", "outermost").sum(), pl.len())
        .join(words.unique(_THREAD, keep="first", maintain_order=True), on=_THREAD, maintain_order="left")
    )
    named = threads.with_columns(pl.Series("role", _named(threads), dtype=pl.String))
    found = ops.join(named.select(*_THREAD, "role"), on=_THREAD, how="left", maintain_order="left")
    return found.select(pl.when("root").then(pl.lit(RECORDER)).otherwise("role").alias("role")).to_series()


def _named(threads: pl.DataFrame) -> list[str]:
    """Return the role of each thread, in the order of their first ops.

    Main is the one with step marks, else with the most outermost ops that are not of a backward pass. Threads
    of autograd are numbered, pools are called by the first word of most of their ops.
    """
    weights = threads.select("mark", "outermost", "len").rows()
    main = max(range(len(weights)), key=lambda at: weights[at], default=-1)
    out = []
    for at, (backward, word) in enumerate(threads.select("backward", "word").iter_rows()):
        if at == main:
            out.append(MAIN)
        else:
            out.append(
                f"{BACKWARD} {sum(role.startswith(BACKWARD) for role in out) + 1}" if backward else word
            )
    return out


def _step_places(step: pl.Series) -> Ints:
    """Return for each op the place of its step among the steps of the rank, -1 outside of every step."""
    numbers = np.unique(step.filter(step != NONE).to_numpy())
    values = step.to_numpy()
    if not numbers.size:
        return _none(values.size)
    found = np.minimum(np.searchsorted(numbers, values), numbers.size - 1)
    return np.where(numbers[found] == values, found, NONE)
