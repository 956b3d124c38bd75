"""Rules about formulas: what follows from what holds, and what holds of any."""

from __future__ import annotations

from layoutdsl.proof.evidence.replay.steps import Rule, Step, parts_of
from layoutdsl.proof.evidence.replay.terms import Refused, Term

# What follows from what is known.


def eq_resolve(step: Step) -> Term:
    """What is the same truth as something that holds, holds."""
    step.plain(2, 0)
    left, right = parts_of(step.premises[1], "=", "its second premise")
    return _given(step, left, right)


def modus_ponens(step: Step) -> Term:
    """What follows from something that holds, holds."""
    step.plain(2, 0)
    left, right = parts_of(step.premises[1], "=>", "its second premise")
    return _given(step, left, right)


def _given(step: Step, condition: Term, formula: Term) -> Term:
    if step.premises[0] is not condition:
        raise Refused("its first premise is not what the second one speaks of")
    return formula


def contra(step: Step) -> Term:
    """A formula and its negation do not hold together."""
    step.plain(2, 0)
    if step.premises[1] is not step.negation(step.premises[0]):
        raise Refused("its premises do not contradict each other")
    return step.terms.false


def true_intro(step: Step) -> Term:
    """What holds is the same truth as `true`."""
    step.plain(1, 0)
    return step.make("=", step.premises[0], step.terms.true)


def true_elim(step: Step) -> Term:
    """What is the same truth as `true` holds."""
    return _compared(step, step.terms.true)


def false_intro(step: Step) -> Term:
    """What does not hold is the same truth as `false`."""
    step.plain(1, 0)
    (formula,) = parts_of(step.premises[0], "not", "its premise")
    return step.make("=", formula, step.terms.false)


def false_elim(step: Step) -> Term:
    """What is the same truth as `false` does not hold."""
    return step.negation(_compared(step, step.terms.false))


def _compared(step: Step, truth: Term) -> Term:
    step.plain(1, 0)
    left, right = parts_of(step.premises[0], "=", "its premise")
    if right is not truth:
        raise Refused(f"its premise does not speak of `{truth}`")
    return left


def and_intro(step: Step) -> Term:
    """What holds holds together."""
    step.plain(len(step.premises), 0)
    if not step.premises:
        raise Refused("it has no premises")
    return step.make("and", *step.premises)


def and_elim(step: Step) -> Term:
    """Of what holds together each holds."""
    step.plain(1, 1)
    parts = parts_of(step.premises[0], "and", "its premise")
    return parts[step.position(0, len(parts))]


def not_or_elim(step: Step) -> Term:
    """Where none of several holds, any of them does not."""
    step.plain(1, 1)
    (formula,) = parts_of(step.premises[0], "not", "its premise")
    parts = parts_of(formula, "or", "what its premise denies")
    return step.negation(parts[step.position(0, len(parts))])


def not_not_elim(step: Step) -> Term:
    """What does not fail to hold holds."""
    step.plain(1, 0)
    (formula,) = parts_of(step.premises[0], "not", "its premise")
    return parts_of(formula, "not", "what its premise denies")[0]


def not_and(step: Step) -> Term:
    """Where not all of several hold, one of them does not."""
    step.plain(1, 0)
    (formula,) = parts_of(step.premises[0], "not", "its premise")
    parts = parts_of(formula, "and", "what its premise denies")
    return step.make("or", *map(step.negation, parts))


def process_scope(step: Step) -> Term:
    """`F1 => (F2 => ... => C)` says that the `F` together entail `C`; where that is `false`, that
    not all of them hold."""
    step.plain(1, 1)
    end, formula = step.argument(0), step.premises[0]
    conditions: list[Term] = []
    while formula is not end or not conditions:
        condition, formula = parts_of(formula, "=>", "what is left of its premise")
        conditions.append(condition)
    together = conditions[0] if len(conditions) == 1 else step.make("and", *conditions)
    if end is step.terms.false:
        return step.negation(together)
    return step.make("=>", together, end)


def split(step: Step) -> Term:
    """A formula holds, or its negation does."""
    step.plain(0, 1)
    return step.make("or", step.argument(0), step.negation(step.argument(0)))


def ite_eq(step: Step) -> Term:
    """What is chosen is the one where the condition holds, and the other one where it does not."""
    step.plain(0, 1)
    chosen = step.argument(0)
    condition, yes, no = parts_of(chosen, "ite", "its argument")
    return step.make("ite", condition, step.make("=", chosen, yes), step.make("=", chosen, no))


def cnf_and_pos(step: Step) -> Term:
    """Not all of several hold, or this one does."""
    step.plain(0, 2)
    parts = parts_of(step.argument(0), "and", "its argument")
    part = parts[step.position(1, len(parts))]
    return step.make("or", step.negation(step.argument(0)), part)


def cnf_and_neg(step: Step) -> Term:
    """All of several hold, or one of them does not."""
    step.plain(0, 1)
    parts = parts_of(step.argument(0), "and", "its argument")
    return step.make("or", step.argument(0), *map(step.negation, parts))


def cnf_or_pos(step: Step) -> Term:
    """None of several holds, or one of them does."""
    step.plain(0, 1)
    parts = parts_of(step.argument(0), "or", "its argument")
    return step.make("or", step.negation(step.argument(0)), *parts)


def cnf_or_neg(step: Step) -> Term:
    """One of several holds, or this one does not."""
    step.plain(0, 2)
    parts = parts_of(step.argument(0), "or", "its argument")
    part = parts[step.position(1, len(parts))]
    return step.make("or", step.argument(0), step.negation(part))


BOOLEANS: dict[str, Rule] = {
    "eq_resolve": eq_resolve,
    "modus_ponens": modus_ponens,
    "contra": contra,
    "true_intro": true_intro,
    "true_elim": true_elim,
    "false_intro": false_intro,
    "false_elim": false_elim,
    "and_intro": and_intro,
    "and_elim": and_elim,
    "not_or_elim": not_or_elim,
    "not_not_elim": not_not_elim,
    "not_and": not_and,
    "process_scope": process_scope,
    "split": split,
    "ite_eq": ite_eq,
    "cnf_and_pos": cnf_and_pos,
    "cnf_and_neg": cnf_and_neg,
    "cnf_or_pos": cnf_or_pos,
    "cnf_or_neg": cnf_or_neg,
}
