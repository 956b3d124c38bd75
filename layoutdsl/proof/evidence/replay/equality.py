"""Rules about `=`, which is what it is in every model: the same value."""

from __future__ import annotations

from layoutdsl.proof.evidence.replay.steps import Rule, Step, parts_of
from layoutdsl.proof.evidence.replay.terms import Refused, Term
from layoutdsl.proof.evidence.replay.values import worth


def refl(step: Step) -> Term:
    """A term has the value that it has."""
    step.plain(0, 1)
    return step.make("=", step.argument(0), step.argument(0))


def symm(step: Step) -> Term:
    """Two values are the same, or are not, in whatever order they are named."""
    step.plain(1, 0)
    match step.premises[0]:
        case Term("=", (left, right)):
            return step.make("=", right, left)
        case Term("not", (Term("=", (left, right)),)):
            return step.negation(step.make("=", right, left))
    raise Refused("its premise is no equation, and no denial of one")


def trans(step: Step) -> Term:
    """Of values each of which is the next, the first is the last; their chain has no gap."""
    step.plain(len(step.premises), 0)
    if not step.premises:
        raise Refused("it has no premises")
    first, end = parts_of(step.premises[0], "=", "its first premise")
    for each in step.premises[1:]:
        left, right = parts_of(each, "=", "a premise")
        if left is not end:
            raise Refused(f"the chain breaks at `{left}`")
        end = right
    return step.make("=", first, end)


def cong(step: Step) -> Term:
    """A function of the same values has the same value: an equation for each of the last parts.

    The other side is made as every term is, so that it has a sort, and with it a value.
    """
    step.plain(len(step.premises), 1)
    term = step.argument(0)
    same = len(term.parts) - len(step.premises)
    if not step.premises or same < 0:
        raise Refused("there is not one premise for each part")
    others = list(term.parts[:same])
    for part, premise in zip(term.parts[same:], step.premises, strict=True):
        left, right = parts_of(premise, "=", "a premise")
        if left is not part:
            raise Refused(f"a premise is not about `{part}`")
        others.append(right)
    return step.make("=", term, step.make(term.operator, *others))


def nary_cong(step: Step) -> Term:
    """The same, with an equation for each part: what takes any number of them is of all of them."""
    step.plain(len(step.premises), 1)
    if len(step.premises) != len(step.argument(0).parts):
        raise Refused("there is not one premise for each part")
    return cong(step)


def evaluate(step: Step) -> Term:
    """A term without unknowns is the number, or the truth, that it comes to."""
    step.plain(0, 1)
    term = step.argument(0)
    value = worth(term, step.memory.values)
    if value is None:
        raise Refused(f"`{term}` has an unknown, or divides by 0")
    if isinstance(value, bool):
        return step.make("=", term, step.terms.true if value else step.terms.false)
    return step.make("=", term, step.terms.literal(value, term.sort))


def skolem_intro(step: Step) -> Term:
    """`@purify` is its own argument, by what it means."""
    step.plain(0, 1)
    match step.argument(0):
        case Term("@purify", (inner,)) as term:
            return step.make("=", term, inner)
    raise Refused("it is no name for a term")


EQUALITY: dict[str, Rule] = {
    "refl": refl,
    "symm": symm,
    "trans": trans,
    "cong": cong,
    "nary_cong": nary_cong,
    "evaluate": evaluate,
    "skolem_intro": skolem_intro,
}
