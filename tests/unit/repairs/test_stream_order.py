from __future__ import annotations

import numpy as np

from graphstore.repairs.stream_order import DeviceOps, plan_stream_order


def device_ops(*rows: tuple[int, int, int]) -> DeviceOps:
    """Return device ops from (device, stream, start), uids from 20."""
    device, stream, start = (np.asarray(column) for column in zip(*rows, strict=True))
    uid = np.arange(len(rows)) + 20
    return DeviceOps(0, uid, device, stream, start, np.full(len(rows), 5), [f"k{place}" for place in uid])


def test_each_op_follows_the_one_before_it_on_its_stream_and_no_other() -> None:
    """20 → 21 on stream 7; 22 is alone on its stream, and 23 on another device's stream 7."""
    changes = plan_stream_order(device_ops((0, 7, 120), (0, 7, 162), (0, 20, 170), (1, 7, 180)))

    assert [(change.after["edge"]["src"], change.after["edge"]["dst"]) for change in changes] == [(20, 21)]
    assert changes[0].after["edge"]["rule"] == "stream_order"
    assert not changes[0].safe


def test_order_is_by_start_not_by_place_in_the_file() -> None:
    """Of equal starts the earlier record comes first."""
    changes = plan_stream_order(device_ops((0, 7, 50), (0, 7, 10), (0, 7, 10)))

    assert [(change.after["edge"]["src"], change.after["edge"]["dst"]) for change in changes] == [
        (21, 22),
        (22, 20),
    ]
