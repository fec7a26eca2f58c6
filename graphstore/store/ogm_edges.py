"""neomodel classes of the relationships that carry properties, for ogm.py and ogm_matching.py.

Declared by model/schema.py; tests/unit/store/test_ogm.py fails when they differ.
"""

from __future__ import annotations

from neomodel import IntegerProperty, StringProperty, StructuredRel


class Ctrl(StructuredRel):
    """Properties of CTRL."""

    repair = StringProperty()
    rule = StringProperty()
    confidence = StringProperty()


class Sync(StructuredRel):
    """Properties of SYNC."""

    rule = StringProperty()


class SeenAs(StructuredRel):
    """Properties of SEEN_AS."""

    rule = StringProperty()


class Member(StructuredRel):
    """Properties of MEMBER."""

    first_kept = IntegerProperty()
    last_kept = IntegerProperty()
    kept = IntegerProperty()
    last_enqueued = IntegerProperty()
    last_completed = IntegerProperty()


class CallOf(StructuredRel):
    """Properties of CALL_OF."""

    rule = StringProperty()


class Peer(StructuredRel):
    """Properties of PEER."""

    rule = StringProperty()


class WaitsFor(StructuredRel):
    """Properties of WAITS_FOR."""

    wait = StringProperty()


class About(StructuredRel):
    """Properties of ABOUT."""

    role = StringProperty()
