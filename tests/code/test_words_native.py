"""C of layouts in words, against plain integers: bit `b` lies at `bits*offset + b`."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cli_shell import Shell, shell
from record_programs import NEEDS_C, SANITIZED, Library

import layoutdsl
from layoutdsl import Layout

__all__ = ["shell"]

FORMS = (
    ("layout A(n, c) = [c/8, n, c%8] of {t}", {"N": 4, "C": 19}),
    ("layout A(r, k) = [r, k/32, k%16, k%32/16] of {t} where K % 32 == 0", {"R": 2, "K": 64}),
    ("layout A(i: N, j: N) = [i, j/32, (j%4, j%32/4)] of {t} fill any", {"N": 9}),
    ("layout A(k) = [k] of {t}", {"K": 192}),
    ("layout A(r, k: 64) = [k/32, r, 31 - k%32 : 32] of {t}", {"R": 3}),
)
BITS = (
    ("layout A(r, k) = [r, bit, k/32, k%32] of {t}", {"R": 2, "K": 70}),
    ("layout A(r, k: 32) = [r, bit : 8, k] of {t}", {"R": 2}),
)


def meant(layout: Layout, shape: dict[str, int], tensor: np.ndarray, size: int) -> np.ndarray:
    """The bytes of a buffer, in plain integers."""
    bits = np.zeros(8 * size, "u1")
    assert layout.tensor_element is not None
    wide = layout.tensor_element.bits
    plain = tensor.view(f"u{tensor.itemsize}")
    for index in np.ndindex(tensor.shape):
        for bit in range(wide):
            if layout.bit_of is not None:
                at = layout.offset((*index, bit), shape)
            else:
                at = wide * layout.offset(index, shape) + bit
            bits[at] = int(plain[index]) >> bit & 1
    return np.packbits(bits, bitorder="little")


def written(shell: Shell, text: str, storage: str, folder: Path) -> None:
    """The files that the command line writes of a layout in words."""
    spec = folder.with_suffix(".layout")
    spec.write_text(text, encoding="utf-8")
    ended = shell(
        "generate", f"{spec}:A", "--storage", storage, "--target", "c", "-o", f"{folder}/"
    )
    assert ended.code == 0, ended.err


def check(
    shell: Shell, text: str, shape: dict[str, int], kind: str, storage: str, folder: Path
) -> None:
    layout = layoutdsl.parse(text.format(t=kind))["A"]
    element = layout.tensor_element
    assert element is not None
    random = np.random.default_rng(0)
    extents = layout.element_shape(layout.bind(shape))[: len(layout.tensor_axes)]
    name, width = element.item
    codes = random.integers(0, 1 << element.bits, extents, "u8").astype(f"u{width}")
    if name == "i" and element.bits < 8:
        half = 1 << element.bits - 1
        codes = ((codes ^ half) - half & 0xFF).astype("u1")
    written(shell, text.format(t=kind), storage, folder)
    built = Library("A", layout.symbols, folder, *SANITIZED)
    size = built.said("bytes", shape)
    out = np.full(size + 1, 0x5A, "u1")
    assert built.call("pack", shape, codes, out) == 0
    assert (out[:-1] == meant(layout, shape, codes, size)).all()
    assert out[-1] == 0x5A
    back = np.full_like(codes, 1)
    assert built.call("unpack", shape, out, back) == 0
    assert back.tobytes() == codes.tobytes()
    module = layoutdsl.compile(layout, "numpy", storage=storage)  # type: ignore[call-overload]
    packed = module.pack(codes.view(f"{name}{width}" if name in "iu" else f"u{width}"))
    if "fill any" not in text:
        assert packed.tobytes() == out[:-1].tobytes()


@pytest.mark.ci(1)
@NEEDS_C
@pytest.mark.parametrize("number", range(len(FORMS)))
@pytest.mark.slow
def test_words_of_many_forms(number: int, shell: Shell, tmp_path: Path) -> None:
    random = Random(number)
    text, shape = FORMS[number]
    for kind in random.sample(("u1", "i2", "u3", "i4", "f4", "u5", "f6", "u8", "i16"), 4):
        storage = random.choice(("bytes", "u16", "u32", "i32"))
        check(shell, text, shape, kind, storage, tmp_path / kind)


@pytest.mark.slow
@NEEDS_C
def test_words(shell: Shell, tmp_path: Path) -> None:
    check(shell, *FORMS[0], "i4", "u32", tmp_path / "a")
    check(shell, *BITS[0], "u3", "i32", tmp_path / "b")


@NEEDS_C
@pytest.mark.slow
@pytest.mark.parametrize(("form", "kind"), [*product(BITS, ("u4", "i4", "u8"))])
def test_bits_that_are_placed(
    form: tuple[str, dict[str, int]], kind: str, shell: Shell, tmp_path: Path
) -> None:
    check(shell, *form, kind, "bytes", tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layout A(n, c) = [n, c/8, c%8] of u4 fill 3", "padding of `A` holds something else"),
        ("layout A(k: 4) = [k] of u4", "the 16 bits of `A` fill no whole words of 32"),
        ("layout A(k) = [k/8, k%8] of u4 offset 8", "slots before the first of `A` are nobody's"),
        ("layout A(k) = [k]", "does not say how wide an element is"),
        ("layout A(i: N, j: N) = [i, j/8, j%8] of u4 where j <= i", "elements of a domain only"),
        ("layout A(k, q: 2 broadcast) = [q, k/8, k%8] of u4", "copies of elements"),
    ],
)
def test_what_words_do_not_hold(text: str, said: str, shell: Shell) -> None:
    Path("a.layout").write_text(text, encoding="utf-8")
    ended = shell("generate", "a.layout:A", "--storage", "u32", "--target", "c", "-o", "a/")
    assert ended.code == 2
    assert said in ended.err
    assert not Path("a").exists()


def test_shapes_that_fill_no_whole_words(shell: Shell, tmp_path: Path) -> None:
    written(shell, "layout A(k) = [k] of u4", "u32", tmp_path / "a")
    assert "if (!(4*n_K%32 == 0)) return -1;" in (tmp_path / "a" / "A.c").read_text()
