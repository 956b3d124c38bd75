"""Command lines from `commands/*.toml`, and what each does when it runs in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, local

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
CORPUS = HERE / "corpus"

# Fixed, so that neither the user's terminal, locale nor number of processors shows in a record.
ENVIRONMENT = {"COLUMNS": "100", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1",
               "OPENBLAS_NUM_THREADS": "1", "TERM": "dumb", "TZ": "UTC"}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One recorded command line.

    Args:
        command: the command, which is also the name of its table.
        name: its name in that table.
        run: the line, without `layoutdsl`; ` | ` pipes it into a further command line, ` ; ` ends
            it before one, ` < FILE` is its standard input.
        before: lines that run first, in the same folder.
        stdin: the text of its standard input.
        env: environment variables; `{here}` stands for the folder.
        needs: packages without which it is skipped; `compiler` is a C compiler with cffi.
        structure: record the text with `#` for every number, as times and machines vary.
        corpus: a folder of `corpus/` whose files lie there too.
    """

    command: str
    name: str
    run: str
    before: tuple[str, ...] = ()
    stdin: str = ""
    env: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    structure: bool = False
    corpus: str = ""

    @property
    def key(self) -> str:
        return f"{self.command}/{self.name}"

    @property
    def missing(self) -> str:
        """Say why this machine cannot run it, or nothing."""
        lacks = [each for each in self.needs if not _present(each)]
        return f"needs {', '.join(lacks)}" if lacks else ""


def _present(need: str) -> bool:
    if need == "compiler":
        found = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
        return bool(found) and _present("cffi") and _present("pycparser")
    return find_spec(need) is not None


def cases(only: str = "") -> list[Case]:
    """Return the recorded command lines whose `command/name` or text matches `only`."""
    found = []
    for table in sorted((HERE / "commands").glob("*.toml")):
        for name, given in tomllib.loads(table.read_text(encoding="utf-8")).items():
            row = {"run": given} if isinstance(given, str) else given
            for plural in ("before", "needs"):
                row[plural] = tuple(row.get(plural, ()))
            row["env"] = tuple(row.get("env", {}).items())
            found.append(Case(table.stem, name, **row))
    return [each for each in found if re.search(only, f"{each.key} {each.run}")]


@dataclass(frozen=True)
class Stage:
    """One command line of a case that ran: its text, exit code and output."""

    line: str
    code: int
    out: bytes
    err: bytes
    piped: bool


@dataclass(frozen=True)
class Ran:
    """What a case did: its stages, and the files it wrote, changed (bytes) or removed (None)."""

    case: Case
    before: tuple[Stage, ...]
    stages: tuple[Stage, ...]
    files: dict[str, tuple[int, bytes] | None]
    roots: dict[str, str]


class Version:
    """A version of layoutdsl whose command lines can be run, by several threads at once."""

    def __init__(self, python: Path | str = sys.executable) -> None:
        self._python, self._links = str(python), local()
        self._cache = tempfile.TemporaryDirectory(prefix="layoutdsl-net-cache-")
        self._started: list[tuple[subprocess.Popen[bytes], socket.socket]] = []
        self._lock = Lock()
        asked = "import layoutdsl, pathlib; print(pathlib.Path(layoutdsl.__file__).parents[1])"
        found = subprocess.run(
            [self._python, "-P", "-c", asked], capture_output=True, text=True, check=True
        )
        self.root = found.stdout.strip()

    def close(self) -> None:
        for process, link in self._started:
            link.close()
            process.terminate()
            process.wait()
        self._cache.cleanup()

    def run(self, case: Case) -> Ran:
        """Run a case in a new folder that holds the inputs that its lines name."""
        with tempfile.TemporaryDirectory(
            prefix="layoutdsl-net-", ignore_cleanup_errors=True
        ) as made:
            place = Path(made).resolve()
            here = place / "here"
            for each in ("here", "cache", "home", "tmp", "streams"):
                (place / each).mkdir(mode=0o700)
            _copy_inputs(case, here)
            if case.corpus:
                shutil.copytree(CORPUS / case.corpus, here, dirs_exist_ok=True)
            before = tuple(s for line in case.before for s in self._pipeline(line, case, place))
            held = _contents(here)
            stages = self._pipeline(case.run, case, place)
            return Ran(case, before, stages, _changes(held, _contents(here)),
                       {str(here): "{here}", made: "{tmp}", self.root: "{checkout}"})  # fmt: skip

    def _pipeline(self, text: str, case: Case, place: Path) -> tuple[Stage, ...]:
        stages, source = [], place / "streams" / "in"
        source.write_text(case.stdin, encoding="utf-8")
        nothing = source
        for words, piped in _split(shlex.split(text)):
            line = shlex.join(words).replace("'<'", "<")
            if "<" in words:
                at = words.index("<")
                source = place / "here" / words[at + 1]
                del words[at : at + 2]
            streams = [place / "streams" / f"{n}{len(stages)}" for n in ("out", "err")]
            code = self._call(words, case, place, [source, *streams])
            stages.append(Stage(line, code, *(s.read_bytes() for s in streams), piped))
            source = streams[0] if piped else nothing
        return tuple(stages)

    def _call(self, words: list[str], case: Case, place: Path, streams: list[Path]) -> int:
        path = os.environ.get("PATH", os.defpath)
        kept = {"PATH": path, "HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}
        kept |= {"LAYOUTDSL_CACHE": str(place / "cache"), **ENVIRONMENT}
        kept |= {key: value.format(here=place / "here") for key, value in case.env}
        request = {"arguments": words, "folder": str(place / "here"), "environment": kept}
        return self._ask(request | {"streams": list(map(str, streams))})

    def _ask(self, request: dict[str, object]) -> int:
        link = getattr(self._links, "link", None) or self._start()
        link.sendall(json.dumps(request).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            more = link.recv(64)
            if not more:
                raise RuntimeError(
                    f"the server of {self.root} ended; run {HERE / 'server.py'} alone"
                )
            answer += more
        return int(answer)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        kept = {"PATH": os.environ.get("PATH", os.defpath), **ENVIRONMENT}
        with tempfile.TemporaryFile() as told:
            process = subprocess.Popen(
                [self._python, "-P", str(HERE / "server.py"), str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=told, stderr=told, cwd=tempfile.gettempdir(),
                env=kept | {"LAYOUTDSL_CACHE": self._cache.name}, pass_fds=[theirs.fileno()],
            )  # fmt: skip
        theirs.close()
        self._links.link = ours
        with self._lock:
            self._started.append((process, ours))
        return ours


def _split(words: list[str]) -> list[tuple[list[str], bool]]:
    """Split at `|` and `;`; say of each command line whether it is piped into the next."""
    found: list[tuple[list[str], bool]] = []
    line: list[str] = []
    for word in words:
        if word in ("|", ";"):
            found.append((line, word == "|"))
            line = []
        else:
            line.append(word)
    return [*found, (line, False)]


def _copy_inputs(case: Case, here: Path) -> None:
    text = " ".join((*case.before, case.run, case.stdin, *(value for _, value in case.env)))
    for place in INPUTS.iterdir():
        if re.search(rf"(?<![\w.-]){re.escape(place.name)}(?![\w-])", text):
            if place.is_dir():
                shutil.copytree(place, here / place.name)
            else:
                shutil.copyfile(place, here / place.name)


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        each.relative_to(folder).as_posix(): (each.stat().st_mode & 0o7777, each.read_bytes())
        for each in sorted(folder.rglob("*"))
        if each.is_file() and each.suffix != ".pyc"
    }


def _changes(
    held: dict[str, tuple[int, bytes]], found: dict[str, tuple[int, bytes]]
) -> dict[str, tuple[int, bytes] | None]:
    changed = {name: found.get(name) for name in sorted(held.keys() | found.keys())}
    return {name: each for name, each in changed.items() if each != held.get(name)}
