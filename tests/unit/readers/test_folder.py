from __future__ import annotations

from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.readers import find_files


def make(folder: Path, *names: str) -> Path:
    """Return a folder with these empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path) -> None:
    """Its files in natural order, hidden ones left out; its folders are named and not entered."""
    run = make(tmp_path / "run", "et_10.json", "et_2.json", ".hidden", "pickle/dump", "deep/er/et.json")

    found = find_files([str(run)])

    assert [Path(name).name for name in found.files] == ["et_2.json", "et_10.json"]
    assert found.explicit == set()
    assert [Path(name).name for name in found.skipped_folders] == ["deep", "pickle"]


def test_recursive_enters_folders(tmp_path: Path) -> None:
    """Every folder below is entered, links to folders are not: they could lead back up."""
    run = make(tmp_path / "run", "a.json", "x/b.json", "x/y/c.json")
    (run / "x" / "up").symlink_to(run)

    found = find_files([str(run)], recursive=True)

    assert [str(Path(name).relative_to(run)) for name in found.files] == ["a.json", "x/b.json", "x/y/c.json"]
    assert found.skipped_folders == [str(run / "x" / "up")]


def test_files_named_are_explicit_and_come_once(tmp_path: Path) -> None:
    """A file named beside its folder is taken once; an absent one stays, for its reader to complain."""
    run = make(tmp_path / "run", "a.json", "b.json")
    named, absent = str(run / "b.json"), str(run / "absent.json")

    found = find_files([named, str(run), absent])

    assert found.files == [named, str(run / "a.json"), absent]
    assert found.explicit == {named, absent}


@pytest.mark.parametrize(("names", "remedy"), [((), "holds no file"), (("x/a.json",), "--recursive")])
def test_a_folder_without_files_is_an_error(tmp_path: Path, names: tuple[str, ...], remedy: str) -> None:
    """An empty folder, and one that only holds folders, say what to do."""
    run = tmp_path / "run"
    run.mkdir()
    make(run, *names)

    with pytest.raises(InputError, match=remedy):
        find_files([str(run)])
