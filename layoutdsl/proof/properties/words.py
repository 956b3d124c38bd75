"""``fills words of 32 bits``: the last coordinates leave nothing over, for every shape."""

from __future__ import annotations

from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import Fills
from layoutdsl.language.meaning.counterexample import example_at, point_at
from layoutdsl.language.meaning.shapes import Values, indices
from layoutdsl.language.meaning.storage import Words, joined
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.properties.property import Property, Statement, ground_of, spoken_of
from layoutdsl.proof.refute.refute import At, Examples


class WordsFilled(Property[Fills]):
    """The bits of the dimensions that become words are a multiple of those of a word."""

    theorems = ("words",)

    @property
    def words(self) -> str:
        return f"fills words of {self.predicate.bits} bits"

    @property
    def _width(self) -> int:
        assert self.layout.element is not None
        return self.layout.element.bits

    @property
    def _count(self) -> int:
        """How many of the last dimensions become words."""
        return joined(self.layout, Words("u", self.predicate.bits))

    def statement(self) -> Statement:
        ground = ground_of(self.layout)
        bits: Term = self._width
        for each in self.layout.coordinates[len(self.layout.coordinates) - self._count :]:
            bits = ("*", bits, ground.vocabulary.term(each.extent))
        goal: Term = ("=", ("mod", bits, self.predicate.bits), 0)
        definitions = ground.definitions
        theorem = Theorem("words", ground.variables, ground.hypotheses, (goal,), definitions)
        return Statement(ground, theorem, spoken_of(self.layout))

    def tries(self) -> At:
        return self._at

    def _at(self, values: Values) -> Examples:
        bits = self._width
        for each in self.layout.coordinates[len(self.layout.coordinates) - self._count :]:
            bits *= evaluate(each.extent, values)
        left = bits % self.predicate.bits
        if left == 0:
            return {}
        first = next(iter(indices(self.layout, values)))
        point = point_at(self.layout, first, f"-> in {bits} bits, of which {left} are left over")
        sentence = f"`{self.layout.name}` fills no whole words of {self.predicate.bits} bits"
        return {self.words: example_at(values, sentence, point)}
