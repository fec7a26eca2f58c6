"""Which files a person means by the paths of a call.

In:  paths as given. Out: `FoundFiles`: files to read, those named one by one, and folders not entered.
Decided here (a folder is one run): a folder stands for the files that lie in it, its subfolders are named
and not entered unless `recursive`. Hidden files are passed over. What the files are: detect.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphstore.errors import InputError


@dataclass
class FoundFiles:
    """`files` in order, each once; `explicit` those named one by one; `skipped_folders` left unentered."""

    files: list[str] = field(default_factory=list)
    explicit: set[str] = field(default_factory=set)
    skipped_folders: list[str] = field(default_factory=list)


def find_files(paths: Sequence[str], recursive: bool = False) -> FoundFiles:
    """Return the files that `paths` stand for; files of a folder in natural order (rank 2 before rank 10).

    A path that does not exist stays in `files`: its reader says what is wrong with it. Raises InputError
    for a folder that holds no file, or that may not be listed.
    """
    found = FoundFiles()
    for path in paths:
        if not Path(path).is_dir():
            found.files.append(path)
            found.explicit.add(path)
            continue
        files = list(_files_in(Path(path), recursive, found.skipped_folders))
        if not files:
            raise InputError(_empty(path, found.skipped_folders))
        found.files += files
    found.files = list(dict.fromkeys(found.files))
    return found


def _files_in(folder: Path, recursive: bool, skipped: list[str]) -> Iterator[str]:
    try:
        entries = sorted((entry for entry in folder.iterdir() if entry.name[0] != "."), key=_natural)
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed: {error.strerror}. Check the rights.") from error
    yield from (str(entry) for entry in entries if not entry.is_dir())
    for entry in entries:
        if not entry.is_dir():
            continue
        if recursive and not entry.is_symlink():  # a link could lead back up
            yield from _files_in(entry, recursive, skipped)
        else:
            skipped.append(str(entry))


def _natural(entry: Path) -> list[tuple[int, str]]:
    """Order digits by their value: each piece is (number, "") or (-1, text)."""
    pieces = re.split(r"(\d+)", entry.name)
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces]


def _empty(path: str, skipped: list[str]) -> str:
    if skipped:
        return (
            f"{path}: holds no file, only {len(skipped)} folders ({Path(skipped[0]).name} …). "
            "Name one of them, or enter them all with --recursive."
        )
    return f"{path}: the folder holds no file. Give the folder the traces of a run lie in."
