"""What sources say, transcribed by hand: an index and a shape -> the offset.

Plain Python, with nothing of the product; `cd` rounds a quotient up. Which layouts of the library
they are, and the shapes at which that is counted out, stand in `library_formulas.py`; those of
`specs/` are below.
"""

# ruff: noqa: E741, N803, N806  indices and extents have the letters of the sources

from __future__ import annotations

from collections.abc import Callable

Offset = Callable[[tuple[int, ...], tuple[int, ...]], int]


def cd(number: int, by: int) -> int:
    return -(-number // by)


def channels(x: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (n, c, h, w), (_, C, H, W) = index, shape
        return (((n * cd(C, x) + c // x) * H + h) * W + w) * x + c % x

    return offset


def vnni(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    (o, i, h, w), (_, I, H, W) = index, shape
    block = (((o // 16) * cd(I, 16) + i // 16) * H + h) * W + w
    return block * 256 + ((i % 16) // 4) * 64 + (o % 16) * 4 + i % 4


def amx_b(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    (k, n), (K, _) = index, shape
    tile = (n // 64) * cd(K, 64) + k // 64
    return tile * 4096 + ((k % 64) // 4) * 256 + (n % 64) * 4 + k % 4


def amx_int8(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    k, n = index
    return (k // 4) * 64 + n * 4 + k % 4


def amx_bf16(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    k, n = index
    return (k // 2) * 32 + n * 2 + k % 2


def arm(a: int, b: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (o, h, w, i), (_, H, W, I) = index, shape
        padded = cd(I, b) * b
        row = (o // a) * H * W * padded * a + h * W * padded * a + w * padded * a
        return row + (i // b) * a * b + (o % a) * b + i % b

    return offset


def awq(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    (k, n), (_, N) = index, shape
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    return (k * (N // 8) + n // 8) * 8 + order.index(n % 8)


def gptq(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    (k, n), (_, N) = index, shape
    return ((k // 8) * N + n) * 8 + k % 8


def marlin(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    (k, n), (_, N) = index, shape
    lane = (n % 8) * 4 + (k % 8) // 2
    e = ((n % 16) // 8) * 4 + ((k % 16) // 8) * 2 + k % 2
    tile = (k // 16) * (16 * N) + (n // 64) * 1024
    return tile + lane * 32 + ((n // 16) % 4) * 8 + (e % 2) * 4 + e // 2


def _permuted(n: int) -> int:
    return (n // 64) * 64 + (n % 8) * 8 + (n % 64) // 8


def marlin_scales(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    return index[0] * shape[1] + _permuted(index[1])


def marlin_zeros(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    s = _permuted(index[1])
    return index[0] * shape[1] + (s // 8) * 8 + ((s % 8) % 2) * 4 + (s % 8) // 2


def shuffled(E: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (n, k), (_, K) = index, shape
        block = ((n // 16) * (K // 32) + k // 32) * (32 // E) + (k % 32) // E
        return (block * 16 + n % 16) * E + k % E

    return offset


def gguf(pitch: int, header: int, nibbles: int) -> Offset:
    """Blocks of 32 in rows; two to a byte, 16 apart, where ``nibbles`` is 2."""

    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (r, k), (_, K) = index, shape
        block = r * (K // 32) + k // 32
        byte = pitch * block + header + k % (32 // nibbles)
        return nibbles * byte + (k % 32) // (32 // nibbles)

    return offset


def repacked(bl: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (r, k), (_, K) = index, shape
        nb, b = K // 32, k // 32
        byte = ((r // 4) * nb + b) * 72 + 8
        byte += (((k % 16) // bl) * 4 + r % 4) * bl + (k % 16) % bl
        return 2 * byte + (k % 32) // 16

    return offset


def scales(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    (o, i), (_, Ki) = index, shape
    tile = (o // 128) * cd(Ki, 4) + i // 4
    return tile * 512 + (o % 32) * 16 + ((o % 128) // 32) * 4 + i % 4


def aiter_scales(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """`view(M/32, 2, 16, S/8, 2, 4).permute(0, 3, 5, 2, 4, 1)` of the padded matrix."""
    (m, s), (_, S) = index, shape
    digits = (m // 32, m % 32 // 16, m % 16, s // 8, s % 8 // 4, s % 4)
    radices = (0, 2, 16, cd(S, 8), 2, 4)
    total = 0
    for place in (0, 3, 5, 2, 4, 1):
        total = total * radices[place] + digits[place]
    return total


def mma_a(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    r, c = index
    lane, register = (r % 8) * 4 + (c % 8) // 2, (c // 8) * 4 + (r // 8) * 2 + c % 2
    return lane * 8 + register


def mma_b(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    k, n = index
    return (n * 4 + (k % 8) // 2) * 4 + (k // 8) * 2 + k % 2


def mma_c(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    r, c = index
    return ((r % 8) * 4 + c // 2) * 4 + (r // 8) * 2 + c % 2


def ldmatrix(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    i, j = index
    thread, local = (i % 16) // 4 + 4 * (j % 8), 8 * (j // 8) + (i // 16) * 4 + i % 4
    return thread * 16 + local


def ldmatrix_as_published(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    i, j = index
    return ((i % 4) + 4 * (j % 8)) * 16 + 8 * (j // 8) + (i // 16) * 4 + i % 4


def swizzle(bits: int) -> Offset:
    """As swizzle.hpp has it: so many bits of a byte's address from bit 4, by those 3 above."""

    def offset(index: tuple[int, ...], _: tuple[int, ...]) -> int:
        (a,) = index
        mask = ((1 << bits) - 1) << 7
        return a ^ ((a & mask) >> 3)

    return offset


def atom(bits: int, columns: int) -> Offset:
    """Rows of 16-bit elements, their bytes swizzled."""

    def offset(index: tuple[int, ...], _: tuple[int, ...]) -> int:
        m, k = index
        return swizzle(bits)((2 * (m * columns + k),), ()) // 2

    return offset


def composition(index: tuple[int, ...], _: tuple[int, ...]) -> int:
    """A(B(j)) by the definition of a CuTe layout: the flat index, leftmost mode fastest."""
    flat, offset = 3 * index[0], 0
    for extent, stride in zip((4, 6, 8), (2, 3, 5), strict=True):
        offset += flat % extent * stride
        flat //= extent
    return offset


def tpu(rows: int, interleaved: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (r, c), (_, C) = index, shape
        tile = ((r // rows) * cd(C, 128) + c // 128) * rows * 128
        row = (r % rows) // interleaved * 128 * interleaved
        return tile + row + (c % 128) * interleaved + r % interleaved

    return offset


def fractal(n0: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (b, m, n), (_, M, N) = index, shape
        image = cd(N, n0) * cd(M, 16) * 16 * n0
        place = ((n // n0) * cd(M, 16) + m // 16) * 16 * n0
        return b * image + place + (m % 16) * n0 + n % n0

    return offset


def htp(*pairs: tuple[int, int]) -> Offset:
    """Qualcomm's pairs (dimension, size), read from the right; size 0 is all the rest."""

    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        rest, room = list(index), list(shape)
        total, stride = 0, 1
        for dimension, size in reversed(pairs):
            extent = size or room[dimension]
            total += rest[dimension] % extent * stride
            rest[dimension] //= extent
            room[dimension] = cd(room[dimension], extent)
            stride *= extent
        return total

    return offset


def image(pixel: Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, int, int, int]]) -> Offset:
    """An image of four lanes: pixel x, y, the lane, and the width."""

    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        x, y, lane, width = pixel(index, shape)
        return (y * width + x) * 4 + lane

    return offset


def mace_channels(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    (n, h, w, c), (_, H, W, C) = index, shape
    return w + (c // 4) * W, n * H + h, c % 4, cd(C, 4) * W


def mace_heights(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    (n, h, w, c), (_, H, W, C) = index, shape
    return c * W + w, n * cd(H, 4) + h // 4, h % 4, C * W


def mace_widths(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    (n, h, w, c), (_, H, W, C) = index, shape
    return c * cd(W, 4) + w // 4, n * H + h, w % 4, C * cd(W, 4)


def pack(rows: int, columns: int) -> Offset:
    def offset(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
        (m, n), (_, N) = index, shape
        tile = (m // rows) * cd(N, columns) + n // columns
        return (tile * rows + m % rows) * columns + n % columns

    return offset


SPECS: dict[str, tuple[Offset, list[tuple[int, ...]]]] = {
    "Ldmatrix32x16AsPublished": (ldmatrix_as_published, [(32, 16)]),
    "Composition": (composition, [(6,)]),
    "GgufQ4_0Shifted": (gguf(18, 2, 2), [(4, 32), (8, 96)]),
    "GgufQ8_0Shifted": (gguf(34, 2, 1), [(4, 32), (8, 96)]),
    "GgufMxfp4Shifted": (gguf(17, 1, 2), [(4, 32), (8, 96)]),
    "Q4_0x4Shifted": (repacked(4), [(4, 32), (8, 96)]),
    "nChwXc16": (channels(16), [(2, 20, 3, 2), (1, 33, 2, 3)]),
    "nChwXc2": (channels(2), [(2, 20, 3, 2), (1, 33, 2, 3)]),
    "Swizzle128Rows": (swizzle(3), [(1024,), (1,), (3000,)]),
    "Swizzle128Atom": (swizzle(3), [(1024,)]),
    "PackUnpadded": (pack(8, 32), [(8, 32), (16, 96)]),
}
