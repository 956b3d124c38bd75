"""Files packed and unpacked piece by piece, where a layout has slots before its first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("columns", [300, 301])
@pytest.mark.parametrize("clause", ["", "offset 3", "offset I%4", "offset max(0, I - 300)"])
def test_pieces_are_the_whole(clause: str, columns: int, shell: Shell) -> None:
    Path("a.layout").write_text(f"layout A(o, i) = [o, i/4, i%4] {clause}\n")
    tensor = np.arange(2001 * columns, dtype="i4").reshape(2001, columns)
    np.save("x.npy", tensor)
    shape = f"2001,{columns}"
    for memory, packed, back in (("512K", "p.npy", "b.npy"), ("64M", "q.npy", "c.npy")):
        done = shell("pack", "a.layout:A", "x.npy", packed, "--mem", memory, "--unproved")
        assert done.code == 0, done.err
        done = shell(
            "unpack", "a.layout:A", packed, back, "--shape", shape, "--mem", memory, "--unproved"
        )
        assert done.code == 0, done.err
        assert np.array_equal(np.load(back), tensor)
    assert Path("p.npy").read_bytes() == Path("q.npy").read_bytes()
    assert np.load("p.npy").ndim == (1 if clause else 3)
