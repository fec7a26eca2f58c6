from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.calls import GroupCalls, calls_by_group
from graphstore.link.matching.groups import find_groups
from graphstore.link.matching.reduce import DONE, UNDONE, reduce_dump
from graphstore.link.matching.signatures import Signatures
from tests.data.flight import Row, call, closing, dump, recv, send


def _calls(
    rows: Sequence[Row], rank: int = 0, order: Sequence[int] = (0, 1), first: int = 0
) -> tuple[GroupCalls, Signatures]:
    reduced = reduce_dump(dump(rank, rows, {"0": order}, first=first))
    signatures = Signatures()
    signatures.codes(reduced.signatures)
    groups = find_groups({rank: reduced})
    (calls,) = calls_by_group({rank: reduced}, groups, signatures).values()
    assert not reduced.size  # held once
    return calls, signatures


def test_collectives_and_transfers_do_not_mix() -> None:
    """A send between two collectives is in another table and does not shift their numbers."""
    calls, _ = _calls([call(), send(0, 1), call()])

    assert calls.blocks[0].seq.tolist() == [1, 2]
    assert calls.blocks[0].place.tolist() == [0, 2]
    assert calls.transfers[0].place.tolist() == [1]
    assert calls.has_p2p


def test_entries_of_one_number_are_one_block_with_the_state_of_its_end() -> None:
    """Two all_reduces in a coalesced block, recorded one by one; the closing entry says it is not done."""
    block = [call(size=n, block=True, state="completed") for n in (4, 8)]

    calls, signatures = _calls([call(), *block, closing(state="scheduled"), call()])

    made = calls.blocks[0]
    assert made.seq.tolist() == [1, 2, 3]
    assert made.state.tolist() == [DONE, UNDONE, DONE]
    assert [part.in_count for part in signatures.items[made.sig[1]].parts] == [4, 8]
    assert made.has_blocks


def test_a_block_that_the_ring_has_cut_is_of_unknown_content() -> None:
    """Its first call is gone: what is left must not be compared."""
    block = [call(size=n, block=True) for n in (4, 8)]

    calls, signatures = _calls([*block, closing(), call()], first=1)

    assert signatures.items[calls.blocks[0].sig[0]].parts == ()


def test_a_block_without_its_end_is_done_when_all_of_it_is() -> None:
    """The dump was made inside the block."""
    for states, expected in ((("completed", "completed"), DONE), (("completed", "scheduled"), UNDONE)):
        calls, _ = _calls([call(block=True, state=state) for state in states])
        assert calls.blocks[0].state.tolist() == [expected]


def test_a_batch_gives_its_state_to_its_sends_and_recvs() -> None:
    """The closing entry of a batch ends the transfers before it with the same number, no others."""
    batch = [send(0, 1, block=True, state="scheduled"), recv(1, 0, block=True, state="scheduled")]

    calls, _ = _calls([send(0, 1, state="scheduled"), *batch, closing(is_p2p=True)])

    transfers = calls.transfers[0]
    assert transfers.state.tolist() == [UNDONE, DONE, DONE]
    assert transfers.batch.tolist() == [-1, 2, 2]


def test_ends_are_places_in_the_list_as_it_is_listed() -> None:
    """In a group listed as 7, 3 the place 0 is rank 7."""
    calls, _ = _calls([recv(0, 1)], rank=3, order=(7, 3))

    assert (calls.transfers[3].src.tolist(), calls.transfers[3].dst.tolist()) == ([7], [3])


def test_a_transfer_that_names_another_place_than_the_callers_is_not_placed() -> None:
    """The list cannot be the one the recorder meant."""
    calls, _ = _calls([send(1, 0), send(0, 5)])

    assert calls.unplaced == 2
    assert not calls.transfers[0].place.size
