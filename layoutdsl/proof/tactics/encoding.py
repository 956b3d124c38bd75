"""Proof of `encode`: from an index in the padded box to its slot, and back.

Every whole is split into its digits by UNPAIR, tuples are joined by PAIR, the coordinates are found
to be digits, and joined to the slot by PAIR, which also tells how each step of the inverse undoes
it. Not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.network import Chain, Network, Rotation, Turn
from layoutdsl.language.digits.steps import digit_name, rest_name, whole_name
from layoutdsl.language.integers.expr import Index
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.polynomial import Polynomial
from layoutdsl.proof.kernel.theorem import By, Ring, Term, Theorem, replaced
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name, step_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.congruence import Wanted
from layoutdsl.proof.tactics.polynomials import Bounds, canonical
from layoutdsl.proof.tactics.splitting import at_most, multiples, split
from layoutdsl.proof.tactics.turning import turn


class Encoding:
    """The proof of one `encode` theorem."""

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
        expand = {name for name in names if name[:2] in ("v.", "d.", "s.")}
        shared = {name for name in names if name.startswith("r.")}
        expand |= multiples(ground, network, theorem)
        self.arithmetic = Arithmetic(self.builder, frozenset(expand), frozenset(shared), wanted)
        self.values = self.arithmetic.values
        # Of each tuple: its name, the bounds of its value, and how its parts are read off again.
        self.wholes: dict[int, tuple[str, Bounds, dict[int, tuple[str, str]]]] = {}
        self._moved_parts: dict[int, Polynomial] = {}

    def prove(self) -> ProofBuilder:
        """Return the finished builder.

        Raises:
            NoProof: a step could not be found.
        """
        self._read_slot(self.bounds())
        for number, chain in enumerate(self.network.chains):
            if not isinstance(chain.whole, Index):
                self._read_tuple(number, chain)
        for axis, _ in self.inverse.index:
            self._read_index(axis)
        self._guards()
        self.arithmetic.assumed(self.builder.theorem)
        return self.builder

    def bounds(self) -> list[tuple[str, str]]:
        """Show that coordinates and the slot are in bounds.

        Returns:
            How each coordinate but the first is read off what is joined from those up to it.

        Raises:
            NoProof: a step could not be found.
        """
        for swizzle in self.network.swizzles:
            if isinstance(swizzle.moved, Rotation):
                self.arithmetic.positive(self.ground.vocabulary.term(swizzle.moved.radix))
        chains = list(enumerate(self.network.chains))[::-1]
        if any(each.wire >= len(self.ground.layout.coordinates) for each in self.network.swizzles):
            # A part of a tuple may be moved by any index, so all of them are cut first.
            chains.sort(key=lambda each: not isinstance(each[1].whole, Index))
        for number, chain in chains:
            self._split(number, chain)
        for swizzle in self.network.swizzles:
            if isinstance(swizzle.moved, Turn):
                digit = self.ground.vocabulary.term(swizzle.moved.digit)
                turn(self.arithmetic, self.ground, swizzle.moved, digit)
        self._ranges()
        return self._join_slot()

    def _split(self, number: int, chain: Chain) -> None:
        """Cut a whole into digits; from then on its value is a polynomial in them."""
        if isinstance(chain.whole, Index):
            name = index_name(chain.whole.name)
            low = self.builder.find(("<=", 0, name))
            high = self._below_reach(name, chain)
            assert low is not None
            if not chain.cuts:
                zero = self.builder.have(("=", name, 0), low, high)
                self.values.know(name, {}, zero)
                return
        else:
            name, low, high = self._join_tuple(number, chain)
        split(self.arithmetic, self.ground, self.network, chain, (name, low, high))
        if not isinstance(chain.whole, Index):
            self._know_tuple(number, chain, name)
        elif self._ends_at_the_shape(chain.whole.name):
            digits = self.arithmetic.premises(self.values.normal(name)[0])
            self.arithmetic.more += (self._in_the_shape(name), self.values.equation(name), *digits)

    def _below_reach(self, name: str, chain: Chain) -> str:
        """The fact that an index is below the reach of its digits."""
        reach = self.ground.vocabulary.term(chain.reach)
        known = self.builder.find(("<", name, reach))
        if known is not None:
            return known
        assert isinstance(chain.whole, Index)
        extent = self.ground.extent(chain.whole.name)
        within = at_most(self.arithmetic, self.ground, self.network, chain, extent)
        return self.builder.have(("<", name, reach), self._in_the_shape(name), within)

    def _ends_at_the_shape(self, axis: str) -> bool:
        """Whether the padded box is no larger than the shape, though digits could go further."""
        extent = next(each.extent for each in self.ground.layout.axes if each.name == axis)
        reach = next(each for each in self.network.chains if each.whole == Index(axis)).reach
        return dict(self.inverse.padded)[axis] == extent != reach

    def _in_the_shape(self, name: str) -> str:
        fact = self.builder.find(("<", name, self.ground.extent(name.removeprefix("i."))))
        assert fact is not None
        return fact

    def _join_tuple(self, number: int, chain: Chain) -> tuple[str, str, str]:
        """Name the value of a tuple, and bound it by the reach of its digits."""
        vocabulary = self.ground.vocabulary
        reading: dict[int, tuple[str, str]] = {}
        so_far, bounds = self._part(chain.parts[0])
        for part in chain.parts[1:]:
            value, part_bounds = self._part(part)
            radix = part_bounds.upper
            joined: Term = ("+", ("*", so_far, radix), value)
            facts = self.builder.use(
                "PAIR", {"a": so_far, "b": value, "A": bounds.upper, "B": radix}
            )
            name = self.builder.define(f"x.{number}.{part}", joined)
            low, high, quotient, remainder = (
                self.builder.rewrite(fact, By(name, backwards=True)) for fact in facts
            )
            reading[part] = (quotient, remainder)
            so_far, bounds = name, Bounds(("*", bounds.upper, radix), low, high)
        name = self.builder.define(f"x.{number}", so_far)
        low = self.builder.rewrite(bounds.low, By(name, backwards=True))
        high = self.builder.rewrite(bounds.high, By(name, backwards=True))
        self.wholes[number] = (name, Bounds(bounds.upper, low, high), reading)
        reach = vocabulary.term(chain.reach)
        if self.arithmetic.same(bounds.upper, reach) is None:
            within = at_most(self.arithmetic, self.ground, self.network, chain, bounds.upper)
            high = self.builder.have(("<", name, reach), high, within)
        else:
            high = self.arithmetic.below(high, reach)
        return name, low, high

    def _part(self, wire: int) -> tuple[Term, Bounds]:
        """The value of a part as a term, and facts that it is below its extent."""
        part = self.network.wires[wire]
        value, _ = self.values.normal(self.ground.vocabulary.term(part.value))
        plain = canonical(value)
        if self.network.swizzle_of(wire) is not None:
            self._moved_parts.setdefault(wire, value)
        upper = self.ground.vocabulary.term(part.extent)
        low, high = self.arithmetic.in_range(plain, upper)
        return plain, Bounds(upper, low, high)

    def _know_tuple(self, number: int, chain: Chain, name: str) -> None:
        """From now on the mixed-radix value of the parts is known as the polynomial of ``name``."""
        key, _ = self.values.normal(self.ground.vocabulary.spelled(chain.whole))
        value, equal = self.values.normal(name)
        if key == value:
            return
        if value == {(name,): 1} and len(chain.parts) == 1:  # it is cut nowhere, so it is its part
            self.values.know(name, key, self.builder.calculate(name, By(name)))
            return
        names = [*(f"x.{number}.{part}" for part in chain.parts[1:]), name]
        unfolded: Term = name
        for each in reversed(names):
            definition = self.builder.find_definition(each)
            assert definition is not None
            unfolded = replaced(unfolded, each, definition)
        fold = [By(each, backwards=True) for each in names]
        fact = self.builder.calculate(canonical(key), Ring(unfolded), *fold, By(equal))
        self.values.know_sum(key, value, fact)
        if chain.parts[0] in self._moved_parts and len(chain.parts) == 1:
            _, own, _ = self.wholes[number]
            low, high = (self.builder.rewrite(each, By(equal)) for each in (own.low, own.high))
            self.values.groups.insert(0, (value, Bounds(own.upper, low, high)))

    def _ranges(self) -> None:
        """Every coordinate, nested ones included, stays within its extent."""
        for each in self.ground.layout.all_coordinates:
            vocabulary = self.ground.vocabulary
            self.arithmetic.in_range(vocabulary.term(each.value), vocabulary.term(each.extent))

    def _join_slot(self) -> list[tuple[str, str]]:
        """Join the coordinates to the slot; returns how they are read off it again."""
        count = len(self.ground.layout.coordinates)
        low, high = self.arithmetic.in_range("v.0", self.ground.radix(0))
        low = self.builder.rewrite(low, By("h.0", backwards=True))
        high = self.builder.rewrite(high, By("h.0", backwards=True))
        high = self.builder.calculate_in(high, ("<", "h.0", "p.0"), "p.0")
        undo: list[tuple[str, str]] = []
        for number in range(1, count):
            radix = self.ground.radix(number)
            self.arithmetic.in_range(f"v.{number}", radix)
            values: dict[str, Term] = {
                "a": f"h.{number - 1}",
                "b": f"v.{number}",
                "A": f"p.{number - 1}",
                "B": radix,
            }
            facts = self.builder.use("PAIR", values)
            fold = (By(f"h.{number}", backwards=True), By(f"p.{number}", backwards=True))
            low, high, quotient, remainder = (self.builder.rewrite(each, *fold) for each in facts)
            undo.append((quotient, remainder))
        for goal in self.builder.theorem.goals:
            match goal:
                case ("<=" | "<", _, "slot") | ("<", "slot", _):
                    self.builder.have(goal, "slot", low, high)
        return undo

    def _read_slot(self, undo: list[tuple[str, str]]) -> None:
        """Follow the inverse down from the slot to the coordinates."""
        last = len(undo)
        rest = step_name(rest_name(last))
        same = self.builder.calculate(rest, By(rest), By("slot"), Ring(f"h.{last}"))
        for number in range(last, 0, -1):
            quotient, remainder = undo[number - 1]
            digit = step_name(digit_name(number))
            fact = self.builder.calculate(digit, By(digit), By(same), By(remainder))
            self._know(digit, f"v.{number}", fact)
            rest = step_name(rest_name(number - 1))
            same = self.builder.calculate(rest, By(rest), By(same), By(quotient))
        digit = step_name(digit_name(0))
        self._know(digit, "v.0", self.builder.calculate(digit, By(digit), By(same), By("h.0")))

    def _know(self, name: str, other: Term, fact: str) -> None:
        """``name`` equals ``other`` by ``fact``, and so has its value."""
        value, equal = self.values.normal(other)
        self.values.know(name, value, self.builder.calculate(name, By(fact), By(equal)))

    def _read_tuple(self, number: int, chain: Chain) -> None:
        """The inverse puts the tuple together from its digits, and reads its parts off."""
        whole = step_name(whole_name(number))
        name, _, reading = self.wholes[number]
        value, fact = self.values.normal(whole)
        same_value, equal = self.values.normal(name)
        if value != same_value:
            raise NoProof("the inverse reads another value for a tuple")
        same = self.builder.calculate(whole, By(fact), By(equal, backwards=True), By(name))
        rest = whole
        for part in reversed(chain.parts[1:]):
            quotient, remainder = reading[part]
            digit = step_name(digit_name(part))
            found = self.builder.calculate(digit, By(digit), By(same), By(remainder))
            self._know_part(part, digit, found)
            rest = step_name(rest_name(part))
            same = self.builder.calculate(rest, By(rest), By(same), By(quotient))
        digit = step_name(digit_name(chain.parts[0]))
        found = self.builder.calculate(digit, By(digit), By(same))
        self._know_part(chain.parts[0], digit, found)

    def _know_part(self, part: int, digit: str, fact: str) -> None:
        """Give a step the value of the part that it reads; later steps move a moved part back."""
        if part in self._moved_parts:
            self.values.know(digit, self._moved_parts[part], fact)
            return
        value, _ = self._part(part)
        self._know(digit, value, fact)

    def _read_index(self, axis: str) -> None:
        read, index = statement.decoded(axis), index_name(axis)
        (one, first), (other, second) = self.values.normal(read), self.values.normal(index)
        if one != other:
            raise NoProof(f"the inverse reads another index along `{axis}`")
        self.builder.calculate(read, By(first), By(second, backwards=True))
        self.builder.have(("=", read, index), first, second)

    def _guards(self) -> None:
        for guard in statement.guards(self.ground, self.inverse):
            match guard:
                case ("<", str() as name, upper):
                    whole = next(
                        (
                            found
                            for number, found in self.wholes.items()
                            if step_name(whole_name(number)) == name
                        ),
                        None,
                    )
                    if whole is None:
                        self.arithmetic.in_range(name, upper)
                    else:
                        self._guard_tuple(name, whole[0], whole[1], upper)
                case ("<=", 0, name):
                    self.arithmetic.in_range(name, self._guarded_below(name))
                case ("<", value, upper) if self.builder.find(guard) is None:
                    self.arithmetic.in_range(value, upper)
                case ("=", left, right) if self.builder.find(guard) is None:
                    (_, first), (_, second) = self.values.normal(left), self.values.normal(right)
                    self.builder.have(guard, first, second)

    def _guarded_below(self, name: str) -> Term:
        for guard in statement.guards(self.ground, self.inverse):
            match guard:
                case ("<", other, upper) if other == name:
                    limit: Term = upper
                    return limit
        raise NoProof(f"no guard keeps {name} below anything")

    def _guard_tuple(self, read: str, name: str, bounds: Bounds, upper: Term) -> None:
        high = self.arithmetic.below(bounds.high, upper)
        (_, first), (_, second) = self.values.normal(read), self.values.normal(name)
        self.builder.have(("<", read, upper), high, first, second)
