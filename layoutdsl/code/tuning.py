"""Which of several ways to move is the fastest on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from layoutdsl.code.native.compilers import CompilerError as CompilerError
from layoutdsl.code.native.tuning import Tuned as Tuned
from layoutdsl.code.native.tuning import tune_conversion, tune_module
from layoutdsl.code.proved import CheckedModule
from layoutdsl.language.meaning.arguments import TYPE, Kind, expect, integers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from layoutdsl.code.compiling import Compiled
    from layoutdsl.code.converting import Conversion
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.language.meaning.elements import ElementType

USUAL = "float32"
"""Elements of layouts that do not say what they hold."""
MOVES = Kind(
    "what `compile` or `convert` returned",
    lambda value: hasattr(value, "FALLBACK") or hasattr(value, "fallback"),
    lambda value: "compile it first" if hasattr(value, "element_axes") else "",
)


def tune(
    moves: Compiled | Conversion, shape: Sequence[int], dtype: npt.DTypeLike | None = None
) -> tuple[Tuned, ...]:
    """Let the fastest compiled code serve that can be found for shapes like one.

    What is compiled otherwise is what seems to be the fastest. Here up to seven ways to move the
    same are proved, compiled, tried and timed in turns on a tensor of that shape: a few seconds for
    each verb, in which nothing else had better run. The fastest serves from then on in `moves`, if
    it gains 3 % or more, and is kept: it also serves in whatever is compiled of the same layout by
    later processes. It does so for all shapes of a class, those with the same small extents
    (`code/native/classes.py`).

    >>> [each.verb for each in tune(compile(library("NCHW16c"), "native"), (2, 64, 8, 8))]
    ['pack', 'unpack']

    Args:
        moves: what `compile` or `convert` returned.
        shape: of the tensor.
        dtype: of its elements; where it is left out that of the layout, else ``float32``.

    Returns:
        What was found for `pack` and `unpack`, or for the conversion: the seconds of a call before
        and after, and how many ways there were.

    Raises:
        ValueError: there is no such shape; or numpy serves, of which there is one way.
        TypeError: the arguments are of another kind.
        CompilerError: the compiler failed.
    """
    import numpy as np

    expect(moves=(moves, MOVES))
    if dtype is not None:
        expect(dtype=(dtype, TYPE))
    extents = integers(shape, "shape", "an extent for each axis, in order")
    return tuple(_tuned(moves, extents, None if dtype is None else np.dtype(dtype)))


def _tuned(moves: Any, shape: tuple[int, ...], dtype: np.dtype[Any] | None) -> list[Tuned]:
    from layoutdsl.code.coded import QuantisedModule
    from layoutdsl.code.conversion import StraightConversion, TensorConversion
    from layoutdsl.code.native.conversion import NativeConversion
    from layoutdsl.code.native.module import NativeModule
    from layoutdsl.code.stored import BitModule, StoredModule

    match moves:
        case CheckedModule():
            moves.check(shape)
            return _tuned(moves.module, shape, dtype)
        case QuantisedModule():
            return _tuned(moves.codes, shape, dtype)
        case StoredModule():
            return _tuned(moves.items, shape, dtype)
        case BitModule():
            assert moves.layout.bit_of is not None
            return _tuned(moves.items, (*shape, moves.layout.bit_of.bits), None)
        case (
            StraightConversion(native=NativeConversion() as native)
            | TensorConversion(native=NativeConversion() as native)
        ):
            usual = _usual(native.target.element, dtype)
            return _found(tune_conversion(native, shape, usual))
        case TensorConversion():
            both = (_tuned(each, shape, dtype) for each in (moves.first, moves.second))
            verbs = ("unpack", "pack")
            return [
                each for v, some in zip(verbs, both, strict=True) for each in some if each.verb == v
            ]
        case NativeModule():
            usual = _usual(moves.layout.element, dtype)
            return _found(*(tune_module(moves, verb, shape, usual) for verb in ("pack", "unpack")))
    raise ValueError(
        "there is one way that these are moved: of compiled layouts and conversions there are "
        "several, of records and numpy there are not"
    )


def _usual(element: ElementType | None, dtype: np.dtype[Any] | None) -> np.dtype[Any]:
    """The type of the items that are moved."""
    import numpy as np

    if dtype is not None:
        return dtype
    return np.dtype(USUAL if element is None else "{}{}".format(*element.item))


def _found(*found: Tuned | NoCode) -> list[Tuned]:
    """What was found of some verbs; it is refused where nothing was of any."""
    tuned = [each for each in found if isinstance(each, Tuned)]
    for each in found:
        if not tuned and not isinstance(each, Tuned):
            raise ValueError(f"there is one way: {each.reason}")
    return tuned
