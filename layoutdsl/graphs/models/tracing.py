"""Constants of a model that its batch has a part in, each worked out for every batch.

Each operator is carried out on lines themselves; one whose result would be no line, or depend on
which batch it is, makes what is not known. So what is said here is no guess from some batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import reduce
from itertools import zip_longest
from operator import mul
from typing import Any

import numpy as np

from layoutdsl.graphs.emitting.lines import (
    Line,
    Lines,
    Number,
    Repeated,
    Traced,
    UndecidedError,
    line,
    parts,
)
from layoutdsl.graphs.graph import Array, Node
from layoutdsl.graphs.models.fold import folded, shape_of

INTEGERS = (6, 7)
"""What `Cast` calls whole numbers of 32 and of 64 bits."""


def traced(
    nodes: Iterable[Node], extents: Mapping[str, Lines], known: MutableMapping[str, Array]
) -> dict[str, Traced]:
    """Return the constants of a graph that the batch may have a part in, by their names.

    Args:
        nodes: of the graph, each after those that make its operands, before any was folded.
        extents: of its values.
        known: constants that are the same at every batch; those that follow from them are added.
    """
    found = dict[str, Traced]()
    for node in nodes:
        first = node.inputs[0] if node.inputs else ""
        if node.operator in ("Shape", "Size"):
            shape = _extents(first, extents, found, known)
            made: Traced = None if shape is None else _shape(node, shape)
            _note(found, known, node.outputs[:1], (made,))
            continue
        names = [name for name in node.inputs if name]
        if any(name in found for name in names):
            if all(name in found or name in known for name in names):
                operands = [found[n] if n in found else known.get(n) for n in node.inputs]
                _note(found, known, node.outputs, _carried(node, operands, found))
        elif all(name in known for name in names):
            results = folded(node, [known.get(name) for name in node.inputs]) or ()
            known.update({n: each for n, each in zip(node.outputs, results, strict=False) if n})
    return found


def _note(
    found: MutableMapping[str, Traced],
    known: MutableMapping[str, Array],
    names: Iterable[str],
    made: Iterable[Traced],
) -> None:
    """Keep what a node makes; numbers that no batch has a part in are known like others."""
    for name, each in zip_longest(names, made):
        if not name:
            continue
        if isinstance(each, np.ndarray) and not any(isinstance(n, Line) for n in each.flat):
            known[name] = each.astype(np.int64) if each.dtype.kind == "O" else each
        else:
            found[name] = each


def _extents(
    name: str,
    extents: Mapping[str, Lines],
    found: Mapping[str, Traced],
    known: Mapping[str, Array],
) -> Lines | None:
    if name in found:
        match found[name]:
            case Repeated(own):
                return own
            case None:
                return None
            case array:
                return array.shape
    return known[name].shape if name in known else extents.get(name)


def _shape(node: Node, shape: Lines) -> Traced:
    if node.operator == "Size":
        return _guarded(lambda: _numbers(reduce(mul, shape, 1)))
    places = shape_of(node, tuple(range(len(shape))))
    return _numbers([shape[each] for each in places])


def _numbers(numbers: Number | list[Number]) -> Array:
    """Numbers as an array of objects."""
    found = np.empty(len(numbers) if isinstance(numbers, list) else (), object)
    found[...] = numbers
    return found


def _guarded(make: Callable[[], Traced]) -> Traced:
    try:
        return make()
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return None


def _carried(node: Node, operands: list[Traced], found: Mapping[str, Traced]) -> tuple[Traced, ...]:
    """What a node makes of numbers that have the batch in them."""
    given = [each for name, each in zip(node.inputs, operands, strict=True) if name]
    if any(each is None for each in given):
        return ()
    if node.operator in ("ConstantOfShape", "Expand"):
        return (_guarded(lambda: _repeated(node, operands, found)),)
    if any(
        isinstance(each, Repeated) or each.dtype.kind not in "iubO"
        for each in given
        if each is not None
    ):
        return ()
    arrays: list[Any] = operands
    match node.operator:
        case "Cast" if node.attributes.get("to") in INTEGERS:
            return (arrays[0],)
        case "Div":
            return (_guarded(lambda: np.asarray(_quotients(arrays[0], arrays[1]))),)
        case "ReduceProd":
            return (_guarded(lambda: _product(node, arrays)),)
        case "Range" | "Cast" | "Mod":
            return ()
        case _:
            return tuple(np.asarray(each) for each in folded(node, arrays) or ())


def _repeated(node: Node, operands: list[Traced], found: Mapping[str, Traced]) -> Traced:
    """A constant that is repeated along axes whose extents follow the batch."""
    wanted = operands[-1]
    assert isinstance(wanted, np.ndarray)
    shape = wanted.tolist()
    if node.operator == "ConstantOfShape":
        return Repeated(tuple(shape))
    own = operands[0]
    if not isinstance(own, np.ndarray) or node.inputs[0] in found:
        return None
    lined = list(reversed(list(zip_longest(reversed(own.shape), reversed(shape), fillvalue=1))))
    if any(isinstance(two, Line) and one != 1 for one, two in lined):
        return None
    return Repeated(tuple(two if one == 1 else one for one, two in lined))


def _product(node: Node, arrays: list[Array]) -> Array:
    axes: Any = arrays[1] if len(arrays) > 1 else node.attributes.get("axes")
    if axes is not None and tuple(np.asarray(axes).tolist()) not in ((0,), (-1,)):
        raise UndecidedError("of some axes")
    if arrays[0].ndim != 1:
        raise UndecidedError("of some axes")
    whole = reduce(mul, arrays[0].tolist(), 1)
    return _numbers([whole] if node.attributes.get("keepdims", 1) else whole)


def _quotient(one: Number, other: Number) -> Number:
    """The number that is left without a rest, or of two numbers that which is next to 0."""
    (slope, rest), (more, divisor) = parts(one), parts(other)
    if more or not divisor:
        raise UndecidedError("divided by a batch, or by 0")
    if not slope:
        return abs(rest) // abs(divisor) * (1 if (rest < 0) == (divisor < 0) else -1)
    if slope % divisor or rest % divisor:
        raise UndecidedError("it is divided at some batches only")
    return line(slope // divisor, rest // divisor)


_quotients = np.frompyfunc(_quotient, 2, 1)
