"""The proofs that every layout needs, for layouts that are networks of digits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.digits.inverse import ReadBack, parts_in
from layoutdsl.language.integers.expr import Coordinate, Expr, Index
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.theorem import By, Proof, Term, Theorem, names, substitute
from layoutdsl.proof.statements import claim_statement, statement
from layoutdsl.proof.statements.statement import OTHER, Ground, decoded
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.claim_proof import prove_equations
from layoutdsl.proof.tactics.congruence import Wanted
from layoutdsl.proof.tactics.decoding import Decoding
from layoutdsl.proof.tactics.encoding import Encoding
from layoutdsl.proof.tactics.splitting import at_most
from layoutdsl.proof.tactics.tries import tried

ENCODE, DECODE, SAME, SIZE = "digits.encode", "digits.decode", "digits.same", "digits.size"
JOINED = "digits.joined"

_MARK = "~d"
"""The mark of names that only the spelling has: its coordinates, and its box."""


class Respelled:
    """Theorems about a spelling, and those that follow from them about the layout.

    Args:
        ground: of the layout.
        read: how it is read.
        known: the lemma library; further theorems are added as they are stated.
    """

    def __init__(self, ground: Ground, read: ReadBack, known: dict[str, Theorem]) -> None:
        self._ground, self._read, self._known = ground, read, known
        self._spelled = replace(ground, layout=read.spelled)
        self._within = statement.padded_extents(ground, read.inverse)
        self._parts = parts_in(ground.layout, read.spelled)

    def lemmas(self) -> Iterator[tuple[Theorem, Proof]]:
        """Yield what the theorems about the layout rest on, with proofs.

        Raises:
            NoProof: a proof could not be found.
        """
        ground, read, known = self._spelled, self._read, self._known
        inverse, network = read.inverse, read.network
        encode = replace(statement.encode(ground, inverse), name=ENCODE)
        decode = replace(statement.decode(ground, inverse), name=DECODE)
        for theorem, proof in (
            (encode, tried(lambda w: Encoding(ground, inverse, network, encode, known, w).prove())),
            (decode, tried(lambda w: Decoding(ground, inverse, network, decode, known, w).prove())),
        ):
            yield theorem, proof.proof
            known[theorem.name] = theorem
        joined = () if self._parts is None else (self._joined(),)
        for theorem in (self._same(), self._size(), *joined):
            yield theorem, self._equations(theorem)
            known[theorem.name] = theorem

    def _equations(self, theorem: Theorem) -> Proof:
        """Prove equations over the digits of both texts, or over those of the spelling alone.

        ``(k - k/q*q)/4`` cuts ``k`` at 4, and its spelling ``k%q/4`` at ``q``: no multiple of 4.
        """
        spelled = _spoken(self._read.spelled)
        both = [*_spoken(self._ground.layout), *spelled]
        try:
            return prove_equations(self._ground, theorem, both, self._lemmas_alone())
        except NoProof:
            return prove_equations(self._ground, theorem, spelled, self._lemmas_alone())

    def _lemmas_alone(self) -> Mapping[str, Theorem]:
        return {name: each for name, each in self._known.items() if "." not in name}

    def _same(self) -> Theorem:
        """The spelling has the offset of the layout, for every index of the padded box."""
        ground, words = self._ground, self._ground.vocabulary
        offsets = (claim_statement.offset(each, words) for each in self._both)
        return self._in_the_box(SAME, (*statement.assumptions(ground, words), ("=", *offsets)))

    def _joined(self) -> Theorem:
        """The digits of each coordinate, joined, are its value; their extents give its extent."""
        term = self._ground.vocabulary.term
        sides = list[tuple[Term, Term]]()
        for each, parts in (self._parts or {}).items():
            sides.append((term(each.value), self._value_of(parts)))
            sides.append((term(each.extent), self._extent_of(parts)))
        goals = tuple(("=", mine, theirs) for mine, theirs in sides if mine != theirs)
        return self._in_the_box(JOINED, goals)

    def _in_the_box(self, name: str, goals: tuple[Term, ...]) -> Theorem:
        ground = self._ground
        hypotheses = list(ground.hypotheses)
        for axis, bound in self._within.items():
            hypotheses += [("<=", 0, index_name(axis)), ("<", index_name(axis), bound)]
        variables = (*ground.variables, *map(index_name, self._within))
        return Theorem(name, variables, tuple(hypotheses), goals, ground.definitions)

    def _value_of(self, parts: tuple[Coordinate, ...]) -> Term:
        term = self._ground.vocabulary.term
        value = term(parts[0].value)
        for each in parts[1:]:
            value = ("+", ("*", value, term(each.extent)), term(each.value))
        return value

    def _extent_of(self, parts: tuple[Coordinate, ...]) -> Term:
        term = self._ground.vocabulary.term
        extent = term(parts[0].extent)
        for each in parts[1:]:
            extent = ("*", extent, term(each.extent))
        return extent

    def _size(self) -> Theorem:
        """The spelling has as many slots as the layout."""
        ground = self._ground
        slots = (("=", *(_slots(replace(ground, layout=each)) for each in self._both)),)
        return Theorem(SIZE, ground.variables, ground.hypotheses, slots, ground.definitions)

    @property
    def _both(self) -> tuple[Layout, Layout]:
        return self._ground.layout, self._read.spelled

    def encode(self, theorem: Theorem) -> ProofBuilder:
        """Return the proof that the layout is read back, by what is known of the spelling."""
        if self._parts is not None:
            return self._encode_by_parts(theorem, self._parts)
        return tried(lambda wanted: self._encode(theorem, wanted))

    def _encode_by_parts(
        self, theorem: Theorem, parts: dict[Coordinate, tuple[Coordinate, ...]]
    ) -> ProofBuilder:
        """Each coordinate stays in its extent, as its digits in the spelling stay in theirs."""
        builder = ProofBuilder(theorem, self._known)
        names = self._named(builder, ENCODE)
        self._slots_are_equal(builder, {}, ("slot", names))
        builder.use(ENCODE, names)
        joined = self._known[JOINED]
        own = (*joined.variables, *(name for name, _ in joined.definitions))
        if joined.goals:
            builder.use(JOINED, {name: name for name in own})
        for each, digits in parts.items():
            self._stays_within(builder, each, digits)
        mine, theirs = self._sizes(builder, names)
        _, below = statement.in_buffer(self._spelled, "slot")
        high = self._known_fact(builder, substitute(below, names))
        builder.rewrite(high, By(builder.calculate(theirs, *mine)))
        return builder

    def _known_fact(self, builder: ProofBuilder, formula: Term) -> str:
        fact = builder.find(formula)
        if fact is None:
            raise NoProof("the spelling does not say what the layout needs")
        return fact

    def _stays_within(
        self, builder: ProofBuilder, coordinate: Coordinate, digits: tuple[Coordinate, ...]
    ) -> None:
        """From the bounds of digits, the bounds of the coordinate that they are."""
        term = self._ground.vocabulary.term
        low, high = self._bounds(builder, digits[0])
        for number, digit in enumerate(digits[1:], start=1):
            self._bounds(builder, digit)
            low, high, *_ = builder.use(
                "PAIR",
                {
                    "a": self._value_of(digits[:number]),
                    "b": term(digit.value),
                    "A": self._extent_of(digits[:number]),
                    "B": term(digit.extent),
                },
            )
        value, extent = term(coordinate.value), term(coordinate.extent)
        moves = []
        for mine, theirs in ((value, self._value_of(digits)), (extent, self._extent_of(digits))):
            if mine != theirs:
                equal = self._known_fact(builder, ("=", mine, theirs))
                moves.append(By(equal, backwards=True))
        for fact, wanted in ((low, ("<=", 0, value)), (high, ("<", value, extent))):
            if builder.formula(builder.rewrite(fact, *moves)) != wanted:
                builder.have(wanted, fact, *(each.fact for each in moves))

    def _bounds(self, builder: ProofBuilder, digit: Coordinate) -> tuple[str, str]:
        term = self._ground.vocabulary.term
        value, extent = term(digit.value), term(digit.extent)
        low = self._known_fact(builder, ("<=", 0, value))
        return low, self._known_fact(builder, ("<", value, extent))

    def _encode(self, theorem: Theorem, wanted: Wanted) -> ProofBuilder:
        read, known = self._read, self._known
        cut = Encoding(self._ground, read.inverse, read.network, theorem, known, wanted)
        cut.bounds()
        builder = cut.builder
        names = self._named(builder, ENCODE)
        self._slots_are_equal(builder, {}, ("slot", names))
        builder.use(ENCODE, names)
        return builder

    def decode(self, theorem: Theorem) -> ProofBuilder:
        """Return the proof that what is read has the slot, by what is known of the spelling."""
        builder = ProofBuilder(theorem, self._known)
        names = self._named(builder, DECODE)
        self._has_as_many_slots(builder, names)
        builder.use(DECODE, names)
        index: dict[str, Term] = {index_name(axis): decoded(axis) for axis in self._within}
        back = self._slots_are_equal(builder, index, ("back", names))
        slot = builder.find(("=", names["back"], "slot"))
        assert slot is not None
        builder.calculate("back", By(back), By(slot))
        return builder

    def _named(self, builder: ProofBuilder, lemma: str) -> dict[str, Term]:
        """Define the names of a lemma about the spelling, all but the slot of an index."""
        return builder.take_over(self._known[lemma], _MARK, ("slot",))

    def _slots_are_equal(
        self, builder: ProofBuilder, index: Mapping[str, Term], slot: tuple[str, Mapping[str, Term]]
    ) -> str:
        """Return the fact that a slot of the layout is that of the spelling, as it is defined."""
        name, names = slot
        theorem = self._known[SAME]
        values: dict[str, Term] = {each: each for each in theorem.variables}
        values |= {each: each for each, _ in theorem.definitions}
        *_, same = builder.use(SAME, {**values, **index})
        mine = _unfolded(builder, name)
        definition = dict(self._known[DECODE if name == "back" else ENCODE].definitions)[name]
        other = substitute(definition, names)
        theirs = _unfolded(builder, names[name] if name == "back" else other)
        moves = [By(mine), By(same), By(theirs, backwards=True)]
        return builder.calculate(name, *moves)

    def _has_as_many_slots(self, builder: ProofBuilder, names: Mapping[str, Term]) -> None:
        """What is in the buffer of the layout is in that of the spelling."""
        moves, _ = self._sizes(builder, names)
        back = (replace(each, backwards=not each.backwards) for each in reversed(moves))
        equal = builder.calculate(statement.size(self._ground), *back)
        for fact in builder.hypotheses:
            builder.rewrite(fact, By(equal))

    def _sizes(self, builder: ProofBuilder, names: Mapping[str, Term]) -> tuple[list[By], Term]:
        """Return the slots of the spelling, and what turns them into those of the layout."""
        theirs = names[str(statement.size(self._spelled))]
        other = _unfolded(builder, theirs)
        back = (replace(each, backwards=True) for each in reversed(self._size_moves(builder)))
        return [By(other), *back], theirs

    def _size_moves(self, builder: ProofBuilder) -> tuple[By, By]:
        """Return the moves from the slots of the layout to those of the spelling."""
        theorem = self._known[SIZE]
        own = (*theorem.variables, *(name for name, _ in theorem.definitions))
        (same,) = builder.use(SIZE, {name: name for name in own})
        return By(_unfolded(builder, statement.size(self._ground))), By(same)

    def has_slots(self, arithmetic: Arithmetic) -> None:
        """Show that the buffer is not empty, by the extents of the spelling."""
        builder = arithmetic.builder
        equal = builder.calculate(statement.size(self._ground), *self._size_moves(builder))
        fact = arithmetic.positive(builder.right(equal))
        builder.rewrite(fact, By(equal, backwards=True))


def _unfolded(builder: ProofBuilder, term: Term) -> str:
    """Return the fact that a slot, or a number of slots, equals a term over indices and extents."""
    folds = [
        By(name)
        for name in reversed(builder.names)
        if name[:2] in ("v.", "h.", "p.") or name.startswith("back")
    ]
    first = [By("slot")] if term == "slot" else []
    return builder.calculate(term, *first, *folds)


def _slots(ground: Ground) -> Term:
    """The slots of the box as a term over extents, as `statement.box` joins them."""
    first, *rest = range(len(ground.layout.coordinates))
    total = ground.radix(first)
    for number in rest:
        total = ("*", total, ground.radix(number))
    return total


def _spoken(layout: Layout) -> list[Expr]:
    coordinates = layout.all_coordinates
    return [expr for each in coordinates for expr in (each.value, each.extent)]


class Soundness:
    """Theorems about one layout with their proofs, in the order in which they use each other."""

    def __init__(self, layout: Layout, read: ReadBack, lemmas: Mapping[str, Theorem]) -> None:
        padded = tuple(extent for _, extent in read.inverse.padded)
        self._inverse, self._network = read.inverse, read.network
        self.ground: Ground = statement.ground(layout, padded)
        self._known = dict(lemmas)
        self._other = None if read.spelled == layout else Respelled(self.ground, read, self._known)

    def theorems(self) -> Iterator[tuple[Theorem, Proof]]:
        """Yield shape, encode, element, injective, decode and padding with their proofs.

        Raises:
            NoProof: a proof could not be found.
            NotExpressible: the layout says what the checker's terms cannot.
        """
        ground, inverse = self.ground, self._inverse
        if self._other is not None:
            yield from self._other.lemmas()
        for write, prove in (
            (statement.shape, self._shape),
            (statement.encode, self._encode),
            (statement.element, self._element),
            (statement.injective, self._injective),
            (statement.decode, self._decode),
            (statement.padding, self._padding),
        ):
            theorem = write(ground, inverse)
            yield theorem, prove(theorem).proof
            self._known[theorem.name] = theorem

    def _encode(self, theorem: Theorem) -> ProofBuilder:
        if self._other is not None:
            return self._other.encode(theorem)
        given = (self.ground, self._inverse, self._network, theorem, self._known)
        return tried(lambda wanted: Encoding(*given, wanted).prove())

    def _decode(self, theorem: Theorem) -> ProofBuilder:
        if self._other is not None:
            return self._other.decode(theorem)
        given = (self.ground, self._inverse, self._network, theorem, self._known)
        return tried(lambda wanted: Decoding(*given, wanted).prove())

    def _builder(self, theorem: Theorem) -> ProofBuilder:
        return ProofBuilder(theorem, self._known)

    def _shape(self, theorem: Theorem) -> ProofBuilder:
        builder = self._builder(theorem)
        shared = frozenset(name for name, _ in theorem.definitions if name.startswith("r."))
        arithmetic = Arithmetic(builder, frozenset(), shared)
        if self._other is None:
            arithmetic.positive(statement.size(self.ground))
        else:
            self._other.has_slots(arithmetic)
        for chain in self._network.chains:
            if isinstance(chain.whole, Index):
                extent = self.ground.extent(chain.whole.name)
                if extent != self.ground.vocabulary.term(chain.reach):
                    at_most(arithmetic, self.ground, self._network, chain, extent)
        start = self.ground.vocabulary.term(self.ground.layout.start)
        if start != 0:
            arithmetic.not_negative(start)
        return builder

    def _element(self, theorem: Theorem) -> ProofBuilder:
        builder = self._builder(theorem)
        builder.use("shape", _itself(self._known["shape"]))
        for axis, bound in statement.padded_extents(self.ground, self._inverse).items():
            within = builder.find(("<=", self.ground.extent(axis), bound))
            high = builder.find(("<", index_name(axis), self.ground.extent(axis)))
            if within is not None and high is not None:
                builder.have(("<", index_name(axis), bound), high, within)
        builder.use("encode", _itself(self._known["encode"]))
        return builder

    def _injective(self, theorem: Theorem) -> ProofBuilder:
        """Every step reads the same from both slots, so the same index is read from both."""
        builder = self._builder(theorem)
        element = self._known["element"]
        own = {f"{name}{OTHER}" for name in _names(element)} & {*_names(theorem)}
        second: dict[str, Term] = {
            name: f"{name}{OTHER}" if f"{name}{OTHER}" in own else name for name in _names(element)
        }
        builder.use("element", _itself(element))
        builder.use("element", second)
        slots = builder.find(("=", "slot", f"slot{OTHER}"))
        assert slots is not None
        alike = {"slot": slots}
        for name, term in element.definitions:
            if name[:2] in ("s.", "d."):
                read = dict.fromkeys(each for each in names(term) if each in alike)
                moves = [By(alike[each]) for each in read]
                twin = By(f"{name}{OTHER}", backwards=True)
                alike[name] = builder.calculate(name, By(name), *moves, twin)
        for axis in self.ground.layout.axes:
            name, index = statement.decoded(axis.name), index_name(axis.name)
            one = builder.find(("=", name, index))
            other = builder.find(("=", f"{name}{OTHER}", f"{index}{OTHER}"))
            assert one is not None
            assert other is not None
            builder.calculate(index, By(one, backwards=True), By(alike[name]), By(other))
        return builder

    def _padding(self, theorem: Theorem) -> ProofBuilder:
        builder = self._builder(theorem)
        builder.use("decode", _itself(self._known["decode"]))
        return builder


def _names(theorem: Theorem) -> tuple[str, ...]:
    return (*theorem.variables, *(name for name, _ in theorem.definitions))


def _itself(theorem: Theorem) -> dict[str, Term]:
    return {name: name for name in _names(theorem)}
