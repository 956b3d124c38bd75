"""What is proved of codes: theorems against the definition, wrong encoders, certificates.

Theorems are read here in plain integers: for every small number, scale and zero point the
hypotheses leave one code, which is that of the definition, and the goals hold. Of a wrong encoder
the same reading finds a counterexample, and the solver no proof.

Theorems are what a proof means, so they are read here one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from test_evidence import results, written
from texts import LIBRARY, layout

from layoutdsl import prove
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.interface import codes_of, decode, encode, takes_codes
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.kernel.solver import CVC5, Z3
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.prover.verdict import Proved
from layoutdsl.proof.statements import interface_statement as said
from layoutdsl.proof.tactics.interface_proof import interface_proofs

CODED = sorted(name for name, each in ELEMENT_TYPES.items() if takes_codes(each))
SMALL = ELEMENT_TYPES["i2"]


def value(term: Term, names: Mapping[str, int]) -> int:
    match term:
        case int():
            return term
        case str():
            return names[term]
        case ("=>", condition, part):
            return not value(condition, names) or value(part, names)
        case ("and", *parts):
            return all(value(each, names) for each in parts)
        case ("not", part):
            return not value(part, names)
        case (operator, left, right):
            one, other = value(left, names), value(right, names)
            return {
                "+": lambda: one + other,
                "-": lambda: one - other,
                "*": lambda: one * other,
                "div": lambda: one // other,
                "mod": lambda: one % other,
                "=": lambda: one == other,
                "<": lambda: one < other,
                "<=": lambda: one <= other,
            }[operator]()
    raise AssertionError(term)


def cases(theorem: Theorem) -> Iterator[dict[str, int]]:
    """Small values of all variables, definitions worked out, at which the hypotheses hold."""
    low, high = codes_of(SMALL)
    codes = range(low - 1, high + 2)
    ranges = {"a": range(-4, 5), "b": (1, 2), "p": (1, 3), "q": (1,), "z": range(low, high + 1)}
    ranges |= {"steps": range(-11, 12), "code": codes, "other": codes, "fill": codes}
    first = [name for name in theorem.variables if name not in ("steps", "code", "other", "fill")]
    rest = [name for name in theorem.variables if name not in first]
    for numbers in product(*(ranges[name] for name in first)):
        names = dict(zip(first, numbers, strict=True))
        for name, term in theorem.definitions:
            if name not in ("error", "wrong"):
                names[name] = value(term, names)
        steps = {names["up"], names["down"]} if "up" in names else ()
        for more in product(*(steps if name == "steps" else ranges[name] for name in rest)):
            found = {**names, **dict(zip(rest, more, strict=True))}
            for name, term in theorem.definitions:
                found[name] = value(term, found)
            if all(value(each, found) for each in theorem.hypotheses):
                yield found


def counterexample(theorem: Theorem) -> dict[str, int] | None:
    wrong = (each for each in cases(theorem) if not all(value(g, each) for g in theorem.goals))
    return next(wrong, None)


def theorems(fill: str = "") -> dict[str, Theorem]:
    of = layout(f"layout L(n, c) = [n, c/16, c%16] of {SMALL.name} as scale_offset {fill}")
    return {each.name: each for each in said.interface_theorems(of)}


# The theorems say what is meant.


@pytest.mark.slow
def test_the_codes_and_errors_of_theorems_are_those_of_the_definition() -> None:
    seen = set()
    for each in cases(theorems()["codes.nearest"]):
        number, scale = Fraction(each["a"], each["b"]), Fraction(each["p"], each["q"])
        assert each["code"] == encode(number, scale, each["z"], SMALL), each
        for name, code in (("error", "code"), ("wrong", "other")):
            off = number - decode(each[code], scale, each["z"])
            assert each[name] == off * each["b"] * each["q"]
        seen.add((number, scale, each["z"]))
    low, high = codes_of(SMALL)
    numbers = {Fraction(a, b) for a in range(-4, 5) for b in (1, 2)}
    assert len(seen) == len(numbers) * 2 * (high - low + 1)  # of no number there is no code


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*theorems(), "codes.padding fill 1"])
def test_the_theorems_hold_at_small_numbers(name: str) -> None:
    name, _, fill = name.partition(" ")
    theorem = theorems(fill)[name]
    assert any(cases(theorem))
    assert counterexample(theorem) is None


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CODED)
def test_they_are_proved_of_every_type(name: str) -> None:
    for fill in ("", "fill 0", "fill any"):
        of = layout(f"layout L(n) = [n] of {name} as scale_offset {fill}")
        found = establish(interface_proofs(said.interface_theorems(of)))
        assert [each.reason for each in found.values()] == [""] * (5 if fill == "fill any" else 6)


# What is found of layouts.

LAYOUTS: list[tuple[str, tuple[str, ...] | None]] = [
    ("of u8 as scale_offset", ()),
    ("of u8 as scale_offset fill 31", ("the zero point is 31",)),
    ("of u8 as scale_offset per c", ("every c has the same zero point",)),
    ("of u8 as scale_offset per c fill 0", ("the zero point of every c is 0",)),
    ("of u8 as scale_offset fill any", None),
    ("of i4 as scale_offset where N == 2, C <= 3", ()),
]
OF_CODES = (said.IN_RANGE, said.NEAREST, said.STEP, said.ZERO)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("clauses", "padded"), LAYOUTS)
def test_codes_are_spoken_of_without_being_asked(
    clauses: str, padded: tuple[str, ...] | None
) -> None:
    (checked,) = prove(layout(f"layout L(n, c) = [n, c/16, c%16] {clauses}")).checked
    assert checked.status == "proved"
    found = {each.property: each for each in checked.findings if isinstance(each, Proved)}
    assert [name for name in found if name in OF_CODES] == list(OF_CODES)
    assert {found[name].conditions for name in OF_CODES} == {()}
    assert (found[said.PADDED].conditions if said.PADDED in found else None) == padded


def test_nothing_is_said_of_codes_where_there_are_none() -> None:
    for each in ("", "of u8", "of u8 fill zero_point"):
        assert said.interface_properties(layout(f"layout L(n) = [n] {each}")) == {}
    fills = {each.fill for each in LIBRARY.values() if each.interface is not None}
    assert fills <= {FillValue(31), FillValue(0), FillZeroPoint(), FillAny()}


@pytest.mark.slow
def test_the_certificates_are_confirmed_by_both_solvers(tmp_path: Path) -> None:
    text = (
        "layout A(n, c) = [n, c/16, c%16] of u8 as scale_offset\n"
        "layout B = A of i32 as scale_offset per c fill 31\n"
        "layout C(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] of i4 as scale_offset\n"
        "    where j <= i\n"
    )
    found = results(written(tmp_path, text), tmp_path, Z3, CVC5)
    assert [each.status for each in found] == ["confirmed"] * len(found)


def test_a_certificate_of_another_type_is_none(tmp_path: Path) -> None:
    written(tmp_path, "layout A(n) = [n] of u8 as scale_offset\n")
    other = tmp_path / "other"
    made = written(other, "layout A(n) = [n] of i8 as scale_offset\n")
    found = results(made, tmp_path, Z3)
    assert [each.status for each in found] == ["confirmed", "failed"]  # the lemmas stand


# Wrong encoders.

Change = Callable[[Theorem], Theorem]


def defined(**others: Term) -> Change:
    def change(theorem: Theorem) -> Theorem:
        pairs = tuple((name, others.get(name, term)) for name, term in theorem.definitions)
        return replace(theorem, definitions=pairs)

    return change


def supposed(old: Term, new: Term) -> Change:
    def change(theorem: Theorem) -> Theorem:
        assert old in theorem.hypotheses
        again = tuple(new if each == old else each for each in theorem.hypotheses)
        return replace(theorem, hypotheses=again)

    return change


LOW, HIGH = codes_of(SMALL)
MOVED: Term = ("+", "steps", "z")
EVEN: Term = ("=", ("mod", "down", 2), 0)
KEPT: Term = ("and", ("<=", LOW, MOVED), ("<=", MOVED, HIGH))
FLOOR: Term = ("div", "n", "d")
BELOW, ABOVE = ("<", MOVED, LOW), ("<", HIGH, MOVED)


def instead(condition: Term, stored: Term, other: Term) -> Change:
    """Another code is stored, where a condition holds, than the right one."""
    return supposed(
        ("=>", condition, ("=", "code", stored)), ("=>", condition, ("=", "code", other))
    )


def rounding(even: Term) -> Change:
    return supposed(("=>", EVEN, ("=", "steps", "down")), even)


WRONG: dict[str, tuple[str, Change]] = {
    "rounded down": (said.ROUNDED, defined(up=FLOOR, down=FLOOR)),
    "rounded up": (said.ROUNDED, defined(up=("+", FLOOR, 1), down=("+", FLOOR, 1))),
    "ties up": (said.ROUNDED, rounding(("=>", EVEN, ("=", "steps", "up")))),
    "clipped one too far": ("codes.range", instead(ABOVE, HIGH, HIGH + 1)),
    "clipped one too early": ("codes.nearest", instead(BELOW, LOW, LOW + 1)),
    "wrapped": ("codes.nearest", instead(ABOVE, HIGH, LOW)),
    "without the zero point": ("codes.zero", instead(KEPT, MOVED, "steps")),
    "off by one": ("codes.step", instead(KEPT, MOVED, ("-", MOVED, 1))),
    "padding holds 0": ("codes.padding", supposed(("=", "fill", "z"), ("=", "fill", 0))),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_encoder_is_refuted(what: str) -> None:
    name, change = WRONG[what]
    alone = name in (said.ROUNDED, "codes.padding")
    wrong = [change(theorems()[each]) for each in ([name] if alone else [said.ROUNDED, name])]
    assert counterexample(wrong[-1]) is not None
    try:
        found = establish(interface_proofs(wrong))
    except NoProof:
        return
    assert not found[name].established
