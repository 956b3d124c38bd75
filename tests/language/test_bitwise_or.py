"""`|` in coordinates and formulas: values, sums of disjoint bits, verdicts and generated code.

The oracles are Python's own `|`, and layouts that are written without it.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from random import Random

import numpy as np
import pytest
from integers import value
from texts import layout, module

import layoutdsl

AXES = {"c": 6, "h": 9}


def term(random: Random, depth: int = 2) -> str:
    """A term that often has low zeros, or stays below a small number."""
    name = random.choice("ch")
    if depth and random.random() < 0.35:
        left, right = term(random, depth - 1), term(random, depth - 1)
        return f"({left} {random.choice('|||&^+-')} {right})"
    power, number = random.choice((2, 4, 8)), random.choice((2, 3, 4, 6, 8, 16))
    return random.choice(
        (
            name,
            f"{name}%{number}",
            f"{name}*{number}",
            f"({name} << {random.randint(0, 4)})",
            f"{name}/{power}*{power}",
            f"({name} & {number})",
            f"({name} & -{power})",
            f"{name}*{power}%{number}",
            f"({name}, h%2)",
            f"({name} : {number})",
            str(random.choice((0, 1, 3, 8, 12, -4, -8))),
        )
    )


@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_python(seed: int) -> None:
    """Drawn terms, with indices of open and of fixed extents."""
    random, kinds = Random(seed), Counter[bool]()
    while kinds.total() < 250:
        left, right = term(random), term(random)
        axes = ", ".join(random.choice((name, f"{name}: {AXES[name]}")) for name in AXES)
        text = f"layout L({axes}) = [{left} | {right} : 1000000]"
        made = layout(text)
        kinds["|" in repr(made.coordinates[0])] += 1
        for c, h in product(range(AXES["c"]), range(AXES["h"])):
            symbols = {name.upper(): extent for name, extent in AXES.items()}
            found = made.offset_at({"c": c, "h": h, **symbols})
            assert found == meant(f"{left} | {right}", c, h), text
    assert min(kinds.values()) > 20


def meant(text: str, c: int, h: int) -> int:
    """The value by Python's own operators; a tuple is `(a, h%2)`, or one part with an extent."""
    plain = re.sub(r"\((\w) : \d+\)", r"\1", text)
    plain = re.sub(r"\((\w), h%2\)", r"(\1*2 + h%2)", plain)
    return int(value(plain, {"c": c, "h": h}))


RIGHT = (
    ("layout L(c, h) = [(c/4 << 3) | (h % 8), c%4, h/8]", "[c/4, h%8, c%4, h/8]"),
    ("layout L(c: 8, h) = [c | 8*h]", "[h, c]"),
    ("layout L(c, h: 4) = [c*4 | h]", "[c, h]"),
    ("layout L(c) = [c & 12 | c & 3 | c/16*16]", "[c/16, c%16]"),
    ("layout L(c: 16) = [c & 10 | c & 5]", "[c]"),
    ("layout L(c: 16) = [(c & 3) << 2 | c >> 2]", "[c%4, c/4]"),
    ("layout L(c: 16, h) = [h, c/8 | (c%8 << 1)]", "[h, c%8, c/8]"),
)


@pytest.mark.parametrize(("text", "body"), RIGHT)
def test_disjoint_bits_are_proved_packed_and_written_as_sums(text: str, body: str) -> None:
    assert layoutdsl.prove(module(f"{text}\nprove L\nprove L == {body}"))
    made, other = layout(text), layout(f"{text.split(' = ')[0]} = {body}")
    shape = tuple(16 if "c: 16" in text else 8 if name == "c" else 4 for name in "ch")
    shape = shape[: len(made.axes)]
    tensor = np.arange(np.prod(shape)).reshape(shape)
    expected = layoutdsl.pack(other, tensor).ravel()
    for target in ("numpy", "native"):
        compiled = layoutdsl.compile(made, target=target)
        packed = compiled.pack(tensor)
        assert (packed.ravel() == expected).all()
        assert (compiled.unpack(packed, shape) == tensor).all()


def test_bits_of_both_sides_collide() -> None:
    found = layoutdsl.prove(layout("layout L(c, h) = [c%4 | h%8, c/4, h/8]"))
    assert "not injective" in str(found)


def test_a_parameter_makes_a_sum_once_it_has_a_value() -> None:
    text = "layout L<k>(c, h) = [c/4*k | h%k : ceil(C/4)*k, c%4, h/k] where H % k == 0"
    body = "[c/4, h%8, c%4, h/8]"
    assert layoutdsl.prove(module(f"{text}\nprove L<8> == {body}").claims)
    tensor = np.arange(80).reshape(5, 16)
    packed = layoutdsl.pack(module(text)["L<8>"], tensor)
    expected = layoutdsl.pack(layout(f"layout M(c, h) = {body}"), tensor)
    assert (packed.ravel() == expected.ravel()).all()


def test_a_value_may_exceed_the_declared_extent_of_its_tuple() -> None:
    """`(c : 8)` may be 8, so `8*h | (c : 8)` is no sum."""
    made = layout("layout L(c, h) = [8*h | (c : 8) : 100]")
    assert made.offset((8, 1), (9, 2)) == 8
