"""What has to be shown of a module that turns one buffer into another. Trusted.

* `_extents` refuses no shape that both layouts have, and every other shape of positive extents;
* `convert` stores what lies at an element's offset in the one buffer at its offset in the other,
  for every element of the tensor just once, the fill in every slot of padding, each slot exactly
  once, and nothing else; slots before the first and the fill are treated as `pack` treats them;
* so it reads no padding, and does what `unpack` and then `pack` do;
* it returns the array that it wrote, and refuses before it writes.

There is no tensor in the text. `_regions` says of every region which part of the tensor it is, and
that is a claim: here the tensor is made up, its parts have to be the tensor, each element once, and
what is moved has to lie where both layouts put the elements of that part.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import accumulate, pairwise, product

from layoutdsl.code.validate.expressions import as_terms
from layoutdsl.code.validate.ground import Stated, grounds
from layoutdsl.code.validate.meaning import Need, Store
from layoutdsl.code.validate.partition import Box
from layoutdsl.code.validate.reading import Reader
from layoutdsl.code.validate.statement import THREADS, USUAL, Statement, places_read
from layoutdsl.code.validate.values import (
    Array,
    Given,
    Group,
    Item,
    Listing,
    Meaningless,
    Root,
    Tuple,
    all_of,
    same,
    size,
)
from layoutdsl.language.integers.expr import FloorDiv, Index, MixedRadix, Mod, walk
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.checker import Term


class ConversionStatement(Statement):
    """What has to be shown of a module with `convert`.

    Its layout is the one that is written; `source` speaks of the one that is read, in the same
    terms.
    """

    def __init__(
        self, source: Layout, target: Layout, functions: Mapping[str, ast.FunctionDef]
    ) -> None:
        super().__init__(target, functions)
        self.source = Statement(source, functions)
        self.ground, self.source.ground = grounds((target, source))
        self.stated = Stated(self.ground, self.meaning)
        self.source.meaning = self.meaning
        self.meaning.anew = True

    def all(self) -> Stated:
        """Return everything that has to be shown.

        Raises:
            Meaningless: the text cannot be read, or does something else, whatever the proof.
            NotExpressible: a layout says what the checker's terms cannot.
        """
        one, other = self.source.ground, self.ground
        if self.source.layout.where != self.layout.where or one.extents != other.extents:
            raise Meaningless("the layouts take different shapes")
        if self.source.layout.element != self.layout.element:
            raise Meaningless("the layouts hold different elements")
        if self.source.layout.domain or self.layout.domain:
            raise Meaningless("a layout has a domain")
        self._extents()
        self._takes("convert", ["src", "shape", "out=None", self._usual_fill(), *USUAL[:1]])
        for out, fill, threads in product((None, Given("out")), self._fills(), THREADS):
            self._each(partial(self._convert, out=out, fill=fill, threads=threads), packs=False)
        return self.stated

    def _convert(self, reader: Reader, out: object, fill: object, threads: object) -> None:
        given = Given("src"), Given("shape"), out, fill, threads
        result = self._filling(reader, "convert", fill, *given)
        if result is None:
            return
        stores = list(self.meaning.stores)
        written = self._written(result, out, [each.target.base for each in stores])
        flat = self._buffer(written.shape)
        kept = isinstance(self.layout.fill, FillAny) and out is not None and fill is None
        number = 0 if fill is None else None
        moves = [each for each in stores if isinstance(each.source, Array)]
        for store in stores:
            if isinstance(store.source, Item) and (kept or store.source.number != number):
                raise Meaningless("the fill is another")
        self._arguments_refused(reader, (threads,), places_read(moves), fill, fills=True)
        elements = list(self._parts(reader))
        if [each.choices for each in elements] != [each.choices for each in moves]:
            raise Meaningless("regions are not moved one after the other")
        for part, store in zip(elements, moves, strict=True):
            self._moved(part.array, store, flat)
        boxes = [Box(each.target, each.choices) for each in stores]
        self._all(written, boxes)
        if not kept:
            self._once([*boxes, *self._before_start(written, flat, out)])
        self._once(elements)

    def _parts(self, reader: Reader) -> Iterator[Box]:
        """The parts of a tensor that the regions are said to be, each in its common digits."""
        meaning = self.meaning
        tensor = self._tensor()
        regions = reader.call("_regions", Tuple(self.ground.extents))
        if not isinstance(regions, Listing):
            raise Meaningless("`_regions` returns no list")
        for region in meaning.looped(regions):
            match region:
                case Tuple((Tuple(take), Tuple() as split, Tuple(), Tuple())):
                    part = meaning.reshaped(meaning.sliced(tensor, take), as_terms(split))
                    yield Box(part, meaning.active)
                case _:
                    raise Meaningless("a region names no part of the tensor")

    def _tensor(self) -> Array:
        """A tensor with a dimension for each axis, or for axes of which a tuple is cut."""
        extents = self.ground.extents
        whole = all_of(Root("tensor", extents, "T", whole=True))
        groups = _read_as_one(self.layout)
        if all(len(each) == 1 for each in groups):
            return whole
        turned = self.meaning.transposed(whole, tuple(axis for each in groups for axis in each))
        ends = [0, *accumulate(map(len, groups))]
        joined = tuple(size(tuple(extents[axis] for axis in each)) for each in groups)
        split = tuple(Group(both, (n, n + 1)) for n, both in enumerate(pairwise(ends)))
        return all_of(Root("tensor", joined, "T", parent=turned, groups=split))

    def _moved(self, part: Array, store: Store, flat: bool) -> None:
        """What is moved is a part of the tensor: there in the one buffer, here in the other."""
        source = store.source
        assert isinstance(source, Array)
        if source.base.name != "src":
            raise Meaningless("something else than the buffer is read")
        if not len(store.target.root.shape) == len(store.target.order) == len(part.order):
            raise Meaningless("a region has other digits than its part of the tensor")
        turned = self.meaning.transposed(part, store.target.order)
        for one, other in zip(turned.shape, store.target.shape, strict=True):
            if not same(one, other):
                goal: Term = ("=", one, other)
                need = Need("the shape of a region", self.meaning.path, store.choices, (), goal)
                self.meaning.needs[need] = None
        read_flat = self.source._buffer(source.base.shape)
        self.source._address(turned, source, store, read_flat)
        self._address(turned, store.target, store, flat)


def _read_as_one(layout: Layout) -> list[tuple[int, ...]]:
    """The axes, those of which a tuple is cut into digits together; any guess would be sound."""
    numbers = {axis.name: number for number, axis in enumerate(layout.axes)}
    groups: list[tuple[int, ...]] = [(number,) for number in numbers.values()]
    for coordinate in layout.coordinates:
        for node in walk(coordinate.value):
            match node:
                case FloorDiv(left=MixedRadix(parts)) | Mod(left=MixedRadix(parts)):
                    names = [each.value.name for each in parts if isinstance(each.value, Index)]
                    group = tuple(numbers[name] for name in names)
                    groups = [each for each in groups if not set(each) & set(group)] + [group]
    return sorted(groups, key=min)
