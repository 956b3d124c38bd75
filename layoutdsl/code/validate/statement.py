"""What has to be shown of an emitted module, for all shapes of its layout. Trusted.

* `_extents` refuses no shape of the range, and every other shape of positive extents;
* `_box`, and so `physical_shape` and a new buffer, has the shape of the layout's buffer;
* `offset` returns the layout's offset;
* `pack` stores every element of the tensor at its offset, the fill in every slot of padding, each
  slot exactly once, and nothing else; slots before the first get the fill in a new buffer and stay
  as they are in `out`; with `fill any`, `out` keeps its padding unless a fill is given;
* `unpack` stores every element of the tensor exactly once, read from its offset;
* elements outside the layout's domain have no slot: `offset` refuses them, `pack` does not read
  them, `unpack` gives them the fill in a new tensor and leaves them as they are in `out`;
* both return the array that they wrote, and both refuse before they write; asked for no copy, they
  may return a view in place of a new array, in which every element is where it would be.

A shape has positive extents here. Empty tensors are left to tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import isfinite
from typing import TypeAlias

from layoutdsl.code.validate.asked import Asked
from layoutdsl.code.validate.ground import Stated
from layoutdsl.code.validate.meaning import Need, Store
from layoutdsl.code.validate.partition import Box, exactly_once
from layoutdsl.code.validate.reading import Raised, Reader
from layoutdsl.code.validate.values import (
    Array,
    Choice,
    Given,
    Item,
    Meaningless,
    Places,
    Root,
    Travels,
    Within,
    added,
    all_of,
    horner,
    same,
)
from layoutdsl.language.meaning.elements import FillAny, FillValue, FillZeroPoint
from layoutdsl.proof.kernel.checker import Term

Looked: TypeAlias = tuple[Sequence[object], tuple[Choice, ...]]
"""Of what something has to be looked at, number by number, and in which loops, if in any."""

Options: TypeAlias = tuple[object, object]
"""What `threads` and `copy` are: as they usually are, or given, which then is another value."""

USUAL = ("threads=1", "copy=True")
THREADS = (1, Given("threads"))
OPTIONS: tuple[Options, ...] = tuple(product(THREADS, (True, Given("copy"))))


class Statement(Asked):
    """What has to be shown of a module that moves whole regions."""

    def all(self) -> Stated:
        """Return everything that has to be shown.

        Raises:
            Meaningless: the text cannot be read, or does something else, whatever the proof.
            NotExpressible: the layout says what the checker's terms cannot.
        """
        self._shapes()
        self._packs_as()
        self._unpacks_as()
        for out, options in product((None, Given("out")), OPTIONS):
            self._each(partial(self._unpack, out=out, options=options), packs=False)
            for fill in self._fills():
                self._each(partial(self._pack, out=out, fill=fill, options=options))
        return self.stated

    def unpacks(self) -> Stated:
        """Return what has to be shown of a text without `pack`; raises as `all` does."""
        self._shapes()
        self._unpacks_as()
        for out, options in product((None, Given("out")), OPTIONS):
            self._each(partial(self._unpack, out=out, options=options), packs=False)
        return self.stated

    def _shapes(self) -> None:
        self._extents()
        self._each(self._physical_shape)
        self._each(self._offset)

    def _packs_as(self) -> None:
        self._takes("pack", ["src", "out=None", self._usual_fill(), *USUAL])

    def _unpacks_as(self) -> None:
        fill = self.layout.fill
        unpacks = ["src", "shape", "out=None"]
        if self.layout.domain:
            unpacks.append(f"fill={_python(fill.value) if isinstance(fill, FillValue) else 0}")
        self._takes("unpack", [*unpacks, *USUAL])

    def _usual_fill(self) -> str:
        """The argument `fill` with its default."""
        fill = self.layout.fill
        return f"fill={_python(fill.value) if isinstance(fill, FillValue) else None}"

    def _takes(self, name: str, wanted: list[str]) -> None:
        function = self.functions.get(name)
        if function is None:
            raise Meaningless(f"there is no function `{name}`")
        given = function.args
        names = [each.arg for each in given.args]
        defaults = ["", *(f"={ast.unparse(each)}" for each in given.defaults)]
        plain = len(names) - len(given.defaults)
        written = [n + (defaults[k - plain + 1] if k >= plain else "") for k, n in enumerate(names)]
        if written != wanted:
            raise Meaningless(f"`{name}` takes {', '.join(written)}")

    def _fills(self) -> tuple[object, ...]:
        """What `fill` may be; with a default number, `None` is refused by `_item`."""
        return (
            (Given("fill"),) if isinstance(self.layout.fill, FillValue) else (None, Given("fill"))
        )

    def _filling(
        self, reader: Reader, name: str, fill: object, *arguments: object
    ) -> object | None:
        """What a function returns that takes a fill; ``None`` where it has to refuse it."""
        refused = isinstance(self.layout.fill, FillZeroPoint) and fill is None
        try:
            result = reader.call(name, *arguments)
        except Raised:
            if refused:
                return None
            raise Meaningless(f"`{name}` always raises") from None
        if refused:
            raise Meaningless(f"`{name}` takes no fill for a quantised zero")
        if result is None:
            raise Meaningless(f"`{name}` returns nothing")
        return result

    def _pack(self, reader: Reader, out: object, fill: object, options: Options) -> None:
        result = self._filling(reader, "pack", fill, Given("src"), out, fill, *options)
        if result is None:
            return
        written = self._written(result, out, [each.target.base for each in self.meaning.stores])
        flat = self._buffer(written.shape)
        kept = isinstance(self.layout.fill, FillAny) and out is not None and fill is None
        number = 0 if fill is None else None
        boxes: list[Box] = []
        for store in self.meaning.stores:
            boxes.append(Box(store.target, store.choices))
            if isinstance(store.source, Item):
                if store.source.number != number or kept:
                    raise Meaningless("the fill is another")
            else:
                if store.source.base.name != "src":
                    raise Meaningless("something else than the tensor is stored")
                self._address(store.source, store.target, store, flat)
        self._all(written, boxes)
        if not kept:
            self._once([*boxes, *self._before_start(written, flat, out)])
        read = places_read(self.meaning.stores)
        self._arguments_refused(reader, options, read, fill, fills=True)
        elements = [each for each in self.meaning.stores if isinstance(each.source, Array)]
        self._once([Box(each.source, each.choices) for each in elements])  # type: ignore[arg-type]

    def _arguments_refused(
        self,
        reader: Reader,
        options: Sequence[object],
        read: Sequence[Looked],
        fill: object = None,
        *,
        fills: bool = False,
    ) -> None:
        """What does not fit is refused: threads, a copy, items, and numbers that no element is.

        Args:
            reader: which knows what was looked at.
            options: those of the caller.
            read: where elements are read from, and in which loops.
            fill: that of the caller.
            fills: `fill` is an argument, which is looked at whether or not there is padding.
        """
        for given in options:
            if isinstance(given, Given) and given not in reader.looked_at:
                raise Meaningless(f"`{given.name}` is not looked at")
        if fills:
            self._fill_looked_at(reader, fill)
        element = self.layout.element
        if element is None:
            return
        if Travels("src", *element.item) not in reader.looked_at:
            raise Meaningless("items of any type are taken")
        if element.values is None or element.fills_item:
            return
        values, looked_at = element.values, reader.looked_at
        items = [
            ((each.source,), ()) for each in self.meaning.stores if isinstance(each.source, Item)
        ]
        if isinstance(fill, Given):
            items.append(((Item(None, "T"),), ()))
        for among, choices in (*items, *read):
            if not any(
                Within(what, around, *values) in looked_at
                for what in among
                for around in (choices, ())
            ):
                raise Meaningless("numbers are taken that no element is")

    def _fill_looked_at(self, reader: Reader, fill: object) -> None:
        """An item is made of the fill, which refuses one that the type cannot hold."""
        items = [each.number for each in reader.looked_at if isinstance(each, Item)]
        wanted = None if isinstance(fill, Given) else 0
        if not items or any(number != wanted for number in items):
            raise Meaningless("`fill` is not looked at")

    def _before_start(self, written: Root, flat: bool, out: object) -> list[Box]:
        """The slots before the first, which stay as they are in `out`."""
        if not flat or out is None:
            return []
        return [Box(Array(written, ((0, self.ground.start),), (0,)), ())]

    def _unpack(self, reader: Reader, out: object, options: Options) -> None:
        result = reader.call("unpack", Given("src"), Given("shape"), out, *options)
        written = self._written(result, out, [each.target.base for each in self.meaning.stores])
        self._equal("the shape of the tensor", written.shape, self.ground.extents)
        stores = self._put_back(written, self.meaning.stores)
        for store in stores:
            if not isinstance(store.source, Array):
                raise Meaningless("`unpack` fills")
            if store.source.base.name != "src":
                raise Meaningless("something else than the buffer is read")
            flat = self._buffer(store.source.base.shape)
            self._address(store.target, store.source, store, flat)
        self._arguments_refused(reader, options, places_read(stores))
        boxes = [Box(store.target, store.choices) for store in stores]
        self._all(written, boxes)
        self._once(boxes)

    def _written(self, result: object, out: object, bases: Sequence[Root]) -> Root:
        """The block of memory that a function writes and returns."""
        if len({*bases}) != 1:
            raise Meaningless("nothing is written, or several arrays")
        written = bases[0]
        if out is None:
            fine = isinstance(result, Array) and result == all_of(written) and written.whole
        else:
            fine = result == out and written.name == "out"
        if not fine:
            raise Meaningless("what is returned is not what was written")
        return written

    def _all(self, written: Root, boxes: Sequence[Box]) -> None:
        for box in boxes:
            if any(root.copied for root in _roots(box.array)):
                raise Meaningless("a copy is written that `reshape` may have made")
            if box.array.base != written:
                raise Meaningless("another array is written")

    def _once(self, boxes: Sequence[Box]) -> None:
        meaning = self.meaning
        for need in exactly_once(boxes, meaning.path, meaning.openings):
            meaning.needs[need] = None

    def _put_back(self, written: Root, stores: list[Store]) -> list[Store]:
        """Where `reshape` copied, the last store puts the whole copy back, each slot to its place.

        What is stored in the copy is then as good as stored where the copy was made of.
        """
        *before, last = stores
        if not self.meaning.may_copy or not self.meaning.copies:
            return stores
        if len(self.meaning.may_copy) != 1:
            raise Meaningless("more than one `reshape` may have copied")
        (copied,) = self.meaning.may_copy
        source = last.source
        if (
            not isinstance(source, Array)
            or last.choices
            or not (
                last.target.base == written and last.target.covers and last.target.root == written
            )
        ):
            raise Meaningless("a copy is not put back")
        place = tuple(f"k.{number}" for number in last.target.order)
        goals = zip(source.address(place), last.target.address(place), strict=True)
        array: Array | None = source
        while array is not None and array.root != copied:
            if not array.covers:
                raise Meaningless("a copy is put back in part")
            array = array.root.parent
        if array is None or not array.covers:
            raise Meaningless("something else than the copy is put back")
        places = tuple(zip(place, last.target.shape, strict=True))
        for one, other in goals:
            if not same(one, other):
                goal: Term = ("=", one, other)
                self.meaning.needs[
                    Need("a copy is put back", self.meaning.path, (), places, goal)
                ] = None
        if not all(copied in _roots(store.target) for store in before):
            raise Meaningless("something is written beside the copy")
        original = replace(copied, copied=0)
        return [replace(store, target=_renamed(store.target, copied, original)) for store in before]

    def _address(self, tensor: Array, buffer: Array, store: Store, flat: bool) -> None:
        """Every element lies at its offset."""
        base = tensor.base
        self._equal("the shape of the tensor", base.shape, self.ground.extents)
        names = {dimension: f"k.{dimension}" for dimension in tensor.order}
        place = tuple(names[dimension] for dimension in tensor.order)
        index = tensor.address(place)
        values = self._values(
            {axis.name: at for axis, at in zip(self.layout.axes, index, strict=True)}
        )
        at = buffer.address(place)
        if flat:
            values = (added(self.ground.start, horner(values, self.ground.box)),)
        places = tuple(zip(place, tensor.shape, strict=True))
        for one, other in zip(values, at, strict=True):
            if not same(one, other):
                goal: Term = ("=", one, other)
                need = Need("an element's place", self.meaning.path, store.choices, places, goal)
                self.meaning.needs[need] = None


def places_read(stores: Sequence[Store]) -> list[Looked]:
    """Return where elements are read from, and in which loops: a place, and what it is part of."""
    return [
        (list(_around(each.source)), each.choices)
        for each in stores
        if isinstance(each.source, Array)
    ]


def _around(array: Array | None) -> Iterator[Places]:
    while array is not None:
        yield Places(array.root, array.box)
        if array.root.parent is None:
            yield Places(array.root, all_of(array.root).box)
        array = array.root.parent


def _roots(array: Array | None) -> Iterator[Root]:
    """The root of an array, and those under it."""
    while array is not None:
        yield array.root
        array = array.root.parent


def _renamed(array: Array, old: Root, new: Root) -> Array:
    """The array with one of the roots under it replaced."""
    root = array.root
    if root == old:
        return replace(array, root=new)
    if root.parent is None:
        return array
    return replace(array, root=replace(root, parent=_renamed(root.parent, old, new)))


def _python(value: float) -> str:
    """A number as `ast.unparse` prints it; infinity and NaN are calls, as Python has no literal."""
    return repr(value) if isfinite(value) else f"float('{value}')"
