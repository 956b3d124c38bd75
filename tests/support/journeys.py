"""Five ways through the house, walked as data would: what they enter, and how often they read.

`python tests/support/journeys.py NAME` walks one in a fresh process and prints what it met as JSON.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import layoutdsl

HOUSE = Path(layoutdsl.__file__).parent
TEXT = "layout NCHW16(n, c, h, w) = [n, c/16, h, w, c%16]"
READERS = {"digits/network.py": {"network"}, "codegen/plan.py": {"plan"}}
"""Functions that read a whole layout; once for each that they are given."""


def prove() -> None:
    """Text -> verdict."""
    assert layoutdsl.prove(layoutdsl.parse(TEXT)).passed


def pack() -> None:
    """Text -> packed array, by compiled C."""
    import numpy as np

    tensor = np.arange(2 * 20 * 3 * 4, dtype="f4").reshape(2, 20, 3, 4)
    layoutdsl.compile(layoutdsl.parse(TEXT)["NCHW16"], target="native").pack(tensor)


def kernel() -> None:
    """Text -> CUDA formula."""
    from layoutdsl import commands

    commands.index_functions(layoutdsl.parse(TEXT)["NCHW16"], "cuda")


def diff() -> None:
    """Two layouts of two notations -> equal, for all shapes."""
    other = layoutdsl.from_notation("einops", "n (co ci) h w -> n co h w ci, ci=16")
    layoutdsl.diff(layoutdsl.library("NCHW16c"), other)


def generate() -> None:
    """Text -> validated module."""
    layoutdsl.generate(layoutdsl.parse(TEXT)["NCHW16"])


JOURNEYS: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (prove, pack, kernel, diff, generate)
}


def walked(journey: Callable[[], None]) -> dict[str, int]:
    """Files and functions of ours that are entered, and the most often that a layout is read."""
    functions = set[tuple[str, str]]()
    readings = Counter[tuple[str, Any]]()

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(HOUSE)):
            return
        if not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or of a class
            return
        name = Path(code.co_filename).relative_to(HOUSE).as_posix()
        functions.add((name, code.co_qualname))
        if code.co_name in READERS.get(name, ()):
            readings[name, frame.f_locals["layout"]] += 1

    sys.setprofile(enter)
    try:
        journey()
    finally:
        sys.setprofile(None)
    files = {name for name, _ in functions}
    return {
        "files": len(files),
        "functions": len(functions),
        "readings": max(readings.values(), default=0),
    }


if __name__ == "__main__":
    os.environ.setdefault("LAYOUTDSL_CACHE", "/nonexistent")
    print(json.dumps(walked(JOURNEYS[sys.argv[1]])))
