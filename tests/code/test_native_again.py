"""Calls that are like one before, and calls that only look so: what numpy makes of each of them.

Each sequence is drawn. Most calls repeat the one before with other arrays; the others change one
thing, which is to be seen however often the function of the last call was right.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import modules, needs_compiler

from layoutdsl import convert

pytestmark = needs_compiler

LAYOUTS = (
    "layout Blocked(c, h, w) = [h, c/4, w, c%4] fill 3",
    "layout Led(c, h, w) = [w, h, c] offset 5",
    "layout Kept(c, h, w) = [c/8, h, w, c%8] fill any",
    "layout Turned(c, h, w) = [h, w, c]",
)
TYPES = (
    "u1",
    "i1",
    "?",
    "<i2",
    ">i2",
    "f4",
    ">f4",
    "f8",
    "c8",
    "M8[s]",
    "S4",
    "U1",
    "q",
    "l",
    "V8",
)


class Own(np.ndarray):
    """No plain array."""


def drawn_shape(draw: Random) -> tuple[int, ...]:
    return tuple(draw.randint(1, 6) for _ in range(3))


def filled(draw: Random, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(draw.randbytes(size), "u1").copy().view(dtype).reshape(shape)


def strange(draw: Random, array: np.ndarray) -> np.ndarray:
    """The same items in an array of another kind."""
    match draw.randrange(7):
        case 0:
            return np.asfortranarray(array)
        case 1:
            return np.repeat(array, 2, -1)[..., ::2]
        case 2:
            return array.view(Own)
        case 3:
            array.flags.writeable = False
            return array
        case 4:
            return np.ma.masked_array(array)
        case 5:
            return array.reshape(-1)
        case _:
            return array.view(array.dtype.newbyteorder())


def strange_shape(draw: Random, shape: tuple[int, ...]) -> Any:
    """A shape that is equal to one, or nearly."""
    choices: list[Any] = [
        list(shape),
        tuple(np.int64(each) for each in shape),
        tuple(float(each) for each in shape),
        tuple(each == 1 if each == 1 else each for each in shape),
        (*shape, 1),
        shape[:-1],
        (*shape[:-1], shape[-1] + (1 << 64)),
        (*shape[:-1], -shape[-1]),
        shape[::-1],
        None,
        np.array(shape),
    ]
    return draw.choice(choices)


@dataclass(frozen=True)
class Asked:
    """A call."""

    verb: str
    src: np.ndarray
    given: tuple[Any, ...]
    out: np.ndarray | None
    more: dict[str, Any]

    def of(self, module: Any) -> Any:
        """What it leaves: the result, or what is in `out` where it is refused."""
        try:
            found = getattr(module, self.verb)(self.src, *self.given, out=self.out, **self.more)
        except (ValueError, TypeError):
            return "refused", None if self.out is None else self.out.tobytes()
        assert self.out is None or found is self.out
        return found.dtype, found.shape, found.tobytes()


def asked(seed: str, shape: tuple[int, ...], box: tuple[int, ...], dtype: str) -> Asked:
    """A call; of the same seed the same one, of arrays of its own."""
    draw = Random(seed)
    verb = draw.choice(("pack", "unpack"))
    read, written = (shape, box) if verb == "pack" else (box, shape)
    src, out = filled(draw, read, dtype), filled(draw, written, dtype)
    given: tuple[Any, ...] = () if verb == "pack" else (shape,)
    more: dict[str, Any] = {}
    match draw.randrange(16):
        case 0:
            src = strange(draw, src)
        case 1:
            out = strange(draw, out)
        case 2:
            memory = filled(draw, (src.size + out.size,), dtype)
            src = memory[: src.size].reshape(src.shape)
            first = draw.randint(0, src.size)
            out = memory[first : first + out.size].reshape(out.shape)
        case 3 if given:
            given = (strange_shape(draw, shape),)
        case 4:
            more = {"threads": draw.choice((1, 2, True, 1.0))}
        case 5:
            more = {"copy": draw.choice((None, False, 1))}
        case 6 if verb == "pack":
            more = {"fill": draw.choice((0, 3, None))}
    return Asked(verb, src, given, out if draw.random() < 0.8 else None, more)


@pytest.mark.slow
@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", range(24))
def test_calls_that_are_like_one_before(seed: int) -> None:
    draw, text = Random(seed), LAYOUTS[seed % len(LAYOUTS)]
    plain, module = module_of(text), modules(text)
    shape, dtype = drawn_shape(draw), draw.choice(TYPES)
    for number in range(150):
        if draw.random() < 0.1:
            shape = drawn_shape(draw)
        if draw.random() < 0.1:
            dtype = draw.choice(TYPES)
        same = f"{seed} {number}", shape, plain.physical_shape(shape), dtype
        assert asked(*same).of(module) == asked(*same).of(plain), same


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", LAYOUTS)
def test_the_second_call_is_not_looked_up(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are those that follow, where padding need not be kept."""
    plain, module, shape = module_of(text), modules(text), (5, 3, 4)
    tensor = np.arange(60, dtype="f4").reshape(shape)
    for _ in range(2):
        packed = module.pack(tensor)
        back = module.unpack(packed, shape, np.empty(shape, "f4"))
    module.pack(tensor, packed)
    monkeypatch.setattr(module, "_unpack", lambda *_: pytest.fail("it was looked up"))
    if "any" not in text:
        monkeypatch.setattr(module, "_pack", lambda *_: pytest.fail("it was looked up"))
    packed[...] = back[...] = 9
    assert module.pack(tensor, packed) is packed
    assert np.array_equal(packed, plain.pack(tensor, np.full_like(packed, 9)))
    assert module.unpack(packed, shape, back) is back
    assert np.array_equal(back, tensor)


@pytest.mark.slow
def test_conversions_that_are_like_one_before() -> None:
    one, other = (layout_of(LAYOUTS[number]) for number in (0, 3))
    plain = convert(one, other, compiled="numpy")
    native = convert(one, other, compiled="native")
    for number in range(200):
        draw = Random(number // 4)
        shape, dtype = drawn_shape(draw), draw.choice(TYPES)
        draw = Random(number)
        boxes = [module_of(LAYOUTS[each]).physical_shape(shape) for each in (0, 3)]
        src, first = filled(draw, boxes[0], dtype), filled(draw, boxes[1], dtype)
        second = first.copy()
        given = shape if draw.random() < 0.7 else strange_shape(draw, shape)
        found = Asked("__call__", src, (given,), first, {}).of(native)
        assert found == Asked("__call__", src, (given,), second, {}).of(plain)


ELSEWHERE = f"""
import ctypes
del ctypes.pythonapi
import layoutdsl, numpy
module = layoutdsl.compile(layoutdsl.parse("{LAYOUTS[0]}")["Blocked"], "native")
tensor = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
out = module.pack(tensor)
for _ in range(3):
    out[...] = 9
    assert module.pack(tensor, out) is out
print(out.tolist())
"""


@pytest.mark.slow
def test_a_python_without_an_interface_for_c_packs_again_and_again() -> None:
    """Repeated calls use the C interface of CPython; `ctypes` of other Pythons offers none."""
    command = [sys.executable, "-c", ELSEWHERE]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    tensor = np.arange(24, dtype="f4").reshape(2, 3, 4)
    assert done.stdout == f"{module_of(LAYOUTS[0]).pack(tensor).tolist()}\n"


def test_nothing_is_held_that_is_not_given_back() -> None:
    """Whatever a call says: references are counted in C."""
    module, shape = modules(LAYOUTS[3]), (5, 3, 4)
    tensor = np.ones(shape, "f4")
    out, back = module.pack(tensor), np.empty(shape, "f4")
    for _ in range(2):
        module.pack(tensor, out)
        module.unpack(out, shape, back)
    packs, unpacks = module._pack_again, module._unpack_again
    other, still = np.asfortranarray(tensor), out.copy()
    still.flags.writeable = False
    calls: list[tuple[Any, ...]] = [
        (packs, tensor, out),
        (packs, tensor, still),
        (packs, other, out),
        (packs, tensor, None),
        (packs,),
        (packs, tensor, out, shape),
        (unpacks, out, back, shape),
        (unpacks, out, back, list(shape)),
        (unpacks, out, back, (1 << 70, 3, 4)),
        (unpacks, out, back, (5.0, 3, 4)),
        (unpacks, out, back, (5,)),
    ]
    held = [tensor, out, shape, back, other, still, packs, unpacks, np.ndarray, tuple, int]
    before = [sys.getrefcount(each) for each in held]
    for _ in range(1000):
        done = [function(*given) for function, *given in calls]
    assert done == [True, *[False] * 5, True, *[False] * 4]
    assert [sys.getrefcount(each) for each in held] == before
