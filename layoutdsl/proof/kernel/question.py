"""What a solver is asked, and the SMT-LIB text of it: can the premises hold without the formula?

*unsat* means that they cannot, so that the formula follows. Trusted: a solver answers what is
written here. It imports nothing of ours but the terms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.proof.kernel.theorem import Term, names

OPAQUE: Mapping[str, str] = {"*": "mul", "div": "quo", "mod": "rem."}
"""The uninterpreted functions that stand for products and quotients of two unknowns."""

OPERATORS = frozenset({"+", "-", "*", "div", "mod", "=", "<=", "<", "and", "or", "not", "=>"})
"""Of terms and formulas. Other text would go into the script as it stands."""

RESERVED = frozenset(
    {"as", "exists", "forall", "let", "match", "par", "true", "false", "not", "and", "or", "xor"}
    | {"distinct", "ite", "div", "mod", "abs", *OPAQUE.values()}
)
"""Names that a script cannot declare. A solver complains, and its answers are then *unknown*."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.~]*")


def is_name(text: str) -> bool:
    """Return whether a text may name an integer."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


PREAMBLE = """\
(set-logic ALL)
(declare-fun mul (Int Int) Int)
(declare-fun quo (Int Int) Int)
(declare-fun rem. (Int Int) Int)
"""


@dataclass(frozen=True, slots=True)
class Question:
    """Do the premises entail the formula?

    Attributes:
        fact: what the answer is needed for, in the proof that asks.
        premises: formulas.
        formula: what has to follow from them.
        opaque: what stands for operators between unknowns.
    """

    fact: str
    premises: tuple[Term, ...]
    formula: Term
    opaque: tuple[tuple[str, str], ...] = tuple(OPAQUE.items())

    @property
    def text(self) -> str:
        """The question as SMT-LIB text; *unsat* means yes."""
        return question(self.premises, self.formula, dict(self.opaque))


def show(term: Term, opaque: Mapping[str, str] = OPAQUE) -> str:
    """Return SMT-LIB text; a product or quotient without a number is an uninterpreted function.

    Raises:
        ValueError: what is given is no term, or has an unknown operator.
    """
    match term:
        case bool():
            pass
        case int():
            return str(term) if term >= 0 else f"(- {-term})"
        case str():
            return term
        case (str() as operator, *parts):
            if operator not in OPERATORS:
                raise ValueError(f"{operator!r} is no operator")
            words = [show(part, opaque) for part in parts]
            if operator in opaque and not _linear(operator, parts):
                operator = opaque[operator]
            return f"({operator} {' '.join(words)})"
    raise ValueError(f"{term!r} is not a term")


def _linear(operator: str, parts: Sequence[Term]) -> bool:
    if operator == "*":
        return any(isinstance(part, int) for part in parts)
    return isinstance(parts[1], int) and parts[1] > 0


def question(premises: Sequence[Term], formula: Term, opaque: Mapping[str, str] = OPAQUE) -> str:
    """Return the question whether the premises can hold without the formula; *unsat* means no.

    Raises:
        ValueError: a term is none, or a name is none.
    """
    used = dict.fromkeys(name for each in (*premises, formula) for name in names(each))
    for name in used:
        if not is_name(name):
            raise ValueError(f"{name!r} is no name")
    lines = [f"(declare-const {name} Int)" for name in used]
    lines += [f"(assert {show(each, opaque)})" for each in premises]
    return "\n".join([*lines, f"(assert (not {show(formula, opaque)}))", ""])


def script(questions: Sequence[str]) -> str:
    """Return questions as one SMT-LIB script, each in a scope of its own."""
    return PREAMBLE + "".join(f"(push 1)\n{each}(check-sat)\n(pop 1)\n" for each in questions)
