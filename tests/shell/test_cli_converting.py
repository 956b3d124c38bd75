"""`convert`: a packed `.npy` file into another layout, and how it may fail."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell

import layoutdsl

__all__ = ["shell"]

SHAPE = (2, 20, 3, 4)
TENSOR = np.arange(2 * 20 * 3 * 4, dtype=np.float32).reshape(SHAPE)
SHAPED = ("--shape", "2,20,3,4")


def stored(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def packed(name: str) -> np.ndarray:
    return layoutdsl.compile(layoutdsl.library(name), "numpy").pack(TENSOR)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("compiled", ["auto", "numpy"])
def test_from_one_file_to_another(shell: Shell, compiled: str) -> None:
    np.save("in.npy", packed("NCHW16c"))
    line = ("convert", "NCHW16c", "NCHW4c", "in.npy", "out.npy", *SHAPED, "--target", compiled)
    assert shell(*line) == Ended(0, "", "", b"")
    assert np.array_equal(np.load("out.npy"), packed("NCHW4c"))
    assert sorted(path.name for path in Path().iterdir()) == ["demo.layout", "in.npy", "out.npy"]


def test_through_pipes(shell: Shell) -> None:
    done = shell("convert", "NCHW16c", "NHWC", "-", "-", *SHAPED, stdin=stored(packed("NCHW16c")))
    assert (done.code, done.err) == (0, "")
    assert np.array_equal(np.load(io.BytesIO(done.raw)), packed("NHWC"))


def test_a_flat_buffer_is_taken(shell: Shell) -> None:
    np.save("in.npy", packed("NCHW16c").reshape(-1))
    assert shell("convert", "NCHW16c", "NHWC", "in.npy", "out.npy", "--shape", "C=20,N=2,H=3,W=4")
    assert np.array_equal(np.load("out.npy"), packed("NHWC"))


def test_fill(shell: Shell) -> None:
    np.save("in.npy", packed("NHWC"))
    line = ("convert", "NHWC", "NCHW16c", "in.npy", "out.npy", *SHAPED, "--fill")
    assert shell(*line, "0.5").code == 0
    assert np.sum(np.load("out.npy") == 0.5) == 768 - TENSOR.size
    assert shell(*line, "many").code == 2
    ended = shell(*line, "1e300")
    assert (ended.code, ended.err) == (2, "error: --fill is 1e+300, which float32 cannot hold\n")


@pytest.mark.slow
def test_axes_by_their_order_are_told(shell: Shell) -> None:
    np.save("in.npy", packed("NCHW16c"))
    line = ("convert", "NCHW16c", "R4FlatMemoryLayout", "in.npy", "out.npy", *SHAPED)
    guessed = shell(*line)
    assert guessed.code == 0
    assert guessed.err == "note: axes go by their order: --axes n=b,c=h,h=w,w=d\n"
    assert np.array_equal(np.load("out.npy"), TENSOR)
    assert shell(*line, "--axes", "n=b,c=d,h=h,w=w") == Ended(0, "", "", b"")
    assert np.array_equal(np.load("out.npy"), TENSOR.transpose(0, 2, 3, 1))
    assert shell(*line, "--axes", "b,d,h,w") == Ended(0, "", "", b"")
    wrong = shell(*line, "--axes", "n=q")
    assert (wrong.code, wrong.err) == (
        2,
        "error: the second layout has no axis `q`; it has b, h, w, d\n",
    )


def test_it_says_what_was_done(shell: Shell) -> None:
    np.save("in.npy", packed("NCHW16c"))
    done = shell("convert", "NCHW16c", "NHWC", "in.npy", "out.npy", *SHAPED, "-v")
    assert done.err == "converted (2, 2, 3, 4, 16) float32 -> (2, 3, 4, 20)\n"
    Path("twelve.layout").write_text("layout By12(n, c, h, w) = [n, c/12, h, w, c%12]")
    done = shell("convert", "NCHW16c", "twelve.layout", "in.npy", "out.npy", *SHAPED, "-v")
    assert done.err == (
        "note: through the tensor: axis `c`: blocks of 12 and 16 have no common digits\n"
        "converted (2, 2, 3, 4, 16) float32 -> (2, 2, 3, 4, 12)\n"
    )


def test_what_does_not_fit(shell: Shell) -> None:
    np.save("in.npy", packed("NCHW16c"))
    Path("wrong.layout").write_text("layout Wrong(n, c, h, w) = [n, c/16, h, w, c%8]")
    Path("three.layout").write_text(
        "layout Three(n, c: 3, h, w) = [n, h, w, c]\n"
        "layout Four(n, c: 4, h, w) = [n, h, w, c]\n"
        "layout Half(n, c, h, w) = [n, h, w, c] of f16\n"
        "layout Whole(n, c, h, w) = [n, c, h, w] of f32\n"
        "layout Open<k>(n, c, h, w) = [n, c/k, h, w, c%k]\n"
    )

    def refused(one: str, other: str, *more: str, source: str = "in.npy") -> tuple[int, str]:
        ended = shell("convert", one, other, source, "out.npy", *(more or SHAPED))
        assert not Path("out.npy").exists()
        return ended.code, ended.err.splitlines()[-1] if ended.err else ""

    assert refused("NCHW16c", "XlaTile2x2") == (
        2,
        "error: `NCHW16c` and `XlaTile2x2` take tensors of different ranks: they have 4 and 2 axes",
    )
    assert refused("three.layout:Three", "three.layout:Four", "--shape", "2,3,3,4") == (
        2,
        "error: `Three` and `Four` take different tensors: axis `c` has 3 elements in one, 4 in the"
        " other",
    )
    assert refused("NCHW16c", "NHWC", "--shape", "2,20,3,5") == (
        4,
        "error: `in.npy` does not fit: `src` has shape (2, 2, 3, 4, 16), not (2, 2, 3, 5, 16)",
    )
    assert refused("NCHW16c", "NHWC", "--shape", "2,20,3")[0] == 2
    assert refused("NCHW16c", "three.layout:Half")[0] == 4
    code, said = refused("three.layout:Whole", "three.layout:Half")
    assert (code, said) == (
        2,
        "error: `Whole` is of f32, and `Half` of f16: elements are moved as they are",
    )
    assert refused("NCHW16c", "wrong.layout")[0] == 2  # a text with a fault
    assert refused("NCHW16c", "three.layout:Open")[0] == 2
    assert refused("NCHW16c", "NHWC", source="none.npy")[0] == 4
    Path("cut.npy").write_bytes(stored(TENSOR)[:-5])
    assert refused("NCHW16c", "NHWC", source="cut.npy") == (
        4,
        "error: `cut.npy` is cut short: 2043 bytes of 2048",
    )


def test_a_refuted_layout_moves_nothing(shell: Shell) -> None:
    np.save("in.npy", packed("NCHW16c"))
    Path("bad.layout").write_text("layout Bad(n, c, h, w) = [n, c/16, h, w, c%16 : 8]")
    for both in (("NCHW16c", "bad.layout"), ("bad.layout", "NCHW16c")):
        ended = shell("convert", *both, "in.npy", "out.npy", *SHAPED)
        if ended.code != 2:  # the language may see it first
            assert ended.code == 1
            assert "`Bad` is refuted" in ended.err
    assert not Path("out.npy").exists()


@pytest.mark.slow
def test_a_way_that_is_not_proved_goes_through_the_tensor(shell: Shell) -> None:
    Path("odd.layout").write_text(
        "layout Odd(n, h) = [(n, h)%40 : 44] where N*H <= 40\nlayout Rows(n, h) = [n, h]\n"
    )
    layouts = ("odd.layout:Odd", "odd.layout:Rows")
    np.save("in.npy", np.arange(44.0))
    line = ("convert", *layouts, "in.npy", "out.npy", "--shape", "5,8", "--unproved")
    assert shell(*line, "--target", "numpy").code == 0
    assert np.load("out.npy").tolist() == np.arange(40.0).reshape(5, 8).tolist()


def test_the_destination_is_neither_source_nor_spec(shell: Shell) -> None:
    np.save("in.npy", packed("NCHW16c"))
    Path("link.npy").symlink_to("in.npy")
    for name in ("in.npy", "link.npy"):
        ended = shell("convert", "NCHW16c", "NHWC", "in.npy", name, *SHAPED)
        assert (ended.code, ended.err) == (
            4,
            f"error: `{name}` is the input itself, and is not replaced\n"
            "  = help: write to another file, and move it there afterwards\n",
        )
    for specs in (("demo.layout:NCHW16c", "NHWC"), ("NHWC", "demo.layout:NCHW16c")):
        ended = shell("convert", *specs, "in.npy", "demo.layout", *SHAPED)
        assert ended.code == 4
        assert ended.err.startswith("error: `demo.layout` is the spec itself, and is not replaced")
    assert np.array_equal(np.load("in.npy"), packed("NCHW16c"))
    assert Path("demo.layout").read_text().startswith("layout NCHW16c")
