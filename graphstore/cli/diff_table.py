"""How a comparison of two runs reads: one line that sums it up, changes grouped by path, what was compared.

In:  a DiffResult. Out: texts and rows of a table. Decided here: units, what is one line (the same change on
     several ranks, and at several places of one path), and how long a path may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphstore.model.ids import rank_ranges

if TYPE_CHECKING:
    from graphstore.api import DiffResult

PATH_WIDTH = 60
SEPARATOR = " / "
NOUNS = {"op": "op", "kernel": "device op", "collective": "call", "rank": "gap"}
KINDS = {
    "op": "host ops, own time",
    "kernel": "device ops",
    "collective": "calls, without waits",
    "rank": "time between ops",
}


def headline(result: DiffResult) -> str:
    """Return by how much B is slower or faster, and what figure says so."""
    worst = result.worst
    if worst is None:
        return f"{result.b} against {result.a}: no times that both runs have, compared by structure"
    percent, delta = worst["percent"], worst["delta_ns"]
    word = f"{abs(percent):.1f} % {'slower' if delta > 0 else 'faster'} than" if delta else "as fast as"
    figure = f"{worst['measure']} {time_text(worst['a_ns'])}"
    figure += f" → {time_text(worst['b_ns'])}, {time_text(delta, True)}" if delta else ""
    others = (
        f", of {len(result.ranks)} ranks the one that lost the most"
        if delta and len(result.ranks) > 1
        else ""
    )
    return f"{result.b} is {word} {result.a}: {figure} on rank {worst['rank']}{others}"


def verdict(result: DiffResult) -> Iterator[str]:
    """Yield what changed, in one line."""
    changes = result.changes
    if not changes.height:
        differing = result.totals.select("within_noise", "explained").sum().row(0)
        yield "no change" + (" above the noise of the two runs" if any(differing) else " at all")
        return
    counts = changes.group_by("change", "what", maintain_order=True).len().sort("change", "what").iter_rows()
    told = [f"{count:,} {NOUNS[what]}{'' if count == 1 else 's'} {change}" for change, what, count in counts]
    tested = changes.drop_nulls("significant")
    chance = tested.height - tested["significant"].sum()
    yield ", ".join(told) + (
        f"; {chance:,} of these may be chance, as the steps differ as much" if chance else ""
    )


def change_rows(result: DiffResult) -> list[dict[str, Any]]:
    """Return the changes as lines of a table, those of one path together, the largest effect first.

    What the steps say may be chance comes after all that.
    """
    import polars as pl

    changes = result.changes
    if not changes.height:
        return []
    tested = changes["p_value"].is_not_null().any()
    kept = ["what", "change", "path", "name", "detail"]
    grouped = (
        changes.group_by(kept, maintain_order=True)
        .agg(
            pl.col("rank").unique().sort().alias("ranks"),
            pl.col("count_a", "count_b", "self_a_ns", "self_b_ns", "delta_ns").sum(),
            pl.col("ops_below", "kernels_below", "calls_below").sum(),
            pl.col("significant").max(),
        )
        .sort(~pl.col("significant").fill_null(True), pl.col("delta_ns").abs().neg(), *kept, nulls_last=True)
    )
    return [_line(row, tested) for row in grouped.iter_rows(named=True)]


def _line(row: dict[str, Any], tested: bool) -> dict[str, Any]:
    """Return one line of the table."""
    base = row["self_a_ns"]
    alone = row["change"] in ("added", "removed")
    share = f"{100 * row['delta_ns'] / base:+.1f}" if base and not alone and row["delta_ns"] else ""
    line = {
        "change": f"{NOUNS[row['what']]} {row['change']}",
        "name": _shorter(row["name"]),
        "ranks": rank_ranges(row["ranks"]),
        "calls": f"{row['count_a']}"
        if row["count_a"] == row["count_b"]
        else f"{row['count_a']} → {row['count_b']}",
        "A": "" if alone and not row["count_a"] else time_text(row["self_a_ns"]),
        "B": "" if alone and not row["count_b"] else time_text(row["self_b_ns"]),
        "delta": time_text(row["delta_ns"], True),
        "%": share,
    }
    if tested:
        line["over steps"] = {True: "holds", False: "may be chance", None: ""}[row["significant"]]
    return line | {"under": _under(row)}


def _under(row: dict[str, Any]) -> str:
    """Return where it is: the end of the path above it, and what hangs below or was changed."""
    text: str = row["path"]
    if row["what"] in ("op", "kernel") and text.endswith(row["name"]):
        text = text.removesuffix(row["name"]).removesuffix(SEPARATOR)
    elif row["what"] != "collective":
        text = text.rpartition(SEPARATOR)[0]
    if len(text) > PATH_WIDTH:
        text = (
            "… " + text[-PATH_WIDTH:].partition(SEPARATOR)[2]
            if SEPARATOR in text[-PATH_WIDTH:]
            else _shorter(text)
        )
    below = [
        f"{row[name]:,} {noun}{'' if row[name] == 1 else 's'} below"
        for name, noun in (("ops_below", "op"), ("kernels_below", "device op"), ("calls_below", "call"))
        if row[name]
    ]
    return "; ".join(part for part in (text, row["detail"], *below) if part)


def _shorter(text: str) -> str:
    """Return a text of bounded width, cut in the middle."""
    half = PATH_WIDTH // 2 - 1
    return text if len(text) <= PATH_WIDTH else f"{text[:half]}…{text[-half:]}"


def kind_rows(result: DiffResult) -> list[dict[str, Any]]:
    """Return a line for each kind: counts and times of all ranks, and the differences that are not told."""
    import polars as pl

    summed = result.totals.group_by("what", maintain_order=True).agg(pl.exclude("rank", "what").sum())
    return [
        {
            "compared": KINDS[row["what"]],
            "count": f"{row['count_a']:,}"
            if row["count_a"] == row["count_b"]
            else f"{row['count_a']:,} → {row['count_b']:,}",
            "A": time_text(row["self_a_ns"]),
            "B": time_text(row["self_b_ns"]),
            "delta": time_text(row["self_b_ns"] - row["self_a_ns"], True),
            "within noise": _of(row["within_noise"], row["within_noise_ns"]),
            "explained by these": row["explained"],
        }
        for row in summed.iter_rows(named=True)
        if row["count_a"] or row["count_b"]
    ]


def _of(count: int, time_ns: int) -> str:
    return f"{count:,} ({time_text(time_ns, True)})" if count else "0"


def remarks(result: DiffResult) -> Iterator[str]:
    """Yield what a reader of the changes has to know."""
    yield from (f"note: {note}" for note in result.notes)
    waits = result.totals.select("wait_a_ns", "wait_b_ns").sum().row(0)
    if waits[0] != waits[1]:
        yield f"waits in calls, all ranks: {time_text(waits[0])} → {time_text(waits[1])}"
    steps = result.figures.select("steps_a", "steps_b").min().row(0)
    noisy = bool((result.changes["noise_ns"].fill_null(0) > 0).any())
    if noisy and min(steps) < 3:
        yield (
            f"note: {steps[0]} steps in {result.a}, {steps[1]} in {result.b}: too few to tell over steps "
            "what holds (it takes 3 each); changes are told by the noise of the two runs alone"
        )


def time_text(time_ns: int, signed: bool = False) -> str:
    """Return a time with the unit that suits it."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if abs(time_ns) >= size:
            return (
                f"{time_ns / size:{'+' if signed else ''}.3g} {unit}"
                if abs(time_ns) < 1000 * size
                else (f"{time_ns / size:{'+' if signed else ''}.0f} {unit}")
            )
    return f"{time_ns:{'+' if signed else ''}d} ns" if time_ns else "0"
