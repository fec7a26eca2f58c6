"""The ledger: every record read is kept or left out by a named reason, and the sums must agree.

In: counts from a reader. Out: a `Tally` that balances or raises. Shown by every import.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphstore.errors import LedgerError


@dataclass
class Tally:
    """Counts of one file: records read = kept + the sum of left_out."""

    read: int = 0
    kept: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count `count` records as left out for `reason` (0 leaves no trace)."""
        if count:
            self.left_out[reason] = self.left_out.get(reason, 0) + count

    def check(self, name: str) -> None:
        """Raise LedgerError when the counts of file `name` do not add up."""
        accounted = self.kept + sum(self.left_out.values())
        if self.read != accounted:
            raise LedgerError(
                f"{name}: {self.read} records read but {accounted} accounted for "
                f"({self.kept} kept, {self.left_out}). Nothing was loaded; this is a defect of graphstore."
            )

    def __add__(self, other: Tally) -> Tally:
        """Return the sum of two tallies."""
        total = Tally(self.read + other.read, self.kept + other.kept, dict(self.left_out))
        for reason, count in other.left_out.items():
            total.leave_out(reason, count)
        return total
