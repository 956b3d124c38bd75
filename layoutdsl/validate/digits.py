"""That the digits and strides which compiled code is made from are those of its layouts.

They are given as formulas, and each is proved to be the offset of its layout, for every shape and
every index. Of the text that moves by these digits nothing is said here.
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.integers.expr import Expr, text
from layoutdsl.kernel.certificate import Certificate
from layoutdsl.kernel.theorem import Proof, Theorem
from layoutdsl.meaning.claims import Claim, EqualsFormula
from layoutdsl.meaning.model import Layout
from layoutdsl.prover.check import attempt
from layoutdsl.prover.verdict import Proved, Undecided
from layoutdsl.validate.outcome import NotValidated, Validated
from layoutdsl.validate.seals import seal, spelled


def validate_digits(said: Iterable[tuple[Layout, Expr]]) -> Validated | NotValidated:
    """Return whether each formula was shown to be the offset of the layout beside it.

    Args:
        said: layouts without open parameters, with formulas over their indices and extents.
    """
    proved: list[tuple[Theorem, Proof]] = []
    parts: list[str] = []
    questions = 0
    for layout, formula in dict.fromkeys(said):
        parts += [spelled(layout), text(formula)]
        found = attempt(Claim("prove", layout, EqualsFormula(formula)))
        match found:
            case Proved(certificate=Certificate() as certificate):
                proved += certificate.proved
                questions += found.queries
            case Undecided(reason=reason):
                return NotValidated(f"the digits of `{layout.name}`: {reason}")
            case _:
                return NotValidated(f"the digits of `{layout.name}`: there is no certificate")
    bound = seal(*parts, Certificate(tuple(proved)).hash)
    return Validated(bound, len(proved), questions)
