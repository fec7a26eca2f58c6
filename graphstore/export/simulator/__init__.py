"""Will ASTRA-sim run these Chakra files? The rules of a simulator, asked of files as they lie, of all ranks.

In:  .et files, foreign ones too, and comm_groups.json beside them. Out: findings: one for each rule and rank,
     or for each group where ranks are compared.
Decided here: the order of the rules. What each means: rules.py (and docs/simulators.md, made from it).
Nothing is imported into a graph: a file is read once into columns, and everything is asked of those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphstore.export.simulator.columns import RankColumns
from graphstore.export.simulator.deadlock import deadlocks
from graphstore.export.simulator.files import RankFile, Workload, name_problems, read_file, workload_of
from graphstore.export.simulator.graph_rules import RankGraph, graph_of, graph_problems
from graphstore.export.simulator.group_rules import Members, rank_group_problems, read_groups
from graphstore.export.simulator.match_rules import RankCalls, calls_of, match, unordered_collectives
from graphstore.export.simulator.node_rules import node_problems
from graphstore.export.simulator.rules import RULES, Found, Rule
from graphstore.model.ids import finding_id
from graphstore.queries.findings import Finding
from graphstore.settings import Settings
from graphstore.store.base import Progress

__all__ = ["RULES", "RankColumns", "Rule", "check_for_simulator"]

SEVERITIES = ("error", "warning", "note")


def check_for_simulator(
    paths: Sequence[Path], settings: Settings, progress: Progress | None = None
) -> list[Finding]:
    """Return what keeps ASTRA-sim from running the files of a workload: errors first, then by rule and rank.

    Raises InputError for a file that is absent, unreadable or no Chakra file.
    """
    files = []
    for number, path in enumerate(paths, start=1):
        files.append(read_file(path, settings))
        if progress is not None:
            progress("check", number, len(paths))
    workload = workload_of(files)
    found = [*name_problems(workload), *_problems(files, workload)]
    findings = [_finding(workload.name, item) for item in found]
    return sorted(findings, key=_place)


def _problems(files: Sequence[RankFile], workload: Workload) -> Iterator[Found]:
    """Yield what is wrong with each file, then with the ranks together."""
    members = read_groups(workload)
    yield from members.found
    ranks: dict[int, RankCalls] = {}
    for file in files:
        graph = graph_of(file)
        calls = calls_of(file, graph)
        yield from _file_problems(calls, graph, members, workload)
        if file.rank is not None and workload.by_rank.get(file.rank) is file:
            ranks[file.rank] = calls
    ranks = dict(sorted(ranks.items()))
    matching, found = match(ranks, members, workload)
    yield from found
    yield from deadlocks(ranks, matching)


def _file_problems(
    calls: RankCalls, graph: RankGraph, members: Members, workload: Workload
) -> Iterator[Found]:
    """Yield what is wrong with one file."""
    file = calls.file
    yield from file.found
    yield from graph_problems(file, graph)
    yield from node_problems(file, workload.world_size)
    yield from rank_group_problems(file, members, workload)
    yield from unordered_collectives(calls, graph)


def _finding(workload: str, found: Found) -> Finding:
    """Return a broken rule as a finding, with what the simulator does and what to do."""
    rule = RULES[found.rule]
    where = "ranks" if found.rank is None else f"rank {found.rank}"
    return Finding(
        fid=finding_id(workload, found.rule, f"{where} {found.subject or found.message}"),
        run=workload,
        rule=found.rule,
        severity=rule.severity,
        confidence=found.confidence,
        message=found.message,
        evidence=found.evidence | {"simulator": rule.effect, "remedy": rule.remedy},
        rank=found.rank,
        count=found.count,
    )


def _place(finding: Finding) -> tuple[int, str, int, str]:
    rank = -1 if finding.rank is None else finding.rank
    return SEVERITIES.index(finding.severity), finding.rule, rank, finding.message
