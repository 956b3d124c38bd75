"""What packing costs, beside a plain copy and beside np.pad: `python tests/codegen_measure.py`.

Medians of interleaved rounds in one process, on the same buffers. A report, not a test: the numbers
belong to the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from codegen_cases import module_of

ROUNDS = 15
Reference = Callable[[np.ndarray], np.ndarray]


def padded(blocks: tuple[int, ...], split: tuple[int, ...], order: tuple[int, ...]) -> Reference:
    """Pad to blocks, split (0 stands for what is left of an axis), transpose, copy."""

    def pack(tensor: np.ndarray) -> np.ndarray:
        ends = [(0, -n % block) for n, block in zip(tensor.shape, blocks, strict=True)]
        whole, shape, axis = np.pad(tensor, ends), list[int](), 0
        for part in split:
            shape.append(part or whole.shape[axis] // blocks[axis])
            axis += part == 0
        return np.ascontiguousarray(whole.reshape(shape).transpose(order))

    return pack


CASES: tuple[tuple[str, str, tuple[int, ...], str, Reference], ...] = (
    *(
        (
            f"NCHW16c {dtype}",
            "layout A(n, c, h, w) = [n, c/16, h, w, c%16]",
            shape,
            dtype,
            padded((1, 16, 1, 1), (0, 0, 16, 0, 0), (0, 1, 3, 4, 2)),
        )
        for shape, dtype in (
            ((8, 256, 56, 56), "f4"),
            ((8, 250, 57, 57), "f4"),
            ((1, 64, 56, 56), "f4"),
            ((1, 64, 4, 4), "f4"),
            ((8, 256, 56, 56), "u1"),
        )
    ),
    *(
        (
            "crouton u1",
            "layout A(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32]",
            shape,
            "u1",
            padded((1, 8, 8, 32), (0, 0, 8, 0, 8, 0, 32), (0, 1, 3, 5, 2, 4, 6)),
        )
        for shape in ((1, 56, 56, 256), (1, 57, 57, 250))
    ),
    (
        "crouton 2x2 u1",
        "layout A(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2]",
        (1, 56, 56, 256),
        "u1",
        padded((1, 8, 8, 32), (0, 0, 4, 2, 0, 4, 2, 0, 32), (0, 1, 4, 7, 2, 5, 8, 3, 6)),
    ),
    (
        "weights u1",
        "layout A(o, i, h, w) = [o/32, i/32, h, w, i%32/4, o%32, i%4]",
        (256, 256, 3, 3),
        "u1",
        padded((32, 32, 1, 1), (0, 32, 0, 8, 4, 0, 0), (0, 2, 5, 6, 3, 1, 4)),
    ),
    (
        "MACE from NHWC f2",
        "layout A(n, h, w, c) = [n, h, c/4, w, c%4]",
        (8, 56, 56, 64),
        "f2",
        padded((1, 1, 1, 4), (0, 0, 0, 0, 4), (0, 1, 3, 2, 4)),
    ),
    (
        "NHWC f4",
        "layout A(n, c, h, w) = [n, h, w, c]",
        (8, 256, 56, 56),
        "f4",
        padded((1, 1, 1, 1), (0, 0, 0, 0), (0, 2, 3, 1)),
    ),
)


def measure(
    text: str, shape: tuple[int, ...], dtype: str, reference: Reference
) -> dict[str, float]:
    """Seconds of each way."""
    module = module_of(text)
    tensor = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    packed, back = module.pack(tensor), np.empty_like(tensor)
    assert np.array_equal(reference(tensor), packed)
    assert np.array_equal(module.unpack(packed, shape), tensor)
    other = packed.copy()
    ways: dict[str, Callable[[], object]] = {
        "copy": lambda: np.copyto(other, packed),
        "np.pad": lambda: reference(tensor),
        "pack": lambda: module.pack(tensor, packed),
        "fresh": lambda: module.pack(tensor),
        "unpack": lambda: module.unpack(packed, shape, back),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    calls = max(1, int(1e6 / tensor.nbytes))
    for number in range(ROUNDS):
        for way, call in list(ways.items())[:: 1 if number % 2 else -1]:
            start = time.perf_counter()
            for _ in range(min(calls, 100)):
                call()
            times[way].append((time.perf_counter() - start) / min(calls, 100))
    return {way: median(each) for way, each in times.items()}


def main() -> None:
    """Print a row per case; shares are the time of a copy of the buffer over that of the way."""
    print(f"{'layout':<18} {'shape':<18} {'us':>8} {'np.pad/pack':>12} {'pack':>6} {'unpack':>7}")
    for name, text, shape, dtype, reference in CASES:
        took = measure(text, shape, dtype, reference)
        print(
            f"{name:<18} {'x'.join(map(str, shape)):<18} {took['pack'] * 1e6:8.1f}"
            f" {took['np.pad'] / took['pack']:12.2f} {took['copy'] / took['pack']:6.2f}"
            f" {took['copy'] / took['unpack']:7.2f}"
        )


if __name__ == "__main__":
    main()
