"""Nesting in time: which span encloses which on one thread, and how much of a span is its own.

In:  columns of spans (thread group, start, end, creation number), numpy int64.
Out: index of the innermost encloser of each span, or of each span of another table; -1 where none.
Decided here: ties and tolerances. The innermost encloser of a span is, among those that begin no later
and end no earlier on its thread, the one entered last. Sorted by entry that is "the nearest before me
that ends no earlier", which a tree of maxima answers for all spans at once in n log n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Kineto writes µs as floating point: at today's clocks a time is exact to 1 ns, the end made of two to 2.
TOLERANCE_NS = 2

_LOWEST = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Spans:
    """Spans sorted by thread and entry, ready to be asked; `row[k]` is the place of the k-th in the input."""

    row: Ints
    group: Ints
    start: Ints
    end: Ints
    tree: list[Ints]

    def enclosers(self) -> Ints:
        """Return for each input span the input place of its innermost encloser, -1 where there is none."""
        place = np.arange(self.row.size)
        found = self._last_ending_after(place, self.end - TOLERANCE_NS, self.group)
        out = np.full(self.row.size, -1, dtype=np.int64)
        out[self.row] = found
        return out

    def innermost(self, group: Ints, time: Ints) -> Ints:
        """Return for each (thread, time) the input place of the innermost span it lies in, -1 for none.

        Ends count as inside, but a span that goes on is preferred: in whole-µs files a call often starts in
        the µs in which the op before it ends.
        """
        before = self._entered_until(group, time + TOLERANCE_NS)
        found = self._last_ending_after(before, time + TOLERANCE_NS + 1, group)
        open_ = np.flatnonzero(found < 0)
        found[open_] = self._last_ending_after(before[open_], time[open_] - TOLERANCE_NS, group[open_])
        return found

    def latest_started(self, time: Ints) -> Ints:
        """Return for each time the input place of the span started last before it, on whatever thread."""
        order = np.argsort(self.start, kind="stable")
        at = np.searchsorted(self.start[order], time, side="right") - 1
        out = np.full(time.size, -1, dtype=np.int64)
        out[at >= 0] = self.row[order[at[at >= 0]]]
        return out

    def _entered_until(self, group: Ints, time: Ints) -> Ints:
        """Return how many sorted spans lie before (group, time], i.e. the end of the prefix to search."""
        out = np.zeros(group.size, dtype=np.int64)
        for value in np.unique(group):
            first, last = np.searchsorted(self.group, [value, value + 1])
            asked = group == value
            out[asked] = first + np.searchsorted(self.start[first:last], time[asked], side="right")
        return out

    def _last_ending_after(self, before: Ints, end: Ints, group: Ints) -> Ints:
        """Return the input place of the last span of `group` before each place that ends no earlier."""
        at = last_at_least(self.tree, before, end)
        known = at >= 0
        known[known] = self.group[at[known]] == group[known]
        out = np.full(before.size, -1, dtype=np.int64)
        out[known] = self.row[at[known]]
        return out


def sort_spans(group: Ints, start: Ints, end: Ints, created: Ints | None, order: Ints) -> Spans:
    """Return the spans sorted by thread and entry.

    Entry is by start; starts within the tolerance are one. Among equal starts `created` (Kineto's External
    id) decides where it rises with time on every thread, as in all files seen: in whole-µs files a short op
    often shares the start of the op after it (dlrm_8r: 1,567 of 1,567 parents right, 1,562 with the longer
    first). Else the longer comes first, then the order in the file.
    """
    first = np.lexsort((start, group))
    snapped = _snap(group[first], start[first])
    begin = np.empty_like(start)
    begin[first] = snapped
    row = np.empty(0, dtype=np.int64)
    trusted = False
    if created is not None:
        row = np.lexsort((created, begin, group))
        same = np.diff(group[row]) == 0
        trusted = bool(np.all(np.diff(created[row])[same] > 0))
    if not trusted:
        row = np.lexsort((order, -end, begin, group))
    return Spans(row, group[row], begin[row], end[row], max_tree(end[row]))


def _snap(group: Ints, start: Ints) -> Ints:
    """Return sorted starts with each run of starts no further apart than the tolerance set to its first."""
    if not start.size:
        return start
    head = np.ones(start.size, dtype=np.bool_)
    head[1:] = (np.diff(group) != 0) | (np.diff(start) > TOLERANCE_NS)
    snapped: Ints = start[np.flatnonzero(head)[np.cumsum(head) - 1]]
    return snapped


def max_tree(values: Ints) -> list[Ints]:
    """Return levels of maxima: level 0 the values, each next one the maxima of pairs, up to a single one."""
    levels = [values]
    while levels[-1].size > 1:
        below = levels[-1]
        if below.size % 2:
            below = np.append(below, _LOWEST)
            levels[-1] = below
        levels.append(np.maximum(below[0::2], below[1::2]))
    return levels


def last_at_least(tree: list[Ints], before: Ints, threshold: Ints) -> Ints:
    """Return for each query the largest place < `before` whose value is ≥ `threshold`, -1 where none is.

    All queries climb and descend the tree together: log n steps over ever fewer queries.
    """
    out = np.full(before.size, -1, dtype=np.int64)
    height = np.full(before.size, -1, dtype=np.int64)  # level at which a query found its subtree
    position = before.copy()
    active = np.flatnonzero(position > 0)
    for level, maxima in enumerate(tree):
        left = active[position[active] % 2 == 1]  # a right child: its left neighbour lies before it
        hit = left[maxima[position[left] - 1] >= threshold[left]]
        out[hit], height[hit] = position[hit] - 1, level
        position >>= 1
        active = active[(height[active] < 0) & (position[active] > 0)]
    for level in range(len(tree) - 1, 0, -1):
        going = np.flatnonzero(height == level)
        right = 2 * out[going] + 1
        inside = tree[level - 1][right] >= threshold[going]
        out[going], height[going] = np.where(inside, right, right - 1), level - 1
    return out


def at(values: Ints, places: Ints) -> Ints:
    """Return values[places], -1 where the place is -1."""
    if not values.size:
        return np.full(places.size, -1, dtype=np.int64)
    return np.where(places >= 0, values[np.maximum(places, 0)], -1)


def own_time(duration: Ints, encloser: Ints) -> Ints:
    """Return the duration of each span less that of the spans it directly encloses, never below 0.

    Below 0 it would come only where siblings overlap or ends are rounded (`design.md` §3: self_ns).
    """
    inside = encloser >= 0
    children = np.zeros(duration.size, dtype=np.int64)
    np.add.at(children, encloser[inside], duration[inside])
    own: Ints = np.maximum(duration - children, 0)
    return own
