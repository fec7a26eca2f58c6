"""Which dumps belong to one job (matching.md §2).

In:  reduced dumps in any order. Out: jobs as {rank: dump}, the earliest first, and the dumps set aside.
Decided here: a gap of more than 15 minutes to everything before starts a new job; so do two processes of
one rank. A dump without times goes to the one job whose group lists it does not contradict, else nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphstore.link.matching.reduce import Reduced
from graphstore.link.matching.same_process import is_same_process, join

GAP_NS = 15 * 60 * 10**9

Job = dict[int, Reduced]
Lists = dict[str, set[frozenset[int]]]


class OpenJob:
    """A job that dumps are still added to, with the groups they list."""

    def __init__(self) -> None:
        """Start without dumps."""
        self.dumps: Job = {}
        self._lists: Lists | None = None

    def add(self, rank: int, dump: Reduced) -> None:
        """Add the dump of a rank, in place of one that is there."""
        self.dumps[rank] = dump
        if self._lists is not None:
            _add_lists(self._lists, dump)

    def contradicts(self, rank: int, dump: Reduced) -> bool:
        """Return whether a dump cannot be of this job: its rank is there, or a group has other members here.

        Two groups of one name are no contradiction as long as no rank is in both.
        """
        if rank in self.dumps:
            return True
        if self._lists is None:
            self._lists = {}
            for known in self.dumps.values():
                _add_lists(self._lists, known)
        mine: Lists = {}
        _add_lists(mine, dump)
        return any(
            members != theirs and not members.isdisjoint(theirs)
            for name, sets in mine.items()
            for members in sets
            for theirs in self._lists.get(name, ())
        )


def split_jobs(dumps: Iterable[Reduced]) -> tuple[list[Job], dict[str, str]]:
    """Return the jobs and {file: why} of the dumps that belong to none of them or to several alike."""
    aside: dict[str, str] = {}
    ordered = sorted(dumps, key=lambda dump: (dump.span or (0, 0), dump.file))
    with_times: list[tuple[int, Reduced]] = []
    without: list[tuple[int, Reduced]] = []
    for dump in ordered:
        if dump.rank is None:
            aside[dump.file] = "its rank is not known"
        else:
            (with_times if dump.span else without).append((dump.rank, dump))
    jobs = [job for cluster in _by_time(with_times) for job in _by_process(cluster)]
    for rank, dump in without:
        _place(rank, dump, jobs, aside)
    return [job.dumps for job in jobs], aside


def _add_lists(lists: Lists, dump: Reduced) -> None:
    """Add the groups that a dump, or another file of its rank, lists with members."""
    for entry in (*(dump.flight.get("pg_config") or ()), *dump.groups):
        if entry.get("pg_name") and entry.get("ranks"):
            lists.setdefault(entry["pg_name"], set()).add(frozenset(entry["ranks"]))


def _by_time(dumps: list[tuple[int, Reduced]]) -> list[list[tuple[int, Reduced]]]:
    """Return dumps, given in order of time, in clusters with a gap of more than GAP_NS between them."""
    clusters: list[list[tuple[int, Reduced]]] = []
    last = 0
    for rank, dump in dumps:
        first, end = dump.span or (0, 0)
        if not clusters or first - last > GAP_NS:
            clusters.append([])
        clusters[-1].append((rank, dump))
        last = max(last, end)
    return clusters


def _by_process(cluster: list[tuple[int, Reduced]]) -> list[OpenJob]:
    """Return the jobs of a cluster: dumps of one process joined, two processes of a rank in two jobs.

    A rank with one process, where others have two, goes to the first job it does not contradict.
    """
    processes: dict[int, list[Reduced]] = {}
    for rank, dump in cluster:
        _add_process(processes.setdefault(rank, []), dump)
    jobs = [OpenJob() for _ in range(max(map(len, processes.values())))]
    for rank, found in processes.items():
        if len(found) == len(jobs):
            for job, dump in zip(jobs, found, strict=True):
                job.add(rank, dump)
    for rank, found in processes.items():
        if len(found) < len(jobs):
            for dump in found:
                fitting = [job for job in jobs if not job.contradicts(rank, dump)]
                (fitting or [jobs[-1]])[0].add(rank, dump)
    return jobs


def _add_process(processes: list[Reduced], dump: Reduced) -> None:
    """Join a dump with the process it is of, or add it as another process of its rank."""
    for place, known in enumerate(processes):
        if is_same_process(known, dump):
            processes[place] = join(known, dump)
            return
    processes.append(dump)


def _place(rank: int, dump: Reduced, jobs: list[OpenJob], aside: dict[str, str]) -> None:
    """Put a dump without times into the one job it fits, or set it aside."""
    fitting = [job for job in jobs if not job.contradicts(rank, dump)]
    twins = [job for job in jobs if rank in job.dumps and not job.dumps[rank].span]
    if len(fitting) == 1:
        fitting[0].add(rank, dump)
    elif fitting:
        aside[dump.file] = f"holds no times and fits {len(fitting)} jobs alike"
    elif not jobs:
        jobs.append(OpenJob())
        jobs[0].add(rank, dump)
    elif len(twins) == 1:
        twins[0].add(rank, join(twins[0].dumps[rank], dump))
    else:
        aside[dump.file] = "holds no times and contradicts the groups or the ranks of every job"
