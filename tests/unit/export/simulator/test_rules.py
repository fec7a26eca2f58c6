"""The rules themselves: each has a test, a page, and says what a finding carries."""

from __future__ import annotations

from pathlib import Path

from graphstore.export.simulator import RULES
from tests.unit.export.simulator.workload import beside, check, node, write

HERE = Path(__file__).parent


def test_every_rule_is_broken_in_some_test() -> None:
    """By its name, in one of the modules beside this one."""
    tests = "".join(path.read_text() for path in HERE.glob("test_*.py") if path != Path(__file__))

    assert [rule for rule in RULES if f'"{rule}"' not in tests] == []


def test_a_finding_says_what_the_simulator_does_and_the_remedy(tmp_path: Path) -> None:
    """Beside the ids; and it keeps its id from check to check."""
    paths = write(tmp_path, beside(node(1), node(2, [2])))
    (finding,) = check(paths)

    rule = RULES["self_dep"]
    assert (finding.run, finding.severity, finding.rank, finding.count) == ("w", rule.severity, 0, 1)
    assert finding.evidence == {
        "nodes": 1,
        "ids": [2],
        "never_run": 1,
        "simulator": rule.effect,
        "remedy": rule.remedy,
    }
    assert [finding.fid] == [again.fid for again in check(paths)]


def test_findings_come_errors_first_and_each_has_its_own_id(tmp_path: Path) -> None:
    """Two of one rule and rank differ by their field."""
    findings = check(write(tmp_path, beside(node(1, [7], [8]), node(2, [1, 1]))))

    assert [finding.rule for finding in findings] == ["dangling_dep", "dangling_dep", "repeated_dep"]
    assert len({finding.fid for finding in findings}) == 3
