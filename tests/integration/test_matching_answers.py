"""What the catalogue says of matched collectives and transfers is what the sets' own expected.json says.

Its `matching` was worked out from the dumps without our code; names, sites and counts are put in the
catalogue's words here. Sets: a rank that skips a call (gloo), a chain of waits (mini/09), two ranks that
diverge (tutorial), a job without one dump (miss), two real hangs of 16 ranks, one in sends and recvs.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.integration.archives import Archive

pytestmark = pytest.mark.data

SKIP, CHAIN, TWO = "fr/gloo/skip", "mini/09-flight-recorder-hang", "fr/synthetic/tutorial"
BATCHED, LOCKED, MISS = "public/fr_nvrx/gpu_error_1st", "public/fr_nvrx/lock_gil_1st", "fr/gloo/miss"
HUNG = (SKIP, CHAIN, TWO, BATCHED, LOCKED)
SOUND = ("fr_et_kineto", "fr/gloo/ring")
SETTLED = {"MATCHED", "SOLVED", "PROGRESS_DIFF", "EVICTED"}
FAULTY = {"TYPE_MISMATCH", "DTYPE_MISMATCH", "SIZE_MISMATCH", "INCOMPLETE"}
ANYWHERE = {"first_seq": 0, "last_seq": 1_000_000}

Rows = list[dict[str, Any]]


def matching(archive: Archive, name: str) -> dict[str, Any]:
    """Return what expected.json says of a set's matching."""
    said: dict[str, Any] = archive.expected(name)["matching"]
    return said


def ask(archive: Archive, name: str, query: str, **parameters: Any) -> Rows:
    """Return the rows of a query about communication; its group is given by name, as expected.json does."""
    rows = archive.rows(name, f"communication/{query}", **parameters)
    return [{key: named(value) if key == "group" else value for key, value in row.items()} for row in rows]


def named(group: str | None) -> str | None:
    """Return the name in a group key: `0` of `0[0-3]`."""
    return group and group.partition("[")[0]


def ranks_in(text: str) -> list[int]:
    """Return the ranks of `0-2,5`."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def call(told: dict[str, Any] | None) -> str | None:
    """Return an unfinished call of expected.json in our words: `all_reduce #6`, `send to rank 12`."""
    if told is None:
        return None
    op = told["op"].rpartition(":")[2]
    if told["kind"] == "coll":
        return f"{op} #{told['at']}"
    return f"send to rank {told['at'][1]}" if op.startswith("send") else f"recv from rank {told['at'][0]}"


def waiters(said: dict[str, Any]) -> list[tuple[int, int, str, Any]]:
    """Return (rank, awaited rank, why, what waits): the collective that it stands in, or itself."""
    found = []
    for rank, lacks in said["waits_for"].items():
        stands = said["first_unfinished"][rank]
        by = (stands["group"], stands["at"]) if stands["kind"] == "coll" else int(rank)
        found += [(int(rank), int(other), wait, by) for other, wait in lacks.items()]
    return found


def dump_of(said: dict[str, Any], rank: int) -> str:
    """Return our word for what the dump of a rank holds."""
    ranks = said["ranks"]
    words = {"no_dump": "no file", "empty": "none", "filtered": "active only"}
    return next((word for key, word in words.items() if rank in ranks[key]), "kept")


@pytest.mark.parametrize("name", HUNG)
def test_who_waits_for_whom(archive: Archive, name: str) -> None:
    """`waits_for`, each end with its `first_unfinished`; a rank whose call nobody lacks has a row, too."""
    said = matching(archive, name)
    stands = {int(rank): told for rank, told in said["first_unfinished"].items()}
    wanted: set[tuple[int, int | None, str]]
    wanted = {(rank, other, wait) for rank, other, wait, _ in waiters(said)}
    wanted |= {(rank, None, "in_call") for rank in stands if str(rank) not in said["waits_for"]}

    rows = ask(archive, name, "show_waits")

    assert {(row["rank"], row["awaited_rank"], row["wait"]) for row in rows} == wanted
    assert len(rows) == len(wanted)
    for row in rows:
        own, other = stands[row["rank"]], stands.get(row["awaited_rank"])
        at = (own["group"], own["at"]) if own["kind"] == "coll" else (None, None)
        assert (row["stands_in"], row["site"]) == (call(own), own["site"])
        assert (row["group"], row["collective_seq_id"]) == at
        assert (row["awaited_stands_in"], row["awaited_site"]) == (call(other), other and other["site"])


@pytest.mark.parametrize("name", HUNG)
def test_who_is_waited_for(archive: Archive, name: str) -> None:
    """The same waits from the other end: a collective counts once, with all ranks that stand in it."""
    said = matching(archive, name)
    waits = waiters(said)
    numbers = {
        row["uid"]: (row["group"], row["collective_seq_id"])
        for row in ask(archive, name, "show_incomplete_collectives")
    }

    awaited = ask(archive, name, "show_awaited_ranks")
    counted = ask(archive, name, "count_waits")

    found = Counter(
        (
            numbers[row["key"]] if row["waiting"] == "collective" else row["key"],
            row["rank"],
            row["wait"],
        )
        for row in awaited
    )
    assert found == Counter({(by, other, wait) for _, other, wait, by in waits})
    assert {(row["awaited_rank"], row["wait"]): (row["calls"], row["waiting_ranks"]) for row in counted} == {
        (other, wait): (
            len({by for _, o, w, by in waits if (o, w) == (other, wait)}),
            sum((o, w) == (other, wait) for _, o, w, _ in waits),
        )
        for _, other, wait, _ in waits
    }
    for row in counted:
        stands = said["first_unfinished"].get(str(row["awaited_rank"]))
        assert row["dump"] == dump_of(said, row["awaited_rank"])
        assert (row["stands_in"], row["site"]) == (call(stands), stands and stands["site"])


@pytest.mark.parametrize("name", [*HUNG, MISS, *SOUND])
def test_state_of_every_rank(archive: Archive, name: str) -> None:
    """Every rank of `world`: its dump, its `first_unfinished` with their number, and how much lacks it."""
    said = matching(archive, name)
    lacking = Counter(rank for rank, _, _ in {(other, by, w) for _, other, w, by in waiters(said)})
    wanted = []
    for rank in said["ranks"]["world"]:
        stands = said["first_unfinished"].get(str(rank), {})
        told = (call(stands or None), stands.get("site"), stands.get("n"))
        wanted.append((rank, dump_of(said, rank), *told, lacking[rank]))

    rows = ask(archive, name, "show_rank_states")

    columns = ("rank", "dump", "first_unfinished", "site", "unfinished", "awaited_by")
    assert [tuple(row[column] for column in columns) for row in rows] == wanted


@pytest.mark.parametrize("name", [*HUNG, MISS])
def test_ranks_that_stand_in_a_call(archive: Archive, name: str) -> None:
    """The ranks of `first_unfinished` and no others; a collective is named where they stand in one."""
    stands = matching(archive, name)["first_unfinished"]

    rows = ask(archive, name, "show_standing_ranks")

    assert [
        (str(r["rank"]), r["pg_name"], r["first_unfinished"], r["site"], r["unfinished"]) for r in rows
    ] == [(rank, told["group"], call(told), told["site"], told["n"]) for rank, told in stands.items()]
    for row in rows:
        assert (row["collective"] is None) == (stands[str(row["rank"])]["kind"] == "p2p")


@pytest.mark.parametrize("name", [*HUNG, MISS])
def test_ranks_without_a_dump(archive: Archive, name: str) -> None:
    """Those of `no_dump` with the groups that list them: rank 2 of the job whose third dump is missing."""
    said = matching(archive, name)
    wanted = [
        (rank, [group["name"] for group in said["groups"] if rank in group["members"]])
        for rank in said["ranks"]["no_dump"]
    ]

    rows = ask(archive, name, "show_ranks_without_dump")

    assert [(row["rank"], [named(group) for group in row["groups"]]) for row in rows] == wanted
    assert bool(rows) == (name == MISS)


@pytest.mark.parametrize("name", [*HUNG, MISS, *SOUND])
def test_how_far_each_rank_came(archive: Archive, name: str) -> None:
    """The `windows`: first and last number and how many each member kept; a member without one has none."""
    said = matching(archive, name)
    windows = {
        (label.partition("|")[0], int(rank)): tuple(window)
        for label, by_rank in said["windows"].items()
        for rank, window in by_rank.items()
    }

    rows = ask(archive, name, "show_progress")

    members = {(group["name"], rank) for group in said["groups"] for rank in group["members"]}
    assert {(row["group"], row["rank"]) for row in rows} == members
    for row in rows:
        window = windows.get((row["group"], row["rank"]), (None, None, None))
        stands = said["first_unfinished"].get(str(row["rank"]))
        assert (row["first_kept"], row["last_kept"], row["kept"] or None) == window
        assert (row["dump"], row["first_unfinished"]) == (dump_of(said, row["rank"]), call(stands))


def test_counters_of_the_recorder(archive: Archive) -> None:
    """pg_status of each JSON dump: what was begun and ended; an entry says which group has that id there."""
    wanted = {}
    for path in sorted((archive.data / CHAIN).glob("nccl_trace_rank_*.json")):
        dump, rank = json.loads(path.read_text()), int(path.stem.rpartition("_")[2])
        for entry in dump["entries"]:
            status = dump["pg_status"][str(entry["pg_id"])]
            names = ("last_enqueued_collective", "last_completed_collective")
            wanted[entry["process_group"][0], rank] = tuple(int(status[name]) for name in names)

    rows = ask(archive, CHAIN, "show_progress")

    found = {(r["group"], r["rank"]): (r["last_enqueued"], r["last_completed"]) for r in rows}
    assert {key: found[key] for key in wanted} == wanted
    assert len(set(wanted.values())) > 1


@pytest.mark.parametrize("name", [*HUNG, MISS, *SOUND])
def test_verdicts_and_health_of_groups(archive: Archive, name: str) -> None:
    """`collectives_by_group` by verdict, and with the edges of `p2p` as settled, faulty or undecided."""
    said = matching(archive, name)
    verdicts = Counter(
        {
            (label.partition("|")[0], verdict): count
            for label, of in said["collectives_by_group"].items()
            for verdict, count in of.items()
        }
    )
    edges = Counter((edge["group"], edge["verdict"]) for edge in said["p2p"])
    wanted = {}
    for group in {group for group, _ in verdicts + edges}:
        both = {verdict: n for (of, verdict), n in (verdicts + edges).items() if of == group}
        settled = sum(n for verdict, n in both.items() if verdict in SETTLED)
        faulty = sum(n for verdict, n in both.items() if verdict in FAULTY)
        rest = sum(both.values()) - settled - faulty
        made = (sum(n for (of, _), n in counts.items() if of == group) for counts in (verdicts, edges))
        wanted[group] = (*made, settled, faulty, rest)

    counted = ask(archive, name, "count_collectives_by_verdict")
    health = ask(archive, name, "show_group_health")

    assert {(row["group"], row["verdict"]): row["collectives"] for row in counted} == +verdicts
    columns = ("collectives", "channels", "settled", "faulty", "undecided")
    assert {row["group"]: tuple(row[column] for column in columns) for row in health} == wanted
    in_flight = {row["group"]: row["in_flight"] for row in health if row["in_flight"]}
    by_verdict: Counter[str] = Counter()
    for row in counted:
        by_verdict[row["group"]] += row["in_flight"]
    assert in_flight == +by_verdict
    if name == LOCKED:  # its dumps hold only what has not ended: what all members made is in flight
        matched = {group: n for (group, verdict), n in verdicts.items() if verdict == "MATCHED"}
        assert in_flight == matched


@pytest.mark.parametrize("name", [*HUNG, MISS, *SOUND])
def test_collectives_that_are_not_settled(archive: Archive, name: str) -> None:
    """All but the matched: `incomplete` and `progress_diff` number by number, with their members."""
    said = matching(archive, name)
    lacking = {
        (run["group"], seq): ({"present": run["present"]}, run["missing"])
        for run in said["incomplete"]
        for seq in range(run["first_seq"], run["last_seq"] + 1)
    }
    behind = {
        (run["group"], seq): run["unfinished"]
        for run in said["progress_diff"]
        for seq in range(run["first_seq"], run["last_seq"] + 1)
    }

    rows = ask(archive, name, "show_incomplete_collectives")

    found = {(row["group"], row["collective_seq_id"]): row for row in rows}
    assert len(found) == len(rows)
    verdicts = Counter(row["verdict"] for row in rows if not row["in_flight"])
    assert verdicts == +Counter({v: n for v, n in said["collectives"].items() if v != "MATCHED"})
    assert {key for key, row in found.items() if row["verdict"] == "INCOMPLETE"} == set(lacking)
    for key, (present, missing) in lacking.items():
        classes = {word: ranks_in(text) for word, text in json.loads(found[key]["classes"]).items()}
        assert classes.pop("present") == present["present"]
        assert {str(rank): word for word, ranks in classes.items() for rank in ranks} == missing
    assert {key for key, row in found.items() if row["verdict"] == "PROGRESS_DIFF"} == set(behind)
    for key, unfinished in behind.items():
        assert ranks_in(found[key]["unfinished"]) == unfinished


@pytest.mark.parametrize("name", [TWO, "fr/gloo/wrongop", "fr/synthetic/agb"])
def test_calls_that_differ(archive: Archive, name: str) -> None:
    """`mismatches`: what each member called, with which sizes and type, and where; all three kinds of set."""
    wanted = {}
    for differs in matching(archive, name)["mismatches"]:
        for what, ranks in differs["by"].items():
            for rank in ranks:
                site = differs["sites"].get(str(rank))
                wanted[differs["group"], differs["seq"], rank] = (differs["verdict"], what, site)

    rows = ask(archive, name, "show_mismatches")

    assert wanted
    assert {
        (row["group"], row["collective_seq_id"], row["rank"]): (
            row["verdict"],
            f"{row['op_name']} {json.loads(row['in_sizes'])} {json.loads(row['out_sizes'])} {row['dtype']}",
            row["site"],
        )
        for row in rows
    } == wanted


@pytest.mark.parametrize("name", HUNG)
def test_causes(archive: Archive, name: str) -> None:
    """`findings` in order, the first at `first_divergence`; who is blamed, and how surely: `culprits`."""
    said = matching(archive, name)
    culprits = {c["rank"]: (c["confidence"], c["basis"]) for c in said["culprits"]}
    first = said["first_divergence"]

    rows = ask(archive, name, "show_causes")

    assert [row["place"] for row in rows] == list(range(1, len(rows) + 1))
    assert [(row["rule"].upper(), row["ranks"], row["group"], row["collective_seq_id"]) for row in rows] == [
        (f["kind"], f["ranks"], f["group"], f["seq"]) for f in said["findings"]
    ]
    blamed = {rank: (row["confidence"], row["basis"]) for row in rows for rank in row["blamed"]}
    assert blamed == culprits
    assert sorted({rank for row in rows for rank in row["undecided"]}) == said["undecided_between"]
    assert (rows[0]["op_name"].rpartition(":")[2], rows[0]["site"]) == (
        first["op"].rpartition(":")[2],
        first["site"],
    )


def test_the_calls_of_a_group_in_order(archive: Archive) -> None:
    """Five numbers of all four ranks, #6 without rank 3; #3 of two ranks at the lines of `mismatches`."""
    order = archive.rows(SKIP, "communication/show_collective_order", group="0[0-3]", **ANYWHERE)
    by_rank = archive.rows(SKIP, "communication/show_collectives_by_rank", group="0[0-3]", **ANYWHERE)
    split = archive.rows(TWO, "communication/show_collective_order", group="0[0-1]", first_seq=3, last_seq=3)

    made = {seq: [0, 1, 2, 3] for seq in range(1, 6)} | {6: [0, 1, 2]}
    assert {row["collective_seq_id"]: row["ranks"] for row in order} == made
    assert [row["calls"] for row in order] == [4, 4, 4, 4, 4, 3]
    assert (order[-1]["op_name"], order[-1]["site"]) == ("gloo:all_reduce", "gen_fr.py:82")
    assert [(row["collective_seq_id"], row["rank"]) for row in by_rank] == [
        (seq, rank) for seq, ranks in made.items() for rank in ranks
    ]
    assert {row["collective_kind"] for row in by_rank} == {"all_reduce"}
    (differs,) = matching(archive, TWO)["mismatches"]
    assert {str(r["ranks"][0]): r["site"] for r in split} == differs["sites"]


@pytest.mark.parametrize("name", [BATCHED, LOCKED, "fr/synthetic/pp4", "fr/synthetic/ringbatch"])
def test_edges_of_sends_and_recvs(archive: Archive, name: str) -> None:
    """Every edge of `p2p` with its counts; those neither matched nor solved are the unmatched ones."""
    said = matching(archive, name)["p2p"]
    counts = ("sends", "recvs", "matched", "solved", "ambiguous", "send_only", "recv_only", "size_mismatch")

    channels = ask(archive, name, "show_channels")
    unmatched = ask(archive, name, "show_unmatched_transfers")

    assert {(r["group"], r["src"], r["dst"]): (r["verdict"], *(r[c] for c in counts)) for r in channels} == {
        (edge["group"], edge["src"], edge["dst"]): (edge["verdict"], *(edge[count] for count in counts))
        for edge in said
    }
    assert [
        (r["group"], r["src"], r["dst"], r["verdict"], *(r[c] for c in counts[4:])) for r in unmatched
    ] == [
        (r["group"], r["src"], r["dst"], r["verdict"], *(r[c] for c in counts[4:]))
        for r in channels
        if r["verdict"] not in SETTLED
    ]
