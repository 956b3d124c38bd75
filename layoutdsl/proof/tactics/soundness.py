"""The proofs that every layout needs, for layouts that are networks of digits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layoutdsl.language.digits.inverse import ReadBack
from layoutdsl.language.integers.expr import Index
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.theorem import By, Proof, Term, Theorem, names
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.statement import OTHER, Ground
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.decoding import Decoding
from layoutdsl.proof.tactics.encoding import Encoding
from layoutdsl.proof.tactics.respelled import Respelled
from layoutdsl.proof.tactics.splitting import at_most
from layoutdsl.proof.tactics.tries import tried


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
        arithmetic.positive(statement.size(self.ground))
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
