"""Read the Chakra files of a workload: their names, their bytes, and each one's nodes as columns.

In:  paths. Out: a `RankFile` each, and what is wrong with names and bytes. A file that is no Chakra file
raises TraceFormatError. Decided here: which files form a workload (one folder, one PREFIX), as the simulator
finds them: PREFIX.0.et … PREFIX.(N-1).et.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import DecodeError

from graphstore.chakra import GlobalMetadata, MessageReader, Node, node_in_place_of_metadata
from graphstore.errors import TraceFormatError
from graphstore.export.simulator.columns import RankColumns
from graphstore.export.simulator.rules import Found
from graphstore.model.ids import rank_ranges
from graphstore.readers import open_source
from graphstore.settings import Settings

NAME = re.compile(r"(?P<prefix>.+)\.(?P<rank>0|[1-9][0-9]*)\.et")
LEAST_RANKS = 2  # of the analytical network


@dataclass
class RankFile:
    """One file; `rank` is the number in its name (None: it has none), `columns` its nodes."""

    path: Path
    prefix: str
    rank: int | None
    columns: RankColumns = field(default_factory=RankColumns)
    found: list[Found] = field(default_factory=list)

    @property
    def where(self) -> str:
        """Return how messages name the file: by its rank if it has one."""
        return self.path.name if self.rank is None else f"rank {self.rank}"

    @property
    def workload(self) -> tuple[str, str]:
        """Return what the files of one workload have in common."""
        return str(self.path.parent), self.prefix


def read_file(path: Path, settings: Settings) -> RankFile:
    """Return a file with its nodes as columns. Raises InputError where it is absent or no Chakra file."""
    named = NAME.fullmatch(path.name)
    rank = int(named["rank"]) if named else None
    file = RankFile(path, named["prefix"] if named else path.stem, rank)
    if not named:
        file.found.append(Found("file_name", None, f"{path.name}: is not named PREFIX.RANK.et"))
    with open_source(str(path), settings) as source:
        messages = MessageReader(source.blocks(), str(path))
        if source.compression != "none":
            file.found.append(Found("file_packed", rank, f"{path.name}: is packed ({source.compression})"))
        if not os.access(path, os.W_OK):
            file.found.append(Found("not_writable", rank, f"{path.name}: is not writable"))
        _read_messages(file, messages)
        if messages.cut_at is not None or source.damage:
            at = source.damage or f"byte {messages.cut_at}: the file ends inside a message"
            text = f"{path.name}: is cut off at {at}; {len(file.columns)} nodes are whole"
            file.found.append(Found("file_cut", rank, text, {"cut_at": at, "nodes": len(file.columns)}))
    return file


def _read_messages(file: RankFile, messages: MessageReader) -> None:
    """Take the metadata, then the nodes in; the first record is swallowed, whatever it is."""
    payloads = iter(messages)
    try:
        first = next(payloads, b"")
        if (node := node_in_place_of_metadata(first)) is not None:
            text = f"{file.path.name}: begins with node {node.id} in the place of the metadata"
            file.found.append(Found("no_metadata", file.rank, text, {"swallowed": node.id}, 1))
        else:
            GlobalMetadata.FromString(first)
        for payload in payloads:
            file.columns.look_at(Node.FromString(payload))
    except DecodeError as error:
        raise TraceFormatError(
            f"{file.path}: the message before byte {messages.position} is no Chakra message ({error}). "
            "Is it a Chakra file (.et)? Write it again, or read it with the program that wrote it."
        ) from error


@dataclass(frozen=True)
class Workload:
    """The files of one workload by rank. `complete`: no rank is missing, so ranks can be compared."""

    by_rank: dict[int, RankFile]
    others: tuple[RankFile, ...]  # files without a rank, or of another workload

    @property
    def world_size(self) -> int:
        """Return how many ranks there are, if the highest is the last."""
        return max(self.by_rank, default=-1) + 1

    @property
    def name(self) -> str:
        """Return the PREFIX."""
        files = [*self.by_rank.values(), *self.others]
        return files[0].prefix

    @property
    def folder(self) -> Path:
        """Return the folder of the files."""
        return [*self.by_rank.values(), *self.others][0].path.parent


def workload_of(files: Sequence[RankFile]) -> Workload:
    """Return the workload that most of the files belong to."""
    named = [file for file in files if file.rank is not None]
    counts = Counter(file.workload for file in named)
    chosen = counts.most_common(1)[0][0] if counts else None
    by_rank = {file.rank: file for file in named if file.workload == chosen and file.rank is not None}
    others = tuple(file for file in files if file.rank is None or file.workload != chosen)
    return Workload(dict(sorted(by_rank.items())), others)


def name_problems(workload: Workload) -> Iterator[Found]:
    """Yield what is wrong with the names of the files together."""
    foreign = [file.path.name for file in workload.others if file.rank is not None]
    if foreign:
        text = f"{len(foreign)} files are of another folder or PREFIX than {workload.name}: {foreign[0]}, …"
        yield Found(
            "several_workloads", None, text.replace(", …", ", …" if foreign[1:] else ""), {"files": foreign}
        )
    missing = sorted(set(range(workload.world_size)) - set(workload.by_rank))
    if missing:
        text = f"the file of rank {rank_ranges(missing)} is absent; the highest is {workload.world_size - 1}"
        yield Found("rank_missing", None, text, {"ranks": missing}, len(missing))
    if workload.by_rank and workload.world_size < LEAST_RANKS:
        yield Found("too_few_ranks", None, "there is the file of rank 0 only; 2 ranks are the least")
