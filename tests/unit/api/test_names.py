from __future__ import annotations

import pytest

from graphstore import api
from graphstore.api import hanging_run


@pytest.mark.parametrize("name", api.__all__)
def test_every_name_of_the_api_is_there(name: str) -> None:
    """Names are loaded when they are first used; none may be promised that then is absent."""
    assert hasattr(api, name)


def test_a_name_that_is_none_is_an_error_as_of_any_module() -> None:
    """A slip of the pen is told as Python tells it."""
    with pytest.raises(AttributeError, match=r"'graphstore\.api' has no attribute 'hang_file'"):
        api.hang_file  # type: ignore[attr-defined]  # noqa: B018


def test_a_name_is_what_its_module_says() -> None:
    """It is the function itself that is loaded, not a stand-in."""
    assert api.hang_run is hanging_run.hang_run
