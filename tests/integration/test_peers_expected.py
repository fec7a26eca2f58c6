"""Who sent to whom in recorded gloo jobs, against what the recording scripts logged (expected.json).

The files name no group for a send or recv, and its peer only as a place in it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from graphstore import queries
from graphstore.api.importing import ImportOptions, import_files
from graphstore.chakra import et_def_pb2
from graphstore.export import export_run
from graphstore.queries.columns import read_lists
from graphstore.readers import find_files
from graphstore.settings import Settings
from graphstore.store import Store
from tests.integration.test_export_expected import read_nodes

pytestmark = pytest.mark.data

RUN = "r"
KIND = et_def_pb2.NodeType
SETS = ("torch213/tp_pp_4r", "demo_4r", "fr_et_kineto")
Ends = Counter[tuple[int, str, int, int]]  # (rank, send or recv, other side, tag): calls


def truth(folder: Path) -> Ends:
    """Return the sends and recvs that the script of a set made."""
    facts = json.loads((folder / "expected.json").read_text())
    if folder.name == "fr_et_kineto":  # one pair; its peers can mean nothing else
        return Counter({(0, "send", 1, 0): 1, (1, "recv", 0, 0): 1})
    known, out = facts["known_from_the_script"], Ends()
    if folder.name == "tp_pp_4r":
        for rank, peer in known["peer_of_send_and_recv"].items():
            kinds = Counter(call.split()[0] for call in known["calls_per_step"][rank])
            for kind, op in (("send", "send"), ("recv", "recv_")):
                out[int(rank), kind, peer, 0] = 2 * kinds[op]  # two equal steps
        return out
    for rank, calls in known["calls"].items():
        for call in calls:
            found = re.match(r"(send|recv)_? \S+ (?:to|from) rank (\d+) tag (\d+)", call)
            if found:
                out[int(rank), found[1], int(found[2]), int(found[3])] += 1
    return out


def imported(store: Store, folder: Path) -> None:
    """Import the set as the run."""
    settings = Settings(store="", processes=1)
    import_files(store, find_files([str(folder)]), ImportOptions(run=RUN), settings)


def told(store: Store) -> pl.DataFrame:
    """Return the sends and recvs of the run, as the table of transfers has them."""
    rows = read_lists(store, RUN, "communication/show_transfer_table", first=0, after=1 << 62)
    return rows.sort("uid")


def ends(rows: pl.DataFrame) -> Ends:
    """Return the ends that the graph tells."""
    return Counter(rows.select("rank", "collective_kind", "peer_rank", "tag").iter_rows())


def written(folder: Path, name: str) -> Ends:
    """Return the ends that stand in the Chakra files."""
    out = Ends()
    for path in folder.glob(f"{name}.*.et"):
        rank = int(path.name.split(".")[-2])
        for node in read_nodes(path):
            values = {attr.name: attr for attr in node.attr}
            if node.type == KIND.COMM_SEND_NODE:
                out[rank, "send", values["comm_dst"].int32_val, values["comm_tag"].int32_val] += 1
            elif node.type == KIND.COMM_RECV_NODE:
                out[rank, "recv", values["comm_src"].int32_val, values["comm_tag"].int32_val] += 1
    return out


@pytest.mark.parametrize("name", SETS)
def test_every_send_and_recv_has_the_peer_of_the_script(
    data_dir: Path, kglite_store: Store, name: str
) -> None:
    """All of them, on the embedded engine."""
    imported(kglite_store, data_dir / name)

    assert ends(told(kglite_store)) == truth(data_dir / name)


@pytest.mark.neo4j
def test_a_server_tells_the_same(data_dir: Path, neo4j_store: Store) -> None:
    """Peers, their pairs and channels of demo_4r."""
    imported(neo4j_store, data_dir / "demo_4r")

    rows = told(neo4j_store)
    assert ends(rows) == truth(data_dir / "demo_4r")
    assert set(rows["verdict"]) == {"MATCHED"}


def test_sends_and_recvs_of_a_known_group_pair_in_order(data_dir: Path, kglite_store: Store) -> None:
    """demo_4r: four channels of four, each send with the recv of its place and tag (the script's order)."""
    imported(kglite_store, data_dir / "demo_4r")

    rows = told(kglite_store)
    place = pl.int_range(pl.len()).over("rank", "collective_kind", "tag")
    placed = rows.with_columns(place=place).select(
        "uid", "collective_kind", "rank", "tag", "place", "peer_uid"
    )
    pairs = placed.join(placed, left_on="peer_uid", right_on="uid", suffix="_other")
    assert pairs.height == 32
    assert pairs["tag"].to_list() == pairs["tag_other"].to_list()
    assert pairs["place"].to_list() == pairs["place_other"].to_list()
    assert set(rows["group"]) == {"3[0,2]", "4[1,3]"}
    assert rows.select("src", "dst").unique().height == 4
    run = queries.run_query(kglite_store, RUN, "communication/show_matching").row(0, named=True)
    assert (run["matched_from"], run["healthy"]) == ("flight_recorder", True)


@pytest.mark.parametrize("name", SETS)
def test_exports_name_global_ranks(data_dir: Path, kglite_store: Store, tmp_path: Path, name: str) -> None:
    """comm_dst and comm_src as the script has them; files for ASTRA-sim keep every pair."""
    imported(kglite_store, data_dir / name)

    export_run(kglite_store, RUN, tmp_path / "plain")
    export_run(kglite_store, RUN, tmp_path / "astra", target="astra-sim")

    expected = truth(data_dir / name)
    assert written(tmp_path / "plain", RUN) == expected
    kept = Counter((rank, kind, peer) for rank, kind, peer, _ in written(tmp_path / "astra", RUN).elements())
    assert kept == Counter((rank, kind, peer) for rank, kind, peer, _ in expected.elements())
