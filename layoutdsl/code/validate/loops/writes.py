"""What a tree writes: it is walked once, and each store noted for all values of its loops. Trusted.

Scratch is filled before it is read, and not after, so that it holds one thing (`scratch`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.cuts import cuts, reaches
from layoutdsl.code.validate.loops.places import placed
from layoutdsl.code.validate.loops.ranges import below
from layoutdsl.code.validate.loops.scratch import Held, held_by
from layoutdsl.code.validate.loops.sides import Side, Sides
from layoutdsl.code.validate.loops.stores import Here, Need, Sliding, Turning, Variable, Write, ends
from layoutdsl.code.validate.loops.words import compared, said
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.expr import Expr
from layoutdsl.proof.kernel.checker import Term


@dataclass
class Writes:
    """The stores of a tree, and what has to hold for them to be what they are taken for.

    Attributes:
        sides: what it reads and writes.
        exact: how it is guessed when scratch holds something.
    """

    sides: Sides
    exact: bool = False
    stores: list[Write] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)
    _count: int = 0
    _filling: dict[str, tuple[int, list[Write]]] = field(default_factory=dict)
    _held: dict[str, tuple[int, Held]] = field(default_factory=dict)

    def walk(self, node: tree.Node, here: Here) -> None:
        """Note all that a node does.

        Raises:
            Meaningless: it does what no rule is known for.
            NotExpressible: it says what terms cannot.
        """
        match node:
            case tree.For(name, count, body):
                turning = self._turning(self._said(count, here))
                self.walk(body, self._inside(here, name, turning))
            case tree.Slide(name, extent, step, body):
                whole = self._said(extent, here)
                last = whole - step + 1 if isinstance(whole, int) else whole
                sliding = Sliding(self._fresh(last), whole, step)
                self._need("a slide", here, ("<=", step, sliding.extent))
                if step < 1:
                    raise Meaningless("a slide does not move")
                self.walk(body, self._inside(here, name, sliding))
            case tree.If(condition, then, other):
                holds = self.sides.normal.form(compared(condition, here.known))
                self.walk(then, here.under(holds))
                self.walk(other, here.under(("not", holds)))
            case tree.Seq(parts):
                for part in parts:
                    self.walk(part, here)
            case tree.Run(target, source, count):
                self._stretch(target, source, count, here)
            case tree.Fill(target, count):
                self._stretch(target, None, count, here)
            case tree.Move():
                self._move(node, here)
            case tree.Scratch():
                self._scratch(node, here)

    def _fresh(self, most: Term) -> str:
        self._count += 1
        return below(f"v.{self._count}", most)

    def _turning(self, count: Term) -> Turning:
        return Turning(self._fresh(count), count)

    def _inside(self, here: Here, name: str, variable: Variable) -> Here:
        if name in self.sides.known:
            raise Meaningless(f"`{name}` is an extent")
        return replace(here.turning(variable), known={**here.known, name: variable.name})

    def _said(self, expr: Expr, here: Here) -> Term:
        return self.sides.normal.form(said(expr, here.known))

    def _need(self, about: str, here: Here, *goals: Term) -> None:
        self.needs += [Need(about, here.facts, goal) for goal in goals]

    def _stretch(
        self, target: tree.Place, source: tree.Place | None, count: Expr, here: Here
    ) -> None:
        many = self._said(count, here)
        self._need("a count", here, ("<=", 0, many))
        here, along = self._digits(many, here, target, source)
        self._store(here, (target, along), None if source is None else (source, along))

    def _move(self, move: tree.Move, here: Here) -> None:
        outside, unit = here, move.unit
        here, number = self._digits(unit, here, move.target, move.source)
        ways = move.source.buffer, move.target.buffer
        here, row, rows = self._table(move.rows, unit, ways, here)
        here, column, columns = self._table(move.columns, unit, ways[::-1], here)
        down, along = (("+", ("*", each, unit), number) for each in (row, column))
        edge, high, wide = move.edge, tree.length(move.rows), tree.length(move.columns)
        masks: tuple[list[Term], list[Term]] = ([], [])
        for which, count, place, most in (
            (0, edge.rows_read, row, high),
            (0, edge.read, along, wide * unit),
            (1, edge.columns_written, column, wide),
            (1, edge.written, down, high * unit),
        ):
            if count is not None:
                many = self._said(count, here)
                self._need("an edge", outside, ("<=", 0, many), ("<=", many, most))
                masks[which].append(self.sides.normal.form(("<", place, many)))
        target, source = ("+", columns, down), ("+", rows, along)
        self._store(here, (move.target, target), (move.source, source), *masks)

    def _table(
        self, table: tree.Table, unit: int, buffers: tuple[str, str], here: Here
    ) -> tuple[Here, Term, Term]:
        """The number of an offset of a table, and the offset, by a variable for each digit.

        The offsets are in the first buffer; in the other all lies together. A digit that goes over
        coordinates of these is several.
        """
        number: Term = 0
        offset: Term = 0
        for k, step in enumerate(table):
            stride, below = self._said(step.stride, here), tree.length(table[:k])
            ends = set[int]()
            for buffer, apart in zip(buffers, (stride, unit * below), strict=True):
                if buffer in self._boxes and isinstance(apart, int) and apart > 0:
                    ends |= {*reaches(self._boxes[buffer], apart)}
            digit: Term = 0
            for block, many in cuts(self.sides.normal, step.radix, [ends]):
                turning = self._turning(many)
                here = here.turning(turning)
                digit = ("+", digit, ("*", block, turning.name))
            number = ("+", number, ("*", below, digit))
            offset = ("+", offset, ("*", stride, digit))
        return here, number, offset

    @property
    def _boxes(self) -> dict[str, tuple[Term, ...]]:
        return {tree.SOURCE: self.sides.source.box, tree.TARGET: self.sides.target.box}

    def _digits(
        self, count: Term, here: Here, target: tree.Place, source: tree.Place | None
    ) -> tuple[Here, Term]:
        """A number below a count, by digits where boxes are cut within it."""
        number: Term = 0
        all_ends = {buffer: set(reaches(box)) for buffer, box in self._boxes.items()}
        own = [all_ends.get(each.buffer, set()) for each in (target, source) if each]
        choices = set().union(*all_ends.values()), set[int]().union(*own)
        for block, many in cuts(self.sides.normal, count, choices):
            turning = self._turning(many)
            here = here.turning(turning)
            number = ("+", number, ("*", block, turning.name))
        return here, number

    def _store(
        self,
        here: Here,
        target: tuple[tree.Place, Term],
        source: tuple[tree.Place, Term] | None,
        reading: Sequence[Term] = (),
        writing: Sequence[Term] = (),
    ) -> None:
        """One element at a place each, so far from it; what is not read is the fill."""
        written = here.under(*writing)
        if self.sides.source.is_flat or self.sides.target.is_flat:
            _check_direct(target, source, (*reading, *writing))
        at, sink = self._written(target, written)
        if source is None:
            sink.append(Write(written, at, None))
            return
        sink += [Write(written.under(("not", mask)), at, None) for mask in reading]
        ways = self._read(source, here.under(*reading))
        sink += [Write(written.under(*reading, *facts), at, read) for facts, read in ways]

    def _written(
        self, target: tuple[tree.Place, Term], here: Here
    ) -> tuple[tuple[Term, ...], list[Write]]:
        """The place that is written, and where that is noted."""
        buffer = target[0].buffer
        offset = self._offset(target, here)
        if buffer == tree.TARGET:
            return self._place(self.sides.target, buffer, offset, here), self.stores
        if buffer not in self._filling:
            raise Meaningless(f"`{buffer}` is written, and should not be")
        size, stores = self._filling[buffer]
        self._need("a slot of scratch", here, *ends((offset,), (size,)))
        return (offset,), stores

    def _read(
        self, source: tuple[tree.Place, Term], here: Here
    ) -> list[tuple[tuple[Term, ...], tuple[Term, ...] | None]]:
        """What is read: under conditions, a place of the source, or the fill."""
        buffer = source[0].buffer
        offset = self._offset(source, here)
        if buffer == tree.SOURCE:
            return [((), self._place(self.sides.source, buffer, offset, here))]
        if buffer not in self._held:
            raise Meaningless(f"`{buffer}` is read, and should not be")
        size, held = self._held[buffer]
        self._need("a slot of scratch", here, *ends((offset,), (size,)))
        ways, written = held.read(offset)
        self._need("a slot of scratch is written", here, written)
        return ways

    def _offset(self, at: tuple[tree.Place, Term], here: Here) -> Term:
        first, further = at
        return self.sides.normal.form(("+", said(first.offset, here.known), further))

    def _place(self, side: Side, buffer: str, offset: Term, here: Here) -> tuple[Term, ...]:
        found = placed(self.sides.normal, side, offset)
        if side.is_flat:  # it is shown to be the slot of an element
            return found
        self._need(f"a place in the {buffer}", here, *ends(found, side.box))
        return found

    def _scratch(self, node: tree.Scratch, here: Here) -> None:
        """Parts that fill it, what it then holds, and parts that read it."""
        name, body = node.name, node.body
        if isinstance(body, tree.For | tree.Slide) and not node.filled:  # undefined in each turn
            self.walk(replace(body, body=replace(node, body=body.body)), here)
            return
        if name in (tree.SOURCE, tree.TARGET) or name in self._filling or name in self._held:
            raise Meaningless(f"`{name}` is another buffer")
        parts = body.parts if isinstance(body, tree.Seq) else (body,)
        filled = max((n for n, part in enumerate(parts, 1) if _fills(part, name)), default=0)
        self._filling[name] = node.size, list[Write]()
        for part in parts[:filled]:
            self.walk(part, here)
        _, stores = self._filling.pop(name)
        held, needs = held_by(self.sides, node, stores, here, exact=self.exact)
        self.needs += needs
        self._held[name] = node.size, held
        for part in parts[filled:]:
            self.walk(part, here)
        del self._held[name]


def _check_direct(
    target: tuple[tree.Place, Term], source: tuple[tree.Place, Term] | None, masks: Sequence[Term]
) -> None:
    """That a store moves an element from one buffer to the other, whatever else holds."""
    buffers = target[0].buffer, None if source is None else source[0].buffer
    if buffers != (tree.TARGET, tree.SOURCE) or masks:
        raise Meaningless("something else than a run, where offsets are no digits")


def _fills(node: tree.Node, name: str) -> bool:
    """Whether a node writes a buffer."""
    match node:
        case tree.For(body=body) | tree.Slide(body=body) | tree.Scratch(body=body):
            return _fills(body, name)
        case tree.If(_, then, other):
            return _fills(then, name) or _fills(other, name)
        case tree.Seq(parts):
            return any(_fills(part, name) for part in parts)
    return node.target.buffer == name
