"""Formulas as text: pinned for every layout, as `formula` prints them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_shell import Shell, shell
from texts import EVERY

__all__ = ["shell"]

NOTATIONS = {
    "python": ("py", "# {}"),
    "c": ("c", "// {}"),
    "latex": ("tex", "% {}"),
    "sympy": ("sympy", "# {}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_layout(notation: str, shell: Shell, golden: Callable[[str, str], None]) -> None:
    """Its offset, its size, and the extents of its buffer."""
    suffix, comment = NOTATIONS[notation]
    width, lines = ("--width", "64") if notation == "c" else (), []
    for name, layout in EVERY.items():
        Path("a.layout").write_text(str(layout), encoding="utf-8")
        ended = shell("formula", f"a.layout:{name}", "--as", notation, *width, "--json")
        if ended.code:
            lines += [comment.format(name), f"no functions: exit code {ended.code}"]
            continue
        printed = json.loads(ended.out)
        lines += [comment.format(name), printed["offset"], printed["size"]]
        lines.append("  ".join(printed["physical_shape"]))
    golden(f"formula/every_layout.{suffix}", "\n".join([*lines, ""]))
