"""Layouts that put one element into several slots: meaning, modules, C, verbs, and what is refused.

The meaning is `Layout.offset` in plain integers, for every index of the buffer, copies among them.
`python -m tests.support.native_fuzz --copies` runs C of drawn layouts, and
`pytest -m campaign -k copies` runs modules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from math import prod
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell
from codegen_cases import layout_of
from native_cases import needs_compiler
from native_fuzz import MACHINE, cases, faults
from random_digits import Shape, shapes, with_copies

import layoutdsl
from layoutdsl import (
    Layout,
    LayoutError,
    RefusedError,
    TooLittleError,
    UnprovedError,
    UnvalidatedError,
)

__all__ = ["shell"]

PAIRS = "layout A(r, g, c: 2 broadcast) = [c, r, g]"
LANES = "layout Lanes(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]"
TEXTS = (
    LANES,
    "layout Inner(r, g, copy: 3 broadcast) = [r, g, copy]",
    "layout Outer(copy: 5 broadcast, r, g) = [copy, g, r] fill any",
    "layout Both(r, x: 2 broadcast, g, y: 3 broadcast) = [y, r/4, x, g, r%4] fill 7",
    "layout Cut(r, g, copy: 6 broadcast) = [copy/4, r, g/5, copy%4, g%5]",
    "layout Square(i: N, j: N, copy: N broadcast) = [copy, i, j]",
    "layout Tuple(r, g, copy: G broadcast) = [r, (g, copy)]",
    "layout Swizzled(r, g: 64, copy: 2 broadcast) = [r/8, (copy, g/16), r%8, g%16 ^ r%8]",
    "layout Late(r, g, copy: 3 broadcast) = [r, g/5, copy, g%5] offset 2*R",
    "layout Lower(i: N, j: N, copy: 2 broadcast) = [copy, i, j] where j <= i",
    "layout Single(copy: 7 broadcast) = [copy]",
    "layout None_(r, copy: 1 broadcast) = [r/4, copy, r%4]",
)


def own_of(layout: Layout, shape: Shape) -> Shape:
    return layout.element_shape(layout.bind(shape))


def fill_of(layout: Layout) -> int | None:
    """What padding holds; nothing where it may hold anything."""
    found = re.search(r" fill (any|-?\d+)", str(layout))
    number = found[1] if found else "0"
    return None if number == "any" else int(number)


def buffers(layout: Layout, shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tensor, what packing it gives, and which slots hold an element; in plain integers."""
    values, own = layout.bind(shape), own_of(layout, shape)
    tensor = np.arange(1, 1 + prod(own), dtype=np.int32).reshape(own)
    fill = number if (number := fill_of(layout)) is not None else 0
    packed = np.full(layout.size(shape), fill, np.int32)
    held = np.zeros(packed.shape, bool)
    names = [axis.name for axis in layout.axes]
    for index in np.ndindex(*layout.shape_of(values)):
        here = {**values, **dict(zip(names, index, strict=True))}
        if layout.holds(here):
            element = tuple(
                n for n, name in zip(index, names, strict=True) if name not in layout.copies
            )
            slot = layout.offset_at(here)
            assert not held[slot], (layout, index)
            packed[slot], held[slot] = tensor[element], True
    return tensor, packed, held


def check(layout: Layout, module: Any, shape: Shape) -> None:
    tensor, wanted, held = buffers(layout, shape)
    before = layout.size(shape) - prod(layout.box(shape))
    compared = held.copy() if fill_of(layout) is None else np.ones(held.shape, bool)
    packed = module.pack(tensor)
    assert packed.shape == layout.physical_shape(shape) == module.physical_shape(tensor.shape)
    assert (packed.reshape(-1) == wanted)[compared].all(), (str(layout), shape)
    into = np.full_like(packed, -3)
    assert module.pack(tensor, into) is into
    kept = np.where(held, wanted, -3) if fill_of(layout) is None else wanted.copy()
    kept[:before] = -3
    assert (into.reshape(-1) == kept).all(), (str(layout), shape)
    back = module.unpack(packed, tensor.shape)
    there = [index for index in np.ndindex(*tensor.shape) if _held(layout, index, shape)]
    assert all(back[index] == tensor[index] for index in there)
    for index in there[:20]:
        assert module.offset(index, tensor.shape) == layout.slots(index, shape)[0]


def _held(layout: Layout, index: Shape, shape: Shape) -> bool:
    values = layout.bind(shape)
    names = [axis.name for axis in layout.element_axes]
    return layout.holds({**values, **dict(zip(names, index, strict=True))})


def shapes_of(layout: Layout) -> list[Shape]:
    found = []
    for sizes in ((2, 11), (9, 64), (5, 5), (17, 40), (7,), ()):
        try:
            found.append(layout.shape_of(layout.bind(sizes)))
        except ValueError:
            continue
    return found


# What it means.


def test_an_element_lies_in_a_slot_for_each_copy() -> None:
    layout = layout_of(LANES)
    assert layout.slots((1, 9), (2, 10)) == (97, 105, 113, 121)
    assert [layout.offset((1, 9, k), (2, 10)) for k in range(4)] == [97, 105, 113, 121]
    assert layout.offset((1, 9, 2), (2, 10, 4)) == 113
    assert [axis.name for axis in layout.tensor_axes] == ["r", "g"]
    assert layout.physical_shape((2, 10)) == layout.physical_shape((2, 10, 4)) == (2, 2, 4, 8)
    assert layout.physical_shape({"R": 2, "G": 10}) == (2, 2, 4, 8)
    with pytest.raises(ValueError, match=r"has extents \(R, G\); 1 were given"):
        layout.bind((2,))
    with pytest.raises(ValueError, match="axis `copy` of layout `Lanes` has 4 elements"):
        layout.bind((2, 10, 5))


def test_parameters_count_copies() -> None:
    layout = layout_of("layout Many<k>(r, copy: k broadcast) = [r, copy]")
    assert layout.slots((1,), (3, 2)) == (2, 3)
    assert layout(k=4).slots((1,), (3,)) == (4, 5, 6, 7)
    texts = "layout Many<k>(r, copy: k broadcast) = [r, copy]\nlayout Four = Many<4>"
    assert layoutdsl.parse(texts)["Four"].slots((1,), (3,)) == (4, 5, 6, 7)
    with pytest.raises(ValueError, match="is 2 and 5 at once"):
        layout.bind((3, 2, 5))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_printed_back(text: str) -> None:
    layout = layout_of(text)
    assert layoutdsl.parse(str(layout))[layout.name] == layout


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", TEXTS)
def test_the_first_copy_is_a_layout_of_its_own(text: str) -> None:
    layout = layout_of(text)
    first = layout.first_copy
    assert not first.copies
    for shape in shapes_of(layout):
        own = own_of(layout, shape)
        for index in list(np.ndindex(*own))[:200]:
            if _held(layout, index, shape):
                assert first.offset(index, own) == layout.slots(index, shape)[0]
        assert first.physical_shape(own) == layout.physical_shape(shape)


# What is generated.


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", TEXTS)
def test_a_module_packs_all_copies_and_unpacks_the_first(text: str) -> None:
    layout = layout_of(text)
    made = layoutdsl.generate(layout)
    assert made.checked.status == "proved"
    assert 'VALIDATED = "' in made.text
    for shape in shapes_of(layout):
        check(layout, made.load(), shape)


@pytest.mark.slow
@needs_compiler
@pytest.mark.sampled(10)
@pytest.mark.parametrize("text", [text for text in TEXTS if "where" not in text])
def test_compiled_code_packs_all_copies_and_unpacks_the_first(text: str) -> None:
    layout = layout_of(text)
    module = layoutdsl.compile(layout, "native")
    for shape in shapes_of(layout):
        check(layout, module, shape)
    assert layoutdsl.generate_c(layout).program.seal


def count(seeds: range) -> Counter[str]:
    """Modules of drawn layouts at drawn shapes."""
    found = Counter[str]()
    for seed in seeds:
        random = Random(seed)
        drawn = with_copies(random)
        try:
            made = layoutdsl.generate(drawn.layout, unproved=True)
        except (RefusedError, UnvalidatedError) as none:
            found[type(none).__name__] += 1
            continue
        module = made.load()
        for shape in shapes(random, (drawn,), 3):
            if made.checked.status == "proved" and taken(module, drawn.layout, shape):
                check(drawn.layout, module, shape)
                found["shapes"] += 1
        found[made.checked.status] += 1
    return found


def taken(module: ModuleType, layout: Layout, shape: Shape) -> bool:
    """Whether a module takes tensors of a shape: they have elements."""
    try:
        module.physical_shape(own_of(layout, shape))
    except ValueError:
        return False
    return True


@pytest.mark.slow
def test_drawn_modules() -> None:
    found = count(range(5))
    assert found["proved"] >= 3
    assert found["shapes"] >= 3


@pytest.mark.campaign
def test_drawn_modules_with_copies() -> None:
    found = count(range(1000, 1600))
    print(dict(found))
    assert found["proved"] > 6 * found["UnvalidatedError"]


@pytest.mark.slow
@needs_compiler
def test_drawn_kernels() -> None:
    assert not [f"{kind}: {case}" for case, kind in faults([*cases(5, 4, with_copies)], MACHINE)]


@pytest.mark.slow
def test_words_and_bits_have_copies_too() -> None:
    text = "layout Planes(r, g: 16, copy: 2 broadcast) = [r, bit, copy, g] of u4"
    layout = layout_of(text)
    module = layoutdsl.compile(layout, storage="u8")
    tensor = np.arange(32, dtype=np.uint8).reshape(2, 16) % 16
    packed = module.pack(tensor)
    bits = np.unpackbits(packed.reshape(-1), bitorder="little").reshape(2, 4, 2, 16)
    for bit in range(4):
        for copy in range(2):
            assert (bits[:, bit, copy] == tensor >> bit & 1).all()
    assert (module.unpack(packed, (2, 16)) == tensor).all()
    assert (layoutdsl.compile(layout).unpack(bits, (2, 16)) == tensor).all()
    generated = layoutdsl.generate(layout, storage="u8").load()
    assert (generated.pack_words(tensor) == packed).all()


def test_an_array_of_any_strides_is_packed() -> None:
    module = layoutdsl.compile(layout_of(LANES), "numpy")
    tensor = np.arange(240, dtype="f4").reshape(20, 12)[::2, ::-1].T
    assert (module.pack(tensor) == module.pack(tensor.copy())).all()
    assert (module.pack(tensor, threads=3) == module.pack(tensor.copy())).all()


def test_arguments_are_refused_before_anything_is_written() -> None:
    module = layoutdsl.compile(layout_of(LANES), "numpy")
    tensor, out = np.ones((2, 10), "f4"), np.zeros((2, 2, 4, 8), "f4")
    calls: list[tuple[str, Callable[[], object]]] = [
        ("extents, and 2 are needed", lambda: module.pack(np.ones((2, 10, 4)))),
        ("`out` has shape", lambda: module.pack(tensor, np.zeros((2, 10), "f4"))),
        ("`threads` is 0", lambda: module.pack(tensor, out, threads=0)),
        ("`copy` is False", lambda: module.pack(tensor, out, copy=False)),
        ("`fill` is a str", lambda: module.pack(tensor, out, "x")),
        ("extents, and 2 are needed", lambda: module.unpack(out, (2, 10, 4))),
        ("has shape", lambda: module.unpack(out, (2, 20))),
    ]
    for words, call in calls:
        with pytest.raises((ValueError, TypeError), match=words):
            call()
    assert not out.any()


# Verbs.


def moved_by(convert: Any, source: str, target: str, shape: Shape) -> tuple[Any, Any]:
    one, other = layout_of(source), layout_of(target)
    tensor = buffers(one, shape)[0]
    given = layoutdsl.compile(one, "numpy").pack(tensor)
    return convert(given, tensor.shape), layoutdsl.compile(other, "numpy").pack(tensor)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (LANES, "layout Plain(r, g) = [g, r]"),
        ("layout Plain(r, g) = [g/4, r, g%4]", LANES),
        (LANES, "layout Other(r, g, r_: 3 broadcast) = [g, r_, r]"),
        ("layout Copy(r, copy) = [copy, r]", "layout B(r, copy, n: R broadcast) = [n, r, copy]"),
    ],
)
def test_conversions_read_the_first_copy_and_write_all(source: str, target: str) -> None:
    one, other = layout_of(source), layout_of(target)
    for compiled in ("numpy", "auto"):
        found, wanted = moved_by(
            layoutdsl.convert(one, other, compiled=compiled), source, target, (6, 11)
        )
        assert np.array_equal(found, wanted)


def test_copies_are_compared() -> None:
    layout = layout_of(LANES)
    tensor, packed, _ = buffers(layout, (2, 10))
    assert layoutdsl.differing_copies(layout, packed, (2, 10)) is None
    packed[113] = 99
    found = layoutdsl.differing_copies(layout, packed, (2, 10))
    assert str(found) == ("copies of (r=1, g=9) differ: slot 97 holds 20, slot 113 holds 99")
    packed[127] = 5  # padding
    packed[113] = packed[97]
    assert layoutdsl.differing_copies(layout, packed, (2, 10, 4)) is None
    odd = np.zeros(8, "f4").reshape(1, 1, 8)
    rows = layout_of("layout Rows(r, copy: 8 broadcast) = [r, 0, copy]")
    odd[...] = np.nan
    assert layoutdsl.differing_copies(rows, odd, (1,)) is None
    assert layoutdsl.differing_copies(rows.first_copy, odd, (1,)) is None
    assert tensor.size == 20


def test_what_an_element_costs_counts_its_copies() -> None:
    found = layoutdsl.cost(layout_of(LANES), (2, 10))
    assert (found.ratio, found.padding) == ("32*ceil(G/8)/G", "32*R*ceil(G/8) - 4*R*G")
    assert (found.most.value, found.least.value, found.proved) == (32, 4, True)
    assert found.at is not None
    assert (found.at.elements, found.at.size, found.at.padding, found.at.copies) == (20, 128, 48, 4)


def test_only_copies_are_compared_with_copies() -> None:
    one = layout_of(LANES)
    assert not layoutdsl.diff(one, one.every_copy).same
    other = layout_of("layout Other(a, b, c: 4 broadcast) = [a, b/8, c, b%8]")
    assert layoutdsl.diff(one, other).same
    turned = layout_of("layout Other(c: 4 broadcast, a, b) = [a, b/8, c, b%8]")
    assert layoutdsl.diff(one, turned).same
    quad = layout_of("layout Quad(q: 4 broadcast, row: 16) = [row%8*4 + q, row/8]")
    assert next(layoutdsl.identify(quad)).name == "MmaRow"


def test_index_functions_take_the_copy(shell: Shell) -> None:
    Path("lanes.layout").write_text(f"{LANES}\n")
    done = shell("formula", "lanes.layout", "--as", "c", "--where", "R <= 8, G <= 64")
    assert done.code == 0, done.err
    assert "S_offset" not in done.out
    assert "Lanes_offset(int32_t r, int32_t g, int32_t copy, int32_t R, int32_t G)" in done.out


def test_what_knows_no_copies_says_so() -> None:
    layout = layout_of(LANES)
    with pytest.raises(ValueError, match="which a probe does not tell apart"):
        layoutdsl.probe(lambda x: x, layout, (2, 8))
    for notation in ("tvm", "cute", "xla", "onednn", "mlir", "numpy", "htp", "mace"):
        with pytest.raises(ValueError, match="holds copies of an element along `copy`"):
            layoutdsl.to_notation(layout, notation)


def test_files_are_unpacked_in_pieces(tmp_path: Path) -> None:
    layout = layout_of(LANES)
    tensor, packed, _ = buffers(layout, (6, 20))
    np.save(tmp_path / "packed.npy", packed.reshape(layout.physical_shape((6, 20))))
    layoutdsl.unpack_file(layout, tmp_path / "packed.npy", tmp_path / "back.npy", (6, 20))
    assert (np.load(tmp_path / "back.npy") == tensor).all()


def in_pieces(layout: Layout, shape: Shape, folder: Path, draw: Random) -> int:
    """Pack a file in as many pieces as there are, or some; return how many there were."""
    tensor, wanted, held = buffers(layout, shape)
    turned = tensor.ndim > 1 and draw.random() < 0.3
    np.save(folder / "in.npy", np.asfortranarray(tensor) if turned else tensor)
    mem = draw.choice((1, 1 << 10, 1 << 24))
    try:
        done = layoutdsl.pack_file(
            layout, folder / "in.npy", folder / "out.npy", mem=mem, target="numpy"
        )
    except TooLittleError as few:
        done = layoutdsl.pack_file(
            layout, folder / "in.npy", folder / "out.npy", mem=few.needed, target="numpy"
        )
    packed = np.load(folder / "out.npy")
    assert packed.shape == layout.physical_shape(shape)
    there = held | (fill_of(layout) is not None)
    assert (packed.reshape(-1) == wanted)[there].all(), (str(layout), shape)
    layoutdsl.unpack_file(
        layout, folder / "out.npy", folder / "back.npy", tensor.shape, target="numpy"
    )
    kept = np.load(folder / "back.npy")
    assert ((kept == tensor) | (kept == 0)).all() if layout.domain else (kept == tensor).all()
    return done.pieces


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("storage", ["items", "u32"])
def test_many_pieces_hold_all_copies(storage: Any, tmp_path: Path) -> None:
    layout = layout_of(LANES + " of u4")
    tensor = np.random.default_rng(0).integers(0, 16, (64, 800), np.uint8)
    np.save(tmp_path / "in.npy", tensor)
    one, other = tmp_path / "in.npy", tmp_path / "out.npy"
    done = layoutdsl.pack_file(layout, one, other, storage=storage, mem=1 << 16, target="numpy")
    assert done.pieces > 8
    wanted = layoutdsl.compile(layout, "numpy", storage=storage).pack(tensor)
    assert (np.load(other) == wanted).all()


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", TEXTS)
def test_files_are_packed_in_pieces(text: str, tmp_path: Path) -> None:
    layout, draw = layout_of(text), Random(text)
    for shape in shapes_of(layout):
        in_pieces(layout, shape, tmp_path, draw)


@pytest.mark.slow
def test_drawn_layouts_are_packed_in_pieces(tmp_path: Path) -> None:
    assert max(drawn_in_pieces(seed, tmp_path) for seed in range(5)) > 0


@pytest.mark.campaign
def test_many_drawn_layouts_are_packed_in_pieces(tmp_path: Path) -> None:
    found = [drawn_in_pieces(seed, tmp_path) for seed in range(1000, 1400)]
    assert sum(each > 1 for each in found) > 50


def drawn_in_pieces(seed: int, folder: Path) -> int:
    """The most pieces of a drawn layout at drawn shapes; 0 where it is none that is packed."""
    draw, found = Random(seed), 0
    drawn = with_copies(draw)
    try:
        module = layoutdsl.generate(drawn.layout).load()
    except (RefusedError, UnprovedError, UnvalidatedError):
        return 0
    if layoutdsl.prove(drawn.layout).checked[0].status != "proved":
        return 0
    for shape in shapes(draw, (drawn,), 2):
        if taken(module, drawn.layout, shape) and prod(own_of(drawn.layout, shape)):
            found = max(found, in_pieces(drawn.layout, shape, folder, draw))
    return found


def module_of(text: str) -> ModuleType:
    return layoutdsl.generate(layout_of(text)).load()


def test_an_unmarked_axis_is_one_of_the_tensor() -> None:
    plain = module_of(LANES.replace(" broadcast", ""))
    tensor = np.arange(80).reshape(2, 10, 4)
    assert (plain.pack(tensor)[0, 0, :, 0] == tensor[0, 0]).all()
    with pytest.raises(LayoutError, match="only a layout may store an element in several slots"):
        layoutdsl.parse("table T(n, k: 4 broadcast)[i: N, j: 4] = (n = i, k = j)")
