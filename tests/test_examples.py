"""Every example in a docstring does what it says."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import layoutdsl
from layoutdsl import api

HOUSE = Path(layoutdsl.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts)
    for path in HOUSE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "__main__.py"
)


def known() -> dict[str, object]:
    """What examples may name without an import: the verbs, numpy, a layout and its text."""
    verbs = {name: getattr(api, name) for name in api.__all__}
    layout = api.library("NCHW16c")
    text = api.generate(layout).text
    return {**verbs, "np": np, "layout": layout, "text": text}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = import_module(name)
    package = {each: getattr(module, each) for each in vars(module)}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for example in finder.find(module, name, globs={**known(), **package}):
        runner.run(example)
    assert runner.tries
    assert not runner.failures
