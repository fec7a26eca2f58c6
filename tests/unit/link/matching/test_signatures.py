from __future__ import annotations

from dataclasses import replace

from graphstore.link.matching.signatures import Signature, SignatureColumns, Signatures


def _item(name: str, kind: str | None, ins: int | None, outs: int | None) -> Signature:
    """Return a call of one tensor of so many elements in and out, or of none."""
    one = () if ins is None else (ins,)
    other = () if outs is None else (outs,)
    types = ("Float",) * len(one)
    return Signature(f"nccl:{name}", kind, str(one), str(other), types, types, one, other)


def test_equal_signatures_have_one_number() -> None:
    """Numbers come in order of appearance; the same content asked for again has its old number."""
    signatures = Signatures()
    one, other = _item("all_reduce", "all_reduce", 4, 4), _item("barrier", "barrier", None, None)

    assert signatures.codes([one, other, one]).tolist() == [0, 1, 0]
    assert signatures.codes([other]).tolist() == [1]
    assert signatures.site_codes(["a.py:1", "b.py:2", "a.py:1"]).tolist() == [0, 1, 0]
    assert (signatures.site(1), signatures.site(-1)) == ("b.py:2", None)


def test_names_of_one_kind_are_the_same_content() -> None:
    """`_all_gather_base` and `all_gather` of the same elements are alike; shapes are told apart."""
    base = _item("_all_gather_base", "all_gather", 4, 8)
    plain = replace(base, op_name="nccl:all_gather", in_sizes="[[2, 2]]")

    columns = SignatureColumns.of([base, plain])

    assert columns.content[0] == columns.content[1]
    assert columns.shape[0] != columns.shape[1]


def test_a_step_of_a_program_does_not_depend_on_counts_that_may_differ() -> None:
    """An all_to_all sends other counts from every rank; an all_reduce has the same on all."""
    exchange = [_item("all_to_all", "all_to_all", n, 9 - n) for n in (4, 5)]
    reduce = [_item("all_reduce", "all_reduce", n, n) for n in (4, 5)]

    columns = SignatureColumns.of([*exchange, *reduce])

    assert columns.token[0] == columns.token[1]
    assert columns.content[0] != columns.content[1]
    assert columns.token[2] != columns.token[3]


def test_a_call_without_sizes_has_no_payload_to_compare() -> None:
    """A send whose sizes were not recorded is unequal to none."""
    unknown = Signature("nccl:send 0->1", "send", src=0, dst=1)

    columns = SignatureColumns.of([unknown, _item("send 0->1", "send", 4, 4)])

    assert columns.payload.tolist()[0] == -1
    assert columns.payload.tolist()[1] >= 0
    assert unknown.word == "send"
    assert Signature("nccl:novel", None).word == "novel"
