"""Which worker of pytest-xdist runs which tests: those that need the one Neo4j server all run on one of them.

In:  the ids of the tests. Out: a group for each. The server belongs to one test or module at a time
(engines.py), so a second worker that comes to such a test only waits, for as long as a whole module holds it;
with them in one group the others meanwhile do what needs no server. All else is grouped by file, as
`--dist loadfile` says. Told by name: a test that needs the server without saying so waits, and is right.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

SAYS_SERVER = ("neo4j", "both_engines", "server")


class ByServer(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types for it
    """Grouping by file, and one group for the server."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the group of a test."""
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return `neo4j` for a test whose file, name or parameters speak of the server, else its file."""
    file, _, name = nodeid.partition("::")
    if file.startswith("tests/unit/"):  # they may speak of it, but need none
        return file
    return "neo4j" if any(word in f"{file} {name}" for word in SAYS_SERVER) else file
