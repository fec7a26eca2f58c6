"""The guide: first steps on the run at hand, with queries that run at a click.

In:  a store and a run, or neither. Out: a `Guide`: slides of sentences, lines and queries. How it is written:
guide_text.py. Decided here: which questions a person is led to first, and that a question the run has no
example for (kernels, sends) is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore.export.browser.examples import Examples
from graphstore.export.browser.scripts import statement
from graphstore.queries import Finding, findings_of, get
from graphstore.queries.cypher_text import literal
from graphstore.queries.draft import counted
from graphstore.store.base import Store

FINDINGS_SHOWN = 10


@dataclass(frozen=True)
class Step:
    """A sentence, lines quoted as they are (names from a trace), a query to run; any of them may lack."""

    text: str = ""
    lines: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True)
class Slide:
    """A heading and its steps."""

    heading: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Guide:
    """A title and its slides."""

    title: str
    slides: tuple[Slide, ...]


def guide_of(store: Store, run: dict[str, Any], examples: Examples) -> Guide:
    """Return the guide to a run; `run` holds the properties of its Run node."""
    asked = Asking(examples, run["run"])
    slides = [
        _first(run, asked),
        _findings(findings_of(store, run["run"]), asked),
        *_topics(asked),
        LAST,
    ]
    return Guide(f"Run {run['run']}", tuple(slide for slide in slides if slide.steps))


def general_guide(examples: Examples) -> Guide:
    """Return the guide that fits any run: it says first how to choose one."""
    asked = Asking(examples)
    choose = Slide(
        "Choose a run",
        (
            Step(
                "The runs of this archive:",
                query="MATCH (r:Run) WHERE r.status = 'ready' "
                "RETURN r.run AS run, r.created AS created, r.world_size AS ranks ORDER BY created DESC, run",
            ),
            Step("Every query here asks the run that $run names. Set it once:", query=":param run => 'RUN'"),
            asked.step("What it is made of:", "archive/show_run.graph"),
        ),
    )
    findings = Slide("What is broken", (asked.step(_FINDINGS, "health/show_findings.graph"),))
    return Guide("The trace store", (choose, findings, *_topics(asked), LAST))


_FINDINGS = "All findings with what each is about; size and colour say how severe they are:"
LAST = Slide(
    "Where to go on",
    (
        Step(
            "The saved scripts (the star at the left) hold the whole catalogue: a folder a topic, pictures "
            "first. Click a node for its properties, double-click it for its neighbours."
        ),
        Step(
            "Browser is set to read only: no query can change the run. Repairs are made by graphstore repair."
        ),
        Step("The labels, relationship types and properties there are:", query=":schema"),
    ),
)


@dataclass(frozen=True)
class Asking:
    """Makes steps of catalogue queries with the values of a run; without one `$run` stays in them."""

    examples: Examples
    run: str | None = None

    def step(self, text: str, name: str) -> Step:
        """Return a step that asks a query of the catalogue; an empty one where the run has no example."""
        query = statement(get(name), self.examples, self.run)
        return Step() if query is None else Step(text, query=query)


def _first(run: dict[str, Any], asked: Asking) -> Slide:
    ranks = run["ranks"] or []
    size = counted(len(ranks), "rank")
    of = f" of {run['world_size']}" if run["world_size"] and run["world_size"] != len(ranks) else ""
    about = f"{size}{of}, imported {run['created'][:19]}. For queries of your own, let $run stand for it:"
    return Slide(
        f"Run {run['run']}",
        (
            Step(about, query=f":param run => {literal(run['run'])}"),
            asked.step("What it is made of: files, ranks, threads, streams.", "archive/show_run.graph"),
            asked.step("What was read, kept and left out of each file:", "archive/show_ledger"),
        ),
    )


def _findings(found: Sequence[Finding], asked: Asking) -> Slide:
    if not found:
        text = "No finding is kept. graphstore check finds and keeps what is broken; a run in order has none."
        return Slide("What is broken", (Step(text),))
    steps = [asked.step(_FINDINGS, "health/show_findings.graph")]
    for each in found[:FINDINGS_SHOWN]:
        query = (
            "MATCH path = (f:Finding)-[:ABOUT]->(subject)\n"
            f"WHERE f.fid = {literal(each.fid)}\nRETURN path AS path"
        )
        steps.append(Step(f"{each.severity}, {each.status}:", (each.message,), query))
    if len(found) > FINDINGS_SHOWN:
        more = f"{counted(len(found) - FINDINGS_SHOWN, 'more finding')}. All of them, with messages:"
        steps.append(asked.step(more, "health/show_findings"))
    return Slide("What is broken", tuple(steps))


def _topics(asked: Asking) -> Iterator[Slide]:
    """Yield the slides on calls, communication, kernels, tensors and repairs; a step without example goes."""
    for heading, steps in TOPICS:
        made = [asked.step(text, name) for text, name in steps]
        kept = tuple(step for step in made if step.query)
        if kept:
            yield Slide(heading, kept)


TOPICS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "The tree of calls",
        (
            (
                "The tops of a rank and what they call. Each island is a component:",
                "structure/show_components.graph",
            ),
            ("What hangs loose because a parent is absent:", "structure/show_missing_parents.graph"),
            ("What an op calls, four steps down:", "structure/show_call_tree.graph"),
            ("And what called it, up to the top:", "structure/show_ancestors.graph"),
            ("Where the time goes, by op:", "time/show_time_by_name"),
        ),
    ),
    (
        "Communication",
        (
            ("The process groups and their members:", "communication/show_group_members.graph"),
            (
                "One collective: its ranks, their calls, and the ops these are seen as:",
                "communication/show_calls_of_collective.graph",
            ),
            ("What one rank sent another:", "communication/show_calls_of_channel.graph"),
            ("Who waits for whom (only in a job that hangs):", "communication/show_waits.graph"),
            (
                "Which collectives lost most time by one rank being late:",
                "communication/show_skewed_collectives",
            ),
        ),
    ),
    (
        "Kernels and tensors",
        (
            ("From the longest kernel up to the op that launched it:", "linking/show_kernel_path.graph"),
            ("Everything one op launched:", "linking/show_kernels_under_op.graph"),
            ("Where the tensors of an op come from and go to:", "memory/show_tensors_of_op.graph"),
        ),
    ),
    (
        "Repairs",
        (("The repairs made, what they answer, and the edges they added:", "structure/show_repairs.graph"),),
    ),
)
