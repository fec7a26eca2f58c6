"""A process that reads files for another: requests on stdin, records on stdout, one after another.

In:  a line of JSON {limits, then}, the second the name of a function that takes the records of each file (see
parallel.py); then a line {path, explicit} per file. Out: messages of transfer.py.
Decided here: what of an unexpected error is told. The process ends with its input. Who asks: parallel.py.
"""

from __future__ import annotations

import os
import pkgutil
import sys
import traceback
from typing import BinaryIO

import orjson

from graphstore.errors import GraphstoreError
from graphstore.readers.parallel import Then
from graphstore.readers.reading import read_file
from graphstore.readers.transfer import send_message, send_records
from graphstore.settings import Settings


def main() -> None:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints must not fall between the answers
    work = orjson.loads(sys.stdin.buffer.readline())
    settings = Settings(store="", **work["limits"])
    then: Then = pkgutil.resolve_name(work["then"])
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        try:
            _answer(answers, request["path"], settings, request["explicit"], then)
        except BrokenPipeError:  # who asked is gone
            return


def _answer(answers: BinaryIO, path: str, settings: Settings, explicit: bool, then: Then) -> None:
    try:
        records = then(read_file(path, settings, explicit))
    except Exception as error:  # told to who asked, who raises it
        name = type(error).__name__ if isinstance(error, GraphstoreError) else None
        told = {"error": name, "message": str(error), "traceback": traceback.format_exc()}
        send_message(answers, orjson.dumps(told))
        return
    send_records(answers, records)
