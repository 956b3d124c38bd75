"""Nodes as operators of onnxruntime on blocked channels, which its CPU provider has.

Their tensors have the shape `[n, C, h, w]` with the channels rounded up, and the memory of
NCHW16c. Experimental: onnxruntime makes these operators itself and documents none; the block is
what its machine takes, 16 with AVX-512 and 8 without, and a model with another one is wrong without
a message.
Where numbers are infinite, padding of a convolution's result is 0 times infinity, which is no
number, and the next one adds it up: as in models that onnxruntime lays out by itself.

Source: onnxruntime 1.32, core/graph/contrib_ops/nchwc_schema_defs.cc,
contrib_ops/cpu/nchwc_ops.cc, core/optimizer/nchwc_transformer.cc.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from layoutdsl.graphs.emitting.emit_grown import growth
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.physical import Step
from layoutdsl.graphs.graph import Array, Attribute, Node
from layoutdsl.graphs.placings.packing import packed
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written, canonical
from layoutdsl.graphs.placings.reading import placed
from layoutdsl.graphs.variants import Held, Variant
from layoutdsl.language.meaning.model import Layout

BLOCKS = (16, 8)
"""Channels of a block, on one machine or another."""

DOMAIN = "com.microsoft.nchwc"

POOLS = frozenset({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"})

_UNKNOWN = frozenset({"storage_order"})
"""Attributes that mean nothing where there are no indices."""


def block_of(layouts: Iterable[Layout]) -> int:
    """Return the channels of a block of an engine, by its first layout that has blocks.

    Results do not say: eight channels of a single pixel lie like a block of eight, whoever asks.
    """
    for layout in layouts:
        placing = placed(layout, _RAGGED)
        for block in BLOCKS:
            if isinstance(placing, Placing) and blocked(placing, block):
                return block
    return BLOCKS[0]


_RAGGED = (2, 33, 3, 5)
"""A picture whose layout is only that of one block."""


def blocked(placing: Placing, block: int) -> bool:
    """Return whether a value of rank 4 of floats lies as onnxruntime's operators have it."""
    shape = placing.shape
    if len(shape) != 4:
        return False
    whole = -(-shape[1] // block)
    digits = (
        *(Digit(0, 1, shape[0]), Digit(1, block, whole)),
        *(Digit(2, 1, shape[2]), Digit(3, 1, shape[3]), Digit(1, 1, block)),
    )
    return placing.digits == canonical(digits)


def emit_kernel(out: Emitting, node: Node, variant: Variant) -> bool:
    """Add a node as an operator on blocks; false where there is none for it."""
    result = variant.makes[0] if variant.makes else None
    if result is None or any(node.outputs[1:]) or not blocked(result.placing, out.block):
        return False
    if out.graph.values[node.outputs[0]].dtype != np.float32:
        return False
    if node.operator == "Conv":
        return _convolve(out, node, variant, result)
    if node.operator in ("Mul", "Add"):
        return _combine(out, node, variant, result)
    if node.operator == "Concat":
        return _join(out, node, variant, result)
    held = variant.takes[0]
    if held is None or not blocked(held.placing, out.block) or not node.inputs[0]:
        return False
    if node.operator in POOLS:
        source = _take(out, node.inputs[0], held)
        said = {key: each for key, each in node.attributes.items() if key not in _UNKNOWN}
        out.work.append(kernel(node.operator, (source,), _leave(out, node, result), said))
        return True
    if node.operator == "Resize":
        numbers = growth(out, node, held, result)
        if numbers is not None:
            source = _take(out, node.inputs[0], held)
            out.work.append(kernel("Upsample", (source,), _leave(out, node, result), numbers))
        return numbers is not None
    return node.operator == "BatchNormalization" and _normalise(out, node, held, result)


def _convolve(out: Emitting, node: Node, variant: Variant, result: Held) -> bool:
    """A convolution whose weights were laid as its kernel has them."""
    held, weights = variant.takes[0], variant.takes[1]
    bias = variant.takes[2] if len(variant.takes) > 2 else None
    if held is None or weights is None or variant.how != "anchor":
        return False
    if not blocked(held.placing, out.block) and held.placing != as_written(held.placing.shape):
        return False
    source = _take(out, node.inputs[0], held)
    depthwise = weights.placing.shape[1] == 1 and node.attributes.get("group", 1) != 1
    inputs = [source, out.take(node.inputs[1], weights, weights.placing.padded_shape)]
    if bias is not None:
        inputs.append(out.take(node.inputs[2], bias, bias.placing.padded_shape))
    said: dict[str, Attribute] = dict(node.attributes)
    if depthwise:
        said["group"] = weights.placing.padded_shape[0]
    out.work.append(kernel("Conv", tuple(inputs), _leave(out, node, result), said))
    return True


def _join(out: Emitting, node: Node, variant: Variant, result: Held) -> bool:
    """Channels put together: whole blocks, as only the last piece may have padding."""
    held = [each for each in variant.takes if each is not None]
    axis = node.attributes.get("axis", 0)
    if axis not in (1, -3) or len(held) < len(node.inputs):
        return False
    channels = sum(each.placing.padded_shape[1] for each in held)
    fits = channels == result.placing.padded_shape[1]
    if not fits or not all(blocked(each.placing, out.block) for each in held):
        return False
    inputs = tuple(_take(out, *each) for each in zip(node.inputs, held, strict=True))
    out.work.append(Step("Concat", inputs, (_leave(out, node, result),), {"axis": 1}))
    return True


def _normalise(out: Emitting, node: Node, held: Held, result: Held) -> bool:
    """Channels times a number each, and one added: a convolution of each one alone."""
    constants = [out.graph.constants.get(name) for name in node.inputs[1:5]]
    known = [each.astype(np.float64) for each in constants if each is not None]
    epsilon = node.attributes.get("epsilon", 1e-5)
    if len(known) < 4 or not isinstance(epsilon, float) or node.attributes.get("training_mode", 0):
        return False
    scale, bias, mean, variance = known
    with np.errstate(all="ignore"):  # a variance below 0 makes NaN, as it does where the model runs
        factor = scale / np.sqrt(variance + epsilon)
    lane = _number(result)
    weights = _weights(out, node, factor)
    shifts = _channels(out, f"{node.outputs[0]}@shift", bias - mean * factor, lane)
    count = len(out.constants[shifts])
    source = _take(out, node.inputs[0], held)
    inputs = (source, weights, shifts)
    said: dict[str, Attribute] = {"group": count, "kernel_shape": (1, 1)}
    out.work.append(kernel("Conv", inputs, _leave(out, node, result), said, scales=True))
    return True


def _combine(out: Emitting, node: Node, variant: Variant, result: Held) -> bool:
    """A value times a number for each channel, or one added to each: a convolution of each alone.

    The numbers may be known, or for a product be what the graph makes of a single picture.
    """
    adds = node.operator == "Add"
    for one, other in ((0, 1), (1, 0)):
        held, more = variant.takes[one], variant.takes[other]
        if held is None or more is None or held.placing.digits != result.placing.digits:
            continue
        if not _is_a_channel(more.placing.shape, held.placing.shape):
            continue
        lane, count = _number(result), held.placing.padded_shape[1]
        numbers = out.graph.constants.get(node.inputs[other])
        if not np.isfinite(_number(held)) or (numbers is not None and lane and not adds):
            return False
        if numbers is None and (adds or held.placing.shape[0] != 1):
            return False
        if numbers is None:
            inputs: tuple[str, ...] = (out.take(node.inputs[other], more, (count, 1, 1, 1)),)
        elif adds:
            ones = _weights(out, node, np.ones(numbers.size))
            inputs = (ones, _channels(out, f"{node.outputs[0]}@shift", numbers.reshape(-1), lane))
        else:
            inputs = (_weights(out, node, numbers.reshape(-1)),)
        said: dict[str, Attribute] = {"group": count, "kernel_shape": (1, 1)}
        source = _take(out, node.inputs[one], held)
        known = numbers is not None
        made = _leave(out, node, result)
        out.work.append(kernel("Conv", (source, *inputs), made, said, scales=known))
        return True
    return False


def _is_a_channel(own: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether a value broadcasts along all axes of one of rank 4 but channels, which it has."""
    shape = (1,) * (4 - len(own)) + own
    return len(shape) == 4 and shape[1] == whole[1] > 1 and shape[0] == shape[2] == shape[3] == 1


def _number(held: Held) -> int | float | bool:
    return 0 if held.lane is None or held.lane.number is None else held.lane.number


def _weights(out: Emitting, node: Node, numbers: Array) -> str:
    name = _channels(out, f"{node.outputs[0]}@factor", numbers, 0)
    out.constants[name] = out.constants[name].reshape(-1, 1, 1, 1)
    return name


def _channels(out: Emitting, word: str, numbers: Array, fill: int | float | bool) -> str:
    whole = -(-len(numbers) // out.block) * out.block
    name = out.new_name(word)
    placing = Placing(numbers.shape, (Digit(0, 1, whole),))
    out.constants[name] = packed(numbers.astype(np.float32), placing, fill)
    return name


def _take(out: Emitting, value: str, held: Held) -> str:
    return out.take(value, held, held.placing.padded_shape)


def _leave(out: Emitting, node: Node, result: Held) -> str:
    return out.leave(node.outputs[0], result, result.placing.padded_shape)


def kernel(
    operator: str,
    inputs: tuple[str, ...],
    name: str,
    attributes: Mapping[str, Attribute],
    *,
    scales: bool = False,
) -> Step:
    """Return an operator of onnxruntime on blocked channels."""
    return Step(f"{DOMAIN}::{operator}", inputs, (name,), attributes, scales=scales)
