"""`layoutdsl view`: what its server gives, and to whom; a file that changes; answers that stop."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cli_shell import Shell, shell
from processes import ended, gone, running

from layoutdsl.shell.answering import answer
from layoutdsl.shell.viewing import _environment
from layoutdsl.shell.web import server as serving
from layoutdsl.shell.web.answerers import Answerers, Stopped
from layoutdsl.shell.web.server import HOST, MOST_BODY, TOKEN, Server
from layoutdsl.shell.web.watched import MOST_BYTES, held, version_of

__all__ = ["shell"]

TEXT = "layout A(n, c) = [n, c/16, c%16]\nprove A fits int8\n"

ANSWERS = (sys.executable, "-m", "layoutdsl.shell.answering")
SLEEPS = (sys.executable, "-c", "import sys, time; sys.stdin.readline(); time.sleep(600)")
DIES = (sys.executable, "-c", "import sys; sys.stdin.readline(); print('half', end='')")

Found = tuple[int, dict[str, str], bytes]


@contextmanager
def served(
    file: Path | None = None, command: tuple[str, ...] = ANSWERS, seconds: float = 60
) -> Iterator[Server]:
    answerers = Answerers(command, _environment(), seconds)
    server = Server(0, file, answerers)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        answerers.close()


def asked(
    server: Server,
    path: str,
    body: object = None,
    method: str | None = None,
    **headers: str | None,
) -> Found:
    """What comes of a request that is in order but for what is given."""
    usual = {"Host": f"{HOST}:{server.server_port}", TOKEN: server.token}
    if body is not None:
        usual["Content-Type"] = "application/json"
    given = {**usual, **{name.replace("_", "-"): value for name, value in headers.items()}}
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    if content is not None and "Content-Length" not in given:
        given["Content-Length"] = str(len(content))
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=60)
    connection.putrequest(method or ("GET" if body is None else "POST"), path, skip_host=True)
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(content)
    response = connection.getresponse()
    found = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return found


def told(found: Found) -> dict[str, Any]:
    value = json.loads(found[2])
    assert isinstance(value, dict)
    return value


CHECK = {"arguments": ["check", "{file}"], "text": TEXT, "name": "a.layout"}


@pytest.fixture(scope="module")
def page() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.mark.slow
def test_an_answer_is_that_of_the_shell(page: Server) -> None:
    for request in (CHECK, {**CHECK, "arguments": ["prove", "{file}:Nothing"]}, {}, {"x": 1}, [1]):
        status, headers, body = asked(page, "/run", request)
        assert (status, json.loads(body)) == (200, answer(request))
        assert headers["Content-Type"] == "application/json"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers


def test_an_unknown_verb_is_refused(page: Server) -> None:
    found = told(asked(page, "/run", {"arguments": ["pack", "NCHW", "a.npy", "b.npy"]}))
    assert found["exit"] == 2
    assert found["errors"].startswith("error: `pack` is not for pages\n")


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Host": "evil.example"}, "another host"),
        ({"Host": "127.0.0.1"}, "another host"),
        ({"Host": "127.0.0.1.evil.example:80"}, "another host"),
        ({"Host": None}, "another host"),
        ({"Origin": "http://evil.example"}, "another page"),
        ({"Origin": "null"}, "another page"),
        ({TOKEN: "wrong"}, "token is missing or wrong"),
        ({TOKEN: ""}, "token is missing or wrong"),
        ({TOKEN: None}, "token is missing or wrong"),
    ],
)
@pytest.mark.parametrize(("path", "body"), [("/run", CHECK), ("/file", None)])
def test_strangers_are_refused(
    page: Server, path: str, body: object, headers: dict[str, str | None], words: str
) -> None:
    found = asked(page, path, body, **headers)
    assert found[0] == 403
    assert told(found)["exit"] == 2
    assert words in told(found)["errors"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (b"{", {}, 400, "no JSON"),
        (b"\xff", {}, 400, "no JSON"),
        (b"", {}, 400, "no JSON"),
        (b"[" * 100_000, {}, 400, "no JSON"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "application/json"),
        (b"{}", {"Content-Type": None}, 415, "application/json"),
        (b"{}", {"Content-Length": None}, 411, "length"),
        (b"{}", {"Content-Length": "-2"}, 411, "length"),
        (b"{}", {"Content-Length": "two"}, 411, "length"),
        (b"{}", {"Content-Length": str(MOST_BODY + 1)}, 413, "bytes"),
        (b"{}", {"Content-Length": "9" * 60}, 413, "bytes"),
        (b"{}", {"Transfer-Encoding": "chunked", "Content-Length": None}, 411, "length"),
    ],
)
def test_bodies_that_are_none(
    page: Server, body: bytes, headers: dict[str, str | None], status: int, words: str
) -> None:
    found = asked(page, "/run", body, **headers)
    assert found[0] == status
    assert words in told(found)["errors"]


def test_paths_lead_nowhere_else(
    page: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    monkeypatch.setattr(serving, "PAGE", folder)
    (folder / "index.html").write_text("<p>page")
    (folder / "page.mjs").write_text("export {};")
    (folder / "notes.txt").write_text("not served")
    (tmp_path / "secret.html").write_text("secret")
    for path, kind in (
        ("/", "text/html; charset=utf-8"),
        ("/page.mjs", "text/javascript; charset=utf-8"),
    ):
        status, headers, _ = asked(page, path, **{TOKEN: None})
        assert (status, headers["Content-Type"]) == (200, kind)
    tricks = (
        *("/../secret.html", "/%2e%2e/secret.html", "//secret.html", "/page/../../secret.html"),
        *("/..%2fsecret.html", "/notes.txt", "/.", "/page.mjs/", "/page.mjs%00", "/nothing.html"),
        *("/server.py", "/\\..\\secret.html", "/run", f"/{tmp_path}/secret.html", "*"),
    )
    for path in tricks:
        status, _, body = asked(page, path)
        assert (status, b"secret" in body, b"not served" in body) == (404, False, False), path


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_refused(page: Server, method: str) -> None:
    status, headers, _ = asked(page, "/run", method=method)
    assert status == 501
    assert "Access-Control-Allow-Origin" not in headers


def test_what_is_no_request_is_refused(page: Server) -> None:
    for sent in (
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"x" * 70_000 + b"\r\n\r\n",
    ):
        with socket.create_connection((HOST, page.server_port), timeout=10) as connection:
            connection.sendall(sent)
            assert b" 200 " not in connection.recv(1000).partition(b"\r\n")[0]


# The file.


def test_a_file_that_changes_and_vanishes(tmp_path: Path) -> None:
    file = tmp_path / "a b.layout"
    file.write_text(TEXT)
    with served(file) as server:
        first = told(asked(server, "/file"))
        assert (first["name"], first["text"]) == ("a b.layout", TEXT)
        known = f"/file?version={first['version']}"
        assert told(asked(server, known)) == {"name": "a b.layout", "version": first["version"]}
        file.write_text("layout B(n) = [n]")
        second = told(asked(server, known))
        assert second["text"] == "layout B(n) = [n]"
        assert second["version"] != first["version"]
        file.write_bytes(b"layout \xff")
        assert told(asked(server, known))["error"] == "`a b.layout` is not UTF-8: byte 0xff at 7"
        file.unlink()
        reason = "`a b.layout` cannot be read: no such file or directory"
        gone_ = {"name": "a b.layout", "version": "", "error": reason}
        assert told(asked(server, known)) == told(asked(server, "/file?version=")) == gone_
        file.mkdir()
        assert told(asked(server, known))["error"] == "`a b.layout` is no file"
        file.rmdir()
        file.write_text(TEXT)
        assert told(asked(server, known))["text"] == TEXT


def test_no_file(page: Server) -> None:
    assert told(asked(page, "/file")) == {"name": None, "version": "", "text": ""}


def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert held(tmp_path / "pipe").reason == "`pipe` is no file"
    (tmp_path / "large").write_bytes(b" " * (MOST_BYTES + 1))
    assert held(tmp_path / "large").reason == f"`large` has more than {MOST_BYTES} bytes"
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbflayout")
    assert held(tmp_path / "marked").text == "layout"
    assert version_of(tmp_path / "\0") == ""


def test_any_name_of_a_file_can_be_asked_of(tmp_path: Path) -> None:
    for name in ("a:b.layout", "-v", ".hidden", "é.layout", "x" * 200, "a\nb", "NCHW16c"):
        (tmp_path / name).write_text(TEXT)
        with served(tmp_path / name) as server:
            given = told(asked(server, "/file"))["name"]
        assert answer({**CHECK, "name": given})["exit"] == 0, given


# Processes that answer.


@pytest.mark.slow
def test_several_at_once_are_answered(page: Server) -> None:
    found: dict[int, dict[str, Any]] = {}

    def ask(number: int) -> None:
        request = {**CHECK, "text": f"layout A{number}(n) = [n]", "arguments": ["check", "{file}"]}
        found[number] = told(asked(page, "/run", request))

    threads = [Thread(target=ask, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 6
    for number, said in found.items():
        assert said["exit"] == 0
        assert f"A{number} " in said["output"]


def test_an_answer_that_takes_too_long_is_stopped() -> None:
    with served(command=SLEEPS, seconds=0.3) as server:
        found = told(asked(server, "/run", CHECK))
        assert server.answerers._all == []
    words = "error: there was no answer within 0.3 seconds, and it was stopped"
    assert (found["exit"], found["errors"].splitlines()[0]) == (3, words)


def test_a_process_that_dies_is_told() -> None:
    with served(command=DIES) as server:
        for _ in range(2):
            found = told(asked(server, "/run", CHECK))
            assert (found["exit"], found["output"]) == (3, "")
            assert found["errors"].startswith("error: the process that was at it died\n")
    with served(command=("/no/such/program",)) as server:
        errors = told(asked(server, "/run", CHECK))["errors"]
        assert errors.startswith("error: no process can be started: No such file or directory")


def test_who_goes_away_ends_the_process() -> None:
    """The stop button closes the connection."""
    with served(command=SLEEPS) as server:
        body = json.dumps(CHECK).encode()
        head = f"POST /run HTTP/1.1\r\nHost: {HOST}:{server.server_port}\r\n"
        head += f"{TOKEN}: {server.token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((HOST, server.server_port)) as connection:
            connection.sendall(head.encode() + body)
            until = time.monotonic() + 30
            while not server.answerers._all and time.monotonic() < until:
                time.sleep(0.02)
            (process,) = server.answerers._all
        assert gone(process.pid)
        while server.answerers._all and time.monotonic() < until:
            time.sleep(0.02)
        assert server.answerers._all == []


def test_what_a_process_started_ends_with_it(tmp_path: Path) -> None:
    """A solver is a process of its own."""
    note = tmp_path / "number"
    script = f"read line; sleep 600 & echo $! > {note}.part; mv {note}.part {note}; wait"
    answerers = Answerers(("sh", "-c", script), dict(os.environ), 60)
    with pytest.raises(Stopped, match="nobody waits"):
        answerers.ask(b"{}", note.exists)
    assert gone(int(note.read_text()))
    answerers.close()
    with pytest.raises(Stopped, match="the server has ended"):
        answerers.ask(b"{}", lambda: False)


# The verb.

VIEW = (sys.executable, "-m", "layoutdsl", "view", "--no-browser")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_verb_prints_its_address_and_ends(tmp_path: Path, number: int) -> None:
    (tmp_path / "a.layout").write_text(TEXT)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with running([*VIEW, "a.layout"], cwd=tmp_path, **pipes) as process:
        address = process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{32})", address)
        assert found, address
        connection = http.client.HTTPConnection(HOST, int(found[1]), timeout=60)
        headers = {TOKEN: found[2], "Content-Type": "application/json"}
        connection.request("POST", "/run", json.dumps(CHECK), headers)
        assert json.loads(connection.getresponse().read()) == answer(CHECK)
        connection.request("GET", "/file", headers=headers)
        assert json.loads(connection.getresponse().read())["text"] == TEXT
        connection.close()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "the page is there until Ctrl-C\n")


def test_a_port_that_is_taken(shell: Shell) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = shell("view", "--no-browser", "--port", str(port))
    assert (found.code, found.out) == (4, "")
    assert found.err == (
        f"error: port {port} cannot be used: address already in use\n"
        "  = help: choose another, or leave out --port for any that is free\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("none.layout", None, "`none.layout` cannot be read: no such file or directory"),
        ("bytes.layout", b"\xff", "`bytes.layout` is not UTF-8: byte 0xff at 0"),
        (".", None, "`.` is no file"),
    ],
)
def test_a_file_that_cannot_be_shown(
    shell: Shell, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    found = shell("view", "--no-browser", name)
    assert (found.code, found.out, found.err) == (4, "", f"error: {reason}\n")


@pytest.mark.slow
def test_it_starts_soon(tmp_path: Path) -> None:
    """Until its address is there, it takes less than 0.3 s of a processor."""
    code = (
        "import resource, sys\n"
        "from layoutdsl.shell.web import server\n"
        "def forever(self):\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    print(used.ru_utime + used.ru_stime, *sorted(sys.modules), file=sys.stderr)\n"
        "server.Server.serve_forever = forever\n"
        "from layoutdsl.shell.shell import run\n"
        "run(['view', '--no-browser'])\n"
    )
    unmeasured = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    used = []
    for _ in range(5):
        done = ended([sys.executable, "-c", code], text=True, cwd=tmp_path, env=unmeasured)
        seconds, *loaded = done.stderr.splitlines()[-1].split()
        used.append(float(seconds))
        assert not {"lark", "numpy", "sympy", "z3"} & set(loaded)
    assert min(used) < 0.3


@pytest.mark.parametrize("opens", [True, False, webbrowser.Error("none")])
def test_a_browser_is_opened_or_its_want_is_told(
    opens: bool | Exception, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def open_(address: str) -> bool:
        given.append(address)
        if isinstance(opens, Exception):
            raise opens
        return opens

    def interrupted(_: Server) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(webbrowser, "open", open_)
    monkeypatch.setattr(Server, "serve_forever", interrupted)
    before = signal.getsignal(signal.SIGTERM)
    found = shell("view")
    assert signal.getsignal(signal.SIGTERM) is before
    assert (found.code, found.out) == (0, f"{given[0]}\n")
    note = "note: no browser was found: open the address yourself\n"
    assert found.err == f"the page is there until Ctrl-C\n{'' if opens is True else note}"
