"""What the ops of a rank run on: the rank, its CPU threads and its GPU streams, as rows of nodes.

In:  a RankGraph. Out: one dict a node. Decided here: threads are Kineto's where a Kineto file is there;
else the execution trace's tids, the best there is.
"""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl

from graphstore.link.overlaps import device_times
from graphstore.model.records import RankGraph

Row = dict[str, Any]


def rank_row(graph: RankGraph) -> Row:
    """Return the Rank node: host and device as the first file tells that knows them, waits left out, how busy
    its devices were."""
    left_out = graph.waits_left_out
    return {
        "name": f"rank {graph.rank}",
        "rank": graph.rank,
        "waits_against_times": sum(left_out.values()) or None,
        "waits_against_times_by_rule": orjson.dumps(left_out).decode() if left_out else None,
        **device_times(graph.nodes["Kernel"]),
    } | {
        key: next((fact[key] for fact in graph.files if fact.get(key)), None)
        for key in ("host", "device_name")
    }


def thread_rows(graph: RankGraph) -> list[Row]:
    """Return the Thread nodes of a rank, in order of process and thread."""
    host = graph.nodes["HostOp"]
    both = pl.concat(
        [host.select("process", "thread"), graph.nodes["RuntimeCall"].select("process", "thread")]
    )
    threads = both.drop_nulls("thread").unique().sort("process", "thread")
    if threads.height:
        return [
            {
                "name": graph.thread_names.get((process, thread)) or f"thread {thread}",
                "rank": graph.rank,
                "process": process,
                "thread": thread,
            }
            for process, thread in threads.iter_rows()
        ]
    tids = host["tid"].drop_nulls().unique().sort().to_list()
    return [{"name": f"thread {tid}", "rank": graph.rank, "tid": tid} for tid in tids]


def stream_rows(graph: RankGraph) -> list[Row]:
    """Return the Stream nodes of a rank, in order of device and stream."""
    both = pl.concat(graph.nodes[label].select("device", "stream") for label in ("Kernel", "SyncEvent"))
    streams = both.drop_nulls("stream").unique().sort("device", "stream", nulls_last=False)
    return [
        {
            "name": f"stream {stream}" if device is None else f"device {device} stream {stream}",
            "rank": graph.rank,
            "device": device,
            "stream": stream,
        }
        for device, stream in streams.iter_rows()
    ]
