"""Serve the kit to Neo4j Browser from this process, on this machine only.

In:  the files, and the origin of the Browser that may read them. Out: an address, as long as the block lasts.
Decided here: only loopback, only GET, only these files, only for pages of that Browser (another web page that
guesses the port may not read what a run's guide says); what Browser asks for before (CORS) is granted to it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any

from graphstore.export.browser import Kit

KIND_BY_SUFFIX = {
    ".html": "text/html; charset=utf-8",
    ".adoc": "text/plain; charset=utf-8",
    ".grass": "application/json",
    ".json": "application/json",
    ".zip": "application/zip",
}


class KitServer(ThreadingHTTPServer):
    """A server on a free port of this machine; `kit` may be given once the port is known."""

    daemon_threads = True

    def __init__(self, origin: str) -> None:
        """Listen; nothing is served yet."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = origin
        self.kit: Kit = {}

    @property
    def address(self) -> str:
        """Where the files are; `localhost`, since Browser takes guides from no number."""
        return f"http://localhost:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a page that leaves in the middle of an answer is no event."""


@contextlib.contextmanager
def serving(server: KitServer) -> Iterator[None]:
    """Answer while the block runs."""
    thread = threading.Thread(target=server.serve_forever, name="browser kit", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: KitServer

    def do_OPTIONS(self) -> None:
        """Answer the question a page of another origin asks before it reads."""
        self._answer(204, b"", "text/plain")

    def do_GET(self) -> None:
        """Send a file of the kit."""
        name = self.path.split("?")[0].lstrip("/")
        if self._is_for_us() and name in self.server.kit:
            self._answer(200, self.server.kit[name], KIND_BY_SUFFIX[PurePosixPath(name).suffix])
        else:
            self._answer(404, b"", "text/plain")

    def _is_for_us(self) -> bool:
        """Whether this machine was meant: not another name that leads here."""
        return self.headers.get("Host") in {
            f"{name}:{self.server.server_port}" for name in ("localhost", "127.0.0.1")
        }

    def _answer(self, code: int, content: bytes, kind: str) -> None:
        self.send_response(code)
        if self.headers.get("Origin") == self.server.origin:
            self.send_header("Access-Control-Allow-Origin", self.server.origin)
            self.send_header("Access-Control-Allow-Methods", "GET")
            self.send_header(
                "Access-Control-Allow-Headers", self.headers.get("Access-Control-Request-Headers", "")
            )
            self.send_header("Access-Control-Allow-Private-Network", "true")
        self.send_header("Vary", "Origin")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the person looks at Browser."""
