"""`--shape` of a layout that places bits has no extent for the bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axes", ["m: 16, n: 8", "m: 16, n", "m, n"])
def test_a_layout_of_bits_is_unpacked(axes: str, shell: Shell) -> None:
    Path("bits.layout").write_text(f"layout Bits({axes}) = [m, n, bit] of u8\n")
    tensor = np.arange(128, dtype="u1").reshape(16, 8)
    np.save("in.npy", tensor)
    assert shell("pack", "bits.layout", "in.npy", "out.npy", "--word", "u8").code == 0
    back = ("unpack", "bits.layout", "out.npy", "back.npy", "--word", "u8", "--shape", "16,8")
    done = shell(*back)
    assert done.code == 0, done.err
    assert np.array_equal(np.load("back.npy"), tensor)
