"""What the page of the playground carries of the rest of the house: colours, examples, a hash.

`LAYOUTDSL_REWRITE_GOLDEN=1 pytest tests/test_playground_page.py` writes these again.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

import layoutdsl
from layoutdsl.cli.listing import entries
from layoutdsl.texts import resources

PACKAGE = Path(layoutdsl.__file__).parent
PAGE = PACKAGE / "viewing" / "page"


def current(name: str, text: str) -> None:
    place = PAGE / name
    if os.environ.get("LAYOUTDSL_REWRITE_GOLDEN") == "1":
        place.write_text(text, encoding="utf-8")
    assert place.read_text("utf-8") == text, "LAYOUTDSL_REWRITE_GOLDEN=1 writes it again"


def examples() -> dict[str, dict[str, str]]:
    families = [(each[0], entries(*each)) for each in resources.library_families()]
    return {
        file.removesuffix(".layout"): {each.name: each.text.strip() + "\n" for each in found}
        for file, found in families
    }


def test_the_colours_are_those_of_pygments() -> None:
    colours = pytest.importorskip("layoutdsl.pygments")
    rules = [
        [pattern, [scope.split(".")[0] for scope, _ in kinds]] for pattern, kinds in colours.RULES
    ]
    current("colours.json", json.dumps(rules, indent=1) + "\n")


def test_the_examples_are_the_library() -> None:
    current("examples.json", json.dumps(examples(), indent=1, ensure_ascii=False) + "\n")


def test_every_example_stands_alone() -> None:
    found = examples()
    assert sum(map(len, found.values())) > 150
    for entries_ in found.values():
        for name, text in entries_.items():
            module = layoutdsl.parse(text)
            assert name in {*module, *module.tables, *module.records}


def test_the_policy_names_the_script_of_pictures() -> None:
    script = (PACKAGE / "showing" / "picture.js").read_text("utf-8").strip()
    digest = b64encode(sha256(f"\n{script}\n".encode()).digest()).decode()
    text = (PAGE / "index.html").read_text("utf-8")
    current("index.html", re.sub(r"'sha256-[^']*'", f"'sha256-{digest}'", text))


def test_nothing_is_put_into_the_page_as_markup() -> None:
    """Words become text nodes; a picture becomes a document of its own, in a sandbox."""
    for each in sorted(PAGE.glob("*.mjs")):
        text = each.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
    assert 'sandbox="allow-scripts"' in (PAGE / "index.html").read_text("utf-8")
