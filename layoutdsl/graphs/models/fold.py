"""What of a graph is known before it runs: shapes, what follows from them, weights moved about.

Only what gives the same bits everywhere is computed: elements moved, whole numbers, and arithmetic
of one rounding. What is large is a view of what is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from layoutdsl.graphs.graph import Array, Attribute, Node

MOST_ITEMS = 1 << 34
"""Elements of what is repeated from one."""

MOST_COMPUTED = 1 << 20
"""Elements of what is computed."""

Attributes = Mapping[str, Attribute]
Fold = Callable[[Attributes, Sequence[Array | None]], Array | tuple[Array, ...]]


def folded(node: Node, operands: Sequence[Array | None]) -> tuple[Array, ...] | None:
    """Return what a node makes of constants; ``None`` where that is not known beforehand.

    Args:
        node: of opset 13 or newer.
        operands: for each input; ``None`` for one that is left out.
    """
    fold = _FOLDS.get(node.operator)
    if fold is None or node.opaque:
        return None
    try:
        with np.errstate(all="ignore"):
            found = fold(node.attributes, operands)
    except (ValueError, IndexError, TypeError, KeyError, OverflowError, MemoryError):
        return None  # what cannot be computed is said by whoever runs the graph
    results = found if isinstance(found, tuple) else (found,)
    return results if len(results) >= len([each for each in node.outputs if each]) else None


def folds(node: Node) -> bool:
    """Return whether anything is known of what a node makes of constants."""
    return node.operator in _FOLDS and not node.opaque


def shape_of(node: Node, shape: tuple[int, ...]) -> Array:
    """Return what `Shape` or `Size` says of an operand of known shape."""
    if node.operator == "Size":
        return np.array(prod(shape), np.int64)
    rank = len(shape)
    start, end, _ = slice(_int(node.attributes, "start", 0), node.attributes.get("end")).indices(
        rank
    )
    return np.array(shape[start:end], np.int64)


def _int(said: Attributes, name: str, otherwise: int) -> int:
    found = said.get(name, otherwise)
    if not isinstance(found, int):
        raise TypeError(name)
    return found


def _array(operands: Sequence[Array | None], number: int) -> Array:
    found = operands[number]
    if found is None:
        raise ValueError(number)
    return found


def _constant(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del operands
    kinds: dict[str, type[np.generic]] = {"value_int": np.int64, "value_ints": np.int64}
    kinds |= {"value_float": np.float32, "value_floats": np.float32}
    for name, kind in kinds.items():
        if name in said:
            return np.array(said[name], kind)
    found = said["value"]
    if not isinstance(found, np.ndarray):
        raise TypeError("value")
    return found


def _filled(said: Attributes, operands: Sequence[Array | None]) -> Array:
    shape = tuple(_array(operands, 0).tolist())
    value = said.get("value", np.zeros(1, np.float32))
    if not isinstance(value, np.ndarray) or prod(shape) > MOST_ITEMS:
        raise ValueError(shape)
    return np.broadcast_to(value.reshape(()), shape)


def _expanded(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del said
    array, shape = _array(operands, 0), tuple(_array(operands, 1).tolist())
    whole = np.broadcast_shapes(array.shape, shape)
    if prod(whole) > MOST_ITEMS:
        raise ValueError(shape)
    return np.broadcast_to(array, whole)


def _gathered(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array, picked, axis = _array(operands, 0), _array(operands, 1), _int(said, "axis", 0)
    if picked.size * (array.size // max(array.shape[axis], 1)) > MOST_COMPUTED:
        raise ValueError(axis)
    return np.take(array, picked.astype(np.int64), axis)


def _joined(said: Attributes, operands: Sequence[Array | None]) -> Array:
    arrays = [_array(operands, number) for number in range(len(operands))]
    if sum(each.size for each in arrays) > MOST_COMPUTED:
        raise ValueError("large")
    return np.concatenate(arrays, _int(said, "axis", 0))


def _sliced(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del said
    array, starts, ends = (_array(operands, number) for number in range(3))
    more: list[Array | None] = [*operands[3:], None, None]
    axes = range(len(starts)) if more[0] is None else more[0].tolist()
    steps = [1] * len(starts) if more[1] is None else more[1].tolist()
    where: list[slice] = [slice(None)] * array.ndim
    for axis, start, end, step in zip(axes, starts.tolist(), ends.tolist(), steps, strict=True):
        stop = None if step < 0 and end < -array.shape[axis] else end
        where[axis] = slice(start, stop, step)
    return array[tuple(where)]


def _squeezed(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del said
    array = _array(operands, 0)
    axes = operands[1] if len(operands) > 1 else None
    return np.squeeze(array, None if axes is None else tuple(axes.tolist()))


def _unsqueezed(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del said
    return np.expand_dims(_array(operands, 0), tuple(_array(operands, 1).tolist()))


def _reshaped(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array, shape = _array(operands, 0), _array(operands, 1).tolist()
    if not _int(said, "allowzero", 0):
        shape = [array.shape[k] if each == 0 else each for k, each in enumerate(shape)]
    return array.reshape(shape)


def _flattened(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array, axis = _array(operands, 0), _int(said, "axis", 1)
    axis += array.ndim if axis < 0 else 0
    return array.reshape(prod(array.shape[:axis]), prod(array.shape[axis:]))


def _turned(said: Attributes, operands: Sequence[Array | None]) -> Array:
    perm, array = said.get("perm"), _array(operands, 0)
    axes = [int(each) for each in perm] if isinstance(perm, tuple) else None
    return np.transpose(array, axes)


def _scattered(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array, places, updates = (_array(operands, number) for number in range(3))
    if said.get("reduction", "none") != "none" or array.size > MOST_COMPUTED:
        raise ValueError("large, or rounded")
    rows = places.reshape(-1, places.shape[-1])
    rows = np.where(rows < 0, rows + np.array(array.shape[: rows.shape[1]]), rows)
    if np.any(rows < 0) or len(np.unique(rows, axis=0)) < len(rows):
        raise ValueError("outside, or one place twice, of which nobody says which is the last")
    found = array.copy()
    found[tuple(rows.T)] = updates.reshape(len(rows), *array.shape[rows.shape[1] :])
    return found


def _split(said: Attributes, operands: Sequence[Array | None]) -> tuple[Array, ...]:
    array, axis = _array(operands, 0), _int(said, "axis", 0)
    sizes = operands[1] if len(operands) > 1 else None
    if sizes is None:
        raise ValueError("into equal parts, of which the node says the number")
    return tuple(np.split(array, np.cumsum(sizes)[:-1].tolist(), axis))


def _cast(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array = _array(operands, 0)
    kinds = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}
    if array.size > MOST_COMPUTED:
        raise ValueError("large")
    return array.astype(kinds[_int(said, "to", 0)])


def _range(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del said
    start, limit, delta = (_array(operands, number).reshape(()) for number in range(3))
    if start.dtype.kind != "i" or abs(int(limit) - int(start)) > MOST_COMPUTED * abs(int(delta)):
        raise ValueError("large")
    return np.asarray(np.arange(int(start), int(limit), int(delta))).astype(start.dtype)


def _product(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array = _array(operands, 0)
    axes = operands[1] if len(operands) > 1 else said.get("axes")
    if array.dtype.kind != "i" or array.size > MOST_COMPUTED:
        raise ValueError("rounded")
    keep = bool(_int(said, "keepdims", 1))
    where = None if axes is None else tuple(np.asarray(axes).tolist())
    return np.asarray(np.prod(array, where, array.dtype, keepdims=keep))


def _quotient(one: Array, other: Array) -> Array:
    if one.dtype.kind in "iu":  # towards zero, as in C
        found = np.abs(one) // np.abs(other) * (np.sign(one) * np.sign(other))
        return np.asarray(found, one.dtype)
    return np.divide(one, other)


def _each(compute: Callable[..., Array]) -> Fold:
    def fold(said: Attributes, operands: Sequence[Array | None]) -> Array:
        del said
        arrays = [_array(operands, number) for number in range(len(operands))]
        if prod(np.broadcast_shapes(*(each.shape for each in arrays))) > MOST_COMPUTED:
            raise ValueError("large")
        return np.asarray(compute(*arrays))

    return fold


def _remainder(said: Attributes, operands: Sequence[Array | None]) -> Array:
    one, other = _array(operands, 0), _array(operands, 1)
    if one.dtype.kind not in "iu" or _int(said, "fmod", 0):
        raise ValueError("rounded")
    return np.asarray(np.mod(one, other))


def _extreme(choose: np.ufunc) -> Fold:
    def fold(said: Attributes, operands: Sequence[Array | None]) -> Array:
        del said
        found = _array(operands, 0)
        for number in range(1, len(operands)):
            found = choose(found, _array(operands, number))
        if found.size > MOST_COMPUTED:
            raise ValueError("large")
        return found

    return fold


def _same(said: Attributes, operands: Sequence[Array | None]) -> Array:
    del said
    return _array(operands, 0)


def _to_depth(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array, block = _array(operands, 0), _int(said, "blocksize", 0)
    n, c, h, w = array.shape
    cut = array.reshape(n, c, h // block, block, w // block, block)
    order = (0, 1, 3, 5, 2, 4) if said.get("mode") == "CRD" else (0, 3, 5, 1, 2, 4)
    return cut.transpose(order).reshape(n, -1, h // block, w // block)


def _to_space(said: Attributes, operands: Sequence[Array | None]) -> Array:
    array, block = _array(operands, 0), _int(said, "blocksize", 0)
    n, c, h, w = array.shape
    if said.get("mode") == "CRD":
        cut = array.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        cut = array.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    return cut.reshape(n, c // block**2, h * block, w * block)


_FOLDS: Mapping[str, Fold] = {
    "Constant": _constant,
    "ConstantOfShape": _filled,
    "Expand": _expanded,
    "Identity": _same,
    "Gather": _gathered,
    "Concat": _joined,
    "Slice": _sliced,
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Reshape": _reshaped,
    "Flatten": _flattened,
    "Transpose": _turned,
    "SpaceToDepth": _to_depth,
    "DepthToSpace": _to_space,
    "Split": _split,
    "ScatterND": _scattered,
    "Cast": _cast,
    "Range": _range,
    "ReduceProd": _product,
    "Add": _each(np.add),
    "Sub": _each(np.subtract),
    "Mul": _each(np.multiply),
    "Div": _each(_quotient),
    "Mod": _remainder,
    "Max": _extreme(np.maximum),
    "Min": _extreme(np.minimum),
    "Neg": _each(np.negative),
    "Abs": _each(np.abs),
    "Floor": _each(np.floor),
    "Ceil": _each(np.ceil),
    "Sqrt": _each(np.sqrt),
    "Equal": _each(np.equal),
    "Less": _each(np.less),
    "Greater": _each(np.greater),
    "LessOrEqual": _each(np.less_equal),
    "GreaterOrEqual": _each(np.greater_equal),
    "Not": _each(np.logical_not),
    "And": _each(np.logical_and),
    "Or": _each(np.logical_or),
    "Where": _each(np.where),
}
