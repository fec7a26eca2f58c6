"""Waits as found by the rules of this room: from what is waited for to what waits, with the rule.

In:  rows of host ops, runtime calls and device ops. Out: a frame, and counts of what was left out and why.
Decided here: a wait whose source ends after its target starts contradicts the times, so it is left out and
counted (dependencies 1.5); of two rules for one pair the earlier added one stands.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from graphstore.link.nesting import Bools, Ints

SCHEMA = {"src_label": pl.String, "src": pl.Int64, "dst_label": pl.String, "dst": pl.Int64, "rule": pl.String}
KERNEL, CALL, HOST_OP = "Kernel", "RuntimeCall", "HostOp"


@dataclass
class Found:
    """Waits found so far, and {rule: waits that contradict the times}."""

    parts: list[pl.DataFrame] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(
        self, rule: str, source: tuple[str, Ints], target: tuple[str, Ints], kept: Bools | None = None
    ) -> None:
        """Add waits of a rule from rows of one label to rows of another; those not `kept` are counted."""
        (src_label, src), (dst_label, dst) = source, target
        if kept is not None:
            self.left_out[rule] += int((~kept).sum())
            src, dst = src[kept], dst[kept]
        if len(src):
            words = (pl.lit(src_label).alias("src_label"), pl.lit(dst_label).alias("dst_label"))
            rows = pl.DataFrame({"src": src, "dst": dst}).with_columns(*words, pl.lit(rule).alias("rule"))
            self.parts.append(rows.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items()))

    def frame(self) -> pl.DataFrame:
        """Return the waits, each pair once."""
        every = pl.concat([pl.DataFrame(schema=SCHEMA), *self.parts])
        return every.unique(["src_label", "src", "dst_label", "dst"], keep="first", maintain_order=True)
