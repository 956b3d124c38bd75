"""Random layouts, shapes, types and memory orders: generated modules against the meaning.

Layouts are drawn as engineers write them: axes cut by nested blocks, each digit in one of its
spellings, tuples, declared extents, constants, chunks, swizzles. Of every shape only one thing is
asked: where the layout is right by its definition, the module does what is meant, to the last byte;
where it is wrong, nothing is asked, as `layoutdsl.generate` prints no module of a refuted layout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from arrays_in_memory import DTYPES, KINDS, POISON, frame, same_bytes, tensor_in
from codegen_cases import emit, layout_of
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from layoutdsl import Layout, LayoutError
from layoutdsl.code import load
from layoutdsl.code.allowed import refuse_unsafe
from layoutdsl.code.arrays import WAYS, generate_views
from layoutdsl.code.numpy_module import NumpyModule
from layoutdsl.code.validate.arrays import validate
from layoutdsl.code.validate.outcome import Validated
from layoutdsl.language.integers.expr import Coordinate, MixedRadix, walk
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import FillAny, FillValue
from layoutdsl.language.meaning.model import ZERO

MOST = 160
"""Elements of a tensor, and eight times as many slots of a buffer: the meaning is slow."""


# Layouts, as texts.


@dataclass(frozen=True)
class Part:
    """A coordinate as written, and the extent that it has by nature."""

    value: str
    extent: str

    def declared(self, extent: str) -> Part:
        return Part(f"{self.value} : {extent}", f"({extent})")


def spellings(whole: str, step: int, radix: int | None) -> list[str]:
    """Ways to write ``whole / step % radix``."""
    above = [f"{whole}/{step}"] if step > 1 else [whole]
    above += [f"{whole}/{k}/{step // k}" for k in (2, 3, 4) if step % k == 0 and step > k]
    if step & (step - 1) == 0 and step > 1:
        above.append(f"({whole} >> {step.bit_length() - 1})")
    if radix is None:
        return above
    past = step * radix
    found = [f"{each}%{radix}" for each in above]
    found += [f"{whole}%{past}/{step}" if step > 1 else f"{whole}%{past}"]
    found += [f"{whole}%{3 * past}/{step}%{radix}" if step > 1 else f"{whole}%{3 * past}%{radix}"]
    if past & (past - 1) == 0:
        low = f"({whole} & {past - 1})"
        found.append(f"({low} >> {step.bit_length() - 1})" if step > 1 else low)
    return found


@st.composite
def digits(draw: st.DrawFn, whole: str, extent: str, blocks: list[int]) -> list[Part]:
    """The digits of a whole, cut by these blocks from the most minor on."""
    parts, step = list[Part](), 1
    for block in blocks:
        parts.append(Part(draw(st.sampled_from(spellings(whole, step, block))), str(block)))
        step *= block
    ceiling = f"ceil({extent}/{step})"
    top = draw(st.sampled_from(spellings(whole, step, None)))
    parts.append(Part(top, ceiling if step > 1 else extent))
    declared = {
        "pitch": lambda part: part.declared(f"{part.extent} + {draw(st.integers(1, 3))}"),
        "round": lambda part: part.declared(f"roundup({part.extent}, {draw(st.integers(2, 4))})"),
        "least": lambda part: part.declared(f"max({part.extent}, {draw(st.integers(1, 5))})"),
        "tight": lambda part: part.declared(f"min({part.extent}, {extent})"),
        "fixed": lambda part: part.declared(str(draw(st.integers(2, 9)))),
        "whole": lambda part: part.declared(extent),
    }
    for number, part in enumerate(parts):
        if draw(st.integers(0, 7)) == 0:
            parts[number] = declared[draw(st.sampled_from(sorted(declared)))](part)
    if draw(st.integers(0, 11)) == 0:  # One digit is cut again, where its block need not divide.
        number = draw(st.integers(0, len(parts) - 1))
        part, cut = parts[number], draw(st.integers(2, 5))
        if " : " not in part.value:
            parts[number : number + 1] = [
                Part(f"({part.value})%{cut}", str(cut)),
                Part(f"({part.value})/{cut}", f"ceil({part.extent}/{cut})"),
            ]
    if draw(st.integers(0, 9)) == 0 and " : " not in parts[-1].value:
        limit = draw(st.integers(2, 6))
        parts[-1] = Part(f"({parts[-1].value})%{limit}", str(limit))
    return parts


BLOCKS = st.lists(st.sampled_from([2, 2, 3, 4, 4, 5, 8]), max_size=3)


def tuple_of(parts: list[Part]) -> Part:
    return Part(
        f"({', '.join(each.value for each in parts)})", f"({'*'.join(p.extent for p in parts)})"
    )


@st.composite
def gathered(draw: st.DrawFn, parts: list[Part]) -> list[Part]:
    """Some neighbours become tuples, some of those with an extent, and some cut by blocks."""
    for _ in range(draw(st.integers(0, 2))):
        if len(parts) < 2:
            break
        first = draw(st.integers(0, len(parts) - 2))
        past = draw(st.integers(first + 1, min(len(parts), first + 3)))
        one = tuple_of(parts[first:past])
        way = draw(st.sampled_from(["plain", "plain", "pitch", "fixed", "exact", "cut"]))
        new = [one]
        if way == "pitch":
            new = [one.declared(f"{one.extent} + {draw(st.integers(1, 4))}")]
        elif way == "fixed":
            new = [one.declared(str(draw(st.integers(4, 90))))]
        elif way == "exact" and past - first > 1:  # The buffer ends with the last row's last part.
            rest = f"({'*'.join(each.extent for each in parts[first + 1 : past])})"
            new = [one.declared(f"({parts[first].extent} - 1)*{rest} + {rest}")]
        elif way == "cut":
            new = draw(digits(one.value, one.extent, draw(BLOCKS.filter(bool))))
        parts[first:past] = new
        parts = list(draw(st.permutations(parts))) if way == "cut" else parts
    return parts


@st.composite
def swizzled(draw: st.DrawFn, parts: list[Part], names: list[str]) -> list[Part]:
    """One coordinate is turned by another axis: exclusive or, rotation, mirror, or a sum."""
    number = draw(st.integers(0, len(parts) - 1))
    part, other = parts[number], draw(st.sampled_from(names))
    if " : " in part.value:
        return parts
    value, extent = part.value, part.extent
    ways = [
        f"({value})^({other}%{draw(st.sampled_from([2, 4, 8]))})",
        f"({value})|({other}%{draw(st.sampled_from([2, 4, 8]))})",
        f"({value}) << 3 | ({other}%{draw(st.sampled_from([2, 7, 8]))})",
        f"({value} + {other})%({extent})",
        f"{extent} - 1 - {value}",
        f"{value} + {draw(st.integers(1, 3))}*{other} : {extent} + 3*{other.upper()}",
        f"min({value}, {extent})",
        f"max({value} + 2, {other}*0)",
        f"({value})*2 + 1",
        f"({value})*{other.upper()} + {other}*0 : ({extent})*{other.upper()}",
    ]
    parts[number] = Part(draw(st.sampled_from(ways)), "1")
    return parts


CONSTANTS = ("0", "2 : 5", "1 : 2", "0 : 3", "{0} - 1 : {0}", "1 : {0} + 1", "{0} : {0} + 2")


@dataclass(frozen=True)
class Drawn:
    """A layout and extents at which it shows its edges, axis by axis."""

    text: str
    borders: tuple[tuple[int, ...], ...]
    square: tuple[int, ...]
    """Axes whose extent is that of the first."""

    def __repr__(self) -> str:
        return repr(self.text)


@st.composite
def layouts(draw: st.DrawFn) -> Drawn:
    names = list("nchwk"[: draw(st.integers(1, 5))])
    axes, borders, parts = list[str](), list[tuple[int, ...]](), list[Part]()
    square = list[int]()
    for number, name in enumerate(names):
        kind, extent = draw(st.integers(0, 11)), name.upper()
        blocks = draw(BLOCKS)
        steps = [prod(blocks[: k + 1]) for k in range(len(blocks))]
        near = {1, 2, 3, 5, *(each + d for each in steps for d in (-1, 0, 1))}
        if kind == 0:
            extent = str(draw(st.sampled_from(sorted(near))))
            near = {int(extent)}
        elif kind == 1 and number and ":" not in axes[0]:
            extent = names[0].upper()
            square.append(number)
        axes.append(name if extent == name.upper() else f"{name}: {extent}")
        borders.append(tuple(sorted(near)))
        parts += draw(digits(name, extent, blocks))
    parts = list(draw(st.permutations(parts)))
    open_names = [name for name, axis in zip(names, axes, strict=True) if axis == name]
    if open_names and draw(st.integers(0, 3)) == 0:
        parts = draw(swizzled(parts, open_names))
    else:
        parts = draw(gathered(parts))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        of = draw(st.sampled_from(open_names)).upper() if open_names else "2"
        constant = draw(st.sampled_from(CONSTANTS)).format(of)
        parts.insert(draw(st.integers(0, len(parts))), Part(constant, "1"))
    marks = [", "] * (len(parts) - 1)
    if marks and draw(st.integers(0, 5)) == 0:
        marks[draw(st.integers(0, len(marks) - 1))] = "; "
    body = "".join(a.value + b for a, b in zip(parts, [*marks, ""], strict=True))
    clauses = ["", "", " fill 7", " fill any", " fill zero_point"][draw(st.integers(0, 4))]
    if draw(st.integers(0, 4)) == 0:
        of = draw(st.sampled_from(open_names)).upper() if open_names else "3"
        clauses += draw(st.sampled_from([" offset 3", f" offset {of} - 1", f" offset 2*{of}"]))
    text = f"layout Random({', '.join(axes)}) = [{body}]{clauses}"
    return Drawn(text, tuple(borders), tuple(square))


@st.composite
def shapes_of(draw: st.DrawFn, drawn: Drawn) -> tuple[int, ...]:
    shape, left = [1] * len(drawn.borders), MOST
    for axis in draw(st.permutations(range(len(shape)))):
        same = [axis, *drawn.square] if axis == 0 else [axis]
        fitting = [each for each in drawn.borders[axis] if each ** len(same) <= left] or [1]
        if axis not in drawn.square:
            extent = draw(st.sampled_from(fitting))
            for each in same:
                shape[each] = extent
            left //= extent ** len(same)
    return tuple(shape)


# The meaning, in plain integers.


@dataclass(frozen=True)
class Meaning:
    """What a layout says of one shape; ``right`` where all it promises holds."""

    box: tuple[int, ...]
    start: int
    slots: dict[tuple[int, ...], int]
    right: bool
    apart: bool
    flat: bool
    """Whether an ``offset`` clause makes the buffer flat, at every shape."""

    @property
    def size(self) -> int:
        return self.start + prod(self.box)

    @property
    def physical(self) -> tuple[int, ...]:
        return (self.size,) if self.flat else self.box

    def packed(self, tensor: np.ndarray, padding: np.ndarray) -> np.ndarray:
        """The flat buffer that holds the tensor, and elsewhere what `padding` does."""
        flat = padding.copy()
        for index, slot in self.slots.items():
            flat[slot] = tensor[index]
        return flat


@lru_cache(maxsize=256)
def promised(layout: Layout) -> tuple[Coordinate, ...]:
    inner = [
        p
        for c in layout.coordinates
        for e in walk(c.value)
        if isinstance(e, MixedRadix)
        for p in e.parts
    ]
    return (*layout.coordinates, *inner)


def meaning(layout: Layout, shape: tuple[int, ...]) -> Meaning | None:
    """The meaning at a shape, or ``None`` where the layout has no such shape."""
    try:
        values = layout.bind(shape)
    except ValueError:
        return None
    extents = {id(c): evaluate(c.extent, values) for c in promised(layout)}
    slots, right = dict[tuple[int, ...], int](), True
    names = [axis.name for axis in layout.axes]
    for index in product(*map(range, shape)):
        known = {**values, **dict(zip(names, index, strict=True))}
        slots[index] = layout.offset_at(known)
        right = right and all(
            0 <= evaluate(c.value, known) < extents[id(c)] for c in promised(layout)
        )
    box, start = layout.box(shape), evaluate(layout.start, values)
    size = start + prod(box)
    apart = len(set(slots.values())) == len(slots) and all(
        start <= slot < size for slot in slots.values()
    )
    right = right and apart and start >= 0
    return Meaning(box, start, slots, right, apart, layout.start != ZERO)


# What is asked of a module.


@dataclass(frozen=True)
class Ways:
    """The type of the elements, and how source and destination lie in memory."""

    dtype: str
    source: str
    target: str


ways = st.builds(
    Ways, st.sampled_from(DTYPES), st.sampled_from((*KINDS, "broadcast")), st.sampled_from(KINDS)
)


def check_packs(
    layout: Layout, module: NumpyModule, tensor: np.ndarray, meant: Meaning, target: str
) -> None:
    number = layout.fill.value if isinstance(layout.fill, FillValue) else 5
    number = number if tensor.dtype.kind not in "Vmb" else 0
    filled = np.zeros(meant.size, tensor.dtype)
    filled[...] = number if tensor.dtype.kind != "V" else np.zeros((), tensor.dtype)
    for fill in (number, None) if isinstance(layout.fill, FillAny) else (number,):
        memory, view = frame(target, meant.physical, tensor.dtype)
        wanted, before = memory.copy(), view(memory.copy()).reshape(-1)
        padding = before.copy()
        if fill is not None:
            padding[meant.start :] = filled[meant.start :]
        view(wanted)[...] = meant.packed(tensor, padding).reshape(meant.physical)
        out = view(memory)
        assert module.pack(tensor, out, fill) is out
        assert memory.tobytes() == wanted.tobytes(), "pack into out"
        fresh = module.pack(tensor, fill=fill)
        zeros = np.zeros_like(filled) if fill is None else filled
        whole = meant.packed(tensor, zeros).reshape(meant.physical)
        assert same_bytes(fresh, whole), "pack"


def check_unpacks(
    module: NumpyModule, tensor: np.ndarray, meant: Meaning, kinds: tuple[str, str]
) -> None:
    memory, view = frame(kinds[0], meant.physical, tensor.dtype)
    buffer = view(memory)
    buffer[...] = meant.packed(tensor, buffer.reshape(-1)).reshape(meant.physical)
    before = memory.copy()
    assert same_bytes(module.unpack(buffer, tensor.shape), tensor), "unpack"
    flat = module.unpack(buffer.reshape(-1), list(tensor.shape))
    assert same_bytes(flat, tensor), "unpack a flat buffer"
    room, seen = frame(kinds[1], tensor.shape, tensor.dtype)
    wanted = room.copy()
    seen(wanted)[...] = tensor
    out = seen(room)
    assert module.unpack(buffer, tensor.shape, out) is out
    assert room.tobytes() == wanted.tobytes(), "unpack into out"
    assert memory.tobytes() == before.tobytes(), "unpack wrote its source"


def check_refuses(module: NumpyModule, tensor: np.ndarray, meant: Meaning, target: str) -> None:
    """Wrong arguments leave everything as it was."""
    memory, view = frame(target, meant.physical, tensor.dtype)
    room, seen = frame(target, tensor.shape, tensor.dtype)
    buffer, whole = view(memory), seen(room)
    locked = view(memory)
    locked.flags.writeable = False
    longer = np.empty((*tensor.shape, 2), tensor.dtype)
    other = np.dtype("i8") if tensor.dtype != "i8" else np.dtype("i4")
    calls: tuple[Callable[[], object], ...] = (
        lambda: module.pack(tensor, locked, 0),
        lambda: module.pack(tensor, buffer, 10**400),
        lambda: module.pack(tensor, buffer, "0"),
        lambda: module.pack(longer, buffer, 0),
        lambda: module.pack(tensor, buffer[..., None], 0),
        lambda: module.pack(np.zeros(tensor.shape, other), buffer, 0),
        lambda: module.pack(tensor.tolist(), buffer, 0),
        lambda: module.unpack(buffer, (*tensor.shape, 1), whole),
        lambda: module.unpack(buffer[..., None], tensor.shape, whole),
        lambda: module.unpack(np.zeros(meant.physical, other), tensor.shape, whole),
        lambda: module.unpack(buffer, tensor.shape, whole[..., None]),
        lambda: module.unpack(buffer, tensor.shape, "out"),
        lambda: module.unpack(buffer, tensor.shape, buffer),
        lambda: module.offset(tensor.shape, tensor.shape),
        lambda: module.offset((0,), (*tensor.shape, 1)),
    )
    for number, call in enumerate(calls):
        try:
            call()
        except (ValueError, TypeError):
            assert (memory == POISON).all(), f"refusal {number} wrote the buffer"
            assert (room == POISON).all(), f"refusal {number} wrote the tensor"
        else:
            raise AssertionError(f"call {number} was not refused")


def check_empty(layout: Layout, module: NumpyModule, shape: tuple[int, ...]) -> None:
    """Of a tensor without elements the buffer is all padding, or the shape is refused."""
    try:
        physical = module.physical_shape(shape)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 (whatever its words)
            module.pack(np.zeros(shape, "u1"), fill=3)
        return
    values = {
        axis.extent.name: extent
        for axis, extent in zip(layout.axes, shape, strict=True)
        if hasattr(axis.extent, "name")
    }
    start = evaluate(layout.start, values)
    box = tuple(evaluate(each.extent, values) for each in layout.coordinates)
    assert physical == (box if layout.start == ZERO else (start + prod(box),))
    assert min(physical) >= 0
    packed = module.pack(np.zeros(shape, "u1"), fill=3)
    assert packed.shape == physical
    assert (packed == 3).all()
    assert module.unpack(packed, shape).shape == shape


def check_shape(layout: Layout, module: NumpyModule, shape: tuple[int, ...], how: Ways) -> None:
    meant = meaning(layout, shape)
    if meant is None or prod(meant.box) > 16 * MOST:
        return
    tensor = tensor_in(how.source, shape, np.dtype(how.dtype))
    if not meant.right:
        return  # the layout is refuted, and has no module
    assert module.physical_shape(shape) == meant.physical
    for index, slot in meant.slots.items():
        assert module.offset(index, shape) == slot
    check_packs(layout, module, tensor, meant, how.target)
    check_unpacks(module, tensor, meant, (how.target, how.source.replace("broadcast", "turned")))
    check_refuses(module, tensor, meant, how.target)


def check_text(text: str) -> NumpyModule | None:
    """The module of a layout; `None` if it is not validated in any way."""
    layout = layout_of(text)
    for way in WAYS:
        emitted = generate_views(layout, source=text, certificate=None, way=way)
        refuse_unsafe(emitted.text)
        if isinstance(validate(emitted.text, layout, source=text), Validated):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                compile(emitted.text, "<emitted>", "exec")
                return NumpyModule(layout, load(emitted))
    return None


def checked_layout(drawn: Drawn) -> Layout:
    try:
        return layout_of(drawn.text)
    except LayoutError:
        assume(False)
        raise


def check(draw: st.DrawFn, drawn: Drawn) -> None:
    layout = checked_layout(drawn)
    module = check_text(drawn.text)
    if module is None:
        assume(False)
        return
    for _ in range(3):
        shape = draw(shapes_of(drawn), label="shape")
        check_shape(layout, module, shape, draw(ways, label="ways"))
    empty = list(shape)
    empty[draw(st.integers(0, len(shape) - 1))] = 0
    check_empty(layout, module, tuple(empty))


QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
RANDOM = settings(max_examples=50, suppress_health_check=QUIET)
LONG = settings(max_examples=5000, derandomize=False, suppress_health_check=QUIET)


@pytest.mark.slow
@RANDOM
@given(st.data(), layouts())
def test_random_layouts(data: st.DataObject, drawn: Drawn) -> None:
    check(data.draw, drawn)


@pytest.mark.campaign
@LONG
@given(st.data(), layouts())
def test_many_random_layouts(data: st.DataObject, drawn: Drawn) -> None:
    check(data.draw, drawn)


PROGRAM = """
import sys; sys.path.insert(0, sys.argv[1])
from codegen_cases import emit
for text in sys.stdin.read().split("\\0"):
    emitted = emit(text).text
    compile(emitted, "<emitted>", "exec")
    sys.stdout.write(emitted + "\\0")
"""


@pytest.mark.slow
@settings(max_examples=2, suppress_health_check=QUIET, phases=[Phase.generate])
@given(st.lists(layouts(), min_size=6, max_size=12))
def test_random_texts_are_the_same_in_every_process(several: list[Drawn]) -> None:
    texts = [drawn.text for drawn in several if checked_layout(drawn)]
    there = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(Path(__file__).parents[1] / "support")],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        input="\0".join(texts),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert there.split("\0")[:-1] == [emit(text).text for text in texts]


# What was found, in its smallest form: the layout, and shapes.
FOUND: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    # A digit was refused where its radix exceeds its extent, though the axis is too short for it.
    ("layout A(n, c) = [n, c/16, c%16 : min(C, 16)]", ((2, 5), (2, 16), (2, 17), (1, 40))),
    ("layout A(c) = [c%4 : C, c/4]", ((1,), (3,), (4,), (9,))),
    ("layout A(c, w) = [(c >> 3)%4 : min(4, C), w, c%8]", ((1, 2), (9, 2), (32, 1))),
    # A tuple was refused where its extent is below the product of its parts, and still holds it.
    ("layout A(h, w) = [(h, w : 6) : 6*H - 6 + W]", ((1, 5), (3, 4), (2, 6))),
    ("layout A(n, h) = [(n : 5, h : 3) : 12]", ((2, 3), (4, 3), (4, 1))),
    ("layout A(c) = [(c/16, c%16) : C]", ((1,), (16,), (20,))),
    ("layout A(n, h) = [(n : 5, h)%12]", ((2, 3), (4, 3), (1, 12))),
    # Slack of a most major part is padding of its tuple.
    ("layout A(n, c, h) = [((n, c/4) : 12, h) : 50, c%4]", ((1, 1, 49), (2, 5, 3))),
    # A tensor without elements got a negative extent, or a constant beyond its dimension.
    ("layout A(n, c) = [c, n%2, n/2] offset N - 1", ((0, 3), (1, 3), (3, 0))),
    ("layout A(n, c) = [1 : C + 1, n, c]", ((2, 0), (2, 1))),
    ("layout A(n, c) = [n : 2*C - 1 + N, c]", ((2, 0), (0, 2), (2, 3))),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "shapes"), FOUND)
def test_what_was_found(text: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    layout, module = layout_of(text), check_text(text)
    assert module is not None
    for shape in shapes:
        if 0 in shape:
            check_empty(layout, module, shape)
            continue
        meant = meaning(layout, shape)
        assert meant is not None
        assert meant.right
        check_shape(layout, module, shape, Ways("i2", "strided", "apart"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["plain", "reversed", "apart"])
@pytest.mark.parametrize(
    "shape", [(2, 256, 3, 20), (1, 512, 9, 9), (1, 256, 1, 64), (3, 1024, 2, 8)]
)
def test_large_steps_of_the_source(shape: tuple[int, ...], kind: str) -> None:
    """Sources that step by a multiple of 1024 bytes are staged row by row."""
    module, dtype = check_text("layout A(n, c, h, w) = [n, h, w, c]"), np.dtype("f4")
    assert module is not None
    packed = np.arange(prod(shape), dtype=dtype).reshape(module.physical_shape(shape))
    memory, view = frame(kind, shape, dtype)
    wanted = memory.copy()
    view(wanted)[...] = packed.transpose(0, 3, 1, 2)
    module.unpack(packed, shape, view(memory))
    assert memory.tobytes() == wanted.tobytes()
