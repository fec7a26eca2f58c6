from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from graphstore.export.browser import BrowserAt

AT = BrowserAt("http://localhost:7474", "neo4j://localhost:7687", "jo@home")


def test_a_link_names_the_user_and_the_question() -> None:
    """Only the password is left to be typed; the query comes out as it went in."""
    link = AT.ask("MATCH (n) WHERE n.name = 'a b' RETURN n")

    words = parse_qs(urlsplit(link).query)
    assert urlsplit(link)._replace(query="").geturl() == "http://localhost:7474/browser/"
    assert words["dbms"] == ["neo4j://jo%40home@localhost:7687"]
    assert (words["cmd"], words["arg"]) == (["edit"], ["MATCH (n) WHERE n.name = 'a b' RETURN n"])
    assert "+" not in link


def test_what_ends_a_link_does_not_stand_in_it() -> None:
    """Browser unquotes before it splits: `&` and `#` of an id are written as their numbers, as Cypher may."""
    link = AT.finding('r&d#1"')

    query = parse_qs(urlsplit(link).query)["arg"][0]
    assert "%26" not in link
    assert "%23" not in link
    assert 'f.fid = "r\\u0026d\\u00231\\""' in query


def test_the_start_page_takes_run_and_kit() -> None:
    """Both or neither."""
    assert AT.start().endswith("start.html?dbms=neo4j%3A%2F%2Fjo%2540home%40localhost%3A7687")
    assert AT.start("demo", "http://localhost:9/").endswith("&run=demo&kit=http%3A%2F%2Flocalhost%3A9%2F")
