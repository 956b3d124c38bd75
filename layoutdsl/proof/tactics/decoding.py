"""Proof of `decode`: from a slot outside every gap to an index, and back to the slot.

The slot is split into coordinates by UNPAIR, digits are joined into wholes by PAIR, tuples are
split into their parts; then the coordinates of that index are found to be the digits again. Not
trusted.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.network import Chain, Network
from layoutdsl.language.digits.steps import digit_name, rest_name, whole_name
from layoutdsl.language.integers.expr import Index
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.polynomial import Polynomial
from layoutdsl.proof.kernel.theorem import By, Ring, Term, Theorem
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.statement import OTHER, Ground
from layoutdsl.proof.statements.terms import step_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.congruence import Wanted
from layoutdsl.proof.tactics.polynomials import Bounds, canonical
from layoutdsl.proof.tactics.splitting import multiples
from layoutdsl.proof.tactics.straightening import know_swizzled, narrow, straighten, straightened


class Decoding:
    """The proof of one `decode` theorem."""

    def __init__(
        self,
        ground: Ground,
        inverse: Inverse,
        network: Network,
        theorem: Theorem,
        known: Mapping[str, Theorem],
        wanted: Wanted,
    ) -> None:
        self.ground = ground
        self.inverse = inverse
        self.network = network
        self.builder = ProofBuilder(theorem, known)
        names = [name for name, _ in theorem.definitions]
        wholes = [step_name(whole_name(number)) for number in range(len(network.chains))]
        marked = {name for name in names if name.startswith("v.") and name.endswith(OTHER)}
        expand = marked | {name for name in names if name.startswith("d.") or name in wholes}
        expand |= straightened(network)
        shared = {name for name in names if name.startswith("r.")}
        expand |= multiples(ground, network, theorem)
        self.arithmetic = Arithmetic(self.builder, frozenset(expand), frozenset(shared), wanted)
        self.values = self.arithmetic.values

    def prove(self) -> ProofBuilder:
        """Return the finished builder.

        Raises:
            NoProof: a step could not be found.
        """
        equations = self._split_slot()
        for number, chain in enumerate(self.network.chains):
            for swizzle in self.network.swizzles_before(number):
                straighten(self.arithmetic, self.ground, swizzle)
            if isinstance(chain.whole, Index):
                self._index(chain)
            else:
                self._split_tuple(number, chain)
        self._join_again(equations)
        self.arithmetic.assumed(self.builder.theorem)
        return self.builder

    def _split_slot(self) -> list[str]:
        """Name the coordinates of the slot; returns how each rest is joined from the next."""
        builder = self.builder
        last = len(self.ground.layout.coordinates) - 1
        rest = step_name(rest_name(last))
        hypotheses = [fact for fact in builder.hypotheses if "slot" in str(builder.formula(fact))]
        low = builder.have(("<=", 0, rest), rest, *hypotheses)
        high = builder.have(("<", rest, f"p.{last}"), rest, *hypotheses)
        equations: list[str] = []
        for number in range(last, 0, -1):
            radix = self.ground.radix(number)
            high = builder.rewrite(high, By(f"p.{number}"))
            self.arithmetic.positive(radix)
            facts = builder.use("UNPAIR", {"x": rest, "A": f"p.{number - 1}", "B": radix})
            digit, above = step_name(digit_name(number)), step_name(rest_name(number - 1))
            fold = (By(digit, backwards=True), By(above, backwards=True))
            low, high, digit_low, digit_high, equal = (builder.rewrite(f, *fold) for f in facts)
            self._know_digit(number, digit, Bounds(radix, digit_low, digit_high))
            equations.append(equal)
            rest = above
        digit = step_name(digit_name(0))
        low = builder.rewrite(low, By(digit, backwards=True))
        high = builder.rewrite(high, By("p.0"), By(digit, backwards=True))
        self._know_digit(0, digit, Bounds(self.ground.radix(0), low, high))
        return equations[::-1]

    def _know_digit(self, wire: int, name: str, bounds: Bounds) -> None:
        """Remember the bounds of a digit; a guard may keep it below less than its extent."""
        found = self.network.wires[wire]
        if self.network.swizzle_of(wire) is not None:
            know_swizzled(self.arithmetic, self.ground, self.network, wire, bounds)
            return
        if found.constant is not None:
            guard = self.builder.find(("=", name, found.constant))
            fact = guard or self.builder.have(("=", name, 0), bounds.low, bounds.high)
            constant = found.constant if guard else 0
            self.values.know(name, {(): constant} if constant else {}, fact)
            return
        if found.radix is not None:
            radix = self.ground.vocabulary.term(found.radix)
            guard = self.builder.find(("<", name, radix))
            if guard is None:
                raise NoProof(f"no guard keeps {name} below {radix}")
            bounds = Bounds(radix, bounds.low, guard)
        self.arithmetic.digit(name, bounds)

    def _index(self, chain: Chain) -> None:
        assert isinstance(chain.whole, Index)
        name = statement.decoded(chain.whole.name)
        self.arithmetic.in_range(name, self.ground.vocabulary.term(chain.reach))
        definition = self.builder.find_definition(name)
        guard = self.builder.find(("<", definition, self.ground.extent(chain.whole.name)))
        if guard is not None:
            self.builder.rewrite(guard, By(name, backwards=True))

    def _split_tuple(self, number: int, chain: Chain) -> None:
        """The digits give the value of the tuple; its parts are read off by UNPAIR."""
        builder, vocabulary = self.builder, self.ground.vocabulary
        whole = step_name(whole_name(number))
        extents = [vocabulary.term(self.network.wires[part].extent) for part in chain.parts]
        inside = [extents[0]]
        for extent in extents[1:]:
            inside.append(("*", inside[-1], extent))
        low, high = self._tuple_bounds(whole, chain, inside[-1])
        rest, equations = whole, list[str]()
        for place in range(len(chain.parts) - 1, 0, -1):
            part, radix = chain.parts[place], extents[place]
            self.arithmetic.positive(radix)
            facts = builder.use("UNPAIR", {"x": rest, "A": inside[place - 1], "B": radix})
            digit, above = step_name(digit_name(part)), step_name(rest_name(part))
            fold = (By(digit, backwards=True), By(above, backwards=True))
            low, high, digit_low, digit_high, equal = (builder.rewrite(f, *fold) for f in facts)
            self._know_digit(part, digit, Bounds(radix, digit_low, digit_high))
            equations.append(equal)
            rest = above
        digit = step_name(digit_name(chain.parts[0]))
        low = builder.rewrite(low, By(digit, backwards=True))
        high = builder.rewrite(high, By(digit, backwards=True))
        self._know_digit(chain.parts[0], digit, Bounds(extents[0], low, high))
        self._know_tuple(whole, chain, extents, equations[::-1])

    def _tuple_bounds(self, whole: str, chain: Chain, inside: Term) -> tuple[str, str]:
        reach = self.ground.vocabulary.term(chain.reach)
        low, high = self.arithmetic.in_range(whole, reach)
        guards = [
            fact
            for fact in self.builder.hypotheses
            if self.builder.formula(fact)[:2] == ("<", whole)  # type: ignore[index]
        ]
        return low, self.arithmetic.below(guards[0] if guards else high, inside)

    def _know_tuple(
        self, whole: str, chain: Chain, extents: list[Term], equations: list[str]
    ) -> None:
        names = [step_name(digit_name(part)) for part in chain.parts]
        joined: Term = names[0]
        for name, extent in zip(names[1:], extents[1:], strict=True):
            joined = ("+", ("*", joined, extent), name)
        key, same = self.values.normal(joined)
        value, equal = self.values.normal(whole)
        if key == value:
            return
        moves = [By(same, backwards=True), By(names[0]), *map(By, equations), By(equal)]
        fact = self.builder.calculate(canonical(key), *moves)
        if len(names) == 1 and key == {(names[0],): 1}:
            self._know_alone(names[0], value, fact)
        self.values.know_sum(key, value, fact)

    def _know_alone(self, name: str, value: Polynomial, fact: str) -> None:
        """A tuple of one part is that part, and stays below what the part stays below."""
        own = self.values.bounds[name]
        low, high = (self.builder.rewrite(each, By(fact)) for each in (own.low, own.high))
        narrow(self.arithmetic, canonical(value), Bounds(own.upper, low, high))
        self.values.know(name, value, fact)

    def _join_again(self, equations: list[str]) -> None:
        """The coordinates of the index are the digits of the slot; joined, they are the slot."""
        builder = self.builder
        first = f"h.0{OTHER}"
        digit = step_name(digit_name(0))
        same = self._coordinate(0)
        joined = builder.calculate(first, By(first), By(same), By(digit))
        for number, equal in enumerate(equations, start=1):
            name = f"h.{number}{OTHER}"
            same = self._coordinate(number)
            joined = builder.calculate(name, By(name), By(joined), By(same), By(equal))
        last = step_name(rest_name(len(equations)))
        builder.calculate("back", By("back"), By(joined), By(last), Ring("slot"))

    def _coordinate(self, number: int) -> str:
        """The fact that a coordinate of the index is the digit of the slot."""
        name, digit = f"v.{number}{OTHER}", step_name(digit_name(number))
        (one, first), (other, second) = self.values.normal(name), self.values.normal(digit)
        if one != other:
            raise NoProof(f"coordinate {number} of the index is not the digit that was read")
        return self.builder.calculate(name, By(first), By(second, backwards=True))
