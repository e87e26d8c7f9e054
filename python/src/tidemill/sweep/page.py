"""A sweep's status as a page: `tidemill sweep --status DIR --page PORT`. Shows, and changes nothing."""

from __future__ import annotations

import ipaddress
import json
import socket
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from .. import _core
from .settings import SweepError

Status = Callable[[], dict[str, Any]]


class StatusPage:
    """Serves until shutdown(). Every look reads the state anew."""

    def __init__(self, status: Status, address: str, port: int) -> None:
        """Port 0: any that is free. Throws JobFailed where it cannot listen."""
        try:
            self._server = _Server((address, port), _handler(status))
        except OSError as error:
            raise _core.JobFailed(f"the page cannot listen at {address}:{port}: {error.strerror}") from None

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/"

    def serve(self) -> None:
        """Until somebody else calls shutdown(), or Ctrl-C comes."""
        with self._server:
            self._server.serve_forever()

    def shutdown(self) -> None:
        self._server.shutdown()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who goes away in the middle of an answer is no error of ours."""


# A name that others have made to point here could be read by their pages; addresses cannot be made to point anywhere.
def _is_ours(host: str) -> bool:
    name = urllib.parse.urlsplit(f"//{host}").hostname or ""
    if name in ("localhost", socket.gethostname().lower()):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _handler(status: Status) -> type[BaseHTTPRequestHandler]:
    page = files(__package__).joinpath("page.html").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            if not self._is_for_us():
                self._answer(403, "text/plain; charset=utf-8", b"this page is for this host's own name and addresses alone\n")
            elif self.path == "/":
                self._answer(200, "text/html; charset=utf-8", page)
            elif self.path == "/status.json":
                self._status()
            else:
                self._answer(404, "text/plain; charset=utf-8", b"there is / and /status.json\n")

        def _is_for_us(self) -> bool:
            hosts = self.headers.get_all("Host", [])
            try:
                return len(hosts) == 1 and _is_ours(hosts[0])
            except ValueError:
                return False

        def _status(self) -> None:
            try:
                self._answer(200, "application/json", json.dumps(status()).encode())
            except SweepError as error:
                self._answer(503, "application/json", json.dumps({"error": str(error)}).encode())

        def _answer(self, code: int, kind: str, content: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Who looks is nobody's business."""

    return Handler


def place_of(text: str) -> tuple[str, int]:
    """Of "8080", on this machine alone, or of "ADDRESS:8080". Throws WrongUsage."""
    address, _, port = text.rpartition(":")
    if port.isascii() and port.isdigit() and int(port) <= 65535 and len(port) <= 5:
        return address or "127.0.0.1", int(port)
    raise _core.WrongUsage(f"--page {text}: give a port from 0 to 65535, or ADDRESS:PORT for other hosts to look, too")
