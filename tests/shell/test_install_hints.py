"""A message about a missing package ends with a command that installs it where layoutdsl is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from processes import ended

import layoutdsl

PACKAGE = Path(layoutdsl.__file__).parent
COMMIT = "78e259d" + 33 * "0"

# What pip records as direct_url.json (PEP 610), and the requirement that the hint has to name.
ORIGINS = {
    "a checkout": (
        {"url": "file:///src/layoutdsl", "dir_info": {}},
        "'layoutdsl[dask] @ file:///src/layoutdsl'",
    ),
    "a wheel": (
        {"url": "file:///tmp/layoutdsl-0.2.0-py3-none-any.whl", "archive_info": {}},
        "'layoutdsl[dask] @ file:///tmp/layoutdsl-0.2.0-py3-none-any.whl'",
    ),
    "a repository": (
        {
            "url": "https://forge.example/layoutdsl",
            "vcs_info": {"vcs": "git", "commit_id": COMMIT},
        },
        f"'layoutdsl[dask] @ git+https://forge.example/layoutdsl@{COMMIT}'",
    ),
    "an index": (None, "'layoutdsl[dask]'"),
    "a record of another kind": ([1], "'layoutdsl[dask]'"),
}


def pages() -> list[Path]:
    """Files that tell users how to install: pages, action, hooks, extension, and the package."""
    root = PACKAGE.parent
    found = [*root.glob("*.md"), root / "action.yml", root / ".pre-commit-hooks.yaml"]
    found += [
        each for name in ("docs", "grammar", "proofs") for each in (root / name).rglob("*.md")
    ]
    found += (root / "editors/vscode").glob("*.*")
    return [*found, *PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.md")]


@pytest.mark.slow
def test_nothing_is_installed_from_an_index_or_a_made_up_address() -> None:
    """Only one page has placeholders; it says what they stand for."""
    texts = {each: each.read_text(encoding="utf-8") for each in pages()}
    assert len(texts) > 500
    index = r"pip install [\"']?layoutdsl\[[\w,-]+\][\"']?(?! @)"
    wrong = re.compile(rf"{index}|your(?:\.forge|/layoutdsl)|\bADDRESS\b|(?<!onednn:)\bTAG\b")
    found = {
        each.relative_to(PACKAGE.parent).as_posix(): wrong.findall(texts[each]) for each in texts
    }
    assert set(filter(found.get, found)) == {"docs/install.md"}


def hint(folder: Path) -> str:
    """Import `layoutdsl.dask` where dask is missing, and return the last line of the error."""
    (folder / "dask.py").write_text("raise ModuleNotFoundError('no dask', name='dask')\n")
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import layoutdsl.dask"
    done = ended([sys.executable, "-P", "-c", code])
    return done.stderr.decode().splitlines()[-1]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ORIGINS)
def test_an_installed_package_names_its_origin(name: str, tmp_path: Path) -> None:
    record, requirement = ORIGINS[name]
    (tmp_path / "layoutdsl").symlink_to(PACKAGE)
    facts = tmp_path / "layoutdsl-0.2.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: layoutdsl\nVersion: 0.2.0\n")
    if record is not None:
        (facts / "direct_url.json").write_text(json.dumps(record))
    assert hint(tmp_path).endswith(f"layoutdsl.dask needs dask: pip install {requirement}")


@pytest.mark.slow
def test_a_checkout_names_its_folder(tmp_path: Path) -> None:
    assert hint(tmp_path).endswith(f"dask: pip install -e '{PACKAGE.parent}[dask]'")
