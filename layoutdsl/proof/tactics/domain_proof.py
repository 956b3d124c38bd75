"""The proofs that a layout with a domain needs. Not trusted.

The layout of digits that is left when every other coordinate has an axis of its own is proved as
ever; its theorems are used for the numbers that those coordinates have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from layoutdsl.language.digits.domains import Read, Reading, number_on
from layoutdsl.language.digits.inverse import ReadBack
from layoutdsl.language.integers.expr import Mod
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.checker import By, Proof, Ring, Term, Theorem, substitute
from layoutdsl.proof.statements import domain_statement as stated
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.statement import OTHER, decoded
from layoutdsl.proof.statements.terms import extent_name, index_name
from layoutdsl.proof.tactics.polynomials import Bounds, canonical
from layoutdsl.proof.tactics.rows import Working
from layoutdsl.proof.tactics.soundness import Soundness

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
        self._use(working, self._known["domain.own"], {})
        for each in self._searched():
            assert each.rows is not None
            own, other = self.ground.vocabulary.term(each.rows.own), decoded(each.rows.row)
            working.ordered(each.rows, own, other)
            working.ordered(each.rows, other, own)
            working.note(working.have(("=", other, own)))
        for each in self._reading.reads:
            goal: Term = ("=", decoded(each.axis), index_name(each.axis))
            if each.axis in dict(self._reading.parts):
                goal = ("=", decoded(each.axis), self._part(each.axis))
            working.note(working.have(goal))
        self._close(working)

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
