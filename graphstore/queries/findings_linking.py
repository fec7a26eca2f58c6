"""What the checks of linking say: launches lost or before the window, pairs and ids that do not fit.

In:  rows of `cypher/linking/find_*`. Out: drafts of findings. Decided here: the sentences.
"""

from __future__ import annotations

from graphstore.queries.draft import RuleCode, counted, per_file, per_rank, verb

_VERDICT = {
    "zero": "are 0 on every op",
    "absent": "are absent",
    "repeated": "stand on more than one op each",
}


def _pair(row: dict[str, object]) -> str:
    """Return how far a pair was matched, and by what."""
    return f"{row['matched']:,} of {row['candidates']:,} ops of {row['partner']} matched by {row['method']}"


RULES: dict[str, RuleCode] = {
    "launched_before_window": per_rank(
        "device op",
        "device_ops",
        lambda row: (
            f"{counted(row['device_ops'], 'device op')} "
            f"{verb(row['device_ops'], 'was', 'were')} launched before the window"
        ),
    ),
    "launch_lost": per_rank(
        "device op",
        "device_ops",
        lambda row: (
            f"the launch of {counted(row['device_ops'], 'device op')} lies inside the window "
            f"and is not in the file"
        ),
    ),
    "launch_without_kernel": per_rank(
        "launch",
        "calls",
        lambda row: (
            f"{counted(row['calls'], 'launch', 'launches')} {verb(row['calls'], 'has', 'have')} no device op"
        ),
    ),
    "no_host_op": per_rank(
        "device op",
        "device_ops",
        lambda row: (
            f"{counted(row['device_ops'], 'device op')} "
            f"{verb(row['device_ops'], 'was', 'were')} launched inside no host op"
        ),
    ),
    "linked_past_nccl": per_rank(
        "device op",
        "device_ops",
        lambda row: (
            f"{counted(row['device_ops'], 'NCCL kernel')} "
            f"{verb(row['device_ops'], 'is', 'are')} linked past the nccl: op that launched "
            f"{verb(row['device_ops'], 'it', 'them')}"
        ),
    ),
    "different_runs": per_file(
        lambda row: f"may be of another run than {row['partner']}: {row['mismatch']}", confidence="medium"
    ),
    "ids_unusable": per_file(
        lambda row: (
            f"record function ids {_VERDICT[row['verdict']]} and join nothing; "
            + (_pair(dict(row)) if row["matched"] else "no op was matched")
        )
    ),
    "link_incomplete": per_file(
        lambda row: f"{_pair(dict(row))}, {row['candidates'] - row['matched']:,} have no event"
    ),
    "link_by_time_disagrees": per_file(
        lambda row: (
            f"link by time disagrees with thread and nesting on {row['disagree']:,} of "
            f"{counted(row['launches'], 'launch', 'launches')}; nesting was used"
        )
    ),
    "external_id_disagrees": per_file(
        lambda row: (
            f"External id names another op than the one round the launch on {row['disagree']:,} of "
            f"{counted(row['launches'], 'launch', 'launches')}; nesting was used"
        )
    ),
}
