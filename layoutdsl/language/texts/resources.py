"""Where this installation has `grammar/`, `proofs/` and the library, and how to extend it.

In a wheel the folders lie in the package; in a checkout, editable or not installed at all,
`grammar/` and `proofs/` lie beside it. This module imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import shlex
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
"""The folder of the package."""


def folder(name: str) -> Path:
    """Return the folder ``name`` of the package, or the one beside the package.

    Raises:
        FileNotFoundError: neither is there, so the installation is damaged.
    """
    for place in (PACKAGE / name, PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"layoutdsl is installed without its folder {name}/")


def explanation(code: str) -> str:
    """Return a link to what explains a code: `explanation("L202")` ends with ``#l202``.

    It leads to the page that was installed; or to the site, where `$LAYOUTDSL_DOCS` says where that
    was built or is served: a folder, or an address such as ``https://example.org/layoutdsl``.
    """
    place = code.lower()
    site = os.environ.get("LAYOUTDSL_DOCS", "").rstrip("/")
    if not site:
        return f"{(folder('grammar') / 'errors.md').absolute().as_uri()}#{place}"
    at = (
        site
        if site.startswith(("https://", "http://", "file://"))
        else Path(site).absolute().as_uri()
    )
    return f"{at}/reference/errors.html#{place}"


def install_command(extra: str) -> str:
    """Return the command that adds an extra: `pip install -e '/src/layoutdsl[native]'`.

    layoutdsl is on no package index, so the command names the checkout, file or URL that pip
    installed it from. Where pip recorded none, an index was asked, and the plain name works.
    """
    checkout = PACKAGE.parent
    if (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    origin = _origin()
    requirement = f"layoutdsl[{extra}]{f' @ {origin}' if origin else ''}"
    return f"pip install {shlex.quote(requirement)}"


def _origin() -> str | None:
    """Return the URL that pip recorded by PEP 610 when it installed this package."""
    from importlib import metadata

    try:
        record = json.loads(metadata.distribution("layoutdsl").read_text("direct_url.json") or "{}")
        url, vcs = record.get("url"), record.get("vcs_info")
        return f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else url
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None  # not installed, or a record of another format


def grammar(name: str) -> str:
    """Return the text of ``grammar/NAME.lark``."""
    return (folder("grammar") / f"{name}.lark").read_text(encoding="utf-8")


def table(name: str) -> str:
    """Return the table that is kept of ``grammar/NAME.lark``.

    Raises:
        FileNotFoundError: none is kept.
    """
    return (folder("grammar") / f"tables/{name}.json").read_text(encoding="utf-8")


def library_families() -> tuple[tuple[str, str], ...]:
    """Return the name and the text of every `.layout` file of the library, in order."""
    return _layouts("language/library")


def operator_rules() -> tuple[tuple[str, str], ...]:
    """Return the name and the text of every file of rules of operators, in order."""
    return _layouts("graphs/rules")


def engines() -> tuple[tuple[str, str], ...]:
    """Return the name and the text of every engine that comes along, in order."""
    return _layouts("graphs/engines")


def _layouts(name: str) -> tuple[tuple[str, str], ...]:
    found = sorted(folder(name).glob("*.layout"))
    return tuple((each.name, each.read_text(encoding="utf-8")) for each in found)


@cache
def fingerprint() -> str:
    """Return the hash of this program and of the packages that print and prove for it.

    What the same program makes of the same layout is the same, so it can be kept.
    """
    from hashlib import sha256  # the two take as long to load as it takes to read a layout
    from importlib import metadata

    said = sha256()
    for package in ("sympy", "z3-solver"):
        said.update(f"{package} {metadata.version(package)}\n".encode())
    for place in sorted(each for each in PACKAGE.rglob("*") if each.suffix in {".py", ".c"}):
        text = place.read_bytes()
        said.update(f"{place.relative_to(PACKAGE)} {len(text)}\n".encode())
        said.update(text)
    return said.hexdigest()
