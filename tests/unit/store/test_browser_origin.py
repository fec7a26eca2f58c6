from __future__ import annotations

import pytest

from graphstore.store.neo4j import origin

HTTP = {"server.http.enabled": "true", "server.http.advertised_address": "localhost:7474"}
HTTPS = {"server.https.enabled": "true", "server.https.advertised_address": ":7473"}


@pytest.mark.parametrize(
    ("settings", "address", "wanted"),
    [
        (HTTP, "bolt://localhost:7687", "http://localhost:7474"),
        (HTTP, "neo4j://127.0.0.1:7687", "http://localhost:7474"),
        (HTTP, "bolt://graph.example:7687", "http://graph.example:7474"),
        (
            {**HTTP, "server.http.advertised_address": "seen.example:80"},
            "bolt://a:1",
            "http://seen.example:80",
        ),
        ({**HTTP, **HTTPS}, "bolt://localhost:7687", "http://localhost:7474"),
        ({**HTTPS, "server.http.enabled": "false"}, "neo4j+s://graph.example", "https://graph.example:7473"),
        ({"server.http.enabled": "false"}, "bolt://localhost:7687", None),
        ({}, "bolt://localhost:7687", None),
    ],
)
def test_pages_are_where_a_person_reaches_them(
    settings: dict[str, str], address: str, wanted: str | None
) -> None:
    """As advertised; a server not told its name is found by that of its Bolt address."""
    assert origin(settings, address) == wanted
