"""What stands in a row of the flat tables, in which order, and what stays null because no file proves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore import queries
from graphstore.export import table_rows
from graphstore.export.table_columns import BOOLEANS, DTYPES, TableColumns

RUN_NO = 3
Rows = list[dict[str, Any]]
QUERIES = {
    "groups": "show_groups",
    "collectives": "show_collective_table",
    "calls": "show_call_table",
    "transfers": "show_transfer_table",
}
TYPES: dict[str, Any] = {"int": pl.Int64, "list[int]": pl.Int64, "text": pl.String, "list[text]": pl.String}
TYPES |= {"bool": pl.Boolean}
LISTS = {"members": pl.List(pl.Int64)} | {name: pl.List(pl.String) for name in DTYPES}


def uid(place: int) -> int:
    """Return the key of the node at a place of the run."""
    return RUN_NO << 32 | place


def columns_of(**tables: Rows) -> TableColumns:
    """Return columns with these rows; what a row does not name is null."""
    frames = {}
    for table, name in QUERIES.items():
        schema = {field.name: TYPES.get(field.type) for field in queries.get(name).columns}
        schema |= {name: kind for name, kind in LISTS.items() if name in schema}
        schema |= {name: pl.Boolean for name in BOOLEANS if name in schema}
        rows = tables.get(table, [])
        assert not {key for row in rows for key in row} - set(schema)
        frames[table] = pl.DataFrame(rows, schema=schema)
    return TableColumns(**frames)


def group(members: list[int], *, complete: bool | None = True) -> dict[str, Any]:
    """Return the group g."""
    return {"group": "g", "pg_desc": "default_pg", "members": members, "complete": complete}


def call(place: int, rank: int, kind: str | None = "all_reduce", **own: Any) -> dict[str, Any]:
    """Return a call of collective 9 of group g."""
    return {
        "uid": uid(place),
        "rank": rank,
        "collective": uid(9),
        "group": "g",
        "collective_kind": kind,
    } | own


def collective(place: int = 9, **own: Any) -> dict[str, Any]:
    """Return an all_reduce of group g."""
    return {"uid": uid(place), "group": "g", "collective_kind": "all_reduce"} | own


def test_a_collective_shows_the_call_of_the_lowest_rank_that_called_what_most_did() -> None:
    """Rank 0 called something else: its sizes would say nothing of the all_reduce."""
    calls = [call(3, 2, size_bytes=8), call(2, 1, size_bytes=4, site="a.py:1"), call(1, 0, "broadcast")]
    columns = columns_of(calls=calls, collectives=[collective()], groups=[group([0, 1, 2])])

    rows = table_rows.collectives(columns)

    shown = rows.select("call_rank", "size_bytes", "site", "pg_desc", "members").row(0)
    assert shown == (1, 4, "a.py:1", "default_pg", [0, 1, 2])


def test_of_a_collective_of_unknown_kind_the_lowest_rank_is_shown() -> None:
    """No majority: any call is as typical as another, and the lowest rank is one rule for all runs."""
    calls = [call(2, 1, size_bytes=4), call(1, 0, None, size_bytes=2)]

    rows = table_rows.collectives(columns_of(calls=calls, collectives=[collective(collective_kind=None)]))

    assert rows.select("call_rank", "size_bytes").row(0) == (0, 2)


def test_a_collective_without_calls_in_the_graph_keeps_its_row() -> None:
    """At a reduced detail level only the collective is stored."""
    rows = table_rows.collectives(columns_of(collectives=[collective(verdict="MATCHED")]))

    assert rows.select("verdict", "call_rank", "members").rows() == [("MATCHED", None, None)]


def test_collectives_come_by_group_and_number() -> None:
    """Numbers count within the group; what has none stands last."""
    given = [collective(1), collective(2, collective_seq_id=7), collective(3, collective_seq_id=2)]
    given += [collective(4, group="a", collective_seq_id=5)]

    rows = table_rows.collectives(columns_of(collectives=given))

    assert rows.select("group", "collective_seq_id").rows() == [("a", 5), ("g", 2), ("g", 7), ("g", None)]


def test_calls_come_by_group_number_and_rank() -> None:
    """A call is named by its number within the run, whichever archive holds it."""
    given = [call(4, 1, collective_seq_id=1), call(6, 0, collective_seq_id=2), call(7, 0, group=None)]
    given += [call(5, 0, collective_seq_id=1)]

    rows = table_rows.calls(columns_of(calls=given))

    assert rows.select("collective_seq_id", "rank", "call").rows() == [
        (1, 0, 5),
        (1, 1, 4),
        (2, 0, 6),
        (None, 0, 7),
    ]


def send(place: int, rank: int, peer: int | None, kind: str | None = "send", **own: Any) -> dict[str, Any]:
    """Return a send or recv of group g."""
    return {"uid": uid(place), "rank": rank, "group": "g", "collective_kind": kind, "peer": peer} | own


def ends(columns: TableColumns) -> list[tuple[int, int | None, int | None]]:
    """Return call, src and dst of every transfer."""
    return sorted(table_rows.transfers(columns).select("call", "src", "dst").iter_rows())


def test_the_channel_says_both_ends() -> None:
    """A channel is matched: what the members of the group would say stands behind it."""
    columns = columns_of(groups=[group([4, 5])], transfers=[send(1, 4, 1, src=4, dst=9)])

    assert ends(columns) == [(1, 4, 9)]


def test_without_a_channel_the_members_say_who_the_peer_is() -> None:
    """The peer is a place in the group; a recv comes from it."""
    columns = columns_of(groups=[group([4, 5])], transfers=[send(1, 4, 1), send(2, 5, 0, "recv")])

    assert ends(columns) == [(1, 4, 5), (2, 4, 5)]


def test_a_place_among_unknown_members_is_no_rank() -> None:
    """Where a member may lack in the list, or the place lies behind it, only the own end is known."""
    given = [send(1, 4, 1), send(2, 4, None)]

    assert ends(columns_of(groups=[group([4, 5], complete=False)], transfers=given)) == [
        (1, 4, None),
        (2, 4, None),
    ]
    assert ends(columns_of(groups=[group([4])], transfers=given)) == [(1, 4, None), (2, 4, None)]
    assert ends(columns_of(transfers=given)) == [(1, 4, None), (2, 4, None)]


def test_an_entry_that_closes_a_block_has_no_ends() -> None:
    """It is neither a send nor a recv, but it is not lost."""
    assert ends(columns_of(groups=[group([4, 5])], transfers=[send(1, 4, None, None)])) == [(1, None, None)]


def test_transfers_come_by_channel_and_name_their_partner() -> None:
    """Sends and recvs of one channel stand together, each in the order of its rank."""
    given = [
        send(8, 1, 0, "recv", record_id=3, peer_uid=uid(2), peer_record_id=1),
        send(3, 0, 1, record_id=2),
        send(2, 0, 1, record_id=1, peer_uid=uid(8), peer_record_id=3),
        send(9, 1, 0, record_id=4),
    ]

    rows = table_rows.transfers(columns_of(groups=[group([0, 1])], transfers=given))

    assert rows.select(
        "src", "dst", "collective_kind", "record_id", "peer_record_id", "peer_call"
    ).rows() == [
        (0, 1, "recv", 3, 1, 2),
        (0, 1, "send", 1, 3, 8),
        (0, 1, "send", 2, None, None),
        (1, 0, "send", 4, None, None),
    ]


def test_what_is_not_known_of_calls_is_counted() -> None:
    """A call without group or collective is a row like others, and the person is told how many there are.

    Of a very large run the calls that no fault concerns are not in the graph: their collective stands alone.
    The entry that closes a block of sends and recvs is in no channel.
    """
    calls = [call(1, 0), call(2, 0, group=None, collective=None)]
    transfers = [send(3, 0, 1), send(4, 0, 1, verdict="SOLVED"), send(5, 0, None, None)]
    collectives = [collective(9), collective(8)]

    found = table_rows.notes(columns_of(calls=calls, transfers=transfers, collectives=collectives))

    assert found == {
        "collective none of whose calls is in the graph": 1,
        "communication call of no known group": 1,
        "call of a collective of which no matching of the ranks says anything": 1,
        "send or recv of which no matching of the ranks says anything": 1,
    }


def test_the_page_says_what_the_columns_mean() -> None:
    """`just docs` renews docs/tables.md after a change of columns or of the schema."""
    cogapp = pytest.importorskip("cogapp", reason="cog comes with the extra 'dev'")
    page = Path(__file__).resolve().parents[3] / "docs" / "tables.md"

    assert cogapp.Cog().main(["cog", "--check", str(page)]) == 0
