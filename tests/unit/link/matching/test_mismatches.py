from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.matching.agreement import Members, judge
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.mismatches import content_text
from graphstore.link.matching.reduce import signature_of
from tests.data.flight import Row, call, dump

GATHER, SCATTER = "_all_gather_base", "_reduce_scatter_base"
SIZES = st.integers(1, 3)
CALLS = st.one_of(
    st.builds(call, st.sampled_from(("all_reduce", "broadcast", "barrier")), SIZES),
    st.builds(lambda size, members: call(GATHER, size, size * members), SIZES, st.integers(2, 3)),
    st.builds(lambda size, members: call(SCATTER, size * members, size), SIZES, st.integers(2, 3)),
    st.builds(lambda ins, outs: call("all_to_all", ins, outs), SIZES, SIZES),
    st.builds(lambda size, root: call("gather", size, size * 2 if root else []), SIZES, st.booleans()),
)


def test_a_mismatch_tells_what_was_called_and_where() -> None:
    """Names, shapes and types as recorded, with the ranks that called so, and every rank's site."""
    rows = [call(site="a.py:1"), call(site="a.py:1"), call("broadcast", site="b.py:2")]

    (job,) = match_dumps(dump(rank, [row], {"0": [0, 1, 2]}) for rank, row in enumerate(rows)).jobs

    assert job.mismatches == [
        {
            "group": "0",
            "members": [0, 1, 2],
            "seq": 1,
            "verdict": "TYPE_MISMATCH",
            "by": {"nccl:all_reduce [[4]] [[4]] Float": [0, 1], "nccl:broadcast [[4]] [[4]] Float": [2]},
            "sites": {0: "a.py:1", 1: "a.py:1", 2: "b.py:2"},
        }
    ]


def test_a_call_without_tensors_is_told_by_its_name() -> None:
    """A barrier has neither shapes nor types; one without sizes has no shapes."""
    bare = {"src": None, "dst": None}

    assert content_text(signature_of(call("barrier", []) | bare)) == "nccl:barrier [] []"
    unknown = call() | bare | {"in_sizes": None, "out_sizes": None}
    assert content_text(signature_of(unknown)) == "nccl:all_reduce Float"


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(CALLS, CALLS), min_size=1, max_size=5), st.booleans())
def test_the_quick_look_over_columns_finds_what_a_look_at_each_call_finds(
    pairs: Sequence[tuple[Row, Row]], has_third: bool
) -> None:
    """Whole columns are compared at once; the answer is that of judging every call on its own."""
    members = (0, 1, 2) if has_third else (0, 1)
    groups = {"0": members}
    dumps = [dump(rank, [pair[rank] for pair in pairs], groups) for rank in (0, 1)]

    (job,) = match_dumps(dumps).jobs

    wanted = {}
    for number, pair in enumerate(pairs, 1):
        calls = [(rank, signature_of(row | {"src": None, "dst": None})) for rank, row in enumerate(pair)]
        misfit = judge(calls, Members(members, len(members), not has_third))
        if misfit is not None:
            wanted[number] = misfit.verdict
    assert {one["seq"]: one["verdict"] for one in job.mismatches} == wanted
