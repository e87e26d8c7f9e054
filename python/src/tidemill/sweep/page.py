"""A sweep's status as a page: `tidemill sweep --status DIR --page PORT`. Shows, and changes nothing.

Beyond this machine it asks for the password in TIDEMILL_PAGE_PASSWORD, as the receiver's page does.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import json
import os
import socket
import time
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
        """Port 0: any that is free. Throws JobFailed where it cannot listen, WrongUsage where others could look without
        a password."""
        password = os.environ.get("TIDEMILL_PAGE_PASSWORD", "")
        if not password and not _is_loopback(address):
            raise _core.WrongUsage(f"--page {address}: others could look at it; set TIDEMILL_PAGE_PASSWORD to a password for them")
        try:
            self._server = _Server((address, port), _handler(status, _Passwords(password)))
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


class _Passwords:
    """Who may look. After five wrong passwords within a minute nobody is let in for the rest of it."""

    def __init__(self, password: str) -> None:
        self._password = password.encode()
        self._wrong: list[float] = []

    def answer(self, authorization: str | None) -> int:
        """Status of HTTP for a request with that header: 200, 401, or 429 where too many were wrong."""
        if not self._password:
            return 200
        now = time.monotonic()
        self._wrong = [moment for moment in self._wrong if now - moment < 60]
        if authorization is None:
            return 401
        if len(self._wrong) >= 5:
            return 429
        if hmac.compare_digest(_password_in(authorization), self._password):
            return 200
        self._wrong.append(now)
        return 401


def _password_in(authorization: str) -> bytes:
    scheme, _, value = authorization.partition(" ")
    try:
        decoded = base64.b64decode(value, validate=True) if scheme.lower() == "basic" else b""
    except (binascii.Error, ValueError):
        return b""
    return decoded.partition(b":")[2]


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


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


def _handler(status: Status, passwords: _Passwords) -> type[BaseHTTPRequestHandler]:
    page = files(__package__).joinpath("page.html").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            if not self._is_for_us():
                self._answer(403, "text/plain; charset=utf-8", b"this page is for this host's own name and addresses alone\n")
            elif (code := passwords.answer(self.headers.get("Authorization"))) != 200:
                self._answer(code, "text/plain; charset=utf-8", b"a password is wanted; after five wrong ones wait a minute\n")
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
            if code == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="tidemill", charset="UTF-8"')
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
