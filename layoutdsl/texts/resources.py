"""Where the data of the house is: `grammar/`, `proofs/` and the library, installed or not.

In a wheel the folders lie in the package; in a checkout, editable or not installed at all,
`grammar/` and `proofs/` lie beside it. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
"""The folder of the package."""


def folder(name: str) -> Traversable:
    """Return the folder ``name`` of the package, or the one beside the package.

    Raises:
        FileNotFoundError: neither is there, so the installation is damaged.
    """
    inside = files("layoutdsl") / name
    if inside.is_dir():
        return inside
    beside = PACKAGE.parent / name
    if beside.is_dir():
        return beside
    raise FileNotFoundError(f"layoutdsl is installed without its folder {name}/")


def grammar(name: str) -> str:
    """Return the text of ``grammar/NAME.lark``."""
    return (folder("grammar") / f"{name}.lark").read_text(encoding="utf-8")


def library_families() -> tuple[tuple[str, str], ...]:
    """Return the name and the text of every `.layout` file of the library, in order."""
    found = [each for each in folder("library").iterdir() if each.name.endswith(".layout")]
    return tuple(
        (each.name, each.read_text(encoding="utf-8"))
        for each in sorted(found, key=lambda each: each.name)
    )


@cache
def fingerprint() -> str:
    """Return the hash of this program and of the packages that print and prove for it.

    What the same program makes of the same layout is the same, so it can be kept.
    """
    said = sha256()
    for package in ("sympy", "z3-solver"):
        said.update(f"{package} {metadata.version(package)}\n".encode())
    for name, text in _program(files("layoutdsl"), ""):
        said.update(f"{name} {len(text)}\n".encode())
        said.update(text)
    return said.hexdigest()


def _program(within: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for each in sorted(within.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _program(each, f"{path}{each.name}/")
        elif each.name.endswith((".py", ".c")):
            yield f"{path}{each.name}", each.read_bytes()
