"""Rules that are equations: what a step names is put into a pattern.

Each line says its rule whole, so that it can be asked as a question of its own: tests do that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from layoutdsl.proof.evidence.replay.reading import Words, read, term_of
from layoutdsl.proof.evidence.replay.steps import Rule, Step, integers, numbers
from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An equation for all terms of some sorts.

    Attributes:
        unknowns: with what they stand for: ``t:Int``, ``t:Real`` of any number, ``t:Bool``, and
            ``t:`` of any term.
        equation: what is shown.
        premises: what has to be known, in order.
    """

    unknowns: str
    equation: str
    premises: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Each unknown with its sort as written."""
        split = (each.partition(":") for each in self.unknowns.split())
        return tuple((name, sort) for name, _, sort in split)


REWRITES: Mapping[str, Rewrite] = {
    # Relations of numbers.
    "arith-elim-gt": Rewrite("t:Real s:Real", "(= (> t s) (not (>= s t)))"),
    "arith-elim-lt": Rewrite("t:Real s:Real", "(= (< t s) (not (>= t s)))"),
    "arith-elim-leq": Rewrite("t:Real s:Real", "(= (<= t s) (>= s t))"),
    "arith-elim-int-gt": Rewrite("t:Int s:Int", "(= (> t s) (>= t (+ s 1)))"),
    "arith-elim-int-lt": Rewrite("t:Int s:Int", "(= (< t s) (>= s (+ t 1)))"),
    "arith-leq-norm": Rewrite("t:Int s:Int", "(= (<= t s) (not (>= t (+ s 1))))"),
    "arith-geq-tighten": Rewrite("t:Int s:Int", "(= (not (>= t s)) (>= s (+ t 1)))"),
    "arith-geq-norm1-int": Rewrite("t:Int s:Int", "(= (>= t s) (>= (- t s) 0))"),
    "arith-geq-norm1-real": Rewrite("t:Real s:Real", "(= (>= t s) (>= (- t s) 0/1))"),
    "arith-eq-elim-int": Rewrite("t:Int s:Int", "(= (= t s) (and (>= t s) (<= t s)))"),
    "arith-eq-elim-real": Rewrite("t:Real s:Real", "(= (= t s) (and (>= t s) (<= t s)))"),
    "arith-geq-ite-lift": Rewrite(
        "c:Bool t:Real s:Real r:Real", "(= (>= (ite c t s) r) (ite c (>= t r) (>= s r)))"
    ),
    "arith-leq-ite-lift": Rewrite(
        "c:Bool t:Real s:Real r:Real", "(= (<= (ite c t s) r) (ite c (<= t r) (<= s r)))"
    ),
    # Division: by what is not 0 it is total, by 0 `div_total` is 0.
    "arith-int-div-total": Rewrite(
        "t:Int s:Int", "(= (div t s) (div_total t s))", ("(= (= s 0) false)",)
    ),
    "arith-int-mod-total": Rewrite(
        "t:Int s:Int", "(= (mod t s) (mod_total t s))", ("(= (= s 0) false)",)
    ),
    "arith-int-div-total-neg": Rewrite(
        "t:Int s:Int", "(= (div_total t s) (- (div_total t (- s))))", ("(= (< s 0) true)",)
    ),
    "arith-int-mod-total-neg": Rewrite(
        "t:Int s:Int", "(= (mod_total t s) (mod_total t (- s)))", ("(= (< s 0) true)",)
    ),
    "arith-int-div-total-one": Rewrite("t:Int", "(= (div_total t 1) t)"),
    "arith-int-div-total-zero": Rewrite("t:Int", "(= (div_total t 0) 0)"),
    "arith-int-mod-total-one": Rewrite("t:Int", "(= (mod_total t 1) 0)"),
    "arith-int-mod-total-zero": Rewrite("t:Int", "(= (mod_total t 0) t)"),
    "arith-mod-over-mod-1": Rewrite(
        "c:Int r:Int",
        "(= (mod_total (mod_total r c) c) (mod_total r c))",
        ("(= (= c 0) false)",),
    ),
    "arith-to-int-elim-to-real": Rewrite("t:Int", "(= (to_int (to_real t)) t)"),
    # Formulas.
    "bool-double-not-elim": Rewrite("t:Bool", "(= (not (not t)) t)"),
    "bool-not-true": Rewrite("t:Bool", "(= (not t) true)", ("(= t false)",)),
    "bool-not-false": Rewrite("t:Bool", "(= (not t) false)", ("(= t true)",)),
    "bool-eq-true": Rewrite("t:Bool", "(= (= t true) t)"),
    "bool-eq-false": Rewrite("t:Bool", "(= (= t false) (not t))"),
    "bool-eq-nrefl": Rewrite("t:Bool", "(= (= t (not t)) false)"),
    "bool-impl-false1": Rewrite("t:Bool", "(= (=> t false) (not t))"),
    "bool-impl-false2": Rewrite("t:Bool", "(= (=> false t) true)"),
    "bool-impl-true1": Rewrite("t:Bool", "(= (=> t true) true)"),
    "bool-impl-true2": Rewrite("t:Bool", "(= (=> true t) t)"),
    "bool-impl-elim": Rewrite("t:Bool s:Bool", "(= (=> t s) (or (not t) s))"),
    "bool-implies-de-morgan": Rewrite("t:Bool s:Bool", "(= (not (=> t s)) (and t (not s)))"),
    "bool-not-eq-elim1": Rewrite("t:Bool s:Bool", "(= (not (= t s)) (= (not t) s))"),
    "bool-not-eq-elim2": Rewrite("t:Bool s:Bool", "(= (not (= t s)) (= t (not s)))"),
    "bool-dual-impl-eq": Rewrite("t:Bool s:Bool", "(= (and (=> t s) (=> s t)) (= t s))"),
    "ite-then-true": Rewrite("c:Bool t:Bool", "(= (ite c true t) (or c t))"),
    "ite-then-false": Rewrite("c:Bool t:Bool", "(= (ite c false t) (and (not c) t))"),
    "ite-else-true": Rewrite("c:Bool t:Bool", "(= (ite c t true) (or (not c) t))"),
    "ite-else-false": Rewrite("c:Bool t:Bool", "(= (ite c t false) (and c t))"),
    "ite-expand": Rewrite("c:Bool t:Bool s:Bool", "(= (ite c t s) (and (or (not c) t) (or c s)))"),
    "ite-then-lookahead-self": Rewrite("c:Bool t:Bool", "(= (ite c c t) (ite c true t))"),
    "ite-else-lookahead-self": Rewrite("c:Bool t:Bool", "(= (ite c t c) (ite c t false))"),
    "ite-then-lookahead-not-self": Rewrite(
        "c:Bool t:Bool", "(= (ite c (not c) t) (ite c false t))"
    ),
    "ite-else-lookahead-not-self": Rewrite("c:Bool t:Bool", "(= (ite c t (not c)) (ite c t true))"),
    "bool-not-ite-elim": Rewrite(
        "c:Bool t:Bool s:Bool", "(= (not (ite c t s)) (ite c (not t) (not s)))"
    ),
    "ite-neg-branch": Rewrite(
        "c:Bool t:Bool s:Bool", "(= (ite c t s) (= c t))", ("(= (not s) t)",)
    ),
    "ite-not-cond": Rewrite("c:Bool t: s:", "(= (ite (not c) t s) (ite c s t))"),
    "ite-then-lookahead": Rewrite("c:Bool x: y: z:", "(= (ite c (ite c x y) z) (ite c x z))"),
    "ite-else-lookahead": Rewrite("c:Bool x: y: z:", "(= (ite c x (ite c y z)) (ite c x z))"),
    "ite-then-neg-lookahead": Rewrite(
        "c:Bool x: y: z:", "(= (ite c (ite (not c) x y) z) (ite c y z))"
    ),
    "ite-else-neg-lookahead": Rewrite(
        "c:Bool x: y: z:", "(= (ite c x (ite (not c) y z)) (ite c x y))"
    ),
    "ite-true-cond": Rewrite("t: s:", "(= (ite true t s) t)"),
    "ite-false-cond": Rewrite("t: s:", "(= (ite false t s) s)"),
    "ite-eq-branch": Rewrite("c:Bool t:", "(= (ite c t t) t)"),
    "eq-refl": Rewrite("t:", "(= (= t t) true)"),
    "eq-cond-deq": Rewrite(
        "t: s: r:",
        "(= (= (= t s) (= t r)) (and (not (= t s)) (not (= t r))))",
        ("(= (= s r) false)",),
    ),
    "eq-ite-lift": Rewrite("c:Bool t: s: r:", "(= (= (ite c t s) r) (ite c (= t r) (= s r)))"),
    "eq-symm": Rewrite("t: s:", "(= (= t s) (= s t))"),
}


@cache
def _words(text: str) -> Words:
    return read(text)[0]


def _filled(step: Step, text: str, named: Mapping[str, Term]) -> Term:
    return term_of(_words(text), step.terms, named)


def _rule(rewrite: Rewrite) -> Rule:
    def rule(step: Step) -> Term:
        step.plain(len(rewrite.premises), len(rewrite.names))
        named: dict[str, Term] = {}
        for place, (name, sort) in enumerate(rewrite.names):
            named[name] = step.argument(place)
            _sorted(named[name], sort)
        for premise, text in zip(step.premises, rewrite.premises, strict=True):
            if premise is not _filled(step, text, named):
                raise Refused(f"`{premise}` is not the premise that it needs")
        return _filled(step, rewrite.equation, named)

    return rule


def _sorted(term: Term, sort: str) -> None:
    match sort:
        case "Int":
            integers(term)
        case "Real":
            numbers(term)
        case "Bool" if term.sort is not Sort.BOOL:
            raise Refused(f"`{term}` is no formula")


RULES: dict[str, Rule] = {name: _rule(each) for name, each in REWRITES.items()}
