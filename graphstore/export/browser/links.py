"""Links into Neo4j Browser: a query in its editor, a guide, our start page.

In:  where Browser and the database are. Out: addresses. A link never holds a password; the name of the user
stands in it, so that only the password is to be typed.
Decided here: what of a query can go into a link: comments and everything that ends one (`&`, `#`) may not.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from graphstore.queries.cypher_text import literal

START_PAGE = "graphstore/start.html"  # below /browser/, where this project's start script put it


@dataclass(frozen=True)
class BrowserAt:
    """Where Browser is: its origin (`http://localhost:7474`), the database, the user's name."""

    origin: str
    database: str
    username: str

    def run(self, run: str) -> str:
        """Return the link to what a run is made of."""
        return self.ask(f"MATCH path = (r:Run)<-[:IN_RUN]-(part) WHERE r.run = {literal(run)} RETURN path")

    def finding(self, fid: str) -> str:
        """Return the link to a finding that is kept, with what it is about."""
        return self.ask(
            f"MATCH path = (f:Finding)-[:ABOUT]->(subject) WHERE f.fid = {literal(fid)} RETURN path"
        )

    def ask(self, query: str) -> str:
        """Return the link that puts a query into the editor; the person presses run."""
        return self._browser(cmd="edit", arg=query)

    def guide(self, address: str) -> str:
        """Return the link that shows the guide at an address in the left drawer."""
        return self._browser(cmd="guide", arg=address)

    def start(self, run: str | None = None, kit: str | None = None) -> str:
        """Return the link to our start page, for a run and with the files at an address, if given."""
        more = {name: value for name, value in (("run", run), ("kit", kit)) if value is not None}
        return f"{self.origin}/browser/{START_PAGE}?{_query(dbms=self._dbms, **more)}"

    @property
    def _dbms(self) -> str:
        found = urlsplit(self.database)
        return f"{found.scheme}://{quote(self.username, safe='')}@{found.netloc}"

    def _browser(self, **words: str) -> str:
        return f"{self.origin}/browser/?{_query(dbms=self._dbms, **words)}"


def _query(**words: str) -> str:
    """Return the part of an address behind `?`, everything quoted (a `+` for a space would be shown)."""
    return urlencode(words, quote_via=quote, safe="")
