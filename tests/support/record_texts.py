"""Records that tests of the shell look at, right ones and wrong ones, in files of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell

SPEC = """\
record Block(r, k) = {
    d(r, b: K/32) = [r, b, 0 : 9]                     of f16
    q(r, k)       = [r, k/32, 2 + k%16 : 18, k%32/16] of u4
} where K % 32 == 0
record Turned(r, k) = {
    d(r, b: K/32) = [b, r, 0 : 9]                             of f16
    q(r, k)       = [k/32, r, 2 + k%16 : 18, 1 - k%32/16 : 2] of u4
} where K % 32 == 0
record Halves(r, k) = {
    q(r, k) bits 0..3 = [r, k/2, k%2 : 3]     of u6
    q(r, k) bits 4..5 = [r, k/2, 4 + k%2 : 6]
} where K % 2 == 0
record Planes(h, w) = {
    y(h, w)               = [h, w]    of u8
    uv(i: H/2, j: W/2, c: 2) = [i, j, c] of u8 offset H*W
} where H % 2 == 0, W % 2 == 0
record Gaps(n) = {
    a(n) = [n, 0 : 3] of u8
    b(n) = [n, 4 : 6] of u4
}
record Open<b>(n) = { a(n) = [n/b, n%b] of u8 } where N % b == 0
layout Plain(n, c) = [n, c]
"""

WRONG = """\
record Shared(r, k) = {
    d(r, b: K/32) = [r, b, 1 : 9] of f16
    q(r, k)       = [r, k/32, 2 + k%16 : 18, k%32/16] of u4
} where K % 32 == 0
record Nowhere(r, k) = {
    a(r, (x: K/4, 0 : 4)) = [r, x, 0 : 4] of u8
    a(r, (x: K/4, 1 : 2, y: 2)) = [r, x, 2 + y : 4]
} where K % 4 == 0
record Twice(r, k) = {
    a(r, k) bits 0..3 = [r, k, 0 : 2] of u6
    a(r, k) bits 2..5 = [r, k, 1 : 2]
}
record Same(r, k) = {
    d(r, b: K/32) = [r, b/2, 0 : 9] of f16
    q(r, k)       = [r, k/64, k%64 : 36] of u4
} where K % 64 == 0
record Left(k) = { q(k) = [k] of u4 }
record Right(k) = { q(k) = [k/2, 1 - k%2 : 2] of u4 } where K % 2 == 0
prove Left == Right
"""

SHAPE = (2, 96)


@pytest.fixture
def spec(shell: Shell) -> Shell:
    Path("my.layout").write_text(SPEC)
    Path("wrong.layout").write_text(WRONG)
    return shell


@pytest.fixture
def fields() -> dict[str, np.ndarray]:
    drawn = np.random.default_rng(7)
    d = drawn.standard_normal((2, 3)).astype("f2")
    return {"d": d, "q": drawn.integers(0, 16, SHAPE, dtype="u1")}


@pytest.fixture
def archive(spec: Shell, fields: dict[str, np.ndarray]) -> Shell:
    np.savez("in.npz", **fields)
    return spec
