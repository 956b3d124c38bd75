"""Random graphs of ONNX: channels that fill no block, broadcasts, views, pieces, more outputs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

CHANNELS = (1, 2, 3, 4, 7, 8, 12, 16, 16, 20, 24, 32, 33)
ONE = ("Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Abs", "Neg", "Exp", "Softplus", "Cos")
ONE += (
    "Identity",
    "HardSigmoid",
    "Elu",
    "Erf",
    "Ceil",
    "Sign",
    "Clip",
    "Not",
    "Dropout",
    "Reciprocal",
)
TWO = ("Add", "Sub", "Mul", "Max", "Min", "Div", "PRelu", "Where", "Pow")
FLOAT = TensorProto.FLOAT


class Growing:
    """A graph that grows by one operator at a time.

    Attributes:
        random: what is drawn from.
        shapes: of all values of floats.
        nodes: so far.
    """

    def __init__(self, random: Random, opset: int) -> None:
        self.random, self.opset = random, opset
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.inputs: list[str] = []
        self._rng = np.random.default_rng(random.randrange(1 << 30))

    def name(self, word: str) -> str:
        return f"{word}{len(self.nodes)}_{len(self.weights)}"

    def input(self, shape: tuple[int, ...]) -> None:
        self.inputs.append(f"in{len(self.inputs)}")
        self.shapes[self.inputs[-1]] = shape

    def constant(self, array: Any) -> str:
        name = self.name("w")
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant((self._rng.standard_normal(shape) / 2).astype(np.float32))

    def ints(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def add(self, operator: str, inputs: list[str], shape: tuple[int, ...], **said: Any) -> str:
        name = self.name("v")
        self.nodes.append(helper.make_node(operator, inputs, [name], **said))
        self.shapes[name] = shape
        return name

    def pick(self, *ranks: int) -> str | None:
        """A value of some rank, a late one as a rule."""
        own = [name for name, shape in self.shapes.items() if not ranks or len(shape) in ranks]
        if not own:
            return None
        return own[max(self.random.randrange(len(own)), self.random.randrange(len(own)))]

    def grow(self) -> None:
        """Add one operator."""
        kinds = [*GROWTH, conv, conv, one, two, joined, split, normalised]
        for _ in range(20):
            if self.random.choice(kinds)(self):
                return


def conv(g: Growing) -> bool:
    name = g.pick(4, 4, 3)
    if name is None:
        return False
    n, c, *space = g.shapes[name]
    out, group = g.random.choice(CHANNELS), 1
    match g.random.randrange(5):
        case 0:
            out = group = c
        case 1 if c % 2 == 0:
            group, out = 2, out * 2
    kernel = [g.random.choice((1, 1, 3)) for _ in space]
    strides = [g.random.choice((1, 1, 2)) for _ in space]
    pads = [kernel[k] // 2 for k in range(len(space))]
    if g.random.random() < 0.2 and all(
        each >= size for each, size in zip(space, kernel, strict=True)
    ):
        pads = [0] * len(space)
    after = [
        (e + 2 * p - k) // s + 1 for e, p, k, s in zip(space, pads, kernel, strides, strict=True)
    ]
    inputs = [name, g.weight(out, c // group, *kernel)]
    inputs += [g.weight(out)] * (g.random.random() < 0.6)
    said: dict[str, Any] = {"pads": pads * 2, "strides": strides}
    if group > 1 or g.random.random() < 0.5:
        said["group"] = group
    if g.random.random() < 0.5:
        said["kernel_shape"] = kernel
    g.add("Conv", inputs, (n, out, *after), **said)
    return True


def one(g: Growing) -> bool:
    name = g.pick()
    assert name is not None
    operator, shape = g.random.choice(ONE), g.shapes[name]
    if operator == "HardSwish" and g.opset < 14:
        return False
    match operator:
        case "Clip":
            low = g.constant(np.float32(-1)) if g.random.random() < 0.7 else ""
            g.add("Clip", [name, low, g.constant(np.float32(2))], shape)
        case "Dropout":
            g.add("Dropout", [name, g.constant(np.float32(0.3))], shape)
        case "Not":
            hot = g.add("Greater", [name, g.constant(np.float32(0.1))], shape)
            off = g.add("Not", [hot], shape)
            del g.shapes[hot], g.shapes[off]
            g.add("Cast", [off], shape, to=FLOAT)
        case _:
            g.add(operator, [name], shape)
    return True


def _partner(g: Growing, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Another operand that broadcasts with a value of some shape."""
    same = [name for name, each in g.shapes.items() if each == shape]
    fits = [name for name, each in g.shapes.items() if _broadcast(each, shape) is not None]
    match g.random.randrange(4):
        case 0:
            return (name := g.random.choice(same)), shape
        case 1:
            return (name := g.random.choice(fits)), g.shapes[name]
        case _:
            own = tuple(each if g.random.random() < 0.5 else 1 for each in shape)
            own = own[g.random.randrange(len(own) + 1) :] if g.random.random() < 0.4 else own
            return g.weight(*own), own


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        return None


def two(g: Growing) -> bool:
    name = g.pick()
    assert name is not None
    shape = g.shapes[name]
    if not shape:
        return False
    other, own = _partner(g, shape)
    whole = _broadcast(shape, own)
    operator = g.random.choice(TWO)
    if whole is None or np.prod(whole) > 40_000:
        return False
    inputs = [name, other] if g.random.random() < 0.7 else [other, name]
    match operator:
        case "Pow":
            inputs = [g.add("Abs", [name], shape), g.constant(np.float32(2))]
            whole = shape
        case "PRelu":
            slope = tuple(each if g.random.random() < 0.5 else 1 for each in shape)
            inputs, whole = [name, g.weight(*slope)], shape
        case "Div":
            safe = g.add("Add", [g.add("Abs", [inputs[1]], ()), g.constant(np.float32(1))], ())
            divisor = own if inputs[1] == other else shape
            g.shapes[safe] = divisor
            g.shapes[g.nodes[-2].output[0]] = divisor
            inputs = [inputs[0], safe]
        case "Where":
            hot = g.add("Less", inputs, whole)
            del g.shapes[hot]
            inputs = [hot, *inputs]
    g.add(operator, inputs, whole)
    return True


def joined(g: Growing) -> bool:
    name = g.pick(2, 3, 4, 5)
    if name is None:
        return False
    shape = g.shapes[name]
    axis = 1 if g.random.random() < 0.7 else g.random.randrange(len(shape))
    fits = [
        each
        for each, own in g.shapes.items()
        if len(own) == len(shape)
        and own[:axis] + own[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
    ]
    parts = [name, *(g.random.choice(fits) for _ in range(g.random.randint(1, 2)))]
    if g.random.random() < 0.2:
        own = (*shape[:axis], g.random.choice(CHANNELS), *shape[axis + 1 :])
        parts.append(g.weight(*own))
        extra = own[axis]
    else:
        extra = 0
    total = sum(g.shapes[each][axis] for each in parts if each in g.shapes) + extra
    if total > 80:
        return False
    said = axis if g.random.random() < 0.7 else axis - len(shape)
    g.add("Concat", parts, (*shape[:axis], total, *shape[axis + 1 :]), axis=said)
    return True


def split(g: Growing) -> bool:
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    axis = 1 if g.random.random() < 0.7 else g.random.randrange(len(shape))
    if shape[axis] < 2:
        return False
    first = g.random.choice(
        [each for each in (1, 3, 8, 16, shape[axis] // 2) if each < shape[axis]]
    )
    sizes = (first, shape[axis] - first)
    names = [g.name("v") + "a", g.name("v") + "b"]
    g.nodes.append(helper.make_node("Split", [name, g.ints(*sizes)], names, axis=axis))
    for each, size in zip(names, sizes, strict=True):
        g.shapes[each] = (*shape[:axis], size, *shape[axis + 1 :])
    return True


def sliced(g: Growing) -> bool:
    name = g.pick(2, 3, 4, 5)
    if name is None:
        return False
    shape = list(g.shapes[name])
    axis = g.random.randrange(len(shape))
    start = g.random.choice([0, 0, 8, 16, shape[axis] // 2])
    end = g.random.choice([shape[axis], 1 << 40, start + 8, start + 16, -1])
    step = g.random.choice([1, 1, 1, 2])
    own = range(shape[axis])[slice(start, end, step)]
    if not own:
        return False
    shape[axis] = len(own)
    said = axis if g.random.random() < 0.7 else axis - len(shape)
    g.add("Slice", [name, g.ints(start), g.ints(end), g.ints(said), g.ints(step)], tuple(shape))
    return True


def grown(g: Growing) -> bool:
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    low = [g.random.choice((0, 0, 0, 1, 2)) for _ in shape]
    high = [g.random.choice((0, 0, 1)) for _ in shape]
    more = [g.constant(np.float32(g.random.choice((0, -1.5))))] * (g.random.random() < 0.6)
    after = tuple(a + b + c for a, b, c in zip(shape, low, high, strict=True))
    g.add("Pad", [name, g.ints(*low, *high), *more], after)
    return True


def pooled(g: Growing) -> bool:
    name = g.pick(4, 3)
    if name is None:
        return False
    n, c, *space = g.shapes[name]
    kernel = [min(g.random.choice((2, 3)), each) for each in space]
    strides = [g.random.choice((1, 2)) for _ in space]
    after = [(e - k) // s + 1 for e, k, s in zip(space, kernel, strides, strict=True)]
    operator = g.random.choice(("MaxPool", "AveragePool", "LpPool"))
    g.add(operator, [name], (n, c, *after), kernel_shape=kernel, strides=strides)
    return True


def whole_pooled(g: Growing) -> bool:
    name = g.pick(4, 3)
    if name is None:
        return False
    n, c, *space = g.shapes[name]
    operator = g.random.choice(
        ("GlobalAveragePool", "GlobalMaxPool", "InstanceNormalization", "LRN")
    )
    match operator:
        case "InstanceNormalization":
            if np.prod(space) < 2:
                return False
            g.add(operator, [name, g.weight(c), g.weight(c)], g.shapes[name])
        case "LRN":
            if len(space) != 2:
                return False
            g.add(operator, [name], g.shapes[name], size=3)
        case _:
            g.add(operator, [name], (n, c, *(1 for _ in space)))
    return True


def normalised(g: Growing) -> bool:
    name = g.pick(4, 3, 2)
    if name is None:
        return False
    c = g.shapes[name][1]
    variance = g.constant(np.abs(g._rng.standard_normal(c)).astype(np.float32) + np.float32(0.5))
    inputs = [name, g.weight(c), g.weight(c), g.weight(c), variance]
    g.add("BatchNormalization", inputs, g.shapes[name], epsilon=1e-3)
    return True


def summed(g: Growing) -> bool:
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, 2)))
    keep = g.random.randrange(2)
    after = tuple(1 if k in axes else each for k, each in enumerate(shape) if keep or k not in axes)
    operator = g.random.choice(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"))
    said = [each - len(shape) if g.random.random() < 0.3 else each for each in axes]
    if operator == "ReduceSum" or g.opset >= 18:
        g.add(operator, [name, g.ints(*said)], after, keepdims=keep)
    else:
        g.add(operator, [name], after, axes=said, keepdims=keep)
    return True


def turned(g: Growing) -> bool:
    name = g.pick(2, 3, 4, 5)
    if name is None:
        return False
    shape = g.shapes[name]
    order = g.random.sample(range(len(shape)), len(shape))
    if len(shape) == 4 and g.random.random() < 0.6:
        order = list(g.random.choice(((0, 2, 3, 1), (0, 3, 1, 2))))
    g.add("Transpose", [name], tuple(shape[k] for k in order), perm=order)
    return True


def reshaped(g: Growing) -> bool:
    name = g.pick(2, 3, 4, 5)
    if name is None:
        return False
    shape = g.shapes[name]
    match g.random.randrange(5):
        case 0:
            after = (shape[0], int(np.prod(shape[1:])))
            g.add("Flatten", [name], after)
        case 1 if len(shape) == 4 and shape[1] % 2 == 0:  # a shuffle of channels
            n, c, h, w = shape
            cut = g.add("Reshape", [name, g.ints(n, 2, c // 2, h, w)], (n, 2, c // 2, h, w))
            order = g.add("Transpose", [cut], (n, c // 2, 2, h, w), perm=[0, 2, 1, 3, 4])
            g.add("Reshape", [order, g.ints(0, -1, h, w)], shape)
        case 2:
            axis = g.random.randrange(len(shape) + 1)
            g.add("Unsqueeze", [name, g.ints(axis)], (*shape[:axis], 1, *shape[axis:]))
        case 3 if 1 in shape and len(shape) > 2:
            axis = shape.index(1)
            g.add("Squeeze", [name, g.ints(axis)], (*shape[:axis], *shape[axis + 1 :]))
        case _ if len(shape) == 4:
            n, c, h, w = shape
            g.add("Reshape", [name, g.ints(n, c, h * w)], (n, c, h * w))
        case _:
            return False
    return True


READ = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")

NEAREST = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
"""Of Resize: where it reads, and which of the elements there it takes."""


def resized(g: Growing) -> bool:
    name = g.pick(4)
    if name is None:
        return False
    n, c, h, w = g.shapes[name]
    if max(h, w) > 9:
        return False
    said = {
        "mode": g.random.choice(("nearest", "linear")),
        "coordinate_transformation_mode": g.random.choice(READ),
        "nearest_mode": g.random.choice(NEAREST),
    }
    factors = [1, 1, *(g.random.choice((1, 1.5, 2, 2.25, 3)) for _ in "hw")]
    made = [int(extent * factor) for extent, factor in zip((n, c, h, w), factors, strict=True)]
    nothing = "" if h % 2 else g.constant(np.zeros(0, np.float32))
    if g.random.random() < 0.3:
        operands = [name, nothing, nothing, g.ints(*made)]
    else:
        operands = [name, nothing, g.constant(np.array(factors, np.float32))]
    g.add("Resize", operands, tuple(made), **said)
    return True


def along(g: Growing) -> bool:
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    axis = g.random.randrange(-len(shape), len(shape))
    if g.random.random() < 0.3 and g.opset >= 17:
        inputs = [name, g.weight(shape[-1]), g.weight(shape[-1])]
        g.add("LayerNormalization", inputs, shape, axis=-1)
    else:
        g.add(g.random.choice(("Softmax", "LogSoftmax")), [name], shape, axis=axis)
    return True


def product(g: Growing) -> bool:
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape, out = g.shapes[name], g.random.choice(CHANNELS)
    if len(shape) == 2 and g.random.random() < 0.6:
        turn = g.random.randrange(2)
        weight = g.weight(out, shape[1]) if turn else g.weight(shape[1], out)
        more = [g.weight(out)] * (g.random.random() < 0.7)
        g.add("Gemm", [name, weight, *more], (shape[0], out), transB=turn)
    else:
        g.add("MatMul", [name, g.weight(shape[-1], out)], (*shape[:-1], out))
    return True


def gathered(g: Growing) -> bool:
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    axis = g.random.randrange(len(shape))
    if g.random.random() < 0.5:
        indices, own = g.constant(np.int64(shape[axis] - 1)), ()
    else:
        own = (3,)
        indices = g.ints(*(g.random.randrange(-shape[axis], shape[axis]) for _ in range(3)))
    g.add("Gather", [name, indices], (*shape[:axis], *own, *shape[axis + 1 :]), axis=axis)
    return True


def picked(g: Growing) -> bool:
    """GatherND by as many of the first axes as an index has numbers, and GatherElements."""
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    if g.random.random() < 0.5:
        axis = g.random.randrange(len(shape))
        own = (*shape[:axis], g.random.randint(1, 5), *shape[axis + 1 :])
        indices = g._rng.integers(-shape[axis], shape[axis], own)
        said = axis if g.random.random() < 0.7 else axis - len(shape)
        g.add("GatherElements", [name, g.constant(indices)], own, axis=said)
        return True
    batch = 1 if g.random.random() < 0.3 else 0
    count = g.random.randint(1, len(shape) - batch - (len(shape) > 1 + batch))
    rows = (*shape[:batch], *((3,) if g.random.random() < 0.7 else (2, 1)))
    indices = np.stack(
        [g._rng.integers(-each, each, rows) for each in shape[batch : batch + count]], axis=-1
    )
    after = (*rows, *shape[batch + count :])
    g.add("GatherND", [name, g.constant(indices)], after, batch_dims=batch)
    return True


def unpooled(g: Growing) -> bool:
    """The largest of four and where they are, and those put back."""
    name = g.pick(4)
    if name is None:
        return False
    n, c, h, w = shape = g.shapes[name]
    if h % 2 or w % 2:
        return False
    said = {"kernel_shape": [2, 2], "strides": [2, 2]}
    made, places = f"{g.name('v')}m", f"{g.name('v')}i"
    g.nodes.append(helper.make_node("MaxPool", [name], [made, places], **said))
    g.shapes[made] = (n, c, h // 2, w // 2)
    g.add("MaxUnpool", [made, places], shape, **said)
    return True


def spaced(g: Growing) -> bool:
    name = g.pick(4)
    if name is None:
        return False
    n, c, h, w = g.shapes[name]
    if c % 4 == 0 and g.random.random() < 0.5:
        mode = g.random.choice(("DCR", "CRD"))
        g.add("DepthToSpace", [name], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=mode)
    elif h % 2 == 0 and w % 2 == 0 and c <= 16:
        g.add("SpaceToDepth", [name], (n, 4 * c, h // 2, w // 2), blocksize=2)
    else:
        return False
    return True


def quantised(g: Growing) -> bool:
    name = g.pick(4, 2)
    if name is None:
        return False
    shape = g.shapes[name]
    if g.random.random() < 0.5 and len(shape) == 4:
        scale = g.constant(
            np.abs(g._rng.standard_normal(shape[1])).astype(np.float32) + np.float32(0.01)
        )
        zero = g.constant(np.zeros(shape[1], np.int8))
        said = {"axis": 1}
    else:
        scale, zero = g.constant(np.float32(0.05)), g.constant(np.uint8(g.random.choice((0, 128))))
        said = {}
    if not said and g.random.random() < 0.4:
        codes, scale, zero = (f"{g.name('v')}{each}" for each in "qsz")
        g.nodes.append(helper.make_node("DynamicQuantizeLinear", [name], [codes, scale, zero]))
        g.add("DequantizeLinear", [codes, scale, zero], shape)
        return True
    codes = g.add("QuantizeLinear", [name, scale, zero], shape, **said)
    del g.shapes[codes]
    g.add("DequantizeLinear", [codes, scale, zero], shape, **said)
    return True


GROWTH: tuple[Callable[[Growing], bool], ...] = (
    conv, one, two, joined, split, sliced, grown, pooled, whole_pooled, normalised, summed, turned,
    reshaped, resized, along, product, gathered, picked, unpooled, spaced, quantised,
)  # fmt: skip


def random_model(seed: int) -> Any:
    """A model that onnx's checker takes; the same for the same seed."""
    random = Random(seed)
    g = Growing(random, random.choice((13, 17, 18, 21)))
    space = [random.randint(1, 8) for _ in range(random.choice((2, 2, 2, 2, 1)))]
    g.input((random.choice((1, 1, 2)), random.choice(CHANNELS), *space))
    if random.random() < 0.2:
        g.input((1, random.choice(CHANNELS), *space))
    conv(g)
    for _ in range(random.randint(2, 14)):
        g.grow()
    used = {name for node in g.nodes for name in node.input}
    for name in [each for each, shape in g.shapes.items() if each not in used and len(shape) == 4]:
        if random.random() < 0.7:  # what lies between two of them is worth another layout
            n, c, h, w = g.shapes[name]
            out = random.choice(CHANNELS)
            g.add("Conv", [name, g.weight(out, c, 1, 1), g.weight(out)], (n, out, h, w))
    return _model(g)


def _model(g: Growing) -> Any:
    used = {name for node in g.nodes for name in node.input}
    ends = [name for name in g.shapes if name not in used and name not in g.inputs]
    made = [name for name in g.shapes if name in used and name not in g.inputs]
    outputs = ends + [each for each in made if g.random.random() < 0.1]
    infos = [helper.make_tensor_value_info(name, FLOAT, g.shapes[name]) for name in g.inputs]
    wanted = [helper.make_tensor_value_info(name, FLOAT, g.shapes[name]) for name in outputs]
    graph = helper.make_graph(g.nodes, "random", infos, wanted, g.weights)
    opsets = [helper.make_opsetid("", g.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)
