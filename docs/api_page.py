"""What docs/api.md says, made from the functions themselves; cog puts it there.

In:  graphstore.api and the command line. Out: Markdown: which function does what a verb does, then each
function with its signature and docstring, and the results with their fields.
"""

from __future__ import annotations

import dis
import inspect
import re
import textwrap
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any, get_args

import typer

from graphstore import api, cli
from graphstore.cli import app

WIDTH = 100


def public() -> dict[str, Any]:
    """Return every name of the API with what it is."""
    return {name: getattr(api, name) for name in api.__all__}


def functions() -> dict[str, FunctionType]:
    """Return the functions of the API."""
    return {name: found for name, found in public().items() if inspect.isfunction(found)}


def functions_by_command() -> dict[str, list[str]]:
    """Return {command: functions of the API that its code calls}, those of groups as `runs list`."""
    root: Any = typer.main.get_command(app.app)
    verbs = {
        f"{name} {inner}" if inner else name: command.callback
        for name, group in root.commands.items()
        for inner, command in getattr(group, "commands", {"": group}).items()
    }
    return {name: sorted(_called(inspect.unwrap(verb), functions())) for name, verb in verbs.items()}


def _called(verb: FunctionType, known: dict[str, FunctionType]) -> set[str]:
    """Return the functions of the API that a verb names, itself or in helpers of the command line."""
    names: set[str] = set()
    waiting, seen = [(verb.__code__, verb.__globals__)], set[CodeType]()
    while waiting:
        code, scope = waiting.pop()
        if code in seen:
            continue
        seen.add(code)
        waiting += [(inner, scope) for inner in code.co_consts if isinstance(inner, CodeType)]
        for step, then in pairwise(dis.get_instructions(code)):
            if step.opname != "LOAD_GLOBAL":
                continue
            found = scope.get(step.argval)
            if found is api:
                names |= {then.argval} & set(known)
            elif inspect.ismodule(found):
                found = getattr(found, str(then.argval), None)
            if inspect.isfunction(found) and found.__module__.startswith(cli.__name__):
                waiting.append((found.__code__, found.__globals__))
    return names


def page() -> str:
    """Return the generated part of docs/api.md."""
    kinds = {name: found for name, found in public().items() if inspect.isclass(found)}
    words = {name: found for name, found in public().items() if name not in kinds and name not in functions()}
    return "\n".join(
        [
            "## Verbs and functions\n",
            "| on the command line | in Python |\n|---|---|",
            *(_table_row(command, names) for command, names in sorted(functions_by_command().items())),
            "\n## Functions\n",
            *(_function(name, found) for name, found in sorted(functions().items())),
            "## What goes in and comes out\n",
            *(_class(name, found) for name, found in sorted(kinds.items())),
            *(f"`{name}`: {_choices(found)}\n" for name, found in sorted(words.items())),
        ]
    )


def _table_row(command: str, names: list[str]) -> str:
    return f"| `graphstore {command}` | {', '.join(f'[`{name}`](#{name})' for name in names)} |"


def _function(name: str, found: FunctionType) -> str:
    return f"### {name}\n\n```python\n{signature(name, found)}\n```\n\n{inspect.getdoc(found)}\n"


def signature(name: str, found: FunctionType) -> str:
    """Return how a function is called, with short names of types, a parameter a line where it is long."""
    told = inspect.signature(found)
    parts = [_short(str(parameter)) for parameter in told.parameters.values()]
    keyword = next((n for n, p in enumerate(told.parameters.values()) if p.kind is p.KEYWORD_ONLY), None)
    if keyword is not None:
        parts.insert(keyword, "*")
    returned = _short(str(told.return_annotation)).strip("'")
    line = f"{name}({', '.join(parts)}) -> {returned}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + textwrap.indent(",\n".join(parts), "    ") + f",\n) -> {returned}"


def _short(text: str) -> str:
    """Return an annotation without its quotes and without the modules of its names."""
    text = re.sub(r": '([^']*)'", r": \1", text)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def _class(name: str, found: type) -> str:
    rows = ""
    if is_dataclass(found):
        listed = (f"- `{field.name}`: `{_short(str(field.type))}`" for field in fields(found))
        rows = "\n".join(listed) + "\n"
    return f"### {name}\n\n{inspect.getdoc(found)}\n\n{rows}"


def _choices(found: object) -> str:
    return "one of " + ", ".join(f'`"{word}"`' for word in get_args(found))
