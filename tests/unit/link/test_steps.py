from __future__ import annotations

import numpy as np

from graphstore.link.steps import step_numbers
from tests.data.builders import node, span, table


def test_a_step_holds_what_starts_in_it_on_any_thread() -> None:
    """Autograd's thread works for the step; what lies between steps is in none."""
    host = table(
        "host_ops",
        [
            span("ProfilerStep#7", 0, 1000),
            span("aten::add", 10, 20),
            span("backward", 500, 900, thread=2),
            span("between", 1500, 1600),
            span("ProfilerStep#8", 2000, 3000),
            span("aten::mul", 2000, 2100),
        ],
    )

    assert step_numbers(host, np.full(6, -1)).to_list() == [7, 7, 7, None, 8, 8]


def test_without_times_the_mark_among_the_callers_counts() -> None:
    """An execution trace alone tells the step by its tree."""
    host = table("host_ops", [node(4, "ProfilerStep#3"), node(5, "aten::add", 4), node(6, "aten::mul")])

    assert step_numbers(host, np.array([-1, 0, -1])).to_list() == [3, 3, None]


def test_no_marks_no_steps() -> None:
    """A trace without ProfilerStep has no steps (mini 08); a name that only looks like a mark is none."""
    host = table("host_ops", [span("ProfilerStep*", 0, 10), span("aten::add", 1, 2)])

    assert step_numbers(host, np.array([-1, 0])).to_list() == [None, None]
