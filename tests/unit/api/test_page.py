"""The API as a person meets it: every function typed, documented, on the page, and one for each verb."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import graphstore
from graphstore import api

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs" / "api.md"


def load_page_module() -> ModuleType:
    """Return docs/api_page.py as a module (its folder is no package)."""
    spec = importlib.util.spec_from_file_location("api_page", REPOSITORY / "docs" / "api_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["api_page"] = module
    spec.loader.exec_module(module)
    return module


api_page = load_page_module()
FUNCTIONS: dict[str, FunctionType] = api_page.functions()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_says_what_it_gives_and_what_it_raises(name: str) -> None:
    """A docstring of a sentence at least, which speaks of errors, be it that there are none."""
    told = inspect.getdoc(FUNCTIONS[name]) or ""

    assert len(told.split(".")[0]) > 20
    assert re.search(r"\b[Rr]aises\s", told), "which errors, or that it raises nothing"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_has_types(name: str) -> None:
    """Each parameter and what is returned has a type."""
    told = inspect.signature(FUNCTIONS[name])

    assert told.return_annotation is not told.empty
    assert all(parameter.annotation is not told.empty for parameter in told.parameters.values())


@pytest.mark.parametrize("name", sorted(n for n in api.__all__ if inspect.isclass(getattr(api, n))))
def test_every_class_says_what_it_holds(name: str) -> None:
    """What dataclasses write by themselves is no docstring."""
    told = getattr(api, name).__doc__ or ""

    assert len(told) > 20
    assert not told.startswith(f"{name}(")


@pytest.mark.parametrize("command", sorted(api_page.functions_by_command()))
def test_every_verb_is_a_function_too(command: str) -> None:
    """What the command line can do, a program can: the verb calls the API, and the page says which."""
    called = api_page.functions_by_command()[command]

    assert called
    row = re.search(rf"^\| `graphstore {command}` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert row is not None
    assert re.findall(r"`(\w+)`", row[1]) == called


@pytest.mark.parametrize("name", api.__all__)
def test_every_name_stands_on_the_page(name: str) -> None:
    """Functions, results and options, each with a place of its own."""
    assert re.search(rf"^### {name}$|^`{name}`: ", PAGE.read_text(), re.MULTILINE)


def test_no_function_is_only_for_python() -> None:
    """A function that no verb calls is one that nobody tries."""
    called = {name for names in api_page.functions_by_command().values() for name in names}

    assert sorted(set(FUNCTIONS) - called) == []


def test_the_page_is_up_to_date() -> None:
    """`just docs` renews it."""
    cogapp = pytest.importorskip("cogapp", reason="cog comes with the extra 'dev'")

    assert cogapp.Cog().main(["cog", "--check", "-I", str(PAGE.parent), str(PAGE)]) == 0


def test_the_package_has_every_name_of_the_api() -> None:
    """`graphstore.check_run` is `graphstore.api.check_run`, and a slip of the pen is told as ever."""
    for name in api.__all__:
        assert getattr(graphstore, name) is getattr(api, name)
    assert set(api.__all__) < set(dir(graphstore))
    with pytest.raises(AttributeError, match="'graphstore' has no attribute 'check_rum'"):
        graphstore.check_rum  # type: ignore[attr-defined]  # noqa: B018


def test_no_name_of_the_api_is_that_of_a_room() -> None:
    """Else `graphstore.demo` would be one thing before the room is imported and another one after."""
    rooms = {path.stem for path in Path(graphstore.__file__).parent.iterdir()}

    assert not rooms & set(api.__all__)
