"""What has to be shown of modules that move elements one by one.

* `_pieces` cuts an axis without gap or overlap;
* all that is worked out over arrays of indices stays within the integers that `_kind` chooses;
* `_offsets` is the layout's offset of every index of a piece, entry by entry; where it has an entry
  for each run, that and the place in the run are together (`rows`);
* offsets of elements that lie outside the buffer are refused before anything is written;
* `_held`, where the layout has a domain, is true of the indices that satisfy it, and of no other;
* `pack` fills every slot from the first on, once, and then puts every element at its offset;
  `unpack` reads every element from its offset; outside the domain it fills a new tensor, and
  leaves `out` as it is.

That two elements never share a slot is a property of the layout, not of the text: its certificate
says whether it was proved. Trusted.
"""

from __future__ import annotations

from layoutdsl.code.validate.asked import alike
from layoutdsl.code.validate.normal import InRuns
from layoutdsl.code.validate.partition import Box
from layoutdsl.code.validate.pieces import GatherReader
from layoutdsl.code.validate.reading import Reader
from layoutdsl.code.validate.rows import RowReader
from layoutdsl.code.validate.statement import Options, Statement
from layoutdsl.code.validate.tables import Moved, Picked, Piece, Table
from layoutdsl.code.validate.values import (
    Array,
    Given,
    Item,
    Meaningless,
    Root,
    added,
    all_of,
    horner,
    same,
    size,
)
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.proof.kernel.checker import Term
from layoutdsl.proof.statements.terms import index_name


class GatherStatement(Statement):
    """What has to be shown of a module that moves elements one by one."""

    reader = GatherReader

    def _reader(self, decisions: dict[Term, bool], packs: bool) -> Reader:
        reader = super()._reader(decisions, packs)
        assert isinstance(reader, GatherReader)
        reader.may_be_empty = bool(self.layout.domain)
        return reader

    def _pack(self, reader: Reader, out: object, fill: object, options: Options) -> None:
        assert isinstance(reader, GatherReader)
        result = self._filling(reader, "pack", fill, Given("src"), out, fill, *options)
        if result is None:
            return
        match reader.moves:
            case [Moved(Picked(flat, table), Piece(tensor, held), after)] if held == table.held:
                pass
            case _:
                raise Meaningless("elements are not moved just once")
        if tensor.base.name != "src" or flat.base.name == "src":
            raise Meaningless("something else than the tensor is stored")
        read = [((Piece(tensor, held),), ())]
        self._arguments_refused(reader, options, read, fill, fills=True)
        written = self._written(result, out, [flat.base])
        is_flat = self._buffer(written.shape)
        self._table(reader, table, written)
        kept = isinstance(self.layout.fill, FillAny) and out is not None and fill is None
        stores, back = self.meaning.stores[:after], self.meaning.stores[after:]
        number = 0 if fill is None else None
        for store in stores:
            if not isinstance(store.source, Item) or store.source.number != number or kept:
                raise Meaningless("the fill is another")
        self._back(flat, written, [store.source for store in back], [s.target for s in back])
        boxes = [Box(self._uncopied(each.target), each.choices) for each in stores]
        self._all(written, boxes)
        if not kept:
            self._once([*boxes, *self._before_start(written, is_flat, out)])

    def _uncopied(self, array: Array) -> Array:
        """Where the whole copy is put back, what is stored in it is stored in the buffer."""
        return Array(_plain(array.root), array.box, array.order)

    def _back(
        self, flat: Array, written: Root, sources: list[object], targets: list[Array]
    ) -> None:
        """A flat copy of the buffer is put back, whole; put back in itself, nothing changes."""
        if not sources and not flat.root.copied:
            return
        match sources, targets:
            case [Array() as source], [target] if target == all_of(written) and source.in_order:
                if flat in (source, source.root.parent):
                    return
        raise Meaningless("a copy is not put back")

    def _unpack(self, reader: Reader, out: object, options: Options) -> None:
        assert isinstance(reader, GatherReader)
        fill = (Given("fill"),) if self.layout.domain else ()
        result = reader.call("unpack", Given("src"), Given("shape"), out, *fill, *options)
        stores = self.meaning.stores
        match reader.moves:
            case [Moved(Piece(tensor, held), Picked(flat, table), after)] if (
                held == table.held and after == len(stores)
            ):
                pass
            case _:
                raise Meaningless("elements are not moved just once")
        if flat.base.name != "src" or tensor.base.name == "src":
            raise Meaningless("something else than the buffer is read")
        read = [((Picked(flat, table),), ())]
        self._arguments_refused(reader, options, read, *fill, fills=bool(fill) and out is None)
        written = self._written(result, out, [tensor.base])
        self._equal("the shape of the tensor", written.shape, self.ground.extents)
        if tensor.root != written:
            raise Meaningless("another array is written")
        self._outside(written, out)
        self._buffer(flat.base.shape)
        self._table(reader, table, flat.base)

    def _outside(self, written: Root, out: object) -> None:
        """Elements without a slot get the fill in a new tensor, before; nothing else is filled."""
        stores = self.meaning.stores
        if out is not None or not self.layout.domain:
            if stores:
                raise Meaningless("`unpack` fills")
            return
        if any(each.source != Item(None, written.element) for each in stores):
            raise Meaningless("the fill is another")
        boxes = [Box(each.target, each.choices) for each in stores]
        self._all(written, boxes)
        self._once(boxes)

    def _table(self, reader: GatherReader, table: Table, buffer: Root) -> None:
        """The offsets are the layout's, and they were looked at before."""
        offset = added(self.ground.start, horner(self._values({}), self.ground.box))
        if not self._is_plainly(table, offset):
            self._everywhere("an element's offset", ("=", table.term, offset))
        tests = table.held.tests if table.held else ()
        self._asked_of_index(tests)
        self._domain(tests)
        if not reader.refused or not all(
            each == table and same(top, size(buffer.shape)) for each, top in reader.refused
        ):
            raise Meaningless("offsets outside of the buffer are not refused")

    def _is_plainly(self, table: Table, offset: Term) -> bool:
        """Whether a table has the offset of every element, as calculation shows."""
        return same(table.term, offset)

    def _asked_of_index(self, tests: tuple[Term, ...]) -> None:
        """Masks ask what the domain does, each on its own."""
        if not all(any(alike(test, each) for each in self._held()) for test in tests):
            raise Meaningless("something else is asked of an index than the domain does")


class RowStatement(GatherStatement):
    """What has to be shown of a module that moves runs, or rows of which a part is held."""

    reader = RowReader

    def _is_plainly(self, table: Table, offset: Term) -> bool:
        """Of runs of some length: their index and the place in one make up the index."""
        runs = table.spread
        if runs is None or runs.length is None:
            return super()._is_plainly(table, offset)
        normal = InRuns(index=index_name(self.layout.axes[runs.axis].name), length=runs.length)
        one, other = map(self.meaning.expanded, (table.term, offset))
        return normal.form(one) == normal.form(other)

    def _asked_of_index(self, tests: tuple[Term, ...]) -> None:
        """Where rows begin and end says the same as the domain in other words: that is shown."""


def _plain(root: Root) -> Root:
    return Root(root.name, root.shape, root.element, root.whole, root.parent, root.groups, copied=0)
