"""Sends, recvs and which of them fit: solved for classes of equal calls, or for single calls.

In:  `Units`. Out: the same with only the ways that some complete pairing uses, and the parts that have none.
Decided here: a call whose other side may be an open rank may have gone there, and that rank may have taken
and sent any number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.peers.flow import Ints, possible_pairs


@dataclass
class Units:
    """What is paired. `units`: unit (rising), is_send, count and part; `ways`: send and recv (units), group,
    src and dst; `outside`: unit, group and other, of the ways to open ranks.
    """

    units: pl.DataFrame
    ways: pl.DataFrame
    outside: pl.DataFrame

    def meanings(self) -> pl.DataFrame:
        """Return what each unit can mean: unit, other (global rank) and group, each once."""
        return pl.concat(
            [
                self.ways.select("group", unit="send", other="dst"),
                self.ways.select("group", unit="recv", other="src"),
                self.outside.select("group", "unit", "other"),
            ]
        ).unique(maintain_order=True)


def solve(given: Units) -> tuple[Units, set[int]]:
    """Return the units with the ways that some complete pairing uses, and the parts that cannot be paired."""
    pairs = given.ways.select("send", "recv").unique(maintain_order=True)
    sends, recvs = given.units.filter("is_send"), given.units.filter(~pl.col("is_send"))
    out = given.units.join(given.outside, on="unit", how="semi", maintain_order="left")
    going, coming = out.filter("is_send"), out.filter(~pl.col("is_send"))
    numbers = given.units["part"].unique().sort().to_numpy()
    # each part has one more on either side, that stands for all open ranks: it takes what is left
    satisfied, possible = possible_pairs(
        np.concatenate([sends["count"].to_numpy(), _totals(recvs, numbers)]),
        np.concatenate([recvs["count"].to_numpy(), _totals(sends, numbers)]),
        np.concatenate(
            [
                _at(sends["unit"], pairs["send"]),
                _at(sends["unit"], going["unit"]),
                sends.height + np.searchsorted(numbers, coming["part"].to_numpy()),
                sends.height + np.arange(numbers.size),
            ]
        ),
        np.concatenate(
            [
                _at(recvs["unit"], pairs["recv"]),
                recvs.height + np.searchsorted(numbers, going["part"].to_numpy()),
                _at(recvs["unit"], coming["unit"]),
                recvs.height + np.arange(numbers.size),
            ]
        ),
    )
    used = pairs.filter(pl.Series(possible[: pairs.height], dtype=pl.Boolean))
    outer = pl.concat([going["unit"], coming["unit"]]).filter(
        pl.Series(possible[pairs.height : pairs.height + out.height], dtype=pl.Boolean)
    )
    unpaired = np.concatenate([sends["part"].to_numpy(), numbers])[~satisfied]
    ways = given.ways.join(used, on=["send", "recv"], how="semi", maintain_order="left")
    outside = given.outside.filter(pl.col("unit").is_in(outer.implode()))
    return Units(given.units, ways, outside), set(unpaired.tolist())


def _at(units: pl.Series, wanted: pl.Series) -> Ints:
    return np.searchsorted(units.to_numpy(), wanted.to_numpy())


def _totals(units: pl.DataFrame, parts: Ints) -> Ints:
    """Return how many calls each part has."""
    place = np.searchsorted(parts, units["part"].to_numpy())
    return np.bincount(place, weights=units["count"].to_numpy(), minlength=parts.size).astype(np.int64)
