from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from graphstore.errors import RunMismatchError
from graphstore.link.host_host import (
    Match,
    external_ids,
    match_by_id,
    match_host_ops,
    merge_host_ops,
    refuse_other_run,
    what_differs,
)
from tests.data.builders import GROUP_INIT, Row, node, roots, span, table

ET_FACTS: dict[str, Any] = {"name": "et_0.json", "pid": 77, "recorded_at": "2026-03-01 12:00:00"}
KINETO_FACTS: dict[str, Any] = {"name": "kineto_0.json", "world_size": 4}
MARCH_1_NS = 1_772_366_400 * 10**9  # 2026-03-01 12:00:00 UTC


def _tables(nodes: list[Row], spans: list[Row]) -> tuple[pl.DataFrame, pl.DataFrame]:
    return table("host_ops", [*roots(), *nodes]), table("host_ops", spans)


def test_ids_that_meet_with_equal_names_match() -> None:
    """Two ops are one where the id is equal and the name, too."""
    et, kineto = _tables(
        [node(5, "aten::add", 2, rf_id=11), node(6, "aten::mul", 2, rf_id=12), node(7, "aten::neg", 2, 13)],
        [span("aten::mul", 0, 5, rf_id=12), span("aten::add", 0, 9, rf_id=11), span("aten::abs", 0, 5, 13)],
    )

    match = match_host_ops(et, kineto)

    assert match.partner.tolist() == [-1, -1, 1, 0, -1]
    assert (match.method, match.candidates, match.ids_meet, match.names_agree) == ("rf_id", 3, 3, 2)


def test_roots_and_the_group_init_are_no_candidates() -> None:
    """Kineto sees neither the roots nor what the observer writes as it starts: the rate is 1 without them."""
    et, kineto = _tables(
        [node(3, GROUP_INIT, 2, rf_id=1), node(5, "aten::add", 2, rf_id=2)],
        [span("aten::add", 0, 9, rf_id=2)],
    )

    match = match_host_ops(et, kineto)

    assert (match.candidates, match.matched) == (1, 1)


def test_an_id_used_twice_meets_in_order() -> None:
    """The k-th op with an id in one file is the k-th in the other."""
    et, kineto = _tables(
        [node(5, "a", 2, rf_id=7), node(6, "a", 2, rf_id=7), node(8, "a", 2, rf_id=9)],
        [span("a", 0, 1, rf_id=7), span("a", 2, 3, rf_id=7), span("a", 2, 3, rf_id=7)],
    )

    ids_meet, partner = match_by_id(et, kineto)

    assert (ids_meet, partner.tolist()) == (2, [-1, -1, 0, 1, -1])


def test_usable_ids_that_do_not_meet_are_no_reason_to_go_by_order() -> None:
    """An op whose id the other file does not have is not in it, whatever its name."""
    et, kineto = _tables([node(5, "a", 2, rf_id=7)], [span("a", 0, 1, rf_id=700)])

    match = match_host_ops(et, kineto)

    assert (match.method, match.matched) == ("rf_id", 0)


def test_without_ids_the_order_of_names_matches() -> None:
    """rf ids of one side are nothing without the other's."""
    et, kineto = _tables(
        [node(5, "a", 2, rf_id=7), node(6, "b", 2, rf_id=8)], [span("a", 0, 1), span("b", 2, 3)]
    )

    match = match_host_ops(et, kineto)

    assert (match.method, match.partner.tolist(), match.ids_meet) == ("name_order", [-1, -1, 0, 1], 0)


def test_nothing_alike_is_method_none() -> None:
    """Two files without a name in common are not matched at all."""
    et, kineto = _tables([node(5, "a", 2, rf_id=7)], [span("z", 0, 1)])

    assert match_host_ops(et, kineto).method == "none"


def test_external_ids_are_counted_not_believed() -> None:
    """External ids that happen to equal rf ids are told by their names; they never match ops."""
    et, kineto = _tables(
        [node(5, "a", 2, rf_id=7), node(6, "b", 2, rf_id=8)],
        [span("z", 0, 1, external_id=7), span("b", 2, 3, external_id=8)],
    )

    assert external_ids(et, kineto) == (2, 1)
    assert match_host_ops(et, kineto).partner.tolist() == [-1, -1, -1, 1]


def _match(ids_meet: int, names_agree: int) -> Match:
    et, _ = _tables([], [])
    return Match("rf_id", match_by_id(et, et)[1], 100, ids_meet, names_agree)


def test_files_of_different_runs_are_refused_in_one_line() -> None:
    """Ids that meet under other names prove two runs; the line names both files and the way round."""
    with pytest.raises(RunMismatchError) as refusal:
        refuse_other_run(_match(100, 12), ET_FACTS, KINETO_FACTS, allow=False)

    message = str(refusal.value)
    assert "\n" not in message
    for part in ("et_0.json", "kineto_0.json", "100", "12", "--allow-mismatch"):
        assert part in message


def test_one_run_or_a_permission_is_not_refused() -> None:
    """Agreeing names, no ids at all, or the flag let the files pass."""
    refuse_other_run(_match(100, 100), ET_FACTS, KINETO_FACTS, allow=False)
    refuse_other_run(_match(0, 0), ET_FACTS, KINETO_FACTS, allow=False)
    refuse_other_run(_match(100, 0), ET_FACTS, KINETO_FACTS, allow=True)


def _spans(start_ns: int, process: int = 77) -> pl.DataFrame:
    return table("host_ops", [span("a", start_ns, start_ns + 1, process=process)])


def test_nothing_differs_within_one_run() -> None:
    """Same pid, same day in some time zone, same world size: nothing to say."""
    nine_hours = 9 * 3600 * 10**9

    assert what_differs(_match(9, 9), ET_FACTS, KINETO_FACTS, _spans(MARCH_1_NS + nine_hours), 4) is None


def test_what_differs_is_told() -> None:
    """Names, pid, date and world size are each named with both values."""
    told = what_differs(_match(9, 7), ET_FACTS, KINETO_FACTS, _spans(MARCH_1_NS + 40 * 86400 * 10**9, 99), 2)

    assert told == (
        "names of 2 of 9 equal ids; pid 77 / 99; "
        "date 2026-03-01 12:00:00 / 2026-04-10 12:00:00 UTC; world size 2 / 4"
    )


def test_a_clock_that_is_no_wall_clock_proves_no_other_date() -> None:
    """Small times, and a date that is free text, are not compared."""
    assert what_differs(_match(9, 9), ET_FACTS, KINETO_FACTS, _spans(95_000), None) is None
    odd = ET_FACTS | {"recorded_at": "yesterday"}
    assert what_differs(_match(9, 9), odd, KINETO_FACTS, _spans(MARCH_1_NS * 2), None) is None


def test_a_pair_becomes_one_op_and_the_rest_is_kept() -> None:
    """Time and thread come from Kineto, ids and values from the execution trace; nobody is lost."""
    et, kineto = _tables(
        [node(5, "a", 2, rf_id=7, input_values="[1]"), node(6, "b", 2, rf_id=8)],
        [span("x", 0, 9, external_id=1), span("a", 2, 3, 7, thread=3, external_id=2, input_values='["1"]')],
    )

    merged = merge_host_ops(et, kineto, match_host_ops(et, kineto))

    columns = ("node_id", "name", "start_ns", "thread", "external_id", "input_values")
    assert merged.select(columns).rows()[2:] == [
        (5, "a", 2, 3, 2, "[1]"),
        (6, "b", None, None, None, None),
        (None, "x", 0, 1, 1, None),
    ]
