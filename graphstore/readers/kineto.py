"""Read a Kineto trace: host ops, runtime calls, device ops and sync events as tables, all else counted.

In:  a `Source` holding Chrome trace JSON as PyTorch's profiler writes it, of any year (2022 to 2026 seen).
Out: FileRecords. Decided here: what an event is, by its category (`decisions` 5: not an error when
unknown), and the facts of the file. Joining the tables: link/host_device.py and link/host_host.py.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from graphstore.errors import TraceFormatError
from graphstore.model.records import FileRecords
from graphstore.readers.document import Document
from graphstore.readers.kineto_event import Event, decode_events
from graphstore.readers.kineto_facts import base_ns, facts_of, process_groups
from graphstore.readers.kineto_pairs import Pairs
from graphstore.readers.kineto_tables import Placed, Tables
from graphstore.readers.source import Source

TABLE_BY_CATEGORY = {
    "cpu_op": "host_ops",
    "user_annotation": "host_ops",
    "operator": "host_ops",  # as in 2021
    "kernel": "kernels",
    "gpu_memcpy": "kernels",
    "gpu_memset": "kernels",
    "memcpy": "kernels",  # as in 2021
    "memset": "kernels",
    "runtime": "runtime_calls",  # as in 2021
    "cuda_sync": "sync_events",
}
ASYNC_GPU = "async_gpu"
RUNTIME_CATEGORY = re.compile(r".*_(runtime|driver)")  # cuda_, hip_, xpu_, mtia_ …


def read_kineto(source: Source) -> FileRecords:
    """Return the records of a Kineto trace; times are exact ns, since 1970 where the file says so.

    A cut-off file keeps its whole events. Raises TraceFormatError when there is no list of events.
    """
    document = Document(source, array="traceEvents")
    if not document.has_array:
        raise TraceFormatError(
            f"{source.path}: there is no list 'traceEvents' in it, only {sorted(document.members)[:5]}. "
            "Nothing of it was loaded. Is it a Kineto trace?"
        )
    records = FileRecords(source.path, {})
    sorter = _Sorter(records)
    for events in document.batches(decode_events):
        sorter.sort(events)
    sorter.finish(base_ns(document.members))
    records.tally.read = document.records
    records.tally.leave_out("unreadable record", document.unreadable)
    records.groups = process_groups(document.members)
    records.facts = source.facts() | facts_of(document.members, records.tables, sorter.rf_zeros)
    records.facts["cut_at"] = document.cut_at
    return records


def table_of(category: str, has_stream: bool) -> str | None:
    """Return the table an event of `category` belongs to; None for what is counted, but not kept.

    `async_gpu` (2021) stands on device ops and on the arrows to them: a device op has a stream.
    """
    name = category.lower()
    if name == ASYNC_GPU:
        return "kernels" if has_stream else None
    return TABLE_BY_CATEGORY.get(name) or ("runtime_calls" if RUNTIME_CATEGORY.fullmatch(name) else None)


def reason_of(phase: str, category: str) -> str:
    """Return the ledger's reason for events that are not kept: by category, and by phase if it is not X."""
    if phase == "M":
        return "metadata (ph M)"
    return f"not kept: {category or 'no category'}" + ("" if phase == "X" else f" (ph {phase or 'absent'})")


class _Sorter:
    """Gives each event to its table, or counts why not."""

    def __init__(self, records: FileRecords) -> None:
        self._records = records
        self._tables = Tables()
        self._pairs = Pairs()
        self._order = 0
        self._left_out: Counter[tuple[str, str]] = Counter()

    def sort(self, events: Iterable[Event]) -> None:
        """Take the next events of the file."""
        spans: dict[str, list[Placed]] = defaultdict(list)
        pairs: dict[str, list[Placed]] = defaultdict(list)
        for order, event in enumerate(events, start=self._order):
            self._order = order + 1
            if event.ph == "X":
                spans[event.cat].append((order, event))
            elif event.ph in ("B", "E"):
                pair = self._pairs.add(order, event)
                if pair:
                    pairs[pair[1].cat].append(pair)
            else:
                self._left_out[event.ph, event.cat] += 1
                self._note_name(event)
        for category, placed in spans.items():
            self._keep("X", category, placed)
        for category, placed in pairs.items():
            self._keep("B/E", category, placed)

    def _keep(self, phase: str, category: str, events: list[Placed]) -> None:
        """Give events of one category to the table they belong to; count those that belong to none."""
        by_table: dict[str | None, list[Placed]] = {table_of(category, False): events}
        if category.lower() == ASYNC_GPU:
            by_table = {table_of(category, True): [e for e in events if e[1].args.stream is not None]}
            by_table[None] = [e for e in events if e[1].args.stream is None]
        for table, placed in by_table.items():
            records = len(placed) * len(phase.split("/"))  # a pair is two records
            if table is None:
                self._left_out[phase, category] += records
            elif placed:
                self._tables.add(table, placed)
                self._records.tally.kept += records

    @property
    def rf_zeros(self) -> int:
        """Return how many host ops have the record function id 0."""
        return self._tables.rf_zeros

    def finish(self, base: int) -> None:
        """Make the tables, and put what was not kept into the ledger."""
        self._records.tables = self._tables.frames(base)
        tally = self._records.tally
        for (phase, category), count in sorted(self._left_out.items()):
            tally.leave_out(reason_of(phase, category), count)
        tally.leave_out("end without begin (ph E)", self._pairs.ends_alone)
        tally.leave_out("begin without end (ph B)", self._pairs.begins_alone)

    def _note_name(self, event: Event) -> None:
        """Keep the name that metadata gives a thread."""
        if event.ph == "M" and event.name == "thread_name":
            process, thread, name = event.pid, event.tid, event.args.name
            if isinstance(process, int) and isinstance(thread, int) and isinstance(name, str):
                self._records.thread_names[process, thread] = name
