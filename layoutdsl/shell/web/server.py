"""The server of the page: this machine alone, one text, and a token for whoever may ask.

Any page of the web can send requests here, and one whose name is made to mean this machine can
read the answers. So a request has to name this server as its host, and what asks or reads carries
the token, which is in the address that was printed and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import select
import socket
from collections.abc import Callable, Mapping
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from layoutdsl.shell.web.answerers import Answerers, Stopped
from layoutdsl.shell.web.watched import held, version_of
from layoutdsl.view.html import STYLE_SHEET

HOST = "127.0.0.1"
MOST_BODY = 1 << 22
"""Bytes of a request: a text of a million characters, each written as JSON may."""

PATIENCE = 20.0
"""Seconds that a request may take to come."""

TOKEN = "X-Layoutdsl-Token"  # noqa: S105  the name of a header
PAGE = Path(__file__).with_name("page")
TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Scripts within are those of pictures, which stand in frames; nothing is sent elsewhere."""


class Refused(Exception):  # noqa: N818  an answer
    """A request that is not served."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Server(ThreadingHTTPServer):
    """Serves the page, the file, and answers.

    Args:
        port: 0 for any that is free.
        file: that the page shows; `None` for none.
        answerers: who is asked.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would let two serve one port

    def __init__(self, port: int, file: Path | None, answerers: Answerers) -> None:
        self.file, self.answerers = file, answerers
        self.token = secrets.token_urlsafe(24)
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """What a browser is given."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that went away is no fault."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "layoutdsl", ""
    timeout: ClassVar[float] = PATIENCE

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing of each request."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what `http.server` itself cannot read, in our form."""
        words = explain or message or HTTPStatus(code).phrase
        self.close_connection = True
        self._send(HTTPStatus(code), "application/json", _refusal(words))

    def _answer(self, found: Callable[[], tuple[str, bytes]]) -> None:
        try:
            self._refuse_strangers()
            kind, body = found()
        except Refused as refused:
            self.close_connection = True  # its body may not have been read
            self._send(refused.status, "application/json", _refusal(refused.message))
        else:
            self._send(HTTPStatus.OK, kind, body)

    def _refuse_strangers(self) -> None:
        port = self.server.server_port
        ours = {f"{HOST}:{port}", f"localhost:{port}"}
        if self.headers.get_all("Host") not in [[each] for each in ours]:
            raise Refused(HTTPStatus.FORBIDDEN, "the request names another host")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{each}" for each in ours}:
            raise Refused(HTTPStatus.FORBIDDEN, "the request comes from another page")

    def _refuse_unknown(self) -> None:
        given = self.headers.get(TOKEN, "").encode("utf-8", "replace")
        if not compare_digest(given, self.server.token.encode()):
            words = "the token is missing or wrong: open the address that `layoutdsl view` printed"
            raise Refused(HTTPStatus.FORBIDDEN, words)

    def _get(self) -> tuple[str, bytes]:
        asked = urlsplit(self.path)
        if asked.path == "/file":
            self._refuse_unknown()
            known = parse_qs(asked.query).get("version", [""])[0]
            return "application/json", _json(self._file(known))
        every = [*PAGE.iterdir(), STYLE_SHEET] if PAGE.is_dir() else []
        files = {f"/{each.name}": each for each in every if each.suffix in TYPES}
        place = files.get("/index.html" if asked.path == "/" else asked.path)
        if place is None:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such page")
        return TYPES[place.suffix], place.read_bytes()

    def _file(self, known: str) -> dict[str, str | None]:
        file = self.server.file
        if file is None:
            return {"name": None, "version": "", "text": ""}
        if known and known == version_of(file):
            return {"name": _plain(file.name), "version": known}
        found = held(file)
        said: dict[str, str | None] = {"name": _plain(file.name), "version": found.version}
        return {**said, **({"error": found.reason} if found.reason else {"text": found.text})}

    def _post(self) -> tuple[str, bytes]:
        if urlsplit(self.path).path != "/run":
            raise Refused(HTTPStatus.NOT_FOUND, "there is nothing to ask here: POST /run")
        self._refuse_unknown()
        question = _json(self._question())
        try:
            found = self.server.answerers.ask(question, self._is_gone)
        except Stopped as stopped:
            hint = "ask for less: one layout, or a range of shapes"
            words = f"error: {stopped}\n  = help: {hint}\n"
            return "application/json", _json({"exit": 3, "output": "", "errors": words})
        return "application/json", found.rstrip(b"\n")

    def _question(self) -> Any:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request is no application/json")
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request does not say its length")
        if len(length) > 12 or int(length) > MOST_BODY:
            words = f"the request has more than {MOST_BODY} bytes"
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, words)
        try:
            return json.loads(self.rfile.read(int(length)).decode("utf-8"))
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request is no JSON in UTF-8") from None

    def _is_gone(self) -> bool:
        """Whether the browser has closed its end, as it does where somebody pressed stop."""
        try:
            if not select.select([self.connection], [], [], 0)[0]:
                return False
            return not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _plain(name: str) -> str:
    """Return a file's name as a request may have it."""
    return re.sub(r"^\W|[^\w .+-]", "_", name)[:100]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _refusal(words: str) -> bytes:
    return _json({"exit": 2, "output": "", "errors": f"error: {words}\n"})
