"""Rules that are tables of truth: clauses that a formula entails, or that hold of any formula."""

from __future__ import annotations

from layoutdsl.proof.evidence.replay.steps import Rule, Step, parts_of
from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term

_Literals = tuple[str, ...]
_ENTAILED: dict[str, tuple[str, str, _Literals]] = {
    "implies_elim": ("", "=>", ("-0", "+1")),
    "equiv_elim1": ("", "=", ("-0", "+1")),
    "equiv_elim2": ("", "=", ("+0", "-1")),
    "not_equiv_elim1": ("not", "=", ("+0", "+1")),
    "not_equiv_elim2": ("not", "=", ("-0", "-1")),
    "not_implies_elim1": ("not", "=>", ("+0",)),
    "not_implies_elim2": ("not", "=>", ("-1",)),
    "ite_elim1": ("", "ite", ("-0", "+1")),
    "ite_elim2": ("", "ite", ("+0", "+2")),
    "not_ite_elim1": ("not", "ite", ("-0", "-1")),
    "not_ite_elim2": ("not", "ite", ("+0", "-2")),
}
"""Of each rule: whether its premise is denied, its operator, and which parts the clause holds, with
`-` where denied. Every line is a truth table of four rows or eight."""

_TABLES: dict[str, tuple[str, _Literals]] = {
    "cnf_implies_pos": ("=>", ("-", "-0", "+1")),
    "cnf_implies_neg1": ("=>", ("+", "+0")),
    "cnf_implies_neg2": ("=>", ("+", "-1")),
    "cnf_equiv_pos1": ("=", ("-", "-0", "+1")),
    "cnf_equiv_pos2": ("=", ("-", "+0", "-1")),
    "cnf_equiv_neg1": ("=", ("+", "+0", "+1")),
    "cnf_equiv_neg2": ("=", ("+", "-0", "-1")),
    "cnf_ite_pos1": ("ite", ("-", "-0", "+1")),
    "cnf_ite_pos2": ("ite", ("-", "+0", "+2")),
    "cnf_ite_pos3": ("ite", ("-", "+1", "+2")),
    "cnf_ite_neg1": ("ite", ("+", "-0", "-1")),
    "cnf_ite_neg2": ("ite", ("+", "+0", "-2")),
    "cnf_ite_neg3": ("ite", ("+", "-1", "-2")),
}
"""The same of formulas that nothing is known of; a sign alone is the formula itself."""


def _entailed(denied: str, operator: str, literals: _Literals) -> Rule:
    def rule(step: Step) -> Term:
        step.plain(1, 0)
        formula = step.premises[0]
        if denied:
            (formula,) = parts_of(formula, "not", "its premise")
        found = [_literal(step, formula, operator, each) for each in literals]
        return found[0] if len(found) == 1 else step.make("or", *found)

    return rule


def _tabled(operator: str, literals: _Literals) -> Rule:
    def rule(step: Step) -> Term:
        step.plain(0, 1)
        found = [_literal(step, step.argument(0), operator, each) for each in literals]
        return step.make("or", *found)

    return rule


def _literal(step: Step, formula: Term, operator: str, literal: str) -> Term:
    parts = parts_of(formula, operator, "the formula")
    part = parts[int(literal[1:])] if literal[1:] else formula
    if part.sort is not Sort.BOOL:
        raise Refused("it speaks of numbers, not of formulas")
    return part if literal[0] == "+" else step.negation(part)


TABLES: dict[str, Rule] = {
    **{name: _entailed(*each) for name, each in _ENTAILED.items()},
    **{name: _tabled(*each) for name, each in _TABLES.items()},
}
