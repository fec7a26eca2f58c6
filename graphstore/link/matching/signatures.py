"""What a call is, apart from when and where: kind, sizes, types. Each distinct one is kept once.

In:  fields of entries as recorded. Out: `Signature`s and numbers for them, so that matching compares
columns of integers. Decided here: what makes two signatures the same content (`content`), and what makes
two calls the same step of a program (`token`), where counts that may differ between ranks don't count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
COALESCED = "coalesced"

# Finished by one member = entered by all (matching.md §8).
SYNCHRONOUS_KINDS = frozenset({"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"})
SAME_INPUT_KINDS = frozenset({"all_reduce", "reduce", "broadcast"})


@dataclass(frozen=True)
class Signature:
    """One call's content as recorded; element counts are per tensor, None where not recorded.

    `src`, `dst` are the ends of a send or recv as places in the group, `tag` its tag where the backend tells
    calls apart by it. `parts` are the calls of a coalesced
    block, in order; none of them may be known (older recorders, or a ring that cut the block).
    """

    op_name: str
    kind: str | None
    in_sizes: str | None = None
    out_sizes: str | None = None
    in_dtypes: tuple[str, ...] = ()
    out_dtypes: tuple[str, ...] = ()
    in_nelems: tuple[int, ...] | None = None
    out_nelems: tuple[int, ...] | None = None
    src: int | None = None
    dst: int | None = None
    tag: int | None = None
    parts: tuple[Signature, ...] = ()

    @cached_property
    def in_count(self) -> int:
        """Return the input elements of all tensors."""
        return sum(self.in_nelems or ())

    @cached_property
    def out_count(self) -> int:
        """Return the output elements of all tensors."""
        return sum(self.out_nelems or ())

    @property
    def is_list(self) -> bool:
        """Return whether it takes or gives one tensor per member, whose sizes may then differ."""
        return max(len(self.in_nelems or ()), len(self.out_nelems or ())) > 1

    @property
    def has_sizes(self) -> bool:
        """Return whether the element counts were recorded."""
        return self.in_nelems is not None and self.out_nelems is not None

    @cached_property
    def dtypes(self) -> frozenset[str]:
        """Return the element types of its tensors; empty where it has none."""
        return frozenset(self.in_dtypes) | frozenset(self.out_dtypes)

    @property
    def word(self) -> str:
        """Return the kind, or the recorded name without its backend where the kind is unknown."""
        return self.kind or self.op_name.rsplit(":", 1)[-1]

    @property
    def is_gloo(self) -> bool:
        """Return whether gloo made the call: it never records an end, only that a call was given up."""
        return self.op_name.startswith("gloo:")

    @property
    def content(self) -> Hashable:
        """Return what equal content means: kind, counts per tensor and types, not names or shapes."""
        return (
            self.word,
            self.in_nelems,
            self.out_nelems,
            frozenset(self.in_dtypes),
            frozenset(self.out_dtypes),
            tuple(part.content for part in self.parts),
        )

    @property
    def token(self) -> Hashable:
        """Return the content without the counts that members of one call may differ in."""
        count: int | None = None
        if self.kind in SAME_INPUT_KINDS or (self.kind == "all_gather" and not self.is_list):
            count = self.in_count
        elif self.kind == "reduce_scatter":
            count = self.out_count
        return (self.word, count, self.dtypes, tuple(part.token for part in self.parts))


class Signatures:
    """Distinct signatures and call sites, numbered in the order in which they come."""

    def __init__(self) -> None:
        """Start with none."""
        self.items: list[Signature] = []
        self.sites: list[str] = []
        self._code: dict[Signature, int] = {}
        self._site: dict[str, int] = {}

    def codes(self, signatures: Iterable[Signature]) -> Ints:
        """Return the number of each signature, new ones numbered as they come."""
        return np.array([self._number(signature) for signature in signatures], dtype=np.int64)

    def site_codes(self, sites: Iterable[str]) -> Ints:
        """Return the number of each call site."""
        out = []
        for site in sites:
            if site not in self._site:
                self._site[site] = len(self.sites)
                self.sites.append(site)
            out.append(self._site[site])
        return np.array(out, dtype=np.int64)

    def site(self, code: int) -> str | None:
        """Return the call site of that number; -1 is none."""
        return self.sites[code] if code >= 0 else None

    def _number(self, signature: Signature) -> int:
        code = self._code.get(signature)
        if code is None:
            code = self._code[signature] = len(self.items)
            self.items.append(signature)
        return code


@dataclass
class SignatureColumns:
    """Numbers per signature, for comparing whole columns of calls at once."""

    content: Ints
    token: Ints
    in_count: Ints
    out_count: Ints
    is_plain_all_to_all: NDArray[np.bool_]  # one tensor in, one out: only the sums can be compared
    is_synchronous: NDArray[np.bool_]
    dtypes: Ints
    shape: Ints
    payload: Ints  # count, types and tag of a send or recv; -1 where they were not recorded

    @classmethod
    def of(cls, items: list[Signature]) -> SignatureColumns:
        """Return the columns of the signatures, in order of their numbers."""
        return cls(
            _numbered(item.content for item in items),
            _numbered(item.token for item in items),
            np.array([item.in_count for item in items], dtype=np.int64),
            np.array([item.out_count for item in items], dtype=np.int64),
            np.array([_is_plain_all_to_all(item) for item in items], dtype=np.bool_),
            np.array([item.kind in SYNCHRONOUS_KINDS for item in items], dtype=np.bool_),
            _numbered(item.dtypes for item in items),
            _numbered((item.in_sizes, item.out_sizes) for item in items),
            np.where(
                [item.has_sizes for item in items],
                _numbered((item.in_count, item.dtypes, item.tag) for item in items),
                -1,
            ),
        )


def _is_plain_all_to_all(item: Signature) -> bool:
    return (
        item.kind == "all_to_all"
        and item.has_sizes
        and len(item.in_nelems or ()) == 1
        and len(item.out_nelems or ()) == 1
        and set(item.in_dtypes) == set(item.out_dtypes)
    )


def _numbered(values: Iterable[Hashable]) -> Ints:
    """Return a number per value, equal for equal values."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
