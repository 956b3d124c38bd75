"""Small tensors in files, for the tests of pieces."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from texts import layout

from layoutdsl.code.native.loader import why_not

BLOCKED = layout("layout Blocked(n, c) = [n, c/16, c%16]")
ROW = 400
"""Bytes in which one row of 35 elements is a piece, and two are not.

A row takes 339 by compiled code (with its 48 slots, and four lines of 64), and a copy of it, 374,
by numpy. So tests cut alike with and without a compiler.
"""


def random_tensor(shape: tuple[int, ...], dtype: str = "u1") -> np.ndarray:
    whole = Random(1).randbytes(prod(shape) * np.dtype(dtype).itemsize)
    return np.frombuffer(whole, dtype).reshape(shape)


def left_behind() -> set[str]:
    return {each.name for each in Path().iterdir()} - {"in.npy", "out.npy", "back.npy", "in.bin"}


def compiles() -> bool:
    return why_not() is None


class Stopped(KeyboardInterrupt):
    """Somebody pressed a key."""


def stopping(after: int) -> Callable[[np.ndarray], None]:
    """Somebody who presses a key once so many pieces have been looked at."""
    looks = [0]

    def look(_: np.ndarray) -> None:
        looks[0] += 1
        if looks[0] > after:
            raise Stopped

    return look


def changed(**more: Any) -> None:
    """Change what a plan says; of what is `left out` it says nothing."""
    said = json.loads(Path("plan.json").read_text())
    said.update(more)
    Path("plan.json").write_text(json.dumps({k: v for k, v in said.items() if v != "left out"}))
