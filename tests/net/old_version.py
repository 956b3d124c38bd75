"""Version 78e259d of layoutdsl, installed beside the working version.

`python -m tests.net.old_version` prints the path of its `layoutdsl`. The first call takes two
seconds: `git archive` writes the package, and a virtual environment puts it in front of the
packages that the running interpreter has, so nothing is downloaded.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from zlib import crc32

COMMIT = "78e259d"
PARTS = ("layoutdsl", "grammar", "proofs")
"""Folders that the package reads when it runs."""

FOLDER = "LAYOUTDSL_NET_OLD"
"""The variable that names another folder to install into."""

ROOT = Path(__file__).parents[2]
_PROGRAM = """\
#!{python} -P
import sys
from layoutdsl.cli import main
sys.argv[0] = "layoutdsl"
sys.exit(main())
"""


class MissingError(Exception):
    """Version 78e259d cannot be installed here; the message says why."""


def default_folder() -> Path:
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    # Another interpreter or environment has other packages, so each has an installation of its own.
    key = f"{sys.version_info[0]}.{sys.version_info[1]}-{crc32(sys.prefix.encode()):08x}"
    return Path(cache) / "layoutdsl-net" / f"{COMMIT}-{key}"


def install(folder: Path | None = None) -> Path:
    """Install version 78e259d, unless it is there already, and return the path of its Python.

    Args:
        folder: where it goes; by default `$LAYOUTDSL_NET_OLD`, else a folder of the user's cache.

    Raises:
        MissingError: this checkout has no history that reaches 78e259d, or no git.
    """
    folder = folder or default_folder()
    if not (folder / "complete").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Made apart and renamed, so that workers of pytest that start together do not meet.
        part = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        try:
            _extract(part)
            (part / "complete").touch()
            if folder.exists() and not (folder / "complete").exists():
                shutil.rmtree(folder)
            part.rename(folder)
        except OSError:
            if not (folder / "complete").exists():
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    # Packages of the environment come and go: the list of paths is written anew each time.
    _environment(folder)
    return folder / "venv" / "bin" / "python"


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    git = shutil.which("git")
    if git is None:
        raise MissingError(
            f"version {COMMIT} comes from the history of this repository: install git"
        )
    return subprocess.run([git, "-C", str(ROOT), *arguments], capture_output=True, check=False)


def _extract(folder: Path) -> None:
    if _git("cat-file", "-e", f"{COMMIT}^{{commit}}").returncode:
        raise MissingError(
            f"the history of {ROOT} does not reach commit {COMMIT}: this is a shallow clone, or a "
            "copy without history; run `git fetch --unshallow`"
        )
    archive = _git("archive", COMMIT, *PARTS)
    if archive.returncode:
        raise MissingError(f"git archive {COMMIT} failed: {archive.stderr.decode().strip()}")
    with tempfile.TemporaryFile() as file:
        file.write(archive.stdout)
        file.seek(0)
        with tarfile.open(fileobj=file) as tar:
            tar.extractall(folder / "source", filter="data")


def _environment(folder: Path) -> None:
    venv = folder / "venv"
    if not (venv / "pyvenv.cfg").exists():
        made = [sys.executable, "-m", "venv", "--without-pip", str(venv)]
        subprocess.run(made, check=True, capture_output=True)
    # `sys.path` of this interpreter is complete: lines of its own .pth files are in it.
    packages = [each for each in sys.path if each.endswith("-packages")]
    (site,) = (venv / "lib").glob("python*/site-packages")
    paths = "".join(f"{each}\n" for each in (folder / "source", *packages))
    program = _PROGRAM.format(python=venv / "bin" / "python")
    for place, content in ((site / "old.pth", paths), (venv / "bin" / "layoutdsl", program)):
        if not place.exists() or place.read_text() != content:
            part = place.with_name(f"{place.name}.{os.getpid()}")
            part.write_text(content)
            part.chmod(0o755)
            part.replace(place)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.net.old_version", description=__doc__)
    parser.add_argument("--folder", type=Path, help=f"where it goes; also by ${FOLDER}")
    try:
        python = install(parser.parse_args().folder)
    except MissingError as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 4
    asked = "import layoutdsl; print(layoutdsl.__file__)"
    found = subprocess.run([python, "-P", "-c", asked], capture_output=True, text=True, check=True)
    if not Path(found.stdout.strip()).is_relative_to(python.parents[2]):
        print(f"error: its Python imports {found.stdout.strip()}", file=sys.stderr)
        return 70
    print(python.with_name("layoutdsl"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
