"""``A == B`` and ``A == FORMULA``: every element lies at the same offset."""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import EqualsFormula, EqualsLayout
from layoutdsl.language.meaning.counterexample import example_at, point_at
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, bind_index, in_range, indices
from layoutdsl.proof.properties.property import Property, Statement, ground_of, spoken_of
from layoutdsl.proof.refute.refute import At, Examples, index_outside, layout_size
from layoutdsl.proof.statements import applied_statement, claim_statement


class EqualToLayout(Property[EqualsLayout]):
    """Two layouts over the same axes hold the same elements, at the same offsets."""

    @property
    def words(self) -> str:
        return f"equals {self.predicate.other.name}"

    @property
    def theorems(self) -> tuple[str, ...]:
        domains = self.layout.domain or self.predicate.other.domain
        applied = (applied_statement.THEOREM,) if self.predicate.other.applied else ()
        return ("equal", *(("domain",) if domains else ()), *applied)

    @property
    def conditions(self) -> tuple[str, ...]:
        other = self.predicate.other
        further = [each for each in other.where if each not in self.layout.where]
        defined = ", ".join(map(str, further))
        return (f"`{other.name}` is defined: {defined}",) if further else ()

    @property
    def common(self) -> Layout:
        both = (*self.layout.where, *self.predicate.other.where)
        return replace(self.layout, where=tuple(dict.fromkeys(both)))

    def statement(self) -> Statement:
        other, divided = self.predicate.other, spoken_of(self.layout, self.predicate.other)
        plain = ground_of(self.common, other)
        ground = claim_statement.chosen(plain, divided)
        theorem = claim_statement.equals_layout(ground, other)
        domains = self.layout.domain or other.domain
        others = (claim_statement.same_domain(plain, other),) if domains else ()
        applied = None
        if other.applied:
            # The other layout has to be defined at each element of the first.
            applied = replace(other, where=self.common.where, domain=self.layout.domain)
        return Statement(ground, theorem, divided, others=others, applied=applied)

    def tries(self) -> At:
        return self._at

    def _at(self, values: Values) -> Examples:
        layout, other = self.layout, self.predicate.other
        if not in_range(other, values):
            return {}
        sentence = f"`{layout.name}` is not `{other.name}`"
        for index in indices(replace(layout, domain=()), values):
            words = self._different(bind_index(layout, values, index))
            if words:
                point = point_at(self.layout, index, words)
                return {self.words: example_at(values, sentence, point)}
        sizes = layout_size(layout, values), layout_size(other, values)
        if sizes[0] != sizes[1]:
            sentence += f": their buffers have {sizes[0]} and {sizes[1]} elements"
            return {self.words: example_at(values, sentence)}
        return {}

    def _different(self, bound: Values) -> str:
        layout, other = self.layout, self.predicate.other
        if layout.holds(bound) != other.holds(bound):
            has, lacks = (layout, other) if layout.holds(bound) else (other, layout)
            return f"-> offset {has.offset_at(bound)} in `{has.name}`, no slot in `{lacks.name}`"
        if not layout.holds(bound):
            return ""
        outside = index_outside(other, bound)
        if outside is not None:
            return outside[1]
        one, two = layout.offset_at(bound), other.offset_at(bound)
        return "" if one == two else f"-> offset {one} in `{layout.name}`, {two} in `{other.name}`"

    def holds_at(self, values: Values) -> bool:
        from layoutdsl.proof.refute import grid

        layout, other = self.layout, self.predicate.other
        return (
            not other.applied
            and layout.domain == other.domain
            and layout.size(values) == layout_size(other, values)
            and grid.same_offsets(layout, other, values)
        )

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return spoken_of(self.predicate.other)


class EqualToFormula(Property[EqualsFormula]):
    """A formula gives the offset of every element."""

    words = "equals the formula"
    theorems = ("formula",)

    def statement(self) -> Statement:
        formula = self.predicate.formula
        divided = (*spoken_of(self.layout), formula)
        ground = claim_statement.chosen(ground_of(self.layout), divided)
        return Statement(ground, claim_statement.equals_formula(ground, formula), divided)

    def tries(self) -> At:
        return self._at

    def _at(self, values: Values) -> Examples:
        layout, formula = self.layout, self.predicate.formula
        for index in indices(layout, values):
            bound = bind_index(layout, values, index)
            offset, given = layout.offset_at(bound), evaluate(formula, bound)
            if offset != given:
                sentence = f"the formula is not the offset of `{layout.name}`"
                point = point_at(
                    self.layout, index, f"-> offset {offset}, the formula gives {given}"
                )
                return {self.words: example_at(values, sentence, point)}
        return {}

    def holds_at(self, values: Values) -> bool:
        from layoutdsl.proof.refute import grid

        return grid.same_formula(self.layout, self.predicate.formula, values)

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.predicate.formula,)
