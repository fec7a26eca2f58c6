"""Which op takes the tensor storage that another returned."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from graphstore.link.data_flow import find_data_flow, tensor_bytes


def tensors(*storages: int) -> str:
    """Return values as recorded: [tensor, storage, offset, elements, bytes of one, device]."""
    return "[" + ",".join(f'[{n * 10},{n},0,4,4,"cuda:0"]' for n in storages) + "]"


def flow(*ops: dict[str, Any], parent: list[int] | None = None) -> list[tuple[int, int]]:
    """Return (src, dst) rows of ops given as dicts; `parent` are rows, -1 for none."""
    schema = {
        "node_id": pl.Int64,
        "start_ns": pl.Int64,
        "duration_ns": pl.Int64,
        "input_values": pl.String,
        "output_values": pl.String,
    }
    host = pl.DataFrame([{name: op.get(name) for name in schema} for op in ops], schema=schema)
    above = np.array(parent or [-1] * len(ops), np.int64)
    timed = host["start_ns"].is_not_null().to_numpy()
    return find_data_flow(host, above, np.where(timed, above, -1)).sort("dst", "src").rows()


def op(start: int, end: int, takes: str = "[]", gives: str = "[]") -> dict[str, Any]:
    """Return an op with times."""
    return {
        "start_ns": start,
        "duration_ns": end - start,
        "node_id": start,
        "input_values": takes,
        "output_values": gives,
    }


def test_an_op_takes_a_storage_from_the_op_that_returned_it_last() -> None:
    """1 writes storage 7 again, so 2 takes it from there; nobody returned 8."""
    found = flow(
        op(0, 10, gives=tensors(7)),
        op(20, 30, takes=tensors(7), gives=tensors(7)),
        op(40, 50, takes=tensors(7, 8)),
    )

    assert found == [(0, 1), (1, 2)]


def test_an_op_that_still_runs_has_returned_nothing() -> None:
    """The times contradict it: 0 ends after 1 starts."""
    assert flow(op(0, 30, gives=tensors(7)), op(20, 25, takes=tensors(7))) == []


def test_the_outermost_op_takes_what_those_inside_take() -> None:
    """aten::linear and the aten::addmm in it both name the storage: one edge, to the call as a whole."""
    found = flow(
        op(0, 10, gives=tensors(7)),
        op(20, 40, takes=tensors(7), gives=tensors(9)),
        op(25, 35, takes=tensors(7), gives=tensors(9)),
        op(50, 60, takes=tensors(9)),
        parent=[-1, -1, 1, -1],
    )

    assert found == [(0, 1), (1, 3)]  # and storage 9 comes from the one that ended last


def test_tensors_in_lists_are_tensors() -> None:
    """cat and flatten take a list of them."""
    listed = f'[{tensors(7, 8)},"<None>",1,0.5]'

    assert flow(op(0, 1, gives=tensors(8)), op(2, 3, takes=listed)) == [(0, 1)]


def test_without_times_an_op_has_ended_behind_the_last_op_below_it() -> None:
    """Ids rise with the start: 5 lies below 3, so only 6 and later ops come after 3 has ended."""
    ops = [
        {"node_id": 3, "output_values": tensors(7), "input_values": "[]"},
        {"node_id": 5, "input_values": tensors(7), "output_values": "[]"},
        {"node_id": 6, "input_values": tensors(7), "output_values": "[]"},
    ]

    assert flow(*ops, parent=[-1, 0, -1]) == [(0, 2)]


def test_numbers_and_texts_are_no_tensors() -> None:
    """A list of six numbers is a size."""
    sizes = '[[1,2,3,4,5,6],"[10,7,0,4,4]"]'

    assert flow(op(0, 1, gives=tensors(2)), op(2, 3, takes=sizes)) == []


def test_the_bytes_of_an_op_are_those_of_its_tensors() -> None:
    """6 elements of 4 bytes and 10 of 2; a tensor named twice, also in a list, counts once."""
    one, other = '[5,7,0,6,4,"cuda:0"]', '[6,8,0,10,2,"cpu"]'
    values = [f"[{one},3,[{other},{one}]]", f"[{one}]", "[1,true]", None]

    found = tensor_bytes(pl.Series(values, dtype=pl.String))

    assert found.to_list() == [6 * 4 + 10 * 2, 24, 0, None]
    assert tensor_bytes(pl.Series([], dtype=pl.String)).to_list() == []
