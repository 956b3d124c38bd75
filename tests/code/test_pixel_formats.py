"""Library records of video and cameras, against bit positions of their specifications.

The oracles read the published tables, and write one sample after the other in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import layoutdsl

Fields = dict[str, Any]
Oracle = Callable[[int, int, Fields], bytes]


def plane(random: np.random.Generator, bits: int, h: int, w: int) -> Any:
    kind = np.uint8 if bits <= 8 else np.uint16
    return random.integers(0, 1 << bits, (h, w), dtype=kind)


def p010(h: int, w: int, of: Fields) -> bytes:
    """Microsoft: words with the value in the high 10 bits; a plane of y, then pairs of u and v."""
    words = [int(of["y"][i, j]) << 6 for i in range(h) for j in range(w)]
    for i in range(h // 2):
        for j in range(w // 2):
            words += [int(of["u"][i, j]) << 6, int(of["v"][i, j]) << 6]
    return b"".join(word.to_bytes(2, "little") for word in words)


V210_WORDS = ("u0 y0 v0", "y1 u1 y2", "v1 y3 u2", "y4 v2 y5")
"""Apple: the components of four words, from the lowest bits on, of 6 pixels."""


def v210(h: int, w: int, of: Fields) -> bytes:
    found = b""
    for i in range(h):
        row = b""
        for group in range(w // 6):
            for said in V210_WORDS:
                word = 0
                for place, name in enumerate(said.split()):
                    each = group * (6 if name[0] == "y" else 3) + int(name[1])
                    value = of[name[0]][i, each]
                    word |= int(value) << 10 * place
                row += word.to_bytes(4, "little")
        found += row + bytes(-len(row) % 128)
    return found


def raw10(h: int, w: int, of: Fields) -> bytes:
    """MIPI CSI-2: four high bytes, then a byte of the low bits."""
    found = bytearray()
    for i in range(h):
        for j in range(0, w, 4):
            four = [int(value) for value in of["p"][i, j : j + 4]]
            found += bytes(value >> 2 for value in four)
            found.append(sum((value & 3) << 2 * k for k, value in enumerate(four)))
    return bytes(found)


def raw12(h: int, w: int, of: Fields) -> bytes:
    """MIPI CSI-2: two high bytes, then a byte of the low bits."""
    found = bytearray()
    for i in range(h):
        for j in range(0, w, 2):
            one, two = (int(value) for value in of["p"][i, j : j + 2])
            found += bytes((one >> 4, two >> 4, (one & 15) | (two & 15) << 4))
    return bytes(found)


def r10g10b10a2(h: int, w: int, of: Fields) -> bytes:
    found = b""
    for i in range(h):
        for j in range(w):
            r, g, b, a = (int(of[name][i, j]) for name in "rgba")
            found += (r | g << 10 | b << 20 | a << 30).to_bytes(4, "little")
    return found


def bgr24(h: int, w: int, of: Fields) -> bytes:
    pixels = ((i, j) for i in range(h) for j in range(w))
    return bytes(int(of[name][i, j]) for i, j in pixels for name in "bgr")


FORMATS: dict[str, tuple[Oracle, tuple[int, int], dict[str, tuple[int, int, int]]]] = {
    # the oracle, what extents are multiples of, and of each field the bits and what divides h and w
    "P010": (p010, (2, 2), {"y": (10, 1, 1), "u": (10, 2, 2), "v": (10, 2, 2)}),
    "V210": (v210, (1, 6), {"y": (10, 1, 1), "u": (10, 1, 2), "v": (10, 1, 2)}),
    "RAW10": (raw10, (1, 4), {"p": (10, 1, 1)}),
    "RAW12": (raw12, (1, 2), {"p": (12, 1, 1)}),
    "R10G10B10A2": (r10g10b10a2, (1, 1), {n: (2 if n == "a" else 10, 1, 1) for n in "rgba"}),
    "BGR24": (bgr24, (1, 1), dict.fromkeys("bgr", (8, 1, 1))),
}


@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize("name", FORMATS)
def test_bytes_are_those_of_the_specification(name: str, target: Any) -> None:
    oracle, (down, across), fields = FORMATS[name]
    random = np.random.default_rng(len(name))
    module = layoutdsl.compile(name, target)
    for rows, columns in ((1, 1), (2, 3), (3, 9), (2, 17)):
        h, w = rows * down, columns * across
        given = {
            field: plane(random, bits, h // by_h, w // by_w)
            for field, (bits, by_h, by_w) in fields.items()
        }
        packed = module.pack(**given, shape=(h, w))
        assert packed.tobytes() == oracle(h, w, given), (name, h, w)
        back = module.unpack(packed, (h, w))._asdict()
        assert all((back[field] == each).all() for field, each in given.items())


@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize(("name", "field", "most"), [("RAW10", "p", 1023), ("RAW12", "p", 4095)])
def test_values_of_more_bits_are_refused(name: str, field: str, most: int, target: Any) -> None:
    module = layoutdsl.compile(name, target)
    with pytest.raises(ValueError, match=str(most)):
        module.pack(**{field: np.full((1, 4), most + 1, np.uint16)})
