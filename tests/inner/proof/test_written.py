"""Theorems and steps as text: what is written is read back; anything else is refused, in words.

The trusted reader of certificates is tested text by text, as a wrong proof must not be read
as another one.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some
from test_certificate import CERTIFICATES

from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.kernel.theorem import Native, Proof, Term, Theorem
from layoutdsl.proof.kernel.written import (
    MOST_DEPTH,
    Unreadable,
    read_proof,
    read_theorem,
    tree,
    written_proof,
    written_theorem,
)

PROVED = {"lemmas": lemmas.library(), **CERTIFICATES}


@pytest.mark.parametrize("name", PROVED)
def test_read_back(name: str) -> None:
    above: dict[str, Term] = {}
    for theorem, proof in PROVED[name]:
        text = " ".join(written_theorem(theorem, above))
        assert read_theorem(text, above) == theorem
        above |= theorem.definitions
        assert read_proof(written_proof(proof)) == (
            proof if isinstance(proof, Native) else tuple(proof)
        )


def read_back(proved: tuple[tuple[Theorem, Proof], ...]) -> tuple[tuple[Theorem, Proof], ...]:
    return tuple(
        (read_theorem(" ".join(written_theorem(theorem, {})), {}), read_proof(written_proof(proof)))
        for theorem, proof in proved
    )


def test_the_hash_is_that_of_what_was_read() -> None:
    for proved in CERTIFICATES.values():
        assert Certificate(read_back(proved)).hash == Certificate(proved).hash


def test_an_example() -> None:
    theorem = Theorem("T", ("x", "y"), (("<", 0, "x"),), (("<", -5, "z"),), (("z", ("+", "x", 1)),))
    lines = ("(theorem T", "(x y)", "((< 0 x))", "((< -5 z))", "((z (+ x 1))))")
    assert written_theorem(theorem, {}) == lines
    shorter = (*lines[:4], "(z))")
    assert written_theorem(theorem, {"z": ("+", "x", 1)}) == shorter
    assert read_theorem(" ".join(shorter), {"z": ("+", "x", 1)}) == theorem
    with pytest.raises(Unreadable, match=r"^`z` is not defined above$"):
        read_theorem(" ".join(shorter), {})
    assert written_theorem(theorem, {"z": ("+", "x", 2)}) == lines


REFUSED = {
    "": "a text is not one closed expression",
    "(": "a text is not one closed expression",
    ")": "a parenthesis is closed that was not opened",
    "()": "an opening parenthesis and a word are missing",
    "x": "an opening parenthesis and a word are missing",
    "((define) x 1)": "an opening parenthesis and a word are missing",
    "(define x 1": "a text is not one closed expression",
    "(define x 1))": "a parenthesis is closed that was not opened",
    "(define x)": "`define` has 2 parts, not 1",
    "(native)": "there is no step `native`",
    "(sorry x)": "there is no step `sorry`",
    "(theorem T () () () ())": "there is no step `theorem`",
    "(use f T (x) ())": "a name with its term is missing",
    "(use f T x ())": "a list is missing where `x` stands",
    "(calculate f x ((ring)))": "a move is no equation, and no `ring`",
    "(define x (+ 1 ()))": "a term is empty",
    "(define x ((+) 1 1))": "a name is missing where a list stands",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_proof([text, text])
    assert str(refused.value) == REFUSED[text]


def test_depth_is_bounded() -> None:
    assert tree("(" * MOST_DEPTH + ")" * MOST_DEPTH)
    with pytest.raises(Unreadable, match="nested deeper"):
        tree("(" * (MOST_DEPTH + 1) + ")" * (MOST_DEPTH + 1))


@pytest.mark.slow
@given(some.text("() -adefinrulthom019.\n", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (lambda: read_proof([text, "(define x 1)"]), lambda: read_theorem(text, {})):
        with suppress(Unreadable):
            read()
