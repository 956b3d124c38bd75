"""From one packed layout straight to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

from layoutdsl.code.buffers import Buffers
from layoutdsl.code.compiling import compile as compile_
from layoutdsl.code.emitting import validated
from layoutdsl.code.modules import (
    CompileTarget,
    can_compile,
    expect_target,
    failing,
    numpy_serves,
    unchecked,
)
from layoutdsl.code.moves import Fallback
from layoutdsl.code.proved import CheckedConversion, require_proved
from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate.shelf import find_layout_or_record
from layoutdsl.language.meaning.arguments import FLAG, expect
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.matching import Crossed, matched
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import RECORD, Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from layoutdsl.code import EmittedModule
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native.conversion import NativeConversion
    from layoutdsl.code.native.program import EmittedProgram
    from layoutdsl.code.record_conversion import RecordConversion
    from layoutdsl.language.offsets.axes import Axes


class Conversion(Protocol):
    """Code that turns buffers of one layout into buffers of another; `convert` returns one.

    >>> to_nhwc: Conversion = convert("NCHW16c", "NHWC")
    >>> to_nhwc(np.zeros((2, 2, 3, 4, 16)), (2, 20, 3, 4)).shape
    (2, 3, 4, 20)
    """

    @property
    def fallback(self) -> str | None:
        """Why numpy unpacks the tensor and packs it again; ``None`` where it converts directly."""

    def __call__(
        self, src: Any, shape: Sequence[int], out: Any = None, fill: Any = None, threads: int = 1
    ) -> NDArray[Any]:
        """Return the buffer of the second layout for a buffer of the first.

        Args:
            src: a buffer of the first layout, in its shape or flat; padding is not read.
            shape: the extents of the tensor, in the axis order of the first layout.
            out: the buffer to write, which does not overlap `src`; new if left out.
            fill: the number in padding; that of the second layout if left out.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """


@overload
def convert(
    source: Record,
    target: Record,
    axes: None = None,
    *,
    compiled: CompileTarget = "auto",
    validate: bool = True,
    unproved: bool = False,
) -> RecordConversion: ...


@overload
def convert(
    source: Layout | str,
    target: Layout | str,
    axes: Axes | None = None,
    *,
    compiled: CompileTarget = "auto",
    validate: bool = True,
    unproved: bool = False,
) -> Conversion: ...


def convert(
    source: Layout | Record | str,
    target: Layout | Record | str,
    axes: Axes | None = None,
    *,
    compiled: CompileTarget = "auto",
    validate: bool = True,
    unproved: bool = False,
) -> Conversion | RecordConversion:
    """Return what turns buffers of one layout into those of another, without the tensor between.

    >>> to_nhwc = convert("NCHW16c", "NHWC")
    >>> to_nhwc(np.zeros((2, 2, 3, 4, 16)), (2, 20, 3, 4)).shape
    (2, 3, 4, 20)

    It takes a buffer, the shape of the tensor in the axis order of the first layout, and ``out``,
    ``fill`` and ``threads`` as `pack` does. What it does was proved to be what `unpack` and then
    `pack` do, for every shape that both layouts have. Where two layouts have no common digits, or
    that is not proved, numpy unpacks the tensor and packs it again, and ``fallback`` says why.

    Of a layout that holds copies of its elements the first are read, and all are written.

    Of two records it takes and returns bytes: their fields are matched by name.

    Args:
        source: the layout or record of what is read, without open parameters; or its name in the
            library.
        target: that of what is written.
        axes: which axes of ``target`` are which of ``source``: ``"n=b, h=y"``, or all of them in
            order, ``"b, c, y, x"``. Left out, by name where the names are the same, else by order
            if no name is that of another axis.
        compiled: ``auto``, ``native`` or ``numpy``, as for `compile`.
        validate: with `False` code is run without having been read back.
        unproved: also convert undecided layouts. Each call then checks at its shape, before it
            writes, that no two elements share a slot and none leaves its buffer.

    Raises:
        RefusedError: a layout is refuted.
        UnprovedError: a layout is undecided.
        UnvalidatedError: it was not shown that the code does what a layout means.
        CompilerError: ``native`` was asked for, and there is no C compiler or no `cffi`; says how
            to get them. Where a compiler fails, the calls that need it raise the same.
        ValueError: the layouts take different tensors, or hold elements of different types, or
            ``axes`` names what there is not.
    """
    expect_target("compiled", compiled)
    expect(validate=(validate, FLAG), unproved=(unproved, FLAG))
    source = find_layout_or_record(source, "source")
    target = find_layout_or_record(target, "target")
    if isinstance(source, Record) or isinstance(target, Record):
        return _of_records(source, target, compiled, validate, unproved)
    for each in (source, target):
        if each.bit_of is not None:
            words = f"`{each.name}` places the bits of its elements, which are moved as they are"
            raise ValueError(f"{words}: unpack with `compile` of one, and pack with the other")
    return _conversion(*_over_same_axes(source, target, axes), compiled, validate, unproved)


def _over_same_axes(source: Layout, target: Layout, axes: Axes | None) -> tuple[Layout, Layout]:
    """Both layouts over the axes of the first, in the shapes that both have, of one type.

    Of the first only the first copies of elements are read; axes of copies of the second are its
    own.
    """
    source = source.first_copy
    from layoutdsl.language.offsets.axes import Unpaired, over_same_axes, pairing, with_copies_of

    names = f"`{source.name}` and `{target.name}`"
    written = target.first_copy
    if source.rank != written.rank:
        ranks = f"{source.rank} and {written.rank} axes"
        raise ValueError(f"{names} take tensors of different ranks: they have {ranks}")
    if axes is None:
        _refuse_crossed(source, written)
    chosen = pairing(source, written, axes)
    try:
        pair = over_same_axes(*with_copies_of(source, target, chosen))
    except Unpaired as reason:
        raise ValueError(f"{names} take different tensors: {reason}") from None
    element = _common_type(source, target)
    one, other = (
        replace(each, where=pair.where, element=element, interface=None)
        for each in (pair.one.first_copy, pair.other)
    )
    return one, other


def _common_type(source: Layout, target: Layout) -> ElementType | None:
    one, other = source.element, target.element
    if one is not None and other is not None and one != other:
        names = f"`{source.name}` is of {one.name}, and `{target.name}` of {other.name}"
        raise ValueError(f"{names}: elements are moved as they are")
    return one or other


def _refuse_crossed(source: Layout, target: Layout) -> None:
    """Raise where to go by order would take an axis for one of another name, which both have."""
    found = matched([axis.name for axis in target.axes], [axis.name for axis in source.axes])
    if isinstance(found, Crossed):
        one, other = (place + 1 for place in reversed(found.places))
        crossed = f"`{found.name}` is axis {one} of `{source.name}`, and {other} of `{target.name}`"
        order = ", ".join(axis.name for axis in target.axes)
        raise ValueError(f"{crossed}: say which axes are which; by their order, axes='{order}'")


@cache
def _conversion(
    source: Layout, target: Layout, compiled: CompileTarget, validate: bool, unproved: bool
) -> Conversion:
    pair = source, target
    found = [(each, require_proved(each, unproved=unproved)) for each in pair]
    undecided = [layout for layout, checked in found if checked.status == "undecided"]
    conversion = _unchecked(source, target, compiled, validate)
    return cast("Conversion", CheckedConversion(undecided, conversion)) if undecided else conversion


def _unchecked(
    source: Layout, target: Layout, compiled: CompileTarget, validate: bool
) -> Conversion:
    from layoutdsl.code import load
    from layoutdsl.code.arrays import generate_conversion
    from layoutdsl.code.conversion import StraightConversion, TensorConversion

    compiles = can_compile(compiled)
    texts = declaration(source), declaration(target)
    emitted: EmittedModule | Fallback = Fallback(f"`{target.name}` holds copies of elements")
    if not target.copies:
        emitted = generate_conversion(source, target, texts=texts)
    if validate and not isinstance(emitted, Fallback):
        emitted = _validated(source, target, emitted, texts)
    if isinstance(emitted, Fallback):
        first, second = (unchecked(each, compiled, validate, True) for each in (source, target))
        native = None
        if compiles and not source.domain and not target.domain and not target.copies:
            from layoutdsl.code.loops.trees import goes_by_the_tensor

            if not goes_by_the_tensor(source, target):
                native = _native(source, target, compiled, validate, is_straight=False)
        return TensorConversion(first, second, emitted.reason, native)
    plain = load(emitted)
    native = None
    if compiles:
        native = _native(source, target, compiled, validate, is_straight=True)
    return StraightConversion(plain, Buffers(source), Buffers(target), native)


def _native(
    source: Layout,
    target: Layout,
    compiled: CompileTarget,
    validate: bool,
    *,
    is_straight: bool,
) -> NativeConversion:
    """Return the compiled conversion; NumPy has one too if it `is_straight`."""
    from layoutdsl.code.loops.moves import Move
    from layoutdsl.code.native.conversion import NativeConversion
    from layoutdsl.code.native.libraries import Emitter, Libraries

    name = f"{source.name}_to_{target.name}"

    def make(move: Move, width: int, rank: int) -> EmittedProgram | NoCode:
        from layoutdsl.code.native.program import conversion_c

        return conversion_c(name, move, width, rank)

    libraries = Libraries(
        name,
        {"convert": Move(source, target)},
        Emitter(make, validated if validate else None),
        lambda found: numpy_serves(compiled, found.reason) if is_straight else None,
        waits=compiled == "native",
    )
    return NativeConversion(Buffers(source), Buffers(target), libraries, failing(compiled))


def _validated(
    source: Layout, target: Layout, emitted: EmittedModule, texts: tuple[str, str]
) -> EmittedModule | Fallback:
    from layoutdsl.code.arrays.head import stamped
    from layoutdsl.code.validate.arrays import validate_conversion
    from layoutdsl.code.validate.outcome import NotValidated

    found = validate_conversion(emitted.text, source, target, texts=texts)
    if isinstance(found, NotValidated):
        return Fallback(f"no straight way is proved: {found.reason}")
    return replace(emitted, text=stamped(emitted.text, found.seal))


def _of_records(
    source: Layout | Record,
    target: Layout | Record,
    compiled: CompileTarget,
    validate: bool,
    unproved: bool,
) -> RecordConversion:
    """What turns buffers of one record into those of another, field by field.

    Raises:
        TypeError: one of the two is no record.
        ValueError: they do not have the same fields.
    """
    from layoutdsl.code.record_conversion import RecordConversion

    expect(source=(source, RECORD), target=(target, RECORD))
    assert isinstance(source, Record)
    assert isinstance(target, Record)
    one, two = (
        compile_(each, compiled, validate=validate, unproved=unproved) for each in (source, target)
    )
    return RecordConversion(one, two)
