from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from graphstore.export.browser.serving import KitServer, serving

ORIGIN = "http://localhost:7474"


@pytest.fixture
def server() -> Iterator[KitServer]:
    """Return a server with one file."""
    made = KitServer(ORIGIN)
    made.kit = {"guide.html": b"<title>Run r</title>"}
    with serving(made):
        yield made


def ask(server: KitServer, method: str, path: str, **headers: str) -> http.client.HTTPResponse:
    """Return the answer to a request."""
    connection = http.client.HTTPConnection("localhost", server.server_port, timeout=5)
    connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    return connection.getresponse()


def test_the_browser_may_read_and_ask_before(server: KitServer) -> None:
    """Its origin is allowed, with the headers it asks for."""
    asked = ask(
        server, "OPTIONS", "/guide.html", Origin=ORIGIN, Access_Control_Request_Headers="pragma,cache-control"
    )
    read = ask(server, "GET", "/guide.html", Origin=ORIGIN)

    assert asked.status == 204
    assert asked.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert asked.headers["Access-Control-Allow-Headers"] == "pragma,cache-control"
    assert (read.status, read.read()) == (200, b"<title>Run r</title>")
    assert read.headers["Access-Control-Allow-Origin"] == ORIGIN


def test_no_other_page_may_read(server: KitServer) -> None:
    """Another origin is not allowed, and a name that was made to lead here is not served."""
    other = ask(server, "GET", "/guide.html", Origin="https://example.org")
    renamed = ask(server, "GET", "/guide.html", Host=f"example.org:{server.server_port}")

    assert other.headers["Access-Control-Allow-Origin"] is None
    assert renamed.status == 404


@pytest.mark.parametrize("path", ["/", "/other", "/../pyproject.toml", "/guide.html/x"])
def test_nothing_but_the_kit_is_served(server: KitServer, path: str) -> None:
    """Only its files, by their very names."""
    assert ask(server, "GET", path).status == 404


def test_it_listens_on_this_machine_only(server: KitServer) -> None:
    """The address is a loopback one; after the block nobody answers."""
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://localhost:{server.server_port}/"
