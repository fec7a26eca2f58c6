"""The nodes of Chakra files as JSON, for people and for tools without protobuf.

In:  a store and a run; nothing else is read. Out: OUT/RUN.RANK.json, all of them or none: one object a file,
     {"metadata": …, "nodes": [a node a line]}, each message as protobuf's own JSON form has it.
Decided here: nodes are those of the `.et` file, validated alike (rank_file.py). Fields are in lowerCamelCase,
64-bit numbers are text and types are words, as protobuf prescribes. `chakra_jsonizer` wrote the same objects
one behind the other, which is no JSON document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from graphstore.chakra import GlobalMetadata, MessageReader, Node
from graphstore.export.columns import read_groups
from graphstore.export.comm_groups import groups_of
from graphstore.export.facts import facts_of_run
from graphstore.export.files import BUFFER_BYTES, facts_of, publish, staged
from graphstore.export.json_text import write_document
from graphstore.export.rank_file import RunToWrite, Watch, ops_of, ranks_to_write, write_rank
from graphstore.store.base import Progress, Store

FORMAT = "graphstore json 1"


def export_json(store: Store, run: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the nodes of each rank under `out`; return files, counts and notes.

    Raises what export_run raises: UsageError, InputError (a cycle in an imported file), StoreError. Then no
    file of `out` was changed.
    """
    facts = facts_of_run(store, run)
    ranks = ranks_to_write(store, run)
    groups = groups_of(read_groups(store, run))
    given = RunToWrite(store, run, facts.get("origin_ns") or 0, groups, write=write_json)
    watch = Watch(progress, sum(map(ops_of, ranks)))
    files: dict[str, dict[str, Any]] = {}
    notes: Counter[str] = Counter()
    with staged(out) as stage:
        for keys in ranks:
            name = f"{run}.{keys.rank}.json"
            entry = write_rank(given, keys, stage / name, watch)
            counts = {key: entry[key] for key in ("nodes", "communications")}
            files[name] = {"rank": keys.rank, **counts, **facts_of(stage / name)}
            notes.update(entry["notes"])
        publish(stage, out, files)
    return {"format": FORMAT, "run": run, "files": files, "notes": dict(sorted(notes.items()))}


def write_json(path: Path, blocks: Iterable[bytes]) -> None:
    """Write the metadata, then the nodes, of the bytes of a Chakra file."""
    messages = iter(MessageReader(blocks, str(path)))
    with path.open("wb", buffering=BUFFER_BYTES) as stream:
        head = {"metadata": _plain(GlobalMetadata.FromString(next(messages)))}
        write_document(stream, head, "nodes", _texts(messages))


def _texts(messages: Iterator[bytes]) -> Iterator[bytes]:
    for message in messages:
        yield orjson.dumps(_plain(Node.FromString(message)))


def _plain(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = MessageToDict(message)
    return plain
