"""Build the playground: a folder of files that any web server serves.

    python docs/playground/build.py OUT

Pyodide comes by npm and wheels by pip, each by version and hash (`pins.json`, `wheels.txt`); the
project's own wheel is built from this checkout. OUT is written whole or not at all, and replaced
only where an earlier build lies there. It takes node, npm, pip and hatchling (the extra `dev`).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "layoutdsl" / "shell" / "web" / "page"
STYLE_SHEET = ROOT / "layoutdsl" / "view" / "page.css"

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
RECORD = "contents.json"
"""Says what the folder was made of; that it is there says that the folder is ours."""

MOST = 22_000_000
"""Bytes of the whole folder."""


SECONDS = 600
"""That one program may take."""


class BuildError(Exception):
    """Why there is no playground, and what to do."""


def main(arguments: list[str]) -> int:
    """Build into the folder that is named, and say how large each part is."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python docs/playground/build.py OUT", file=sys.stderr)
        return 2
    try:
        build(Path(arguments[0]))
    except (BuildError, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


def build(out: Path) -> None:
    """Write the playground to a folder, which is replaced if it is an earlier one.

    Raises:
        BuildError: something is missing, is not what its hash says, or is too large.
    """
    if out.exists() and not (out / RECORD).is_file():
        raise BuildError(f"`{out}` is there and no playground\n  = help: name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    pins = json.loads((HERE / "pins.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as name:
        work = Path(name)
        for folder in ("npm", "wheels", "site"):
            (work / folder).mkdir()
        _fetch_pyodide(pins["pyodide"], work / "npm")
        _fetch_wheels(pins, work / "wheels")
        _own_wheel(work / "wheels")
        left_out = _run(
            *("node", str(HERE / "archives.mjs"), str(work / "npm/package")),
            *(str(work / "wheels"), str(work / "site")),
        )
        _lay_out(work, {"pyodide": pins["pyodide"], **json.loads(left_out)})
        _say_sizes(work / "site")
        _replace(out, work / "site", work / "earlier")


def _run(program: str, *arguments: str, folder: Path = ROOT) -> str:
    found = shutil.which(program)
    if found is None:
        raise BuildError(f"there is no program `{program}`\n  = help: install Node.js, with npm")
    try:
        ended = subprocess.run(
            [found, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        words = f"`{Path(program).name} {arguments[0]}` took more than {SECONDS} s"
        raise BuildError(f"{words}\n  = help: see whether its servers answer") from None
    if ended.returncode != 0:
        said = "\n".join((ended.stderr or ended.stdout).strip().splitlines()[-12:])
        raise BuildError(f"`{Path(program).name} {arguments[0]}` failed:\n{said}")
    return ended.stdout


def _fetch_pyodide(pin: dict[str, str], folder: Path) -> None:
    """Unpack the package of npm into ``package/``, once its hash is the one that is pinned."""
    _run("npm", "pack", "--loglevel=error", f"pyodide@{pin['version']}", folder=folder)
    [file] = folder.glob("*.tgz")
    digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != pin["integrity"]:
        raise BuildError(f"`{file.name}` is not the file that pins.json names: sha512-{digest}")
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")


def _fetch_wheels(pins: dict[str, Any], folder: Path) -> None:
    """Fetch the wheels of ``wheels.txt``; pip compares their hashes."""
    _run(
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes", "--dest", str(folder)),
        *("--python-version", pins["python"], "--platform", pins["platform"]),
        *("--requirement", str(HERE / "wheels.txt")),
    )


def _own_wheel(folder: Path) -> None:
    _run(
        sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)
    )


def _lay_out(work: Path, contents: dict[str, Any]) -> None:
    """Put the page, Pyodide and what was packed side by side, and say what they were made of."""
    site = work / "site"
    for each in (*sorted(PAGE.iterdir()), STYLE_SHEET, HERE / "worker.mjs"):
        shutil.copyfile(each, site / each.name)
    for name in PYODIDE:
        content = (work / "npm/package" / name).read_bytes()
        if name.endswith(".wasm"):
            # Not every server compresses; the worker opens it. Its name ends in no `gz`, which
            # some servers would take for a promise to the browser.
            (site / f"{name}.bin").write_bytes(gzip.compress(content, 9, mtime=0))
        else:
            (site / name).write_bytes(content)
    locked = json.loads((work / "npm/package/pyodide-lock.json").read_text("utf-8"))
    # Pyodide asks what machine it is, and offers packages; none of those is loaded.
    (site / "lock.json").write_text(json.dumps({"info": locked["info"], "packages": {}}) + "\n")
    wheels = {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted((work / "wheels").iterdir())
    }
    text = json.dumps({**contents, "wheels": wheels}, indent=2) + "\n"
    (site / RECORD).write_text(text, encoding="utf-8")


def _say_sizes(site: Path) -> None:
    sizes = sorted(((each.stat().st_size, each.name) for each in site.iterdir()), reverse=True)
    total = sum(size for size, _ in sizes)
    for size, name in sizes:
        print(f"{size:>12,}  {name}")
    print(f"{total:>12,}  in all")
    if total > MOST:
        raise BuildError(f"that is more than {MOST:,} bytes\n  = help: see LEFT_OUT of archives.py")


def _replace(out: Path, site: Path, aside: Path) -> None:
    """Put a finished folder where an earlier one is, which goes once the new one is there."""
    if out.exists():
        out.rename(aside)
    site.rename(out)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
