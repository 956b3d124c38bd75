"""Steps for every rule of the replayer, drawn; and what terms are worth, worked out anew.

A shape is the premises and the arguments of a step with letters for what is drawn: ``p q r s``
formulas, ``x y z w`` numbers, ``i j`` integers, ``n m`` literals. Of what is drawn a part is
spoiled afterwards, so that it is no such step.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from layoutdsl.proof.evidence.replay.reading import argument_of, read, term_of
from layoutdsl.proof.evidence.replay.steps import Memory, Step
from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term

Shape = tuple[tuple[str, ...], tuple[str, ...]]

SHAPES: Mapping[str, tuple[Shape, ...]] = {
    "refl": (((), ("x",)), ((), ("p",))),
    "symm": ((("(= x y)",), ()), (("(not (= p q))",), ())),
    "trans": ((("(= x y)", "(= y z)", "(= z w)"), ()),),
    "cong": (
        (("(= x y)", "(= z w)"), ("(<= x z)",)),
        (("(= z w)",), ("(- x z)",)),
        (("(= i j)",), ("(mul j i)",)),
        (("(= p q)", "(= x y)"), ("(ite r x z)",)),
    ),
    "nary_cong": (
        (("(= x y)", "(= z w)", "(= i j)"), ("(+ x z i)",)),
        (("(= p q)",), ("(and p)",)),
    ),
    "evaluate": (
        ((), ("(+ n m (* n n))",)),
        ((), ("(< (div n m) (mod m n))",)),
        ((), ("(and (= n m) (not (>= (div_total n m) (mod_total n 3))))",)),
        ((), ("(to_int (to_real n))",)),
        ((), ("(- n)",)),
        ((), ("(ite (< n m) 1/2 -7/3)",)),
    ),
    "skolem_intro": (((), ("(@purify i)",)),),
    "eq_resolve": ((("p", "(= p q)"), ()),),
    "modus_ponens": ((("p", "(=> p q)"), ()),),
    "contra": ((("p", "(not p)"), ()),),
    "true_intro": ((("p",), ()),),
    "true_elim": ((("(= p true)",), ()),),
    "false_intro": ((("(not p)",), ()),),
    "false_elim": ((("(= p false)",), ()),),
    "and_intro": ((("p", "q", "r"), ()), (("p",), ())),
    "and_elim": ((("(and p q r)",), ("1",)), (("(and p q)",), ("0",))),
    "not_or_elim": ((("(not (or p q r))",), ("2",)),),
    "not_not_elim": ((("(not (not p))",), ()),),
    "not_and": ((("(not (and p q r))",), ()), (("(not (and p))",), ())),
    "process_scope": (
        (("(=> p (=> q r))",), ("r",)),
        (("(=> p (=> q false))",), ("false",)),
        (("(=> p q)",), ("q",)),
    ),
    "split": (((), ("p",)),),
    "ite_eq": (((), ("(ite p x y)",)), ((), ("(ite p q r)",))),
    "cnf_and_pos": (((), ("(and p q r)", "1")),),
    "cnf_and_neg": (((), ("(and p q r)",)),),
    "cnf_or_pos": (((), ("(or p q r)",)),),
    "cnf_or_neg": (((), ("(or p q r)", "2")),),
    "implies_elim": ((("(=> p q)",), ()),),
    "equiv_elim1": ((("(= p q)",), ()),),
    "equiv_elim2": ((("(= p q)",), ()),),
    "not_equiv_elim1": ((("(not (= p q))",), ()),),
    "not_equiv_elim2": ((("(not (= p q))",), ()),),
    "not_implies_elim1": ((("(not (=> p q))",), ()),),
    "not_implies_elim2": ((("(not (=> p q))",), ()),),
    "ite_elim1": ((("(ite p q r)",), ()),),
    "ite_elim2": ((("(ite p q r)",), ()),),
    "not_ite_elim1": ((("(not (ite p q r))",), ()),),
    "not_ite_elim2": ((("(not (ite p q r))",), ()),),
    **dict.fromkeys(
        ("cnf_implies_pos", "cnf_implies_neg1", "cnf_implies_neg2"), (((), ("(=> p q)",)),)
    ),
    **dict.fromkeys(
        (f"cnf_equiv_{each}" for each in ("pos1", "pos2", "neg1", "neg2")), (((), ("(= p q)",)),)
    ),
    **dict.fromkeys(
        (f"cnf_ite_{each}{n}" for each in ("pos", "neg") for n in (1, 2, 3)),
        (((), ("(ite p q r)",)),),
    ),
    "resolution": (
        (("(or p q)", "(or (not p) r)"), ("true", "p")),
        (("(or (not p) q)", "p"), ("false", "p")),
        (("(or p q)", "(not (or p q))"), ("true", "(or p q)")),
    ),
    "chain_resolution": (
        (("(or p q r)", "(not p)", "(not r)"), ("(@list true true)", "(@list p r)")),
    ),
    "chain_m_resolution": (
        (
            ("(or p q r)", "(not p)", "(or s (not r))"),
            ("(or q s)", "(@list true true)", "(@list p r)"),
        ),
        (("(or p q)", "(not p)", "(not q)"), ("false", "(@list true true)", "(@list p q)")),
        (("(or (not p) q)", "p"), ("q", "(@list false)", "(@list p)")),
    ),
    "factoring": ((("(or p q p r q)",), ()), (("(or p p)",), ())),
    "reordering": ((("(or p q r)",), ("(or r p q)",)), (("(or p q)",), ("(or q r p)",))),
    "aci_norm": (
        ((), ("(= (and p (and q p) true) (and q p))",)),
        ((), ("(= (or p (or q false)) (or q p))",)),
        ((), ("(= (or p p) p)",)),
    ),
    "absorb": (
        ((), ("(= (and p (and q false) r) false)",)),
        ((), ("(= (or p (or true q)) true)",)),
    ),
    "arith_poly_norm": (
        ((), ("(= (* n (+ x y)) (+ (* y n) (* n x)))",)),
        ((), ("(= (- x (- y z)) (+ x z (* -1 y)))",)),
        ((), ("(= (* (+ x y) (- x y)) (- (* x x) (* y y)))",)),
        ((), ("(= (to_real (+ i n)) (+ n (to_real i)))",)),
        ((), ("(= (- (- x)) x)",)),
    ),
    "arith_poly_norm_rel": tuple(
        ((f"(= (* {first} (- x y)) (* {second} {difference}))",), (f"(= ({r} x y) ({r} {sides}))",))
        for r in ("=", "<", "<=", ">", ">=")
        for first, second, difference, sides in (
            ("2", "2", "(- x y)", "x y"),
            ("3", "-3", "(- y x)", "y x"),
            ("-1", "1", "(- y x)", "y x"),
            ("n", "m", "(- z w)", "z w"),
            ("-2", "-1/2", "(- (* 4 x) (* 4 y))", "(* 4 x) (* 4 y)"),
        )
    ),
    "arith_sum_ub": tuple(
        ((f"({a} x y)", f"({b} z w)", f"({c} i j)"), ())
        for a, b, c in (("<", "<=", "="), ("=", "=", "="), ("<=", "<=", "<="), (">", "<", "="))
    ),
    **dict.fromkeys(
        ("arith_mult_pos", "arith_mult_neg"),
        tuple(((), ("x", f"({r} y z)")) for r in ("=", "<", "<=", ">", ">=")),
    ),
    "arith_mult_sign": (
        ((), ("(and (> x 0) (< y 0))", "(* x y)")),
        ((), ("(and (not (= x 0)) (< y 0))", "(* x x y)")),
        ((), ("(and (not (= x 0)) (< y 0))", "(* x y y)")),
        ((), ("(> x 0)", "(* x x)")),
    ),
    "arith_mult_tangent": (
        ((), ("x", "y", "z", "w", "true")),
        ((), ("x", "y", "n", "m", "false")),
    ),
    "arith_mult_abs_comparison": (
        (("(> (abs x) (abs y))", "(and (= (abs z) (abs w)) (not (= z 0)))"), ()),
        (("(= (abs x) (abs y))", "(= (abs z) (abs w))"), ()),
        (("(> (abs x) (abs y))", "(> (abs i) (abs j))"), ()),
        (("(= (abs x) (abs y))", "(and (= (abs z) (abs w)) (not (= z 0)))"), ()),
        (("(> (abs x) (abs y))", "(= (abs z) (abs w))"), ()),
    ),
    "arith_trichotomy": tuple(
        ((first, second), ())
        for first in ("(not (= x y))", "(<= x y)", "(>= x y)", "(not (< x y))", "(not (>= x y))")
        for second in ("(not (= x y))", "(<= x y)", "(>= x y)", "(not (> x y))")
    ),
    "int_tight_ub": ((("(< i n)",), ()), (("(< i 7/2)",), ()), (("(< x n)",), ())),
    "int_tight_lb": ((("(> i n)",), ()), (("(> i -5/2)",), ()), (("(> x n)",), ())),
    "arith_reduction": tuple(
        ((), (term,))
        for each in ("div", "mod", "div_total", "mod_total")
        for term in ("(abs x)", *(f"({each} i {right})" for right in ("n", "j", "0", "-3")))
    ),
    "arith-int-eq-conflict": (
        (("(= (= (to_real (to_int 7/2)) 7/2) false)",), ("i", "7/2")),
        (("(= (= (to_real (to_int x)) x) false)",), ("i", "x")),
    ),
    "arith-int-geq-tighten": (
        (
            ("(= (= (to_real (to_int x)) x) false)", "(= j (+ (to_int x) 1))"),
            ("i", "x", "j"),
        ),
    ),
}

UNKNOWNS = ("a", "b", "c")
_LETTER = re.compile(r"(?<![\w@.])[pqrsxyzwijnm](?![\w.])")


def drawn_number(source: random.Random, depth: int, sorts: tuple[Sort, ...]) -> str:
    """A number as text; where only integers are wanted it is one by its sort."""
    whole = sorts == (Sort.INT,)
    if depth == 0 or source.random() < 0.3:
        if not whole and source.random() < 0.2:
            return f"{source.randint(-9, 9)}/{source.randint(1, 6)}"
        return source.choice([*UNKNOWNS, str(source.randint(-4, 9))])
    parts = [drawn_number(source, depth - 1, sorts) for _ in range(2)]
    inner = drawn_number(source, depth - 1, (Sort.INT,))
    choices = ["+", "+", "*", "-", "neg", "mul", "div", "mod_total", "@purify", "ite"]
    match source.choice(choices if whole else [*choices, "to_real"]):
        case "neg":
            return f"(- {parts[0]})"
        case "mul" | "div" | "mod_total" as name:
            return f"({name} {inner} {drawn_number(source, depth - 1, (Sort.INT,))})"
        case "@purify" | "to_real" as name:
            return f"({name} {parts[0]})"
        case "ite":
            return f"(ite {drawn_formula(source, depth - 1)} {parts[0]} {parts[1]})"
        case name:
            return f"({name} {parts[0]} {parts[1]})"


def drawn_formula(source: random.Random, depth: int) -> str:
    """A formula as text."""
    if depth == 0:
        return source.choice(["true", "false", "(< a b)", "(= b c)", "(>= a c)"])
    if source.random() < 0.4:
        sides = [drawn_number(source, depth - 1, tuple(Sort)) for _ in range(2)]
        return f"({source.choice(['=', '<', '<=', '>', '>='])} {sides[0]} {sides[1]})"
    parts = [drawn_formula(source, depth - 1) for _ in range(3)]
    name = source.choice(["not", "and", "or", "=>", "=", "ite"])
    count = {"not": 1, "=>": 2, "=": 2}.get(name, 3)
    return f"({name} {' '.join(parts[:count])})"


def memory() -> Memory:
    """A proof in which three integers and a function are known."""
    made = Memory()
    for each in UNKNOWNS:
        made.terms.declare(each, (), Sort.INT)
    made.terms.declare("mul", (Sort.INT, Sort.INT), Sort.INT)
    return made


def drawn_step(source: random.Random, shape: Shape, spoiled: bool) -> Step:
    """A step of a shape with something put for each letter; spoiled by a change at one place."""
    made, letters = memory(), dict[str, str]()

    def filled(text: str) -> str:
        def put(match: re.Match[str]) -> str:
            letter = match[0]
            if letter not in letters:
                letters[letter] = _drawn(source, letter)
            return letters[letter]

        return _LETTER.sub(put, text)

    premises, arguments = ([filled(each) for each in texts] for texts in shape)
    if spoiled:
        group = source.choice([each for each in (premises, arguments) if each])
        place = source.randrange(len(group))
        group[place] = spoil(source, group[place])
    terms = made.terms
    return Step(
        made,
        tuple(term_of(read(each)[0], terms, {}) for each in premises),
        tuple(argument_of(read(each)[0], terms, {}) for each in arguments),
    )


def _drawn(source: random.Random, letter: str) -> str:
    if letter in "pqrs":
        return drawn_formula(source, source.randrange(3))
    if letter in "ij":
        return drawn_number(source, source.randrange(3), (Sort.INT,))
    if letter in "nm":
        return str(source.randint(-6, 12))
    return drawn_number(source, source.randrange(3), tuple(Sort))


_OTHERS = {
    **dict.fromkeys(("<", "<=", ">", ">=", "="), ("<", "<=", ">", ">=", "=")),
    **dict.fromkeys(("+", "*", "-"), ("+", "*", "-")),
    **dict.fromkeys(("and", "or", "=>"), ("and", "or", "=>")),
    "true": ("false",),
    "false": ("true",),
    "a": ("b", "c"),
    "b": ("a", "c"),
    "c": ("a", "b"),
    "div_total": ("mod_total", "div"),
}
_WORD = re.compile(r"[^\s()]+")


def spoil(source: random.Random, text: str) -> str:
    """Change one word of a text into another one of its kind."""
    words = list(_WORD.finditer(text))
    chosen = source.choice(words)
    word = chosen[0]
    if re.fullmatch(r"-?\d+", word):
        other = str(int(word) + source.choice([-2, -1, 1, 2]))
    else:
        other = source.choice(_OTHERS.get(word, ("a", "0", "true")))
    return text[: chosen.start()] + other + text[chosen.end() :]


# What terms are worth: another reading than `values.py`.

Number = Fraction | bool
_LITERAL = re.compile(r"-?\d+(/\d+)?")


@dataclass(frozen=True)
class Model:
    """Integers for unknowns, and for functions whatever a seed says."""

    seed: int
    unknowns: Mapping[str, int]

    def function(self, name: str, parts: tuple[Number, ...]) -> Fraction:
        """The same of the same arguments."""
        return Fraction(random.Random(f"{self.seed} {name} {parts}").randint(-3, 5))


def worth(term: Term, model: Model) -> Number:
    """The value of a term in a model, by the words of SMT-LIB."""
    if not term.parts:
        if term.operator in ("true", "false"):
            return term.operator == "true"
        if _LITERAL.fullmatch(term.operator):
            return Fraction(term.operator)
        if term.operator in model.unknowns:
            return Fraction(model.unknowns[term.operator])
        return model.function(term.operator, ())
    parts = tuple(worth(each, model) for each in term.parts)
    plain = _PLAIN.get(term.operator)
    if plain is not None:
        return plain(parts)
    left, right = parts[0], parts[-1]
    if term.operator in ("div", "mod") and right == 0:
        return model.function(f"@{term.operator}_by_zero", (left,))
    match term.operator:
        case "@int_div_by_zero":
            return model.function("@div_by_zero", (left,))
        case "div_total" | "mod_total" if right == 0:
            return Fraction(0) if term.operator == "div_total" else Fraction(left)
        case "div" | "div_total":
            return Fraction(_euclid(int(left), int(right))[0])
        case "mod" | "mod_total":
            return Fraction(_euclid(int(left), int(right))[1])
    return model.function(term.operator, parts)


def _euclid(left: int, right: int) -> tuple[int, int]:
    rest = left % abs(right)
    return (left - rest) // right, rest


def _product(parts: tuple[Number, ...]) -> Fraction:
    found = Fraction(1)
    for each in parts:
        found *= each
    return found


_PLAIN: Mapping[str, Callable[[tuple[Number, ...]], Number]] = {
    "not": lambda v: not v[0],
    "and": all,
    "or": any,
    "=>": lambda v: v[1] if v[0] else True,
    "xor": lambda v: v[0] is not v[1],
    "=": lambda v: v[0] == v[1],
    "ite": lambda v: v[1] if v[0] else v[2],
    "<": lambda v: v[0] < v[1],
    "<=": lambda v: v[0] <= v[1],
    ">": lambda v: v[0] > v[1],
    ">=": lambda v: v[0] >= v[1],
    "+": lambda v: Fraction(sum(v)),
    "-": lambda v: v[0] - v[1] if len(v) == 2 else Fraction(-v[0]),
    "*": _product,
    "to_real": lambda v: v[0],
    "to_int": lambda v: Fraction(v[0].numerator // v[0].denominator),
    "@purify": lambda v: v[0],
    "abs": lambda v: max(v[0], -v[0]),
}


def models(source: random.Random, count: int) -> Iterator[Model]:
    """Models of the three unknowns, with small numbers."""
    for _ in range(count):
        values = {each: source.choice([*range(-4, 7), 12, -9]) for each in UNKNOWNS}
        yield Model(source.randrange(1 << 30), values)


def contradicted(step: Step, shown: Term, source: random.Random, count: int = 12) -> Model | None:
    """A model in which what a step is given holds and what it shows does not, if one is met."""
    for model in models(source, count):
        if all(worth(each, model) for each in step.premises) and not worth(shown, model):
            return model
    return None


__all__ = ["SHAPES", "Refused", "contradicted", "drawn_step", "worth"]
