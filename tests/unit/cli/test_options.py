from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from graphstore.cli import options
from graphstore.errors import UsageError


def test_ranks_are_read_from_file_and_number() -> None:
    """A file name may hold '=' itself; the last one parts it from the rank."""
    assert options.rank_flags(["a.json=3", "dir/b=c.json=0"]) == {"a.json": 3, "dir/b=c.json": 0}
    assert options.rank_flags(None) == {}


@pytest.mark.parametrize("word", ["a.json", "a.json=", "=3", "a.json=x", "a.json=-1", "a.json=²"])
def test_a_wrong_rank_word_is_named_with_the_right_form(word: str) -> None:
    """Anything but FILE=N is a usage error that shows how to write it."""
    with pytest.raises(UsageError, match="FILE=N"):
        options.rank_flags([word])


def test_a_file_has_one_rank() -> None:
    """Two different ranks for one file are an error, the same twice is not."""
    assert options.rank_flags(["a=1", "a=1"]) == {"a": 1}
    with pytest.raises(UsageError, match="rank 1 before"):
        options.rank_flags(["a=1", "a=2"])


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["query", "communication/show_longest_w"], ["communication/show_longest_waits"]),
        (["query", "show_longest_w"], ["show_longest_waits"]),
        (["query", "show_longest_waits", "-p", ""], ["rank=", "group=", "count="]),
        (["query", "communication/show_longest_waits", "--param", "c"], ["count="]),
        (["query", "show_longest_waits", "-p", "count="], ["count=20"]),
        (["query", "show_longest_waits", "-p", "rank="], []),
        (["query", "show_longest_waits", "-p", "rank=0", "-p", ""], ["group=", "count="]),
        (["query", "no_such_query", "-p", ""], []),
        (["query", "MATCH (n:Op) RETURN 1", "-p", ""], []),
        (["query", "-p", ""], []),
        (["queries", "show", "show_longest_w"], ["show_longest_waits"]),
        (["queries", "--topic", "me"], ["memory"]),
    ],
)
def test_names_and_parameters_of_queries_are_completed(words: list[str], offered: list[str]) -> None:
    """As bash asks: what stands before the cursor decides; a wrong name offers nothing and says nothing."""
    asked = {
        "_GRAPHSTORE_COMPLETE": "complete_bash",
        "COMP_WORDS": shlex.join(["graphstore", *words[:-1]]) + f" {words[-1]}",
        "COMP_CWORD": str(len(words)),
    }

    done = subprocess.run(
        [sys.executable, "-c", "from graphstore.cli.app import main; raise SystemExit(main([]))"],
        env=os.environ | asked,
        capture_output=True,
        timeout=60,
    )

    assert (done.stdout.decode().split(), done.stderr) == (offered, b"")
