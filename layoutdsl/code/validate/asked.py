"""What is asked of a shape: whether a module takes it, its buffer, an offset in it. Trusted.

The text is read once for each outcome of what it asks of extents, and of whether `reshape` copies.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from layoutdsl.code.validate.ground import Separate, Stated, compared, ground, said
from layoutdsl.code.validate.meaning import Meaning, Need
from layoutdsl.code.validate.reading import Fork, Reader
from layoutdsl.code.validate.values import Given, Meaningless, Tuple, added, horner, same, size
from layoutdsl.language.integers.expr import CeilDiv, FloorDiv, Mod, extents, walk
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.checker import Term, substitute
from layoutdsl.proof.statements.terms import extent_name, index_name

MOST_READINGS = 64


class Asked:
    """What has to be shown of the functions that answer questions about a shape."""

    reader = Reader

    def __init__(self, layout: Layout, functions: Mapping[str, ast.FunctionDef]) -> None:
        self.layout = layout
        self.functions = functions
        self.ground = ground(layout)
        self.meaning = Meaning()
        self.stated = Stated(self.ground, self.meaning)

    def _each(self, work: Callable[[Reader], None], *, packs: bool = True) -> None:
        """Read for each outcome of what is asked of extents, and of whether `reshape` copies."""
        meaning = self.meaning
        pending: list[tuple[dict[Term, bool], bool]] = [({}, False)]
        for _ in range(MOST_READINGS):
            if not pending:
                return
            decisions, copies = pending.pop()
            meaning.stores, meaning.guards, meaning.active = [], (), ()
            meaning.path = tuple(c if taken else ("not", c) for c, taken in decisions.items())
            meaning.copies, meaning.may_copy = copies, []
            reader = self._reader(decisions, packs)
            try:
                work(reader)
            except Fork as fork:
                pending += [
                    ({**decisions, fork.condition: taken}, copies) for taken in (True, False)
                ]
                continue
            if reader.refusals:
                raise Meaningless("a shape is refused outside of `_extents`")
            if meaning.may_copy and not copies:
                pending.append((decisions, True))
        raise Meaningless("too many conditions on extents")

    def _reader(self, decisions: dict[Term, bool], packs: bool) -> Reader:
        known = self.ground
        indices = tuple(index_name(axis.name) for axis in self.layout.axes)
        return self.reader(
            self.functions,
            self.meaning,
            decisions,
            known.extremes,
            known.extents,
            packs,
            indices,
        )

    def _need(self, about: str, goal: Term) -> None:
        self.meaning.need(about, goal)

    def _equal(self, about: str, one: tuple[Term, ...], other: tuple[Term, ...]) -> None:
        if len(one) != len(other):
            raise Meaningless(f"{about} has another rank")
        for left, right in zip(one, other, strict=True):
            if not same(left, right):
                self._need(about, ("=", left, right))

    # What is asked of a shape.

    def _extents(self) -> None:
        layout, known = self.layout, self.ground
        seen: set[Term] = set()
        given: list[Term] = []
        for number, extent in enumerate(known.extents):
            first = isinstance(extent, str) and extent not in seen
            given.append(extent if first else f"e.{number}")
            seen.add(extent)
        reader = replace(self._reader({}, False), extents=tuple(given))
        try:
            returned = reader.call("_extents", Given("shape"))
        except Fork:
            raise Meaningless("`_extents` asks of extents what is no refusal") from None
        if returned != Tuple(tuple(given)):
            raise Meaningless("`_extents` returns something else than the shape")
        divisors = [need.goal for need in self.meaning.needs]
        self.meaning.needs.clear()
        others = {
            name: extent
            for name, extent in zip(given, known.extents, strict=True)
            if isinstance(name, str) and name != extent
        }
        for divisor in divisors:
            self._need("a divisor", substitute(divisor, others))
        refusals = [substitute(refusal, others) for refusal in reader.refusals]
        for refusal in refusals:
            self._need("a shape is refused", ("not", refusal))
        for name in self._divides():
            if not any(alike(("<", extent_name(name), 1), each) for each in refusals):
                raise Meaningless("an extent that something is divided by may be 0")
        ranges = [known.vocabulary.condition(each) for each in layout.where]
        positive = [("<=", 1, name) for name in given]
        kept = [each for each in known.hypotheses if each not in ranges]
        goals = [*(("=", name, extent) for name, extent in others.items()), *ranges, *divisors]
        if goals:
            hypotheses = (*dict.fromkeys((*kept, *positive)), *_denied(reader.refusals))
            self.stated.separate.append(Separate("refused", hypotheses, tuple(goals)))

    def _divides(self) -> set[str]:
        """The extents that something is divided by."""
        layout = self.layout
        sides = (
            side for each in (*layout.where, *layout.domain) for side in (each.left, each.right)
        )
        places = (each for c in layout.coordinates for each in (c.value, c.extent))
        nodes = (node for place in (layout.start, *places, *sides) for node in walk(place))
        divisors = (each.right for each in nodes if isinstance(each, FloorDiv | CeilDiv | Mod))
        return set().union(*map(extents, divisors))

    def _physical_shape(self, reader: Reader) -> None:
        reader.packs = False
        shape = reader.call("physical_shape", Given("shape"))
        if not isinstance(shape, Tuple) or not reader.checked:
            raise Meaningless("`physical_shape` returns no shape")
        self._buffer(tuple(shape.items))  # type: ignore[arg-type]

    def _buffer(self, shape: tuple[Term, ...]) -> bool:
        """Note that a shape is that of the buffer; returns whether the buffer is flat."""
        known = self.ground
        if not self.layout.is_flat:
            self._equal("the shape of the buffer", shape, known.box)
            return False
        self._equal("the size of the buffer", shape, (added(known.start, size(known.box)),))
        return True

    def _offset(self, reader: Reader) -> None:
        reader.packs = False
        value = reader.call("offset", Given("index"), Given("shape"))
        self._domain(_denied(reader.refusals))
        reader.refusals.clear()
        if isinstance(value, bool) or not isinstance(value, int | str | tuple):
            raise Meaningless("`offset` returns no integer")
        offset = added(self.ground.start, horner(self._values({}), self.ground.box))
        if not same(value, offset):
            self._everywhere("the offset", ("=", value, offset))

    def _everywhere(self, about: str, goal: Term) -> None:
        """Note that a formula has to hold of every index that has a slot."""
        self._where(self._held(), about, goal)

    def _where(self, held: Sequence[Term], about: str, goal: Term) -> None:
        """Note that a formula has to hold of every index of the shape that satisfies others."""
        names = [index_name(axis.name) for axis in self.layout.axes]
        places = tuple(zip(names, self.ground.extents, strict=True))
        need = Need(about, (*self.meaning.path, *held), (), places, goal)
        self.meaning.needs[need] = None

    def _held(self) -> list[Term]:
        """The conditions on an index of the shape by which it has a slot: the domain."""
        return [compared(self.ground, self.meaning, each) for each in self.layout.domain]

    def _domain(self, tests: Sequence[Term]) -> None:
        """An index passes all tests where it has a slot, and nowhere else."""
        held = self._held()
        for given, goals in ((tests, held), (held, tests)):
            for goal in goals:
                if not any(alike(goal, each) for each in given):
                    self._where(given, "which elements have a slot", goal)

    def _values(self, indices: dict[str, Term]) -> tuple[Term, ...]:
        """The coordinates of an index."""
        return tuple(
            said(self.ground, self.meaning, each.value, indices) for each in self.layout.coordinates
        )


def alike(one: Term, other: Term) -> bool:
    """Return whether two comparisons have equal sides."""
    match one, other:
        case ("not", first), ("not", second):
            return alike(first, second)
        case ((("=" | "<" | "<=") as word), *sides), (operator, *others) if word == operator:
            return all(map(same, sides, others))
    return False


def _denied(refusals: Sequence[Term]) -> list[Term]:
    return [part[1] if part[0] == "not" else ("not", part) for part in refusals]  # type: ignore[index]
