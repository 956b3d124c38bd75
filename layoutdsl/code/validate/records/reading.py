"""The functions of one part, read back: what they store where, for one turn of every loop.

The helpers that all such files carry are taken at their word: `load` and `store` read and write a
number of so many bytes, `with_sign` copies the highest of some bits upwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from layoutdsl.code.validate.loops.numbers import Scope
from layoutdsl.code.validate.loops.parsing import Body, C
from layoutdsl.code.validate.records.bits import (
    NARROW,
    WIDE,
    Address,
    Held,
    Number,
    address,
    byte,
    either,
    lowered,
    masked,
    places,
    raised,
    signed,
    trimmed,
)
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.expr import Add, Constant, Expr, Extent, FloorDiv, Index, Mul

MOST_TURNS = 1 << 12
"""Of a loop whose turns are taken one by one."""

ONE_BY_ONE = "j"
"""The loop whose turns are; of the others one stands for all."""

Loops = tuple[tuple[str, Address], ...]
"""Names and counts, the outermost first."""

Group = tuple[Loops, int | None]
"""Loops, and of how many items the last group has to be for a statement to be reached."""

Stores = dict[Group, dict[tuple[str, Address], tuple[Held, ...]]]
"""What the bits of each byte become, by the loops that a store stands in, and by its place."""


@dataclass(frozen=True, slots=True)
class Call:
    """The C of a part's layout: its name, where it reads and writes, the extents it is given."""

    name: str
    arrays: tuple[tuple[str, Address], ...]
    extents: tuple[Address, ...]
    more: tuple[C, ...]


@dataclass(slots=True)
class Read:
    """What a function does: stores, a call, and stores again."""

    before: Stores = field(default_factory=dict)
    call: Call | None = None
    after: Stores = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Around:
    """What names stand for at a place in the text.

    Attributes:
        numbers: by name.
        bits: names of numbers that are read as bits.
        arrays: names of pointers: to which array, and how many bytes on.
        loops: around it.
        rest: as in `Group`.
    """

    numbers: Mapping[str, Expr]
    bits: Mapping[str, Number] = field(default_factory=dict)
    arrays: Mapping[str, tuple[str, Expr]] = field(default_factory=dict)
    loops: Loops = ()
    rest: int | None = None


class Reader:
    """Reads a function, on a machine whose numbers begin with the lowest byte, or the highest."""

    def __init__(self, extents: tuple[str, ...], size: Expr, stem: str, little: bool) -> None:
        """Prepare it.

        Args:
            extents: of the record, in the order of a shape.
            size: items of the part's buffer.
            stem: what the functions of the part's layout begin with.
            little: whether numbers begin with their lowest byte.
        """
        self._extents, self._size, self._stem, self._little = extents, size, stem, little
        self._own: tuple[Expr, ...] = ()
        self._found = Read()

    def read(self, body: Body, arrays: tuple[str, ...]) -> Read:
        """Return what a function does.

        Args:
            body: its statements.
            arrays: its pointers, each an array of its own.

        Raises:
            Meaningless: it has a form that is not known.
        """
        begun = {name: (name, Constant(0)) for name in arrays}
        if body[-1:] != (("return", 0),):
            raise Meaningless("a function does not end with 0")
        self._block(body[:-1], _Around({}, arrays=begun))
        return self._found

    def _block(self, body: Body, around: _Around) -> None:
        names = {*around.numbers, *around.bits, *around.arrays}
        known = set(names)
        for each in body:
            around = self._statement(each, around)
            now = {*around.numbers, *around.bits, *around.arrays}
            match each:
                case ("let" | "array", _, str(name), *_) if name in known:
                    raise Meaningless(f"`{name}` is given twice")
            known |= now

    def _statement(self, each: tuple[Any, ...], around: _Around) -> _Around:
        match each:
            case ("let" | "array", *_) | ("do", ("+=", *_)):
                return self._given(each, around)
            case ("if", "failed", (("return", "failed"),), ()) if self._found.call is not None:
                pass
            case ("if", ("<", "size", 0), (("return", 2),), ()) if "size" in around.numbers:
                pass
            case ("do", ("list", ("cast", "void", "shape"))):
                pass
            case ("do", term):
                self._store(term, around)
            case ("for", ("let", "int64_t", str(name), 0), test, ("p++", again), body):
                self._loop(name, test, again, body, around)
            case ("if", "LITTLE", one, other):
                self._block(one if self._little else other, around)
            case ("if", ("==", ("%", "size", int(group)), int(rest)), body, ()):
                self._rest(group, rest, body, around)
            case ("block", body):
                self._block(body, around)
            case _:
                raise Meaningless(f"a statement of another form: {each[0]}")
        return around

    def _given(self, each: tuple[Any, ...], around: _Around) -> _Around:
        """A name, or one that stands for something else from here on."""
        match each:
            case ("let", "const int64_t", str(name), value):
                found = self._number(value, around)
                return replace(around, numbers={**around.numbers, name: found})
            case ("let", "const uint64_t", str(name), value):
                held = replace(self._bits(value, around), most=WIDE)
                return replace(around, bits={**around.bits, name: held})
            case ("let", "uint8_t * restrict", str(name), value):
                return self._pointer(name, value, around)
            case ("let", "const int", "failed", ("call", str(name), *given)):
                self._called(name, given, around)
                return around
            case ("array", "const int64_t", "own", int(count), ("list", *values)):
                if len(values) == count and not self._own and not around.loops:
                    self._own = tuple(self._number(value, around) for value in values)
                    return around
            case ("do", ("+=", str(name), value)) if name in ("in", "out") and not around.loops:
                array, at = around.arrays.get(name, (name, Constant(0)))
                moved = (array, Add(at, self._number(value, around)))
                return replace(around, arrays={**around.arrays, name: moved})
        raise Meaningless(f"a statement of another form: {each[0]}")

    def _rest(self, group: int, rest: int, body: Body, around: _Around) -> None:
        """Statements for a last group that is not whole: there is one for each that may be."""
        if around.loops or around.rest is not None or not 0 < rest < group:
            raise Meaningless("a test of another form")
        if not self._counts(group):
            raise Meaningless("groups of another size")
        self._block(body, replace(around, rest=rest))

    def _counts(self, group: int) -> bool:
        """Whether whole groups of so many items were walked before."""
        count = address(FloorDiv(self._size, Constant(group)))
        stores = self._stores()
        return any(loops == (("b", count),) for loops, _ in stores)

    def _loop(self, name: str, test: C, again: C, body: Body, around: _Around) -> None:
        match test:
            case ("<", str(tested), count) if tested == again == name:
                most = self._number(count, around)
            case _:
                raise Meaningless("a loop of another form")
        if name in {*around.numbers, *around.arrays, *around.bits}:
            raise Meaningless(f"`{name}` is given twice")
        if name == ONE_BY_ONE:
            if not isinstance(most, Constant) or not 0 <= most.value <= MOST_TURNS:
                raise Meaningless("a loop of too many turns")
            for turn in range(most.value):
                self._block(body, replace(around, numbers={**around.numbers, name: Constant(turn)}))
            return
        loops = (*around.loops, (name, address(most)))
        self._block(
            body, replace(around, numbers={**around.numbers, name: Index(name)}, loops=loops)
        )

    def _number(self, term: C, around: _Around) -> Expr:
        match term:
            case ("[]", "shape", int(number)) if number < len(self._extents):
                return Extent(self._extents[number])
            case ("call", str(name), "own") if name == f"{self._stem}_size" and self._own:
                return self._size
        return Scope(numbers=around.numbers).number(term)

    def _pointer(self, name: str, value: C, around: _Around) -> _Around:
        match value:
            case "scratch":
                at: Expr = Constant(0)
            case ("+", "scratch", more):
                at = self._number(more, around)
            case _:
                raise Meaningless("a pointer of another form")
        return replace(around, arrays={**around.arrays, name: ("scratch", at)})

    def _called(self, name: str, given: list[C], around: _Around) -> None:
        if self._found.call is not None or around.loops or around.rest is not None:
            raise Meaningless("two calls of another function")
        arrays = tuple(
            (around.arrays[each][0], address(around.arrays[each][1]))
            for each in given
            if isinstance(each, str) and each in around.arrays
        )
        more = tuple(each for each in given if each not in around.arrays)
        self._found.call = Call(name, arrays, tuple(map(address, self._own)), more)

    def _stores(self) -> Stores:
        return self._found.before if self._found.call is None else self._found.after

    def _store(self, term: C, around: _Around) -> None:
        match term:
            case ("call", "store", str(name), item, int(width), value) if width in (1, 2, 4, 8):
                at = self._place(name, Mul(self._number(item, around), Constant(width)), around)
                bits = self._bits(value, around).cut(8 * width)
                for number, place in enumerate(places(at[1], width, self._little)):
                    self._put(at[0], place, bits[8 * number : 8 * number + 8], around)
            case ("=", ("[]", str(name), item), value):
                array, place = self._place(name, self._number(item, around), around)
                self._put(array, place, self._bits(value, around).cut(8), around)
            case ("|=", ("[]", str(name), item), value):
                array, place = self._place(name, self._number(item, around), around)
                self._add(array, place, self._bits(value, around).cut(8), around)
            case _:
                raise Meaningless("a store of another form")

    def _put(self, array: str, place: Address, bits: tuple[Held, ...], around: _Around) -> None:
        group = self._stores().setdefault((around.loops, around.rest), {})
        key = (array, place)
        if key in group:
            raise Meaningless("a byte is stored twice")
        group[key] = bits

    def _add(self, array: str, place: Address, bits: tuple[Held, ...], around: _Around) -> None:
        group = self._stores().setdefault((around.loops, around.rest), {})
        key = (array, place)
        was = group.get(key, byte(array, place))
        group[key] = tuple(one | other for one, other in zip(was, bits, strict=True))

    def _place(self, name: str, more: Expr, around: _Around) -> tuple[str, Address]:
        if name not in around.arrays:
            raise Meaningless(f"`{name}` is no array")
        array, at = around.arrays[name]
        return array, address(Add(at, more))

    def _bits(self, term: C, around: _Around) -> Number:
        match term:
            case str(name) if name in around.bits:
                return around.bits[name]
            case ("[]", str(name), item):
                array, at = self._place(name, self._number(item, around), around)
                return Number(byte(array, at), NARROW)
            case ("call", "load", str(name), item, int(width)) if width in (1, 2, 4, 8):
                array, at = self._place(
                    name, Mul(self._number(item, around), Constant(width)), around
                )
                held = (byte(array, each) for each in places(at, width, self._little))
                return Number(tuple(bit for each in held for bit in each), WIDE)
            case ("call", "with_sign", value, int(count)):
                return signed(self._bits(value, around), count)
            case ("|", one, other):
                return either(self._bits(one, around), self._bits(other, around))
            case ("&", value, int(mask)):
                return masked(self._bits(value, around), mask)
            case ("<<", value, int(count)):
                return raised(self._bits(value, around), count)
            case (">>", value, int(count)):
                return lowered(self._bits(value, around), count)
            case ("cast", "uint8_t", value):
                return trimmed(self._bits(value, around).cut(8), NARROW)
            case ("cast", "uint64_t", value):
                return replace(self._bits(value, around), most=WIDE)
        raise Meaningless("bits of another form")
