"""Cases for what happened at the same time: exposed communication, idle streams, busy devices."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.graphs import GraphBuilder


@case
def exposed_communication_by_group_and_kind(g: GraphBuilder) -> Case:
    """Sums by rank, group and kind; a call whose time no file tells is out, one without a group is not."""
    for exposed, overlapped in ((7, 3), (5, 0)):
        g.node(
            "CollectiveCall",
            "allreduce",
            group="0[0-1]",
            collective_kind="all_reduce",
            exposed_ns=exposed,
            overlapped_ns=overlapped,
        )
    g.node("CollectiveCall", "send", collective_kind="send", exposed_ns=0, overlapped_ns=4, rank=1)
    g.node("CollectiveCall", "barrier", group="0[0-1]", collective_kind="barrier", duration_ns=9)
    rows = [(0, "0[0-1]", "all_reduce", 2, 15, 12, 3), (1, None, "send", 1, 4, 0, 4)]
    return Case("communication/show_exposed_communication", g.build(), rows)


def _ranks(g: GraphBuilder) -> None:
    """Add a rank whose device ran 70 of 100, one that did not communicate, and one without a device."""
    own = {"device_span_ns": 100, "device_busy_ns": 70, "computing_ns": 45}
    g.node("Rank", "rank 0", rank=0, communicating_ns=30, overlapped_ns=10, **own)
    own = {"device_span_ns": 9, "device_busy_ns": 9, "computing_ns": 9}
    g.node("Rank", "rank 1", rank=1, communicating_ns=0, overlapped_ns=0, **own)
    g.node("Rank", "rank 2", rank=2)


@case
def where_the_time_of_devices_went(g: GraphBuilder) -> Case:
    """Computing, other work and idle time add up to the span; a rank without a device is out."""
    _ranks(g)
    rows = [(0, 100, 45, 25, 30, 45, 30), (1, 9, 9, 0, 0, 100, 0)]
    return Case("time/show_device_time", g.build(), rows)


@case
def communication_that_computing_hid(g: GraphBuilder) -> Case:
    """10 of 30 is 33 percent; a rank that does not communicate is out."""
    _ranks(g)
    return Case("time/show_overlap", g.build(), [(0, 30, 10, 20, 33, 45)])


def _stream(g: GraphBuilder) -> list[int]:
    """Add a stream: an op; one launched late; one right behind; one launched early; one whose launch is lost.

    And a second stream with one op alone.
    """
    ops = []
    told = ((0, 10, None, None), (50, 10, 40, 45), (65, 10, 5, 46), (175, 10, 100, 47), (285, 10, 100, None))
    for start, lasts, idle, launch in told:
        own = {"start_ns": start, "duration_ns": lasts, "idle_ns": idle}
        kernel = g.node("Kernel", f"k{start}", device=0, stream=7, work="computation", **own)
        if launch is not None:
            call = g.op("cudaLaunchKernel", label="RuntimeCall", start_ns=launch, duration_ns=20)
            g.edge("LAUNCHES", call, kernel)
        ops.append(kernel)
    g.node("Kernel", "Memset", device=0, stream=20, work="memory", start_ns=3, duration_ns=4)
    return ops


@case
def the_longest_idle_times(g: GraphBuilder) -> Case:
    """The gap of 40 was ended by an op launched after it began; that of 5 is that of two launches."""
    ops = _stream(g)
    rows = [
        (0, 0, 7, 100, 75, "other", ops[3], "k175", 47),
        (0, 0, 7, 100, 185, "launch unknown", ops[4], "k285", None),
        (0, 0, 7, 40, 10, "host wait", ops[1], "k50", 45),
        (0, 0, 7, 5, 60, "kernel wait", ops[2], "k65", 46),
    ]
    return Case("time/show_idle_gaps", g.build(), rows)


@case
def idle_time_of_streams(g: GraphBuilder) -> Case:
    """Idle time by reason adds up, and with the busy time to the span."""
    _stream(g)
    rows = [(0, 0, 7, 5, 295, 50, 245, 40, 5, 100, 100), (0, 0, 20, 1, 4, 4, 0, 0, 0, 0, 0)]
    return Case("time/show_idle_streams", g.build(), rows)


@case
def idle_time_with_another_limit(g: GraphBuilder) -> Case:
    """Where a gap must be shorter than 5 to be a kernel wait, that of 5 is another."""
    _stream(g)
    rows = [(0, 0, 7, 5, 295, 50, 245, 40, 0, 105, 100), (0, 0, 20, 1, 4, 4, 0, 0, 0, 0, 0)]
    return Case("time/show_idle_streams", g.build(), rows, {"kernel_wait_below_ns": 5})


@case
def device_ops_by_work(g: GraphBuilder) -> Case:
    """The work with most time first."""
    _stream(g)
    rows = [(0, "computation", 5, 50, 10, 10), (0, "memory", 1, 4, 4, 4)]
    return Case("time/show_work", g.build(), rows)


@case
def device_ops_by_name(g: GraphBuilder) -> Case:
    """Of one kind of work, no more names than asked; the mean is rounded down."""
    for lasts in (10, 15):
        g.node("Kernel", "gemm", work="computation", duration_ns=lasts)
    g.node("Kernel", "add", work="computation", duration_ns=1)
    g.node("Kernel", "Memset", work="memory", duration_ns=100)
    rows = [("gemm", "computation", 2, 25, 12, 10, 15)]
    return Case("time/show_kernels_by_name", g.build(), rows, {"work": "computation", "count": 1})


@case
def device_ops_that_last_longest(g: GraphBuilder) -> Case:
    """Of one rank, longest first, the earlier first among equals."""
    ops = _stream(g)
    g.node("Kernel", "k", rank=1, duration_ns=900)
    rows = [
        (op, 0, 0, 7, name, "computation", at, 10)
        for op, name, at in zip(ops, ("k0", "k50"), (0, 50), strict=False)
    ]
    return Case("time/show_longest_kernels", g.build(), rows, {"count": 2, "rank": 0})


@case
def device_ops_that_stood_in_the_queue(g: GraphBuilder) -> Case:
    """From the start of the launch to the start of the device op; one without a launch is out."""
    ops = _stream(g)
    rows = [
        (ops[3], 0, 7, "k175", "cudaLaunchKernel", 47, 128, 10),
        (ops[2], 0, 7, "k65", "cudaLaunchKernel", 46, 19, 10),
        (ops[1], 0, 7, "k50", "cudaLaunchKernel", 45, 5, 10),
    ]
    return Case("time/show_launch_delays", g.build(), rows)


@case
def launch_delays_by_name(g: GraphBuilder) -> Case:
    """Sums over the name; two of three last less than their call did."""
    for launch, start, lasts in ((0, 10, 4), (20, 35, 30), (50, 90, 5)):
        call = g.op("cudaLaunchKernel", label="RuntimeCall", start_ns=launch, duration_ns=8)
        g.edge("LAUNCHES", call, g.node("Kernel", "k", start_ns=start, duration_ns=lasts))
    return Case("time/show_launch_delay_by_name", g.build(), [("k", 3, 39, 24, 10, 21, 40, 2)])
