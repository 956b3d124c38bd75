"""Expressions that are drawn, in each language: what the text says, by a grammar that is not ours.

Signs are put into Python's, where those of one strength bind as strongly, and Python's own parser
says what belongs together. Texts of C are compiled, in `test_formula_meaning.py`. Offsets that are
printed for users are never of such shapes, so the printers are called inside.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import pytest
from printing import OPERATIONS, any_expression
from texts import layout

from layoutdsl.language.digits.extents import Extents
from layoutdsl.language.integers.digit import exact_quotient
from layoutdsl.language.integers.expr import (
    LAYOUTDSL,
    Add,
    Arithmetic,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Extent,
    Max,
    Min,
    Mul,
    Printer,
)
from layoutdsl.language.integers.languages import AFFINE, PYTHON, TRITON, TVM, c_family, written
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.integers.written_out import written_out

Number = Callable[..., int]


def rounded_up(left: int, right: int) -> int:
    return -(-left // right)


SIGNS: Mapping[type[ast.operator], Number] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.MatMult: rounded_up,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
CALLS: Mapping[str, Number] = {"min": min, "max": max, "tl.minimum": min, "tl.maximum": max}


def value(node: ast.expr, point: Mapping[str, int]) -> int:
    """What Python's tree of a text says, where `@` rounds up."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return point[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value(operand, point)
        case ast.BinOp(left=left, op=sign, right=right):
            return SIGNS[type(sign)](value(left, point), value(right, point))
        case ast.Call(func=ast.Name(id="ceil"), args=[ast.BinOp(left=left, right=right)]):
            return rounded_up(value(left, point), value(right, point))
        case ast.Call(func=function, args=parts):
            return CALLS[ast.unparse(function)](*(value(each, point) for each in parts))
    raise AssertionError(ast.dump(node))


@dataclass(frozen=True)
class Case:
    """A language: what it lacks, and its signs that Python writes otherwise."""

    language: Arithmetic
    without: tuple[type[Binary], ...] = ()
    signs: tuple[tuple[str, str], ...] = ()
    tuples: bool = True


FEW = (BitAnd, BitOr, BitXor, Min, Max)
CASES = {
    "python": Case(PYTHON),
    "layoutdsl": Case(LAYOUTDSL, signs=(("/", "//"),), tuples=False),
    "triton": Case(TRITON, (CeilDiv,)),
    "c": Case(c_family(signed=True), (CeilDiv, Min, Max), (("/", "//"),)),
    "cuda": Case(c_family(signed=False), (CeilDiv, Min, Max), (("/", "//"), (r"(\d)u\b", r"\1"))),
    "affine": Case(AFFINE, FEW, (("floordiv", "//"), ("ceildiv", "@"), ("mod", "%"))),
    "tvm": Case(TVM, (CeilDiv, Min, Max)),
}


def numbers(random: Random) -> dict[str, int]:
    """Values of the names; they are small, so that remainders and quotients vary."""
    return {**{n: random.randrange(30) for n in "ch"}, **{n: random.randint(1, 9) for n in "CH"}}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", CASES)
def test_a_text_says_what_it_was_printed_from(name: str) -> None:
    case, random = CASES[name], Random(name)
    operations = [each for each in OPERATIONS if each not in case.without]
    for _ in range(400):
        expr = any_expression(random, 5, operations, tuples=case.tuples)
        # what a machine is given has tuples written out, and nothing else done to it
        exact = Printer(case.language).text(written_out(expr) if case.tuples else expr)
        texts = [exact] if not case.tuples else [exact, written(expr, case.language)]
        for text in texts:
            spelled = text
            for ours, pythons in case.signs:
                spelled = re.sub(ours, pythons, spelled)
            tree = ast.parse(spelled, mode="eval").body
            for point in (numbers(random) for _ in range(4)):
                assert value(tree, point) == evaluate(expr, point), (expr, text, point)


# One spelling of extents. Digits are found by it, and a wrong one would only hide a proof.

PITCHES = (
    *("ceil({x}/{k})", "({x} + {k} - 1)/{k}", "({x} - 1)/{k} + 1", "({x} + {k} - 1)/{k}*{k}"),
    *("{x} + ({k} - {x}%{k})%{k}", "{x} + 1 - {x}%2", "{x}/{k}", "max({x}, {k})", "min({x}, {k})"),
    *("({x} + 7 & 15)", "{x}*{big}/{k}"),
)


def extent_text(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(("C", "H", str(random.randint(1, 20))))
    x, y = extent_text(random, depth - 1), extent_text(random, random.randrange(depth))
    if random.random() < 0.3:
        return f"({x} {random.choice('+*-')} {y})"
    values = {"x": f"({x})", "k": random.choice((2, 3, 4, 8, 16)), "big": 10**17 + 3}
    return f"({random.choice(PITCHES).format(**values)})"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_an_extent_in_its_one_spelling_has_its_value(seed: int) -> None:
    random = Random(seed)
    for _ in range(150):
        block = random.choice((1, 2, 4, 12, 16))
        text = extent_text(random, random.randint(1, 3))
        made = layout(f"layout L(c, h) = [c, h, {text} : 8] where C % {block} == 0")
        spelling, expr = Extents(made.where), made.coordinates[-1].value
        found = spelling.written(spelling.spelled(expr))
        for _ in range(6):
            point = {"C": block * random.randint(1, 40), "H": random.randint(1, 60)}
            assert evaluate(found, point) == evaluate(expr, point), (text, point)


@pytest.mark.parametrize("seed", range(4))
def test_exact_quotients_are_exact(seed: int) -> None:
    """A product divided by a factor is the other; with 1 added it cannot be divided."""
    random = Random(seed)
    for _ in range(60):
        one, other = (
            layout(f"layout L(c, h) = [c, h, {extent_text(random, 2)} : 8]").coordinates[-1].value
            for _ in range(2)
        )
        found = exact_quotient(Mul(one, other), other)
        if found is None:
            continue
        for _ in range(4):
            point = {"C": random.randint(1, 40), "H": random.randint(1, 60)}
            assert evaluate(Mul(found, other), point) == evaluate(Mul(one, other), point)
    plain = layout("layout L(c, h) = [c, h, (C + 1)*(H + 2) : 8]").coordinates[-1].value
    assert exact_quotient(plain, Add(Extent("C"), Constant(1))) is not None
    assert exact_quotient(Add(plain, Constant(1)), Add(Extent("C"), Constant(1))) is None


def test_no_number_is_too_large_for_where_it_stands() -> None:
    assert c_family(signed=False).number(2**31)[0] == "2147483648u"
    assert c_family(signed=True).number(2**31)[0] == "2147483648"
    assert c_family(signed=True).number(-(2**31))[0] == "-2147483648"
