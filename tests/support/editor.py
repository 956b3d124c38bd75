"""An editor that speaks the language server protocol over pipes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from time import monotonic
from typing import Any

from processes import running

SECONDS = 60
URI = "file:///tmp/demo.layout"


class Editor:
    """A client of a server that was started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.told: Queue[dict[str, Any]] = Queue()
        self.kept: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._version = itertools.count(1)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while True:
            length = 0
            while (line := out.readline().strip()) or not length:
                if not line and out.peek(1) == b"":
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.told.put(json.loads(out.read(length)))

    def say(self, method: str, params: Any, number: int | None = None) -> None:
        said = {"jsonrpc": "2.0", "method": method, "params": params}
        self._send(said if number is None else {**said, "id": number})

    def _send(self, said: dict[str, Any]) -> None:
        data = json.dumps(said).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        """Ask, and return the result; what is told meanwhile is kept for `heard`."""
        number = next(self._numbers)
        self.say(method, params, number)
        until = monotonic() + SECONDS
        while True:
            found = self.told.get(timeout=max(0.01, until - monotonic()))
            if found.get("id") == number and "method" not in found:
                if "error" in found:
                    raise AssertionError(found["error"])
                return found["result"]
            self._keep(found)

    def _keep(self, found: dict[str, Any]) -> None:
        if "id" in found and "method" in found:  # a request of the server
            self._send({"jsonrpc": "2.0", "id": found["id"], "result": None})
        self.kept.append(found)

    def heard(self, method: str, seconds: float = SECONDS) -> dict[str, Any]:
        """The next notice of that kind."""
        until = monotonic() + seconds
        while True:
            for number, each in enumerate(self.kept):
                if each.get("method") == method:
                    return self.kept.pop(number)["params"]
            self._keep(self.told.get(timeout=max(0.01, until - monotonic())))

    def faults(self, version: int) -> list[dict[str, Any]]:
        """What is said to be wrong with a version of the text."""
        while True:
            found = self.heard("textDocument/publishDiagnostics")
            if found.get("version") == version:
                return found["diagnostics"]

    def silent(self, seconds: float) -> bool:
        """Whether nothing is told for some time."""
        try:
            self._keep(self.told.get(timeout=seconds))
        except Empty:
            return not self.kept
        return False

    def begin(self, **general: Any) -> dict[str, Any]:
        workspace = {"codeLens": {"refreshSupport": True}}
        capabilities = {"workspace": workspace, "general": general}
        asked = {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities}
        found = self.ask("initialize", asked)
        self.say("initialized", {})
        return found["capabilities"]

    def open(self, text: str, uri: str = URI) -> int:
        version = next(self._version)
        document = {"uri": uri, "languageId": "layout", "version": version, "text": text}
        self.say("textDocument/didOpen", {"textDocument": document})
        return version

    def write(self, text: str, uri: str = URI) -> int:
        version = next(self._version)
        document = {"uri": uri, "version": version}
        changes = [{"text": text}]
        self.say("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        return version

    def at(self, method: str, line: int, unit: int, **more: Any) -> Any:
        """Ask about a place of the text."""
        place = {"line": line, "character": unit}
        return self.ask(method, {"textDocument": {"uri": URI}, "position": place, **more})

    def end(self) -> int:
        self.ask("shutdown", None)
        self.say("exit", None)
        return self.process.wait(SECONDS)


@contextmanager
def editing() -> Iterator[Editor]:
    """A server that was started, and an editor that has said hello."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "layoutdsl", "lsp"]
    with running(command, stdin=pipe, stdout=pipe) as process:
        yield Editor(process)


def children(number: int) -> set[int]:
    """The processes that one has started and that still run."""
    found = set[int]()
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[1] == str(number) and words[0] != "Z":
            found.add(int(each.parent.name))
    return found
