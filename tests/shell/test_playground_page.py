"""What the page of the playground carries of the rest of the house: colours, examples, a hash.

`LAYOUTDSL_REWRITE_GOLDEN=1 pytest tests/shell/test_playground_page.py` writes these again.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from cli_shell import Shell, shell

import layoutdsl

__all__ = ["shell"]

PACKAGE = Path(layoutdsl.__file__).parent
PAGE = PACKAGE / "shell" / "web" / "page"
BUILD = Path(__file__).parents[2] / "docs" / "playground" / "build.py"


def current(name: str, text: str) -> None:
    place = PAGE / name
    if os.environ.get("LAYOUTDSL_REWRITE_GOLDEN") == "1":
        place.write_text(text, encoding="utf-8")
    assert place.read_text("utf-8") == text, "LAYOUTDSL_REWRITE_GOLDEN=1 writes it again"


def examples() -> dict[str, dict[str, str]]:
    """The entries of each file of the library: remark, declaration and claims, by name."""
    found: dict[str, dict[str, str]] = {}
    for place in sorted(PACKAGE.rglob("library/*.layout")):
        text = place.read_text("utf-8")
        starts = [*ENTRY.finditer(text)]
        ends = [*(each.start() for each in starts[1:]), len(text)]
        found[place.stem] = {
            each["name"]: text[each.start() : end].strip() + "\n"
            for each, end in zip(starts, ends, strict=True)
        }
    return found


ENTRY = re.compile(r"^(?:#.*\n)*(?:layout|table|record) +(?P<name>\w+)", re.MULTILINE)


def test_the_colours_are_those_of_pygments() -> None:
    colours = pytest.importorskip("layoutdsl.pygments")
    rules = [
        [pattern, [scope.split(".")[0] for scope, _ in kinds]] for pattern, kinds in colours.RULES
    ]
    current("colours.json", json.dumps(rules, indent=1) + "\n")


def test_the_examples_are_the_library() -> None:
    current("examples.json", json.dumps(examples(), indent=1, ensure_ascii=False) + "\n")


@pytest.mark.slow
def test_every_example_stands_alone() -> None:
    found = examples()
    assert sum(map(len, found.values())) > 150
    for entries_ in found.values():
        for name, text in entries_.items():
            module = layoutdsl.parse(text)
            assert name in {*module, *module.tables, *module.records}


SHAPES = """
import { readFileSync } from "node:fs";
const [shapes] = process.argv.slice(1);
const listed = readFileSync(0, "utf8");
const { proposed, usualParameters } = await import(shapes);
const named = (each) => each.name + (each.parameters.length ? `<${usualParameters(each)}>` : "");
console.log(JSON.stringify(JSON.parse(listed).map((each) => [named(each), proposed(each)])));
"""


@pytest.mark.slow
def test_every_layout_of_the_library_is_drawn_at_a_shape_that_is_proposed(shell: Shell) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    listed = json.loads(shell("list", "--json").out)
    subjects = json.dumps([*listed["layouts"], *listed["records"]])
    command = [node, "--input-type=module", "-e", SHAPES, str(PAGE / "shapes.mjs")]
    done = subprocess.run(command, input=subjects, capture_output=True, text=True, check=True)
    tried = json.loads(done.stdout)
    assert len(tried) > 150
    for name, shapes in tried:
        asked = (["show", name, "--shape", each, "--as", "svg"] for each in shapes)
        assert any(shell(*each).code == 0 for each in asked), name


def test_the_policy_names_the_script_of_pictures() -> None:
    script = (PACKAGE / "view" / "picture.js").read_text("utf-8").strip()
    digest = b64encode(sha256(f"\n{script}\n".encode()).digest()).decode()
    text = (PAGE / "index.html").read_text("utf-8")
    current("index.html", re.sub(r"'sha256-[^']*'", f"'sha256-{digest}'", text))


def test_nothing_is_put_into_the_page_as_markup() -> None:
    """Words become text nodes; a picture becomes a document of its own, in a sandbox."""
    for each in sorted(PAGE.glob("*.mjs")):
        text = each.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
    assert 'sandbox="allow-scripts"' in (PAGE / "index.html").read_text("utf-8")


def built(monkeypatch: pytest.MonkeyPatch, out: Path, package: bytes) -> int:
    """The exit code of a build that is given some bytes as the package of Pyodide."""
    program = runpy.run_path(str(BUILD))

    def fetched(name: str, *_: str, folder: Path) -> str:
        assert name == "npm"
        (folder / "pyodide.tgz").write_bytes(package)
        return ""

    monkeypatch.setitem(program["build"].__globals__, "_run", fetched)
    return int(program["main"]([str(out)]))


def test_a_package_that_is_another_is_refused_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert built(monkeypatch, tmp_path / "site", b"not Pyodide") == 1
    assert "`pyodide.tgz` is not the file that pins.json names" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_somebody_else_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("kept")
    assert built(monkeypatch, tmp_path, b"") == 1
    assert "is there and no playground" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


@pytest.mark.slow
def test_what_was_built_says_what_it_was_built_of() -> None:
    site = os.environ.get("LAYOUTDSL_PLAYGROUND")
    if site is None:
        pytest.skip("LAYOUTDSL_PLAYGROUND names no folder that docs/playground/build.py wrote")
    found = json.loads((Path(site) / "contents.json").read_text("utf-8"))
    pinned = re.findall(r"sha256:([0-9a-f]{64})", BUILD.with_name("wheels.txt").read_text("utf-8"))
    hashes = {each for name, each in found["wheels"].items() if "layoutdsl" not in name}
    assert hashes == set(pinned)
    assert sum(each.stat().st_size for each in Path(site).iterdir()) <= 22_000_000
