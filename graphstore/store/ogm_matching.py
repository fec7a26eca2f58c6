"""neomodel classes of what matching the ranks gives: collectives, channels of sends, causes.

As ogm.py, which has the other classes and hands these on: import them from there. Classes of the other
module are named in full, because neomodel looks a bare name up in the module that says it.
"""

from __future__ import annotations

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphstore.store.ogm_edges import About, CallOf, WaitsFor

_OP = "graphstore.store.ogm.Op"
_RANK = "graphstore.store.ogm.Rank"
_PROCESS_GROUP = "graphstore.store.ogm.ProcessGroup"
_FINDING = "graphstore.store.ogm.Finding"


class Collective(StructuredNode):
    """One communication of a group, over all its ranks."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty(index=True)
    name = StringProperty()
    group = StringProperty()
    pg_name = StringProperty()
    collective_seq_id = IntegerProperty()
    collective_kind = StringProperty()
    op_name = StringProperty()
    verdict = StringProperty()
    in_flight = BooleanProperty()
    site_differs = BooleanProperty()
    shape_differs = BooleanProperty()
    classes = StringProperty()
    unfinished = StringProperty()
    calls = IntegerProperty()
    skew_ns = IntegerProperty()
    last_rank = IntegerProperty()
    transfer_ns = IntegerProperty()

    in_group = RelationshipTo(_PROCESS_GROUP, "IN_GROUP")
    call_of_from = RelationshipFrom(_OP, "CALL_OF", model=CallOf)
    waits_for = RelationshipTo(_RANK, "WAITS_FOR", model=WaitsFor)
    waits_for_from = RelationshipFrom(_RANK, "WAITS_FOR", model=WaitsFor)
    about_from = RelationshipFrom(_FINDING, "ABOUT", model=About)


class Channel(StructuredNode):
    """The sends of one rank to another within a group."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty(index=True)
    name = StringProperty()
    group = StringProperty()
    pg_name = StringProperty()
    src = IntegerProperty()
    dst = IntegerProperty()
    sends = IntegerProperty()
    recvs = IntegerProperty()
    matched = IntegerProperty()
    solved = IntegerProperty()
    ambiguous = IntegerProperty()
    send_only = IntegerProperty()
    recv_only = IntegerProperty()
    size_mismatch = IntegerProperty()
    how = StringProperty()
    evicted_src = IntegerProperty()
    evicted_dst = IntegerProperty()
    offset = IntegerProperty()
    offset_low = IntegerProperty()
    offset_high = IntegerProperty()
    verdict = StringProperty()
    in_flight = BooleanProperty()
    reordered = BooleanProperty()

    in_group = RelationshipTo(_PROCESS_GROUP, "IN_GROUP")
    call_of_from = RelationshipFrom(_OP, "CALL_OF", model=CallOf)


class Cause(StructuredNode):
    """What stopped or split the ranks, as matching them says."""

    uid = IntegerProperty(unique_index=True, required=True)
    run = StringProperty(index=True)
    name = StringProperty()
    rule = StringProperty()
    place = IntegerProperty()
    proven = BooleanProperty()
    message = StringProperty()
    ranks = ArrayProperty(IntegerProperty())
    blamed = ArrayProperty(IntegerProperty())
    undecided = ArrayProperty(IntegerProperty())
    confidence = StringProperty()
    basis = StringProperty()
    group = StringProperty()
    collective_seq_id = IntegerProperty()
    op_name = StringProperty()
    site = StringProperty()
    divergence = StringProperty()
    evidence = StringProperty()
