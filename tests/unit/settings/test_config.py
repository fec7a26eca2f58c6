from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphstore import settings
from graphstore.errors import UsageError
from graphstore.settings import Settings, config


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder below a home folder, with no file of the user's own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    folder = tmp_path / "home" / "work" / "project"
    folder.mkdir(parents=True)
    return folder


def write_user_file(text: str) -> Path:
    """Write the user's own file where it is looked for."""
    path = config.user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def loaded(folder: Path, store: str | None = None, **env: str) -> Settings:
    """Return the settings of a call in `folder`."""
    return settings.load(store, env, folder)


def refused(folder: Path, text: str, name: str = config.FILE_NAME) -> str:
    """Return what is said of a file that is wrong: one line that begins with its name."""
    path = folder / name
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        loaded(folder)
    said = str(raised.value)
    assert "\n" not in said
    assert said.startswith(str(path))
    return said.removeprefix(str(path))


def test_without_a_file_everything_is_the_default(project: Path) -> None:
    """No file is needed; each value says that it is the default."""
    found = loaded(project)

    assert (found.format, found.row_limit, found.config_files) == ("table", 10_000, ())
    assert {found.origin(key.name) for key in config.KEYS} == {"default"}


def test_every_key_reaches_the_settings(project: Path) -> None:
    """Each key of the user's file is a field of that name; no key is there for show."""
    values = {
        "store": "bolt://db.example:7687",
        "username": "ann",
        "database": "traces",
        "format": "json",
        "query_timeout_s": 5,
        "row_limit": 7,
        "processes": 3,
        "pager": "most",
        "max_file_bytes": 11,
        "max_dump_bytes": 12,
        "max_depth": 13,
    }
    assert set(values) == set(config.KEY_BY_NAME)
    path = write_user_file("\n".join(f"{name} = {value!r}" for name, value in values.items()))

    found = loaded(project)

    assert {name: getattr(found, name) for name in values} == values
    assert {found.origin(name) for name in values} == {str(path)}


def test_the_nearest_file_counts_and_the_users_fills_the_rest(project: Path) -> None:
    """A file above the nearest is not read; what the project leaves open the user's file says."""
    (project.parent / config.FILE_NAME).write_text("row_limit = 1\nprocesses = 1\n")
    near = project / config.FILE_NAME
    near.write_text("row_limit = 2\n")
    own = write_user_file('row_limit = 3\nformat = "csv"\n')

    found = loaded(project / "deep" / "down")

    assert (found.row_limit, found.format) == (2, "csv")
    assert found.processes != 1 or os.cpu_count() == 1
    assert found.config_files == (str(near), str(own))
    assert (found.origin("row_limit"), found.origin("format")) == (str(near), str(own))


def test_the_search_ends_at_home(project: Path) -> None:
    """What lies above the home folder is not the user's; what lies in it is."""
    above, home = project.parents[2], project.parents[1]
    (above / config.FILE_NAME).write_text("row_limit = 1\n")
    assert loaded(project).row_limit == 10_000

    (home / config.FILE_NAME).write_text("row_limit = 2\n")
    assert loaded(project).row_limit == 2


def test_outside_home_the_search_goes_to_the_root(project: Path, tmp_path: Path) -> None:
    """A scratch disk is no home, and a file above a run there counts."""
    (tmp_path / config.FILE_NAME).write_text("row_limit = 4\n")
    (tmp_path / "scratch" / "run").mkdir(parents=True)

    assert loaded(tmp_path / "scratch" / "run").row_limit == 4


def test_the_table_of_a_pyproject_counts(project: Path) -> None:
    """[tool.graphstore] is the same as a file of our own; one without the table is passed by."""
    (project / config.PYPROJECT).write_text(
        '[project]\nname = "graphstore"\n[tool.graphstore]\nrow_limit = 5\n'
    )
    assert loaded(project).row_limit == 5

    (project / config.PYPROJECT).write_text('[project]\nname = "graphstore-plugin"\n')
    (project.parent / config.FILE_NAME).write_text("row_limit = 6\n")
    assert loaded(project).row_limit == 6


def test_our_own_file_stands_before_the_pyproject_beside_it(project: Path) -> None:
    """Of two files in one folder the one that is only ours counts."""
    (project / config.PYPROJECT).write_text("[tool.graphstore]\nrow_limit = 5\n")
    (project / config.FILE_NAME).write_text("row_limit = 6\n")

    assert loaded(project).row_limit == 6


def test_a_broken_pyproject_of_others_is_not_ours_to_judge(project: Path) -> None:
    """A pyproject.toml that does not speak of us may be anything."""
    (project / config.PYPROJECT).write_text("[project\n")

    assert loaded(project).config_files == ()


def test_the_command_line_stands_before_environment_file_and_default(project: Path) -> None:
    """--store, GRAPHSTORE_URI, GRAPHSTORE_HOME, the file, the data folder: in that order."""
    (project / config.FILE_NAME).write_text('store = "archive"\n')
    uri, home = {"GRAPHSTORE_URI": "bolt://a"}, {"GRAPHSTORE_HOME": "/h"}

    found = [
        loaded(project, "here", **uri, **home),
        loaded(project, **uri, **home),
        loaded(project, **home),
        loaded(project),
    ]

    assert [(s.store, s.origin("store")) for s in found] == [
        ("here", "--store"),
        ("bolt://a", "GRAPHSTORE_URI"),
        ("/h", "GRAPHSTORE_HOME"),
        (str(project / "archive"), str(project / config.FILE_NAME)),
    ]


def test_the_pager_of_graphstore_stands_before_the_file_and_that_before_any_pager(project: Path) -> None:
    """As git has it: what is said for us alone is weightier than what is said for all programs."""
    assert loaded(project, PAGER="most").pager == "most"
    write_user_file('pager = "less -S"\n')
    assert loaded(project, PAGER="most").pager == "less -S"
    assert loaded(project, PAGER="most", GRAPHSTORE_PAGER="").pager == ""


def test_a_store_is_relative_to_its_file_and_may_begin_at_home(project: Path) -> None:
    """Wherever below the project the call is made, the archive is the same."""
    (project / config.FILE_NAME).write_text('store = "../archive"\n')
    assert Path(loaded(project / "sub").store) == project / ".." / "archive"

    (project / config.FILE_NAME).write_text('store = "~/archive"\n')
    assert loaded(project).store == str(Path.home() / "archive")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('stor = "x"', "no key stor. Did you mean store?"),
        ("colour = 1", "no key colour. Known: store, "),
        ('row_limit = "3"', "row_limit wants a whole number, 1 or more."),
        ("row_limit = 2.5", "row_limit wants a whole number, 1 or more."),
        ("row_limit = true", "row_limit wants a whole number, 1 or more."),
        ("processes = 0", "processes wants a whole number, 1 or more."),
        ("query_timeout_s = 0", "query_timeout_s wants a number, 0.001 or more."),
        ("query_timeout_s = nan", "query_timeout_s wants a number, 0.001 or more."),
        ("query_timeout_s = inf", "query_timeout_s wants a number, 0.001 or more."),
        ('format = "xml"', 'format wants one of "table", "json", "jsonl", "csv", "parquet".'),
        ("store = 3", "store wants a text in quotes."),
        ('store = ""', "store wants a folder, or a server by bolt://"),
        ('store = "http://db"', "store wants a folder, or a server by bolt://"),
        ("[row_limit]", "row_limit wants a whole number, 1 or more."),
    ],
)
def test_a_wrong_key_is_one_line_with_its_place_and_remedy(project: Path, line: str, said: str) -> None:
    """File, line, key, and what it takes; a near name is suggested."""
    assert refused(project, f"# ours\n\n{line}\n").startswith(f":3: {said}")


def test_a_byte_order_mark_is_no_fault(project: Path) -> None:
    """Some editors put one before the first key."""
    (project / config.FILE_NAME).write_bytes(b"\xef\xbb\xbfrow_limit = 7\n")

    assert loaded(project).row_limit == 7


def test_a_table_in_our_own_file_is_told_to_go(project: Path) -> None:
    """Whoever knows the table of a pyproject.toml may write it here, too: the keys stand in none."""
    assert "keys stand in no table" in refused(project, "[graphstore]\nrow_limit = 7\n")


def test_a_wrong_key_of_a_pyproject_is_found_in_our_table(project: Path) -> None:
    """The line is that of our table, not of another one with a key of that name."""
    text = '[tool.other]\nstor = 1\n\n[tool.graphstore]\n"stor" = "x"\n'

    assert refused(project, text, config.PYPROJECT).startswith(":5: no key stor.")


@pytest.mark.parametrize("text", ["row_limit = \n", "a = 1\na = 2\n"])
def test_what_is_no_toml_is_one_line(project: Path, text: str) -> None:
    """The line says where TOML ends to be."""
    assert "is no TOML" in refused(project, text)


def test_bytes_that_are_no_text_are_one_line(project: Path) -> None:
    """A file in another encoding is told as what it is."""
    (project / config.FILE_NAME).write_bytes(b'store = "\xff"\n')

    with pytest.raises(UsageError, match="is no TOML"):
        loaded(project)


@pytest.mark.parametrize("of_user", [False, True])
@pytest.mark.parametrize(
    "line", ['password = "secret!"', 'NEO4J_PASSWORD = "secret!"', 'store = "bolt://a:secret!@b"']
)
def test_a_password_is_refused_in_any_file_and_never_repeated(
    project: Path, line: str, of_user: bool
) -> None:
    """A file is copied, committed, shared: the environment is the place, and the message does not tell it."""
    if of_user:
        write_user_file(line)
    else:
        (project / config.FILE_NAME).write_text(line)

    with pytest.raises(UsageError, match="NEO4J_PASSWORD") as raised:
        loaded(project)

    assert "secret!" not in str(raised.value)


@pytest.mark.parametrize(
    "line", ['store = "bolt://evil.example"', 'pager = "sh -c evil"', 'username = "root"', "max_depth = 9"]
)
def test_a_projects_file_may_not_do_what_a_stranger_should_not(project: Path, line: str) -> None:
    """A checkout names no server that gets the password, no program, no limit; the user's own file may."""
    assert f"{config.user_file()}" in refused(project, line)

    (project / config.FILE_NAME).unlink()
    write_user_file(line)
    loaded(project)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_passed_over_and_told(project: Path) -> None:
    """Somebody else of the machine can't steer our calls by a file in a folder above ours."""
    planted = project / config.FILE_NAME
    planted.write_text('store = "/elsewhere"\n')
    os.chown(planted, 12345, 12345)

    found = loaded(project)

    assert found.origin("store") == "default"
    assert found.passed_over == (f"{planted} belongs to another user of this machine",)

    other = project / config.PYPROJECT
    planted.unlink()
    other.write_text('[project]\nname = "theirs"\n')
    os.chown(other, 12345, 12345)
    assert loaded(project).passed_over == (), "one that is not about us is nothing to tell"


def test_a_password_is_no_part_of_what_settings_show(project: Path) -> None:
    """Neither repr nor origins hold it."""
    found = loaded(project, NEO4J_PASSWORD="secret!")

    assert found.password == "secret!"
    assert "secret!" not in repr(found) + str(found.origins)


def test_a_pager_finds_what_the_person_set_for_it(project: Path) -> None:
    """LESS is given as git gives it, unless the person has their own."""
    assert settings.pager_environment({})["LESS"] == "FRX"
    assert settings.pager_environment({"LESS": "S"})["LESS"] == "S"
