"""Damage real Flight Recorder dumps at random and read them: a program of its own, so that a crash is seen.

    python -m tests.integration.flight_fuzz FOLDER COUNT SEED SCRATCH_FILE

Prints JSON: how many were read, refused or told to be something else, the longest time of one (s) and the
most memory (KB). Raises at the first file that is not handled. The same seed makes the same files.
"""

from __future__ import annotations

import json
import pickle
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphstore.readers import read_file
from graphstore.readers.flight_pickle import load_pickle
from graphstore.settings import Settings

SETTINGS = Settings(store="", max_dump_bytes=16 << 20)
SETS = ("fr", "fr_et_kineto", "demo_4r", "public/fr_nvrx", "mini/09-flight-recorder-hang")
OPCODES = b"hqKXMJNGjrtRcbiosuaePQ0123lL.(})]\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x93\x94\x95\x81\x92\x82"
WORDS = (
    None,
    True,
    -1,
    0,
    1 << 40,
    1 << 70,
    0.5,
    float("nan"),
    "",
    "nccl:send 0->1",
    "[]",
    "[0, 1",
    "\ud800",
)
MOST_KB = 700_000  # of which Python and the libraries take about 250,000


def real_dumps(folder: Path) -> list[bytes]:
    """Return the content of every dump below `folder`."""
    files = [file for name in SETS for file in sorted((folder / name).rglob("*")) if file.is_file()]
    contents = [file.read_bytes() for file in files if file.name != "expected.json"]
    return [content for content in contents if content[:1] == b"\x80" or b'"pg_config"' in content]


def flip(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Change a few bytes, some of them to opcodes."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8))):
        place = chance.randrange(len(changed))
        changed[place] = chance.choice(OPCODES) if chance.random() < 0.6 else chance.randrange(256)
    return bytes(changed)


def cut(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Cut off the end, and sometimes close the pickle."""
    return content[: chance.randrange(len(content))] + chance.choice((b"", b".", b"u.", b"ue.", b"]}"))


def remove(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Take out a piece."""
    start = chance.randrange(len(content))
    return content[:start] + content[start + chance.choice((1, 2, 5, 50, 500)) :]


def splice(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Put a piece of another dump in."""
    place, start = chance.randrange(len(content)), chance.randrange(len(other))
    return content[:place] + other[start : start + chance.choice((1, 2, 5, 50, 500))] + content[place:]


def repeat(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Write a piece many times: deep nesting, many entries, long runs of opcodes."""
    start = chance.randrange(len(content))
    piece = content[start : start + chance.choice((1, 2, 4, 30))]
    return content[:start] + piece * chance.choice((2, 100, 5_000)) + content[start:]


def number(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Make a number, a length or a memo place of four bytes a large one."""
    place = chance.randrange(max(1, len(content) - 4))
    large = chance.choice((1 << 20, 1 << 26, (1 << 31) - 1, (1 << 32) - 1))
    return content[:place] + large.to_bytes(4, "little") + content[place + 4 :]


def value(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Load the dump, put something else for a few of its values, and write it again."""
    loaded = load_pickle(content) if content[:1] == b"\x80" else json.loads(content)
    for _ in range(chance.choice((1, 2, 5))):
        _replace(loaded, chance)
    if content[:1] == b"\x80":
        return pickle.dumps(loaded, protocol=chance.choice((2, 3, 4, 5)))
    return json.dumps(loaded, default=str).encode()


def _replace(loaded: Any, chance: random.Random) -> None:
    """Go down to a random place and change what is there; into keys, lists and shared lists as well."""
    here = loaded
    for _ in range(8):
        places = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not places:
            return
        place = chance.choice(places)
        if not isinstance(here[place], dict | list) or not here[place] or chance.random() < 0.2:
            shared = [here[place]] * chance.choice((1, 3, 70, 5_000))
            here[place] = chance.choice((*WORDS, {}, [], [[]], shared, {"a": shared}))
            return
        here = here[place]


MUTATIONS: tuple[Callable[[bytes, bytes, random.Random], bytes], ...] = (
    flip,
    cut,
    remove,
    splice,
    repeat,
    number,
    value,
)


def most_memory_kb() -> int:
    """Return the most memory of this process; ru_maxrss would count what its parent held at its start."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def main(folder: str, count: str, seed: str, scratch: str) -> None:
    """Read `count` damaged dumps; print what became of them."""
    chance = random.Random(int(seed))
    dumps = real_dumps(Path(folder))
    outcomes: Counter[str] = Counter()
    longest = 0.0
    for made in range(int(count)):
        content = MUTATIONS[made % len(MUTATIONS)](chance.choice(dumps), chance.choice(dumps), chance)
        Path(scratch).write_bytes(content)
        begun = time.process_time()
        records = read_file(scratch, SETTINGS, explicit=False)
        longest = max(longest, time.process_time() - begun)
        problem = records.facts.get("problem")
        if problem is not None and len(problem.splitlines()) != 1:
            raise AssertionError(problem)
        outcomes[records.facts["kind"] if problem is None else "refused"] += 1
    print(json.dumps({"outcomes": outcomes, "longest": longest, "most_kb": most_memory_kb()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
