"""C that turns real numbers into codes and back: the nearest code, in exact fractions.

The numbers are those near which a rounded quotient may err: halves of steps and their neighbours,
the smallest and the largest floats, and ones drawn by their bits.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from functions_built import C

import layoutdsl

pytestmark = pytest.mark.skipif(C is None, reason="there is no C compiler")
OPTIONS = ("-std=c11", "-DLAYOUT_PLAIN", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-O2")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
LAYOUT = "layout A(n, c, h) = [n, c/4, h, c%4] of {kind} as scale_offset{per}"


class Built:
    """The C of a layout of codes."""

    def __init__(self, kind: str, per: str, folder: Path, compiler: str) -> None:
        self.layout = layoutdsl.parse(LAYOUT.format(kind=kind, per=per))["A"]
        made = layoutdsl.generate_c(self.layout)
        paths = made.write(folder / "A.c")
        library = folder / "A.so"
        command = [compiler, *OPTIONS, "-o", str(library), str(paths[0]), "-lm"]
        subprocess.run(command, check=True, timeout=120)
        self._library = ctypes.CDLL(str(library))

    def call(
        self, name: str, given: np.ndarray, out: np.ndarray, scale: object, zero: object
    ) -> int:
        """Turn one array into another."""
        extents = np.array(given.shape, "i8")
        scales = np.atleast_1d(np.asarray(scale, "f8"))
        zeros = np.atleast_1d(np.asarray(zero, "i8"))
        arrays = (given, out, extents, scales, zeros)
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in arrays]
        return int(self._library[f"a_{name}"](*pointers))


def floats(random: Random, scale: float, dtype: str, count: int) -> list[float]:
    """Numbers whose codes are hard to tell."""
    wide = "u8" if dtype == "f8" else "u4"
    found: list[float] = [
        0.0,
        -0.0,
        float("inf"),
        float("-inf"),
        5e-324,
        -1e300 if dtype == "f8" else -3e38,
    ]
    while len(found) < count:
        if random.random() < 0.3:
            drawn = np.array(random.getrandbits(64 if dtype == "f8" else 32), wide).view(dtype)
        else:
            step = random.randint(-300, 300) + random.choice((0.0, 0.5, 0.5, random.random()))
            drawn = np.array(step * scale).astype(dtype)
            for _ in range(random.choice((0, 0, 1, 2))):
                drawn = np.nextafter(drawn, np.array(random.choice((-np.inf, np.inf)), dtype))
        if not np.isnan(drawn):
            found.append(float(drawn))
    return found


def nearest(number: float, scale: float, zero: int, low: int, high: int) -> int:
    """The code of a number, in fractions."""
    if number in (float("inf"), float("-inf")):
        return high if number > 0 else low
    steps = round(Fraction(number) / Fraction(scale))  # ties to even
    return min(max(steps + zero, low), high)


def check(built: Built, random: Random, dtype: str, per: bool) -> None:
    assert built.layout.element is not None
    assert built.layout.element.values is not None
    low, high = built.layout.element.values
    kind, width = built.layout.element.item
    shape = (2, 5, 40)
    count = 5 if per else 1
    scales = [
        random.choice((0.02, 1.0, 0.1, 3.0, 2.0**-20, random.uniform(1e-3, 9.0)))
        for _ in range(count)
    ]
    zeros = [random.randint(low, high) for _ in range(count)]
    numbers = np.empty(shape, dtype)
    for channel in range(5):
        own = scales[channel if per else 0]
        numbers[:, channel] = np.array(floats(random, own, dtype, 80)).astype(dtype).reshape(2, 40)
    codes = np.empty(shape, f"{kind}{width}")
    bits = 64 if dtype == "f8" else 32
    assert built.call(f"quantise_{bits}", numbers, codes, scales, zeros) == 0
    back = np.empty(shape, dtype)
    assert built.call(f"dequantise_{bits}", codes, back, scales, zeros) == 0
    for place in np.ndindex(shape):
        own = place[1] if per else 0
        wanted = nearest(float(numbers[place]), scales[own], zeros[own], low, high)
        assert int(codes[place]) == wanted, (numbers[place], scales[own], zeros[own])
        exact = np.array((wanted - zeros[own]) * scales[own]).astype(dtype)
        assert back[place].tobytes() == exact.tobytes()
    moves = layoutdsl.compile(built.layout, "numpy")
    scale, zero = (scales, zeros) if per else (scales[0], zeros[0])
    assert (moves.quantise(numbers, scale=scale, zero_point=zero) == codes).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "per", "compilers"),
    [
        ("i4", " per c", COMPILERS[-1:]),
        pytest.param("u8", "", COMPILERS, marks=pytest.mark.slow),
        pytest.param("u32", "", COMPILERS, marks=pytest.mark.slow),
    ],
)
def test_the_nearest_code(kind: str, per: str, compilers: list[str], tmp_path: Path) -> None:
    for compiler in compilers:
        built, random = Built(kind, per, tmp_path, compiler), Random(f"{kind} {per}")
        for dtype in ("f4", "f8"):
            check(built, random, dtype, bool(per))


@pytest.mark.campaign
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kind", ["u8", "i8", "i4", "u2", "i16", "u16", "i32", "u32"])
def test_the_nearest_code_of_many(kind: str, compiler: str, tmp_path: Path) -> None:
    random = Random(kind)
    for number, per in enumerate(("", " per c")):
        (tmp_path / str(number)).mkdir()
        built = Built(kind, per, tmp_path / str(number), compiler)
        for _ in range(300):
            check(built, random, random.choice(("f4", "f8")), bool(per))


@pytest.mark.slow
def test_what_has_no_code(tmp_path: Path) -> None:
    """What is refused, by what is returned; nothing is written then."""
    built = Built("i4", "", tmp_path, str(C))
    numbers, codes = np.zeros((1, 2, 3), "f4"), np.full((1, 2, 3), 7, "i1")
    bad = numbers.copy()
    bad[0, 1, 2] = np.nan
    for given, scale, zero, wanted in (
        (bad, 1.0, 0, 4),
        (numbers, 0.0, 0, 5),
        (numbers, -1.0, 0, 5),
        (numbers, np.inf, 0, 5),
        (numbers, np.nan, 0, 5),
        (numbers, 1.0, 8, 5),
    ):
        assert built.call("quantise_32", given, codes, scale, zero) == wanted
        assert (codes == 7).all()
    assert built.call("dequantise_32", np.full_like(codes, 8), numbers, 1.0, 0) == 6
    assert built.call("dequantise_32", codes, numbers, 1e38, 0) == 7
    assert built.call("dequantise_32", codes, numbers, 1e-40, 0) == 7
    assert not numbers.any()
