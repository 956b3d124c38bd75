"""Elements stored without room between them: kernels, words of other people's packers, bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from arrays_in_memory import same_bytes
from cli_shell import Shell, shell
from codegen_cases import layout_of

import layoutdsl
from layoutdsl import Layout, LayoutError
from layoutdsl.language.meaning.storage import StorageName

Array = np.ndarray[Any, Any]
__all__ = ["shell"]

COUNTS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 100, 104)
STORAGES = {
    "bytes": "u1",
    **{f"{kind}{bits}": f"<{kind}{bits // 8}" for kind in "iu" for bits in (8, 16, 32, 64)},
}
"""The type of the words in numpy, by the name of the storage."""
SHAPE = (256, 512)


def kind_of(element: Any) -> str:
    kind, width = element.item
    return f"{kind}{width}"


def elements(element: Any, count: int, random: np.random.Generator) -> Array:
    """Items of a type, of which each value may be one."""
    kind = kind_of(element)
    if not element.fills_item and element.values is not None:
        low, high = element.values
        return random.integers(low, high + 1, count).astype(kind)
    if element.kind == "bool":
        return random.integers(0, 2, count) > 0
    return random.integers(0, 256, (count, element.item[1])).astype("u1").reshape(-1).view(kind)


ELEMENTS = (
    *(f"{kind}{bits}" for kind in "iu" for bits in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64)),
    *("f4", "f6", "f8", "f16", "f32", "f64", "bf16", "e8", "c64", "f8e4m3", "f8e5m2", "bool"),
)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ELEMENTS)
def test_bits_follow_each_other_the_lowest_first(name: str) -> None:
    """Against one large integer, in which element ``i`` is what stands from bit ``bits*i`` on."""
    row, apart = (layout_of(f"layout A(k) = [{body}] of {name}") for body in ("k", "k, bit"))
    element, random = row.element, np.random.default_rng(1)
    assert element is not None
    bits = element.bits
    module = layoutdsl.compile(row, "numpy", storage="bytes", validate=False)
    placed = layoutdsl.compile(apart, "numpy", validate=False)
    for count in (each for each in COUNTS if each * bits % 8 == 0):
        items = elements(element, count, random)
        found = module.pack(items)
        codes = [int.from_bytes(each.tobytes(), "little") % (1 << bits) for each in items]
        meant = sum(code << bits * place for place, code in enumerate(codes))
        assert int.from_bytes(found.tobytes(), "little") == meant
        assert found.size == count * bits // 8
        back = module.unpack(found, (count,))
        assert (back.dtype, back.tobytes()) == (items.dtype, items.tobytes())
        if count:
            rows = placed.pack(items)
            assert [sum(int(b) << k for k, b in enumerate(row)) for row in rows] == codes
            assert placed.unpack(rows, (count,)).tobytes() == items.tobytes()


# The packers of others, from what they do, not from their text.


def awq(weights: Array) -> Array:
    """AutoAWQ, `packing_utils.py`: eight columns a word, in the order 0 2 4 6 1 3 5 7."""
    words = np.zeros((weights.shape[0], weights.shape[1] // 8), "u4")
    for place, column in enumerate((0, 2, 4, 6, 1, 3, 5, 7)):
        words |= weights[:, column::8].astype("u4") << np.uint32(4 * place)
    return words.view("i4")


def gptq(weights: Array) -> Array:
    """GPTQ and exllama: eight rows a word, the first in the lowest bits."""
    words = np.zeros((weights.shape[0] // 8, weights.shape[1]), "u4")
    for place in range(8):
        words |= weights[place::8].astype("u4") << np.uint32(4 * place)
    return words.view("i4")


def marlin(weights: Array) -> Array:
    """IST-DASLab/marlin: tiles of 16x16, four of which a warp of 32 lanes holds side by side."""
    rows, columns = weights.shape
    tiles = weights.reshape(rows // 16, 16, columns // 16, 16).transpose(0, 2, 1, 3)
    tiles = tiles.reshape(rows // 16, columns // 64, 4 * 256)
    order = list[int]()
    for lane, tile in product(range(32), range(4)):
        first = 2 * (lane % 4)
        held = [
            256 * tile + 16 * row + lane // 4 + 8 * half
            for half in (0, 1)
            for row in (first, first + 1, first + 8, first + 9)
        ]
        order += [held[each] for each in (0, 2, 4, 6, 1, 3, 5, 7)]
    moved = tiles[:, :, order].reshape(rows // 16, -1)
    words = np.zeros((rows // 16, moved.shape[1] // 8), "u4")
    for place in range(8):
        words |= moved[:, place::8].astype("u4") << np.uint32(4 * place)
    return words.view("i4")


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["numpy", "auto"])
@pytest.mark.parametrize(
    ("name", "packer"), [("AwqWeights", awq), ("GptqWeights", gptq), ("MarlinWeights", marlin)]
)
def test_words_are_those_of_the_packers_of_others(
    name: str, packer: Callable[[Array], Array], target: Any
) -> None:
    weights = np.random.default_rng(2).integers(0, 16, SHAPE).astype("u1")
    module = layoutdsl.compile(layoutdsl.library(name), target, storage="i32")
    words = module.pack(weights)
    assert words.dtype == np.int32
    assert np.array_equal(words.reshape(-1), packer(weights).reshape(-1))
    assert np.array_equal(module.unpack(words, SHAPE), weights)
    assert module.physical_shape(SHAPE) == words.shape


@pytest.mark.slow
def test_the_shape_is_that_of_the_words() -> None:
    shapes = {
        ("AwqWeights", "i32"): (256, 64),
        ("AwqWeights", "bytes"): (256, 64, 2, 2),
        ("GptqWeights", "u32"): (32, 512),
        ("GgufQ4_0", "bytes"): (256, 16, 18),
        ("GgufQ8_0", "u16"): (256, 16, 17),
        ("MarlinScales", "u8"): None,
        ("FractalNzFp16", "bytes"): None,
    }
    for (name, storage), shape in shapes.items():
        layout = layoutdsl.library(name)
        if shape is not None:
            assert layoutdsl.compile(layout, storage=storage).physical_shape(SHAPE) == shape  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not say how wide an element is"):
        layoutdsl.compile(layoutdsl.library("MarlinScales"), storage="u8")


def test_what_fills_no_words_is_refused_with_what_is_left() -> None:
    with pytest.raises(ValueError, match="the 20 bits of `A` fill no whole words of 32: 20 are"):
        layoutdsl.compile(layout_of("layout A(k: 5) = [k] of u4"), storage="u32")
    module = layoutdsl.compile(layout_of("layout A(n, k) = [n, k] of u4"), storage="u16")
    assert module.physical_shape((3, 8)) == (3, 2)
    with pytest.raises(ValueError, match="20 bits fill no whole words of 16: 4 are left over"):
        module.pack(np.zeros((3, 5), "u1"))
    with pytest.raises(ValueError, match="there is no storage `u12`; known are items, bytes, u8"):
        layoutdsl.compile(layout_of("layout A(n, k) = [n, k] of u4"), storage="u12")  # type: ignore[arg-type]


# Layouts drawn at random, that place the bits of their elements or do not.

TYPES = ("u1", "u2", "i2", "u3", "u4", "i4", "f4", "i5", "u6", "f6", "u8", "i8", "u16", "bf16")


def drawn(random: Random) -> tuple[str, tuple[int, ...]]:
    """A layout of a narrow type, and a shape at the ends of its blocks."""
    name = random.choice(TYPES)
    bits, blocks = int(name.lstrip("uifb")), list[str]()
    axes, shape, wheres = list[str](), list[int](), list[str]()
    for axis in random.sample("rkc", random.choice((1, 2, 2, 3))):
        block = random.choice((1, 2, 3, 4, 8))
        axes.append(axis)
        shape.append(block * random.randint(1, 3) - random.choice((0, 0, 1)) or 1)
        if block == 1:
            blocks.append(axis)
            continue
        turned = random.random() < 0.2
        low = f"{block - 1} - {axis}%{block} : {block}" if turned else f"{axis}%{block}"
        blocks += [f"{axis}/{block}", low]
    if random.random() < 0.7:
        cut = random.choice([each for each in range(1, bits + 1) if bits % each == 0])
        of_bit = ["bit"] if cut in (1, bits) else [f"bit/{cut}", f"bit%{cut}"]
        turned = of_bit == ["bit"] and bits > 1 and random.random() < 0.3
        blocks += [f"{bits - 1} - bit : {bits}"] if turned else of_bit
    random.shuffle(blocks)
    if random.random() < 0.2:
        blocks.insert(random.randrange(len(blocks) + 1), f"1 : {random.choice((2, 3))}")
    fill = random.choice(("", "", " fill any"))
    where = f" where {', '.join(wheres)}" if wheres else ""
    return f"layout A({', '.join(axes)}) = [{', '.join(blocks)}]{fill} of {name}{where}", (*shape,)


def bits_meant(layout: Layout, tensor: Array, held: int) -> int:
    """The buffer as one integer, by the definition; ``held`` is what it held before."""
    element = layout.tensor_element
    assert element is not None
    width, shape = element.bits, tensor.shape
    for index in np.ndindex(*shape):
        code = int.from_bytes(tensor[index].tobytes(), "little")
        for bit in range(width):
            if layout.bit_of is None:
                address = width * layout.offset(index, shape) + bit
            else:
                address = layout.offset((*index, bit), (*shape, width))
            held = held & ~(1 << address) | (code >> bit & 1) << address
    return held


def check(text: str, shape: tuple[int, ...], random: Random) -> bool:
    """Hold all storages of a layout against the meaning of each bit; whether one was possible."""
    layout = layout_of(text)
    element = layout.tensor_element
    assert element is not None
    tensor = elements(element, prod(shape), np.random.default_rng(random.randrange(99)))
    tensor, done = tensor.reshape(shape), False
    for storage in ("bytes", random.choice([*STORAGES])):
        try:
            module = layoutdsl.compile(layout, "numpy", storage=storage)  # type: ignore[arg-type]
            packed = module.pack(tensor)
        except ValueError as refused:
            if "fill no whole words" not in str(refused):
                raise
            continue
        done = True
        assert packed.shape == module.physical_shape(shape), text
        assert packed.dtype == np.dtype(STORAGES[storage])
        assert int.from_bytes(packed.tobytes(), "little") == bits_meant(layout, tensor, 0), text
        assert np.array_equal(module.unpack(packed, shape), tensor), text
        out = np.full(packed.shape, -1 if packed.dtype.kind == "i" else 255, packed.dtype)
        before = int.from_bytes(out.tobytes(), "little")
        assert module.pack(tensor, out) is out
        kept = before if "fill any" in text else 0
        assert int.from_bytes(out.tobytes(), "little") == bits_meant(layout, tensor, kept), text
        back = np.full(shape, 1, tensor.dtype)
        assert module.unpack(out, shape, back) is back
        assert np.array_equal(back, tensor), text
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 12),
        pytest.param(2, 420, marks=pytest.mark.campaign),
        pytest.param(3, 4000, marks=pytest.mark.campaign),
    ],
)
def test_random_layouts_store_every_bit_where_it_is_meant(seed: int, count: int) -> None:
    random, done = Random(seed), 0
    for _ in range(count):
        text, shape = drawn(random)
        done += check(text, shape, random)
    assert done > count / 4


# Layouts that place bits.

PLANES = "layout Planes(r, k) = [r, bit, k/8, k%8] of u4 where K % 8 == 0"


def test_bits_are_proved_as_an_axis_is() -> None:
    claims = "prove Planes == ((r*4 + bit)*(K/8) + k/8)*8 + k%8\nrefute Planes == [r, k, bit]"
    report = layoutdsl.prove(layoutdsl.parse(f"{PLANES}\n{claims}"))
    assert [each.status for each in report.checked] == ["proved", "proved", "refuted"]


def test_a_layout_that_places_bits_is_said_again() -> None:
    layout = layout_of(PLANES)
    assert (layout.rank, len(layout.tensor_axes)) == (3, 2)
    assert layout.tensor_element is not None
    assert layout.tensor_element.name == "u4"
    assert layout_of(layoutdsl.generate(layout).load().SOURCE) == layout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layout A(k) = [k, bit]", "`bit` needs an element type"),
        ("layout A(k) = [k, bit] of u4 fill 3", "padding of single bits"),
        (f"{PLANES}\nlayout B = Planes of u8", "the layout places the bits of u4"),
    ],
)
def test_bits_that_nobody_can_place_are_refused(text: str, said: str) -> None:
    with pytest.raises(LayoutError, match=said):
        layoutdsl.parse(text)


def test_an_axis_may_be_called_so() -> None:
    layout = layout_of("layout A(n, bit: 4) = [bit, n] of u8")
    assert (layout.bit_of, layout.rank) == (None, 2)


def test_items_of_bits() -> None:
    module = layoutdsl.compile(layout_of(PLANES), "numpy")
    tensor = np.arange(16, dtype="u1").reshape(2, 8)
    packed = module.pack(tensor)
    assert packed.shape == module.physical_shape((2, 8)) == (2, 4, 1, 8)
    assert packed[1, 2].ravel().tolist() == [x >> 2 & 1 for x in range(8, 16)]
    assert np.array_equal(module.unpack(packed, (2, 8)), tensor)
    with pytest.raises(ValueError, match="16 is outside 0 to 15"):
        module.pack(tensor + 1)
    with pytest.raises(TypeError, match="of dtype uint8, not int64"):
        module.pack(tensor.astype("i8"))
    with pytest.raises(ValueError, match="`Planes` places the bits of its elements"):
        layoutdsl.convert(layout_of(PLANES), layoutdsl.library("AwqWeights"))


# Generated modules.


@pytest.mark.slow
def test_a_generated_module_packs_into_words() -> None:
    layout = layoutdsl.library("AwqWeights")
    module = layoutdsl.generate(layout, storage="i32").load()
    assert len(module.VALIDATED) == 64
    weights = np.random.default_rng(5).integers(0, 16, (4, 16)).astype("u1")
    words = module.pack_words(weights)
    assert module.words_shape((4, 16)) == words.shape == (4, 2)
    assert np.array_equal(words, awq(weights))
    assert np.array_equal(module.unpack_words(words, (4, 16)), weights)
    with pytest.raises(TypeError, match="`src` holds int64, and is stored in int32"):
        module.unpack_words(words.astype("i8"), (4, 16))
    with pytest.raises(ValueError, match="`src` has shape"):
        module.unpack_words(words[:1], (4, 16))


DOORS = (
    ("layout L(r, k) = [r, bit, k/8, k%8] of u4", "u8"),
    ("layout L(r, k) = [r, k/8, bit, k%8] of i10", "u16"),
    ("layout L(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8] of u4", "u16"),
    ("layout L(n, c) = [n, c/8, c%8] of i4 fill any", "u32"),
    ("layout L(n, c) = [n, c/5, c%5] of u3 fill 2", "bytes"),
    ("layout L(n, c) = [n, c/8, c%8 ^ n%8] of u4 where C%8 == 0", "i32"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "storage"), DOORS)
def test_a_generated_module_stores_what_compile_stores(text: str, storage: StorageName) -> None:
    layout = layout_of(text)
    generated = layoutdsl.generate(layout, storage=storage).load()
    compiled = layoutdsl.compile(layout, "numpy", storage=storage)
    element = layout.tensor_element
    assert element is not None
    assert element.values is not None
    low, high = element.values
    for shape in ((8, 16), (8, 40)):
        tensor = np.random.default_rng(7).integers(low, high, shape, endpoint=True)
        tensor = tensor.astype("{}{}".format(*element.item))
        words = compiled.pack(tensor)
        assert same_bytes(generated.pack_words(tensor), words)
        assert generated.words_shape(shape) == words.shape
        assert same_bytes(generated.unpack_words(words, shape), tensor)
        room, beside = np.full_like(words, 3), np.full_like(words, 3)
        assert generated.pack_words(tensor, room) is room
        assert same_bytes(room, compiled.pack(tensor, beside))
        back = np.zeros_like(tensor)
        assert generated.unpack_words(words.reshape(-1), list(shape), back) is back
        assert same_bytes(back, tensor)


# The shell.


@pytest.mark.slow
def test_words_in_files(shell: Shell) -> None:
    weights = np.random.default_rng(6).integers(0, 16, (32, 64)).astype("u1")
    np.save("weights.npy", weights)
    assert shell("pack", "AwqWeights", "weights.npy", "awq.npy", "--word", "i32").code == 0
    assert np.array_equal(np.load("awq.npy"), awq(weights))
    again = ("unpack", "AwqWeights", "awq.npy", "again.npy", "--word", "i32", "--shape", "32,64")
    assert shell(*again).code == 0
    assert np.array_equal(np.load("again.npy"), weights)
    Path("planes.layout").write_text(PLANES)
    assert shell("pack", "planes.layout:Planes", "weights.npy", "p.npy", "--bytes").code == 0
    assert np.load("p.npy").shape == (32, 4, 8)
    back = ("unpack", "planes.layout:Planes", "p.npy", "b.npy", "--bytes", "--shape", "32,64")
    assert shell(*back).code == 0
    assert np.array_equal(np.load("b.npy"), weights)
    made = shell("generate", "AwqWeights", "--storage", "i32", "-o", "awq.py")
    assert (made.code, made.out) == (0, "wrote awq.py\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--bytes", "--word", "u32"), 2, "--bytes and --word u32 are two ways to store"),
        (("--word", "u32", "--mem", "9"), 2, "9 bytes of memory are too little"),
        (("--word", "u32", "--raw", "u8", "--shape", "3,8"), 2, "--raw is for items, and not for"),
        (("--word", "u12"), 2, "invalid value for `--word`: `u12`"),
    ],
)
def test_storage_that_cannot_be(
    shell: Shell, arguments: Sequence[str], code: int, said: str
) -> None:
    np.save("weights.npy", np.zeros((3, 8), "u1"))
    ended = shell("pack", "AwqWeights", "weights.npy", "out.npy", *arguments)
    assert ended.code == code
    assert said in ended.err
    assert not Path("out.npy").exists()


# Claims.

CLAIMS = f"""
layout A(k, n) = [k, n/8, n%2, n%8/2] of u4 where N % 8 == 0
layout B(r, k) = [r, k] of u4
{PLANES}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("A fills words of 32 bits", "proved"),
        ("A fills words of 64 bits", "refuted"),
        ("A fills words of 64 bits where N % 16 == 0", "proved"),
        ("B fills words of 8 bits", "refuted"),
        ("B fills words of 8 bits where K % 2 == 0", "proved"),
        ("B fills words of 32 bits where K % 4 == 0", "refuted"),
        ("Planes fills words of 8 bits", "proved"),
        ("Planes fills words of 32 bits", "refuted"),
        ("Planes fills words of 32 bits where K % 32 == 0", "proved"),
    ],
)
def test_that_words_are_filled_is_proved(claim: str, status: str) -> None:
    module = layoutdsl.parse(f"{CLAIMS}\nprove {claim}")
    found = layoutdsl.prove(module).checked[-1]
    assert found.status == status
    if status == "refuted":
        (example,) = [each.example for each in found.findings if hasattr(each, "example")]
        assert "fills no whole words" in str(example)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("prove A fills words of 12 bits", "words have 8, 16, 32 or 64 bits"),
        ("layout C(n) = [n]\nprove C fills words of 8 bits", "`C` does not say how wide"),
    ],
)
def test_words_that_nobody_has_are_refused(claim: str, said: str) -> None:
    with pytest.raises(LayoutError, match=said):
        layoutdsl.parse(f"{CLAIMS}\n{claim}")
