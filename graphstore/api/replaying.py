"""Replay: play written Chakra files and hold the spans against what was measured, or expected.

In:  .et files of the ranks of one run, or the folder that holds them. Out: a `ReplayResult`. Decided here:
the rank of a file is the number before `.et`, as simulators read it; `comm_groups.json` beside the files
tells the groups; a file is over the tolerance when its span is, played alone or together with the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from graphstore import export
from graphstore.errors import InputError, UsageError
from graphstore.export.replay import error
from graphstore.export.replay_files import FileNodes, alone, file_nodes, together
from graphstore.settings import REPLAY_TOLERANCE
from graphstore.store.base import Progress

RANKED_NAME = re.compile(r"(\d+)\.et$")


@dataclass(frozen=True)
class ReplayResult:
    """A row for each rank, and the ranks that are over the tolerance."""

    rows: list[dict[str, Any]]
    tolerance: float
    over: list[int]


def replay_files(
    paths: Sequence[str],
    *,
    tolerance: float = REPLAY_TOLERANCE,
    expected_ns: Mapping[int, int] | None = None,
    progress: Progress | None = None,
) -> ReplayResult:
    """Return how the files of a run play: spans in ns, errors as shares of the measured span.

    `expected_ns` gives spans to hold some ranks against instead of the measured ones. Raises UsageError for
    paths that are no Chakra files of different ranks, InputError for a file that can't be played.
    """
    files = _files(paths)
    unknown = sorted(set(expected_ns or {}) - set(files))
    if unknown:
        raise UsageError(f"--expected names rank {unknown[0]}, but the files are of {sorted(files)}.")
    ranks = []
    for done, (rank, path) in enumerate(sorted(files.items()), start=1):
        ranks.append(file_nodes(path, rank, export.read_nodes(path)))
        if progress:
            progress("replay", done, len(files))
    joint = together(ranks, _groups({path.parent for path in files.values()})) if len(ranks) > 1 else {}
    rows = [_row(nodes, joint.get(nodes.rank), (expected_ns or {}).get(nodes.rank)) for nodes in ranks]
    over = [row["rank"] for row in rows if any(abs(share) > tolerance for share in _judged(row))]
    return ReplayResult(rows, tolerance, over)


def _row(nodes: FileNodes, joint_us: int | None, expected_ns: int | None) -> dict[str, Any]:
    """Return what is told of one rank."""
    row: dict[str, Any] = {"rank": nodes.rank, "file": Path(nodes.path).name} | alone(nodes)
    if joint_us is not None:
        row |= {"joint_ns": joint_us * 1_000, "joint_error": error(joint_us, nodes.measured())}
    if expected_ns is not None:
        row |= {
            "expected_ns": expected_ns,
            "expected_error": round(row["simulated_ns"] / expected_ns - 1, 6) if expected_ns else None,
        }
    return row


def _judged(row: Mapping[str, Any]) -> list[float]:
    """Return the errors that decide over a rank: that to the expected span, else those to the measured."""
    names = ("expected_error",) if "expected_ns" in row else ("error", "joint_error")
    return [row[name] for name in names if row.get(name) is not None]


def _files(paths: Sequence[str]) -> dict[int, Path]:
    """Return {rank: file} of the Chakra files named, or lying in the folders named."""
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob("*.et")) if path.is_dir() else [path]
        if not inside:
            raise UsageError(f"{path}: holds no .et file; `graphstore export` or `convert` writes them.")
        found += inside
    files: dict[int, Path] = {}
    for path in found:
        match = RANKED_NAME.search(path.name)
        if match is None and len(found) > 1:
            raise UsageError(f"{path}: no rank in its name; want NAME.RANK.et, as simulators read it.")
        rank = int(match[1]) if match else 0
        if rank in files:
            raise UsageError(f"{files[rank]} and {path} are both of rank {rank}; give the files of one run.")
        if not path.is_file():
            raise InputError(f"{path}: there is no such file.")
        files[rank] = path
    return files


def _groups(folders: set[Path]) -> dict[str, list[int]]:
    """Return the communicator groups beside the files, none where no file tells them."""
    for folder in sorted(folders):
        path = folder / export.GROUP_FILE
        if path.exists():
            try:
                told = orjson.loads(path.read_bytes())
                return {str(name): [int(rank) for rank in members] for name, members in told.items()}
            except (ValueError, TypeError, AttributeError) as failed:
                raise InputError(f"{path}: is no object of lists of ranks: {failed}") from failed
    return {}
