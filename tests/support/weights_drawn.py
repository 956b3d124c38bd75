"""Files of weights that nobody chose, rules for them, and what has to come of it: plain integers.

A tensor is bytes and a shape here. Where each item goes is asked of `Layout.offset_at`, item by
item; no code of ours that moves anything is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from random import Random

from weight_files import write

import layoutdsl
from layoutdsl import Layout, TooLittleError, pack_weights
from layoutdsl.files.weights.form import Wanted
from layoutdsl.files.weights.forms import form_named
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, FillValue

# A name of tensors, their rule, their types, and the most that each extent is.
RULES = {
    "tiles": ("Tiles", ("f16", "bf16", "u8", "f8e4m3"), (19, 33)),
    "columns": ("(n, k) = [k, n]", ("f32", "i16", "bool", "e8"), (20, 31)),
    "late": ("(n, k) = [n, k/4, k%4] offset 5 fill 3", ("i32", "u8", "u64", "i8"), (17, 21)),
    "minus": ("(n, k) = [k/8, n, k%8] fill -1", ("i8", "i64", "i16", "i32"), (9, 30)),
    "joined": ("(n, k) = [(n, k)%3, (n, k)/3]", ("u16", "f16", "f32"), (11, 13)),
    "swizzled": ("(h, w: 4) = [h, w ^ h%4]", ("u8", "f16", "u32"), (23, 4)),
    "deep": ("(a, b, c) = [c/3, a, b/2, c%3, b%2] fill any", ("bf16", "u8", "f64"), (5, 6, 8)),
    "row": ("(a) = [a/16, a%16] fill 7", ("u8", "i32", "u16"), (90,)),
    "even": ("(n, k) = [n/2, k, n%2] where N%2 == 0", ("f16", "u8", "f8e5m2"), (10, 14)),
    "nibbles": ("(k, n) = [k/8, n, k%8] of u4 fill 9", ("u8",), (20, 12)),
    "copied": ("(n, k, twice: 2 broadcast) = [n/4, twice, k, n%4]", ("f16", "u8"), (13, 17)),
    "spread": ("(n, k, again: N broadcast) = [again, k/4, n, k%4] fill 1", ("u8", "i32"), (6, 9)),
    "bits": ("(n, k) = [n/3, bit, k/8, n%3, k%8] of u4", ("u8",), (10, 12)),
    "planes": ("(k) = [bit, k/8, k%8] of f16", ("f16",), (70,)),
    "doubled": (
        "(n, k, twice: 2 broadcast) = [bit, n/3, k/4, twice, n%3, k%4] of u4",
        ("u8",),
        (9, 8),
    ),
    "repeated": (
        "(k, again: K broadcast) = [again/2, k/8, bit, again%2, k%8] of f8",
        ("f8",),
        (19,),
    ),
    "kept": ("keep", ("f16", "i64", "bf16", "f8"), (20, 20)),
}
TEXT = "layout Tiles(n, k) = [n/4, k/8, n%4, k%8]\n" + "".join(
    f"layout {kind.title()}{body}\n" for kind, (body, _, _) in RULES.items() if body[0] == "("
)
"""All of them by names too: a layout is proved once for each name that it goes by."""


@dataclass(frozen=True)
class Tensor:
    """A tensor: its kind is a key of `RULES`, or nothing where there is no rule."""

    name: str
    kind: str
    type: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def width(self) -> int:
        return ELEMENT_TYPES[self.type].item[1]


@dataclass(frozen=True)
class Case:
    """A file of weights, and rules for it."""

    form: str
    tensors: tuple[Tensor, ...]
    rules: str

    def write(self, place: Path) -> None:
        """Put the file there."""
        wanted = [Wanted(t.name, t.type, None, t.shape, len(t.data)) for t in self.tensors]
        arranged = form_named(self.form).arrange(None, wanted, "")
        write(place, arranged, [t.data for t in self.tensors])

    def want(self) -> dict[str, bytes]:
        """The bytes that each tensor has to become."""
        rules = layoutdsl.parse(TEXT + self.rules).rules
        found = {}
        for each in self.tensors:
            rule = next((rule for rule in rules if rule.fits(each.name)), None)
            layout = None if rule is None else rule.layout
            found[each.name] = each.data if layout is None else placed(each, layout)
        return found


def placed(tensor: Tensor, layout: Layout) -> bytes:
    """The buffer of a tensor, item by item."""
    if layout.bit_of is not None:
        return bits_placed(tensor, layout)
    width, values = tensor.width, layout.bind(tensor.shape)
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    item = (fill % (1 << 8 * width)).to_bytes(width, "little")
    buffer = [item] * layout.size(tensor.shape)
    for number, index in enumerate(product(*map(range, tensor.shape))):
        for slot in slots_of(layout, tensor.shape, values, index):
            buffer[slot] = tensor.data[number * width : (number + 1) * width]
    return b"".join(buffer)


def bits_placed(tensor: Tensor, layout: Layout) -> bytes:
    """The buffer of a tensor whose bits are placed one by one."""
    assert layout.bit_of is not None
    shape, whole = (*tensor.shape, layout.bit_of.bits), 0
    for index in product(*map(range, shape)):
        number = 0
        for extent, each in zip(tensor.shape, index, strict=False):
            number = number * extent + each
        item = tensor.data[number * tensor.width : (number + 1) * tensor.width]
        bit = int.from_bytes(item, "little") >> index[-1] & 1
        for slot in layout.slots(index, shape):
            whole |= bit << slot
    return whole.to_bytes(-(-layout.size(shape) // 8), "little")


def element_of_bit(tensor: Tensor, layout: Layout, slot: int) -> tuple[int, ...] | None:
    """The element one bit of which is in a slot; nothing where it is padding."""
    assert layout.bit_of is not None
    shape = (*tensor.shape, layout.bit_of.bits)
    for index in product(*map(range, shape)):
        if slot in layout.slots(index, shape):
            return index[:-1]
    return None


def index_of(tensor: Tensor, layout: Layout, slot: int) -> tuple[int, ...] | None:
    """The element in a slot; nothing where it is padding."""
    values = layout.bind(tensor.shape)
    for index in product(*map(range, tensor.shape)):
        if slot in slots_of(layout, tensor.shape, values, index):
            return index
    return None


def slots_of(
    layout: Layout, shape: tuple[int, ...], values: dict[str, int], index: tuple[int, ...]
) -> tuple[int, ...]:
    """Every slot of an element."""
    if layout.copies:
        return layout.slots(index, shape)
    names = [axis.name for axis in layout.axes]
    return (layout.offset_at(values | dict(zip(names, index, strict=True))),)


def drawn(draw: Random, forms: tuple[str, ...] = ("safetensors", "npz", "gguf", "onnx")) -> Case:
    """Return some weights."""
    kinds = draw.sample(sorted(RULES), draw.randint(1, 5))
    tensors, rules = list[Tensor](), list[str]()
    for kind in kinds:
        body, types, most = RULES[kind]
        names = [f"model.{n}.{kind}" for n in range(draw.randint(1, 3))]
        pattern = draw.choice((f"**.{kind}", f"model.*.{kind}", f"m*.*.{kind}", f"**{kind}"))
        by_name = body if body[0] != "(" else kind.title()
        inline = kind == "row" or draw.random() < 0.05
        rules.append(f'tensor "{pattern}"{body if inline and body[0] == "(" else f" = {by_name}"}')
        tensors += [_tensor(draw, name, kind, types, most) for name in names]
    if draw.random() < 0.5:
        tensors.append(_tensor(draw, "other", "", ("f32", "u8"), (30,)))
    if draw.random() < 0.3:
        tensors.append(_tensor(draw, "scalar", "", ("f32",), ()))
    draw.shuffle(tensors)
    draw.shuffle(rules)
    return Case(draw.choice(forms), tuple(tensors), "\n".join(rules))


def _tensor(
    draw: Random, name: str, kind: str, types: tuple[str, ...], most: tuple[int, ...]
) -> Tensor:
    type_ = draw.choice(types)
    shape = tuple(draw.randint(1, each) for each in most)
    if kind == "swizzled":
        shape = (shape[0], 4)
    if kind == "even":
        shape = (2 * shape[0], shape[1])
    if kind in ("", "kept") and draw.random() < 0.2:
        shape = (0, *shape[1:]) if shape else shape
    data = draw.randbytes(prod(shape) * ELEMENT_TYPES[type_].item[1])
    if kind in ("nibbles", "bits", "doubled"):
        data = bytes(each & 15 for each in data)
    if type_ == "bool":
        data = bytes(each & 1 for each in data)
    return Tensor(name, kind, type_, shape, data)


TWICE = "layout Twice(k, n, twice: 2 broadcast) = [n/5, twice, k, n%5 : 8] of u4 fill 5"
PLANES = "layout Planes(k, n, thrice: 3 broadcast) = [k/8, bit, thrice, n, k%8] of u4"
PADDED = "layout Padded(k, n) = [n/40, k/6, k%6, n%40] of u4 fill 5"


def of_words(draw: Random) -> tuple[Layout, Layout, tuple[int, ...]]:
    """Two layouts of four bits, and a shape of both."""
    names = draw.sample(("AwqWeights", "GptqWeights", "MarlinWeights"), 2)
    one, other = map(layoutdsl.library, names)
    if draw.random() < 0.5:
        text = draw.choice((PADDED, TWICE, PLANES))
        other = layoutdsl.parse(text)[text.split()[1].split("(")[0]]
    shape = (16 * draw.randint(1, 3), 64 * draw.randint(1, 2))
    return one, other, shape


def placed_bits(layout: Layout, shape: tuple[int, ...], values: list[int]) -> bytes:
    """Elements of four bits where a layout puts them, the lowest bits first."""
    assert isinstance(layout.fill, FillValue)
    placed = layout.bit_of is not None
    size = layout.size((*shape, 4) if placed else shape)
    whole = sum(layout.fill.value << 4 * slot for slot in range(size // 4 if placed else size))
    for value, index in zip(values, product(*map(range, shape)), strict=True):
        for bit in range(4):
            if placed:
                places = layout.slots((*index, bit), (*shape, 4))
            else:
                places = tuple(4 * slot + bit for slot in layout.slots(index, shape))
            for place in places:
                whole = whole & ~(1 << place) | (value >> bit & 1) << place
    return whole.to_bytes(size * (1 if placed else 4) // 8, "little")


def holding(layout: Layout, shape: tuple[int, ...], index: tuple[int, ...]) -> set[int]:
    """The bits of the buffer that hold one of an element of four bits."""
    if layout.bit_of is None:
        return {4 * slot + bit for slot in layout.slots(index, shape) for bit in range(4)}
    return {slot for bit in range(4) for slot in layout.slots((*index, bit), (*shape, 4))}


def rules_of(case: Case) -> layoutdsl.Module:
    return layoutdsl.parse(TEXT + case.rules)


def least(case: Case, source: Path) -> int:
    """The memory that is just enough."""
    mem = 1
    while True:
        try:
            pack_weights(source, f"least.{case.form}", rules_of(case), mem=mem, target="numpy")
        except TooLittleError as few:
            mem = few.needed
        else:
            return mem
