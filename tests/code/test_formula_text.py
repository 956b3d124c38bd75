"""Formulas as text: pinned for every layout, and what the reader of Python text refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from printing import c as c_text
from printing import latex, python, sympy_text
from texts import EVERY

from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.read_python import read_python
from layoutdsl.language.meaning.offsets import offset_expr, size_expr

C, H, c, h = Extent("C"), Extent("H"), Index("c"), Index("h")

NOTATIONS: dict[str, tuple[str, str, Callable[[Expr], str]]] = {
    "python": ("py", "# {}", python),
    "c": ("c", "// {}", c_text),
    "latex": ("tex", "% {}", latex),
    "sympy": ("sympy", "# {}", sympy_text),
}


@pytest.mark.sampled(2, slow=1)
@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_layout(notation: str, golden: Callable[[str, str], None]) -> None:
    suffix, comment, printed = NOTATIONS[notation]
    lines = []
    for name, layout in EVERY.items():
        lines.append(comment.format(name))
        lines += [printed(offset_expr(layout)), printed(size_expr(layout))]
        lines.append("  ".join(printed(each.extent) for each in layout.coordinates))
    golden(f"formula/every_layout.{suffix}", "\n".join([*lines, ""]))


TEXTS = [
    # expression, Python, C
    (FloorDiv(c, Add(C, Constant(1))), "c//(C + 1)", "c/(C + 1)"),
    (FloorDiv(FloorDiv(c, C), H), "c//C//H", "c/C/H"),
    (FloorDiv(c, FloorDiv(C, H)), "c//(C//H)", "c/(C/H)"),
    (Mul(FloorDiv(c, C), H), "c//C*H", "c/C*H"),
    (Mul(H, FloorDiv(c, C)), "H*(c//C)", "H*(c/C)"),
    (Mul(Add(c, h), C), "(c + h)*C", "(c + h)*C"),
    (Mod(Mul(c, C), H), "c*C%H", "c*C%H"),
    (Mod(c, Mul(C, H)), "c%(C*H)", "c%(C*H)"),
    (Sub(c, Sub(h, C)), "c - (h - C)", "c - (h - C)"),
    (Sub(c, Add(h, C)), "c - (h + C)", "c - (h + C)"),
    (CeilDiv(C, Constant(16)), "-(-C//16)", "((C - 1)/16 + 1)"),
    (Mul(CeilDiv(C, Constant(16)), Constant(16)), "(-(-C//16))*16", "((C - 1)/16 + 1)*16"),
]


@pytest.mark.parametrize(("expr", "in_python", "in_c"), TEXTS)
def test_parentheses(expr: Expr, in_python: str, in_c: str) -> None:
    assert python(expr) == in_python
    assert c_text(expr) == in_c


def test_names_are_renamed_everywhere() -> None:
    said = Add(FloorDiv(c, C), Mod(h, C))
    assert python(said, lambda name: f"_{name}") == "_c//_C + _h%_C"


REFUSED = [
    "",
    "c +",
    "c; h",
    "c = 1",
    "x",
    "__import__('os')",
    "c.real",
    "c[0]",
    "c ** 2",
    "c / 2",
    "c << 2",
    "1.5",
    "True",
    "'c'",
    "c if C else h",
    "lambda: c",
    "[c]",
    "c == h",
    "c and h",
    "not c",
    "~c",
    "max(c)",
    "max(c, h, C)",
    "max(c, key=h)",
    "abs(c)",
    "(c := 1)",
    "f'{c}'",
]


@pytest.mark.parametrize("text", REFUSED)
def test_reader_takes_integer_arithmetic_only(text: str) -> None:
    with pytest.raises(ValueError, match="not a formula"):
        read_python(text, {"c": c, "h": h, "C": C})
