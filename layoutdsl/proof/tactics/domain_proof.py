"""The proofs that a layout with a domain needs. Not trusted.

The layout of digits that is left when every other coordinate has an axis of its own is proved as
ever; its theorems are used for the numbers that those coordinates have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from layoutdsl.language.digits.domains import Read, Reading, Rows, Window, number_on
from layoutdsl.language.digits.inverse import ReadBack
from layoutdsl.language.integers.expr import Mod
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.checker import (
    By,
    Polynomial,
    Proof,
    Ring,
    Term,
    Theorem,
    names,
    product,
    substitute,
    total,
)
from layoutdsl.proof.statements import domain_statement as stated
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.domain_statement import start
from layoutdsl.proof.statements.statement import OTHER, Ground, decoded
from layoutdsl.proof.statements.terms import extent_name, index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.halves import Halves
from layoutdsl.proof.tactics.polynomials import Bounds, canonical
from layoutdsl.proof.tactics.soundness import Soundness
from layoutdsl.proof.tactics.straightening import narrow

ONE: Polynomial = {(): 1}


class Working:
    """One builder with its arithmetic, and facts that every question may rest on.

    Args:
        ground: the vocabulary.
        builder: where the facts go; its definitions of coordinates and indices are expanded.
    """

    def __init__(self, ground: Ground, builder: ProofBuilder) -> None:
        self.ground = ground
        self.builder = builder
        expand = {
            name
            for name, _ in builder.theorem.definitions
            if name[:2] in ("v.", "h.", "r.", "d.") or name == "back"
        }
        self._expand = frozenset(expand | {f"{name}~" for name in expand})
        self.arithmetic = Arithmetic(builder, self._expand)
        self.halves = Halves(self.arithmetic.values)
        self._facts: list[str] = []
        self._prepared: set[Term] = set()
        for hypothesis in builder.theorem.hypotheses:
            self._sides(hypothesis)

    @property
    def premises(self) -> tuple[str, ...]:
        """What is known: hypotheses, halves, normal forms and products."""
        return (*self.builder.hypotheses, *self.halves.facts, *self._facts)

    def note(self, *facts: str) -> None:
        """Let further questions rest on these facts."""
        self._facts += [fact for fact in facts if fact not in self._facts]

    def learn(self, facts: Iterable[str]) -> None:
        """Note facts, and what they speak of in normal form."""
        for fact in facts:
            self.note(fact)
            self._sides(self.builder.formula(fact))

    def normal(self, term: Term) -> Polynomial:
        """Return a term's normal form; that they are equal is noted."""
        self._prepare(term)
        value, fact = self.arithmetic.values.normal(term)
        if canonical(value) != term:
            self.note(fact)
        return value

    def _prepare(self, term: Term) -> None:
        """Name the blocks, and learn the halves, that a term and its names are made of."""
        if term in self._prepared:
            return
        self._prepared.add(term)
        if isinstance(term, str) and term in self._expand:
            definition = self.builder.find_definition(term)
            if definition is not None:
                self._prepare(definition)
        if isinstance(term, tuple):
            for part in term[1:]:
                self._prepare(part)
            if term[0] == "div":
                self.halves.teach(term)
                self._name_block(term)

    def _name_block(self, term: Term) -> None:
        """A quotient that stays one gets a name, so that it can be a factor like any other."""
        values = self.arithmetic.values
        value, same = values.normal(term)
        plain = canonical(value)
        if not (isinstance(plain, tuple) and plain[0] == "div" and isinstance(plain[2], int)):
            return
        number = sum(1 for each in self.builder.names if each.startswith("a."))
        name = self.builder.define(f"a.{number}", plain)
        fold = By(name, backwards=True)
        values.know(plain, {(name,): 1}, self.builder.calculate(plain, fold))
        if term != plain:
            values.know(term, {(name,): 1}, self.builder.calculate(term, By(same), fold))

    def have(self, goal: Term, *more: str) -> str:
        """Ask for a comparison; whatever it rests on is known in normal form too."""
        self._sides(goal)
        seen = set[str]()
        while left := {name for fact in self.premises for name in self._spoken(fact)} - seen:
            seen |= left
            for name in sorted(left):
                if name.startswith("a."):
                    self.note(name)
                elif name in self.arithmetic.values.bounds:
                    known = self.arithmetic.values.bounds[name]
                    self.note(known.low, known.high)
                else:
                    self.normal(name)
        return self.builder.have(goal, *more, *self.premises)

    def _sides(self, formula: Term) -> None:
        match formula:
            case (("=" | "<=" | "<"), left, right):
                self.normal(left)
                self.normal(right)
            case (_, *parts):
                for part in parts:
                    self._sides(part)

    def _spoken(self, fact: str) -> set[str]:
        """The names in a fact that stand for something else."""
        spoken = names(self.builder.formula(fact))
        return {name for name in spoken if self._stands_for_more(name)}

    def _stands_for_more(self, name: str) -> bool:
        """Whether a name has a definition that is used, or is a remainder, which has bounds."""
        remainder = name.startswith("t.") and name in self.arithmetic.values.bounds
        return remainder or name in self._expand or name.startswith("a.")

    def start(self, rows: Rows, row: Term) -> Polynomial:
        """Return where a row begins, in normal form."""
        return self.normal(start(self.ground, rows, row))

    def length(self, rows: Rows, row: Term) -> Polynomial:
        """Return how long a row is."""
        return total([(self.start(rows, ("+", row, 1)), 1), (self.start(rows, row), -1)])

    def times(self, left: Polynomial, right: Polynomial) -> None:
        """Note that two numbers that are not negative have a product that is not."""
        one, other = canonical(left), canonical(right)
        (fact,) = self.builder.use("PRODUCT", {"a": one, "b": other})
        self.note(fact)
        whole = canonical(product(left, right))
        if whole != ("*", one, other):
            self.note(self.builder.calculate(("*", one, other), Ring(whole)))

    def ordered(self, rows: Rows, first: Term, second: Term) -> None:
        """Note what orders two rows: the first ends before the second begins."""
        one, other = self.normal(first), self.normal(second)
        between = total([(other, 1), (one, -1), (ONE, -1)])
        lengths = total([(self.length(rows, first), 1), (self.length(rows, second), 1)])
        self.times(between, self.halves.written_out(lengths))

    def vanishing(self, value: Polynomial, number: Term) -> None:
        """Note that products with a number are zero where it is; no factor is negative."""
        name = canonical(self.normal(number))
        for factors in ((name, name), *value):
            if len(factors) == 2 and name in factors:
                other = factors[1] if factors[0] == name else factors[0]
                self.times({(name,): 1}, {(other,): 1})
                self.times({(name,): -1}, {(other,): 1})


USED = ("shape", "encode", "element", "decode")
"""The theorems about the layout of digits that are used."""


_Prover = Callable[[Working], None]


class DomainSoundness:
    """Theorems about one layout with a domain, in the order in which they use each other."""

    def __init__(self, layout: Layout, reading: Reading, lemmas: Mapping[str, Theorem]) -> None:
        self.ground = statement.ground(layout)
        self._layout, self._reading = layout, reading
        self._known = dict(lemmas)
        self._outer = Soundness(
            reading.outer, ReadBack(reading.outer, reading.network, reading.own_inverse), lemmas
        )

    def theorems(self) -> Iterator[tuple[Theorem, Proof]]:
        """Yield the theorems that every layout has to pass, with their proofs.

        Raises:
            NoProof: a proof could not be found.
            NotExpressible: the layout says what the checker's terms cannot.
        """
        for theorem, proof in self._outer.theorems():
            if theorem.name in USED:
                self._known[theorem.name] = theorem
                yield theorem, proof
        ground, reading = self.ground, self._reading
        for theorem, prove in (
            (stated.element(ground), self._element),
            (stated.own(ground, reading), self._own),
            (stated.read(ground, reading), self._read),
            (stated.injective(ground), self._injective),
            (stated.decode(ground, reading), self._decode),
        ):
            yield theorem, self._proof(theorem, prove)

    def filling(self) -> Iterator[tuple[Theorem, Proof]]:
        """Yield the theorems that say that every slot holds an element, after the others."""
        ground, reading = self.ground, self._reading
        yield (theorem := stated.rows(ground, reading)), self._proof(theorem, self._rows)
        yield (theorem := stated.full(ground, reading)), self._proof(theorem, self._full)

    def _proof(self, theorem: Theorem, prove: _Prover) -> Proof:
        working = Working(self.ground, ProofBuilder(theorem, self._known))
        prove(working)
        self._known[theorem.name] = theorem
        return working.builder.proof

    def _searched(self) -> list[Read]:
        return [each for each in self._reading.reads if each.rows is not None]

    def _element(self, working: Working) -> None:
        builder = working.builder
        for each in self._searched():
            assert each.rows is not None
            row = self.ground.vocabulary.term(each.rows.own)
            last = self.ground.vocabulary.term(each.rows.count)
            working.start(each.rows, last)
            working.vanishing(working.start(each.rows, row), row)
            working.ordered(each.rows, 0, row)
            working.ordered(each.rows, row, last)
        for goal in builder.theorem.goals:
            if builder.find(goal) is None and not _speaks_of_slot(goal):
                working.have(goal)
        self._use_outer(working, "element", self._numbers())
        self._close(working)

    def _own(self, working: Working) -> None:
        self._use(working, self._known["domain.element"], {})
        self._use_outer(working, "element", self._numbers())
        self._close(working)

    def _read(self, working: Working) -> None:
        for each in self._reading.reads:
            if each.window is not None:
                self._know_window(working, each.window)
        self._use(working, self._known["domain.own"], {})
        for each in self._searched():
            assert each.rows is not None
            own, other = self.ground.vocabulary.term(each.rows.own), decoded(each.rows.row)
            working.ordered(each.rows, own, other)
            working.ordered(each.rows, other, own)
            working.note(working.have(("=", other, own)))
        for each in self._reading.reads:
            if each.window is not None and each.coordinate is not None:
                self._know_place(working, each.coordinate)
            goal: Term = ("=", decoded(each.axis), index_name(each.axis))
            if each.axis in dict(self._reading.parts):
                goal = ("=", decoded(each.axis), self._part(each.axis))
            working.note(working.have(goal))
        self._close(working)

    def _know_window(self, working: Working, window: Window) -> None:
        """An index less the first of its window is less than the ring, and so is what it lacks."""
        term = self.ground.vocabulary.term
        ring = canonical(working.normal(term(window.ring)))
        working.arithmetic.positive(ring)
        steps = working.normal(("-", index_name(window.axis), term(window.first)))
        lacks = total([(working.normal(ring), 1), (ONE, -1), (steps, -1)])
        for each in (steps, lacks):
            low = working.have(("<=", 0, canonical(each)))
            high = working.have(("<", canonical(each), ring))
            narrow(working.arithmetic, canonical(each), Bounds(ring, low, high))

    def _know_place(self, working: Working, coordinate: int) -> None:
        """Give the place that is read on a ring the normal form of the coordinate."""
        builder, values = working.builder, working.arithmetic.values
        place = decoded(number_on(coordinate))
        same = builder.find(("=", place, f"v.{coordinate}"))
        assert same is not None
        value, equal = values.normal(f"v.{coordinate}")
        values.know(place, value, builder.calculate(place, By(same), By(equal)))

    def _injective(self, working: Working) -> None:
        """Both slots are read alike, in the row of the first element, which is the other's too."""
        builder, read = working.builder, self._known["domain.read"]
        slots = builder.find(("=", "slot", f"slot{OTHER}"))
        assert slots is not None
        builder.calculate("slot", By(slots), By(f"slot{OTHER}"))
        rows = {
            decoded(each.rows.row): self.ground.vocabulary.term(each.rows.own)
            for each in self._searched()
            if each.rows is not None
        }
        self._use(working, self._known["domain.own"], {})
        first = self._use(working, read, rows)
        marked = (*builder.theorem.variables, *(name for name, _ in builder.theorem.definitions))
        other = {name.removesuffix(OTHER): name for name in marked if name.endswith(OTHER)}
        self._use(working, read, {**other, **rows, "slot": "slot"})
        for axis in self._layout.axes:
            index, found = index_name(axis.name), first[decoded(axis.name)]
            sides = (("=", found, index), ("=", found, f"{index}{OTHER}"))
            facts = [fact for each in sides if (fact := builder.find(each)) is not None]
            builder.have(("=", index, f"{index}{OTHER}"), *facts)

    def _decode(self, working: Working) -> None:
        builder = working.builder
        self._extents_are_positive(working)
        values = self._use_outer(working, "decode", {})
        self._places_stay_in_blocks(working)
        back = values["back"]
        assert isinstance(back, str)
        for each in self._reading.reads:
            if each.rows is not None:
                working.start(each.rows, decoded(each.rows.row))
            if each.window is not None and each.coordinate is not None:
                ring = canonical(working.normal(self.ground.vocabulary.term(each.window.ring)))
                working.arithmetic.positive(ring)
                place = working.normal(decoded(number_on(each.coordinate)))
                low = working.have(("<=", 0, canonical(place)))
                high = working.have(("<", canonical(place), ring))
                narrow(working.arithmetic, canonical(place), Bounds(ring, low, high))
        one, other = working.normal("back"), working.normal(back)
        if one == other:
            (_, first), (_, second) = (working.arithmetic.values.normal(n) for n in ("back", back))
            same = builder.calculate("back", By(first), By(second, backwards=True))
            slot = builder.find(("=", back, "slot"))
            assert slot is not None
            builder.calculate("back", By(same), By(slot))
        self._close(working)

    def _places_stay_in_blocks(self, working: Working) -> None:
        """Let the evaluator read a block and a place off an index that was put together."""
        for name, part in self._reading.parts:
            if isinstance(part, Mod):
                upper = self.ground.vocabulary.term(part.right)
                digit = canonical(working.normal(decoded(name)))
                if isinstance(digit, str):
                    low = working.have(("<=", 0, digit))
                    high = working.have(("<", digit, upper))
                    working.arithmetic.values.bounds[digit] = Bounds(upper, low, high)

    def _rows(self, working: Working) -> None:
        self._extents_are_positive(working)
        for goal in statement.guards(self.ground, self._reading.inverse):
            working.have(goal)
        self._use_outer(working, "decode", {})
        self._close(working)

    def _full(self, working: Working) -> None:
        self._extents_are_positive(working)
        self._use_outer(working, "decode", {})
        self._close(working)

    def _close(self, working: Working) -> None:
        for goal in working.builder.theorem.goals:
            if working.builder.find(goal) is None:
                working.have(goal)

    def _numbers(self) -> dict[str, Term]:
        """What stands for the parts of an index, and for the number on a coordinate."""
        parts = {index_name(name): self._part(name) for name, _ in self._reading.parts}
        numbers: dict[str, Term] = {
            index_name(number_on(each.coordinate)): f"v.{each.coordinate}"
            for each in self._reading.reads
            if each.coordinate is not None
        }
        spoken = {index_name(axis.name) for axis in self._reading.outer.axes}
        return {name: term for name, term in (parts | numbers).items() if name in spoken}

    def _part(self, name: str) -> Term:
        return self.ground.vocabulary.term(dict(self._reading.parts)[name])

    def _extents_are_positive(self, working: Working) -> None:
        """A buffer with a slot has no coordinate without one."""
        builder, ground = working.builder, self.ground
        low, high = (builder.find(each) for each in statement.in_buffer(ground, "slot"))
        assert low is not None
        assert high is not None
        last = len(self._layout.coordinates) - 1
        left = builder.have(("<", 0, f"p.{last}"), low, high)
        for number in range(last, 0, -1):
            radix, above = ground.radix(number), f"p.{number - 1}"
            product = builder.rewrite(left, By(f"p.{number}"))
            self._not_negative(working, above)
            if not self._is_digit(number):
                builder.use("FACTOR", {"a": above, "b": radix})
                working.arithmetic.positive(radix)
            working.arithmetic.positive(radix)
            turned = builder.calculate(("*", above, radix), Ring(("*", radix, above)))
            builder.rewrite(product, By(turned))
            builder.have(("<=", 0, radix), builder.find(("<", 0, radix)) or "")
            (left,) = builder.use("FACTOR", {"a": radix, "b": above})
        builder.rewrite(left, By("p.0"))
        for each in self._reading.reads:
            if each.coordinate is not None:
                positive = builder.find(("<", 0, ground.radix(each.coordinate)))
                assert positive is not None
                builder.have(("<=", 1, ground.radix(each.coordinate)), positive)

    def _is_digit(self, number: int) -> bool:
        return all(each.coordinate != number for each in self._reading.reads)

    def _not_negative(self, working: Working, product: str) -> None:
        """The slots of the coordinates up to one are no less than none."""
        builder, number = working.builder, int(product.removeprefix("p."))
        radix = self.ground.radix(number)
        if self._is_digit(number):
            working.arithmetic.not_negative(radix)
        elif builder.find(("<=", 0, radix)) is None:
            self._extent_not_negative(working, radix)
        if number == 0:
            fact = builder.find(("<=", 0, radix))
            assert fact is not None
            builder.rewrite(fact, By("p.0", backwards=True))
            return
        above = f"p.{number - 1}"
        self._not_negative(working, above)
        (fact,) = builder.use("PRODUCT", {"a": above, "b": radix})
        lows = [builder.find(("<=", 0, each)) or "" for each in (above, radix)]
        whole = builder.have(("<=", 0, ("*", above, radix)), fact, *lows)
        builder.rewrite(whole, By(product, backwards=True))

    def _extent_not_negative(self, working: Working, radix: Term) -> None:
        value = working.normal(radix)
        for name in sorted({str(each) for factors in value for each in factors}):
            owner = name.removeprefix("t.")
            if owner in working.builder.theorem.variables:
                working.times({(owner,): 1}, {(owner,): 1, (): -1})
        working.have(("<=", 0, radix))

    def _use_outer(
        self, working: Working, name: str, values: Mapping[str, Term]
    ) -> dict[str, Term]:
        """Use a theorem about the layout of digits; returns what its names stand for here."""
        theorem = self._known[name]
        given: dict[str, Term] = dict(values)
        for extent, value in self._reading.extents:
            given[extent_name(extent)] = self.ground.vocabulary.term(value)
        mine = self.ground.vocabulary.shared
        for expr, spelled in self._outer.ground.vocabulary.shared.items():
            if spelled.startswith("m."):
                given[spelled] = mine[expr]
        return self._use(working, theorem, given)

    def _use(
        self, working: Working, theorem: Theorem, values: Mapping[str, Term]
    ) -> dict[str, Term]:
        """Use a theorem, whose conditions are asked for; returns what its names stand for here."""
        spelled = self._spelled(working, theorem, values)
        for condition in theorem.hypotheses:
            wanted = substitute(condition, spelled)
            if working.builder.find(wanted) is None:
                working.have(wanted)
        working.learn(working.builder.use(theorem.name, spelled))
        return spelled

    def _spelled(
        self, working: Working, theorem: Theorem, values: Mapping[str, Term]
    ) -> dict[str, Term]:
        """What each name of a theorem stands for in this builder, its definitions given."""
        builder = working.builder
        found: dict[str, Term] = {name: name for name in theorem.variables}
        found |= values
        for name, term in theorem.definitions:
            wanted = substitute(term, found)
            here = found.get(name, name)
            if isinstance(here, str) and builder.find(("=", here, wanted)) is not None:
                found[name] = here
            elif isinstance(wanted, str | int):
                builder.have(("=", wanted, wanted))
                found[name] = wanted
            else:
                found[name] = self._named(builder, name, wanted)
        return found

    def _named(self, builder: ProofBuilder, name: str, wanted: Term) -> str:
        """A name that stands for a term: one that does already, or a new one."""
        for each in builder.names:
            if builder.find_definition(each) == wanted:
                return each
        free = name
        while free in builder.names or free in builder.theorem.variables:
            free += "~"
        return builder.define(free, wanted)


def _speaks_of_slot(goal: Term) -> bool:
    return isinstance(goal, tuple) and "slot" in goal
