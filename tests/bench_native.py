"""What packing by compiled C costs beside a copy: `python tests/bench_native.py [WORD]`.

Not a test: the figures belong to the machine. WORD keeps the cases whose names hold it. With
`--numpy` the numpy target is measured as well.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from layoutdsl.api import parse
from layoutdsl.bench.cases import CASES
from layoutdsl.bench.measure import measure, pack_floor, unpack_floor
from layoutdsl.codegen import generate_numpy, load
from layoutdsl.codegen.native.loader import native_module


def main() -> None:
    """Print a row per case and verb, and the geometric mean of the shares."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    beside = "--numpy" in sys.argv
    shares = list[float]()
    print(f"{'case':<24} {'shape':<16} {'type':<8} {'verb':<7} {'us':>9} {'share':>6} {'+-':>5}")
    for case in CASES:
        if not all(word in f"{case.name} {case.dtype} {case.shape}" for word in words):
            continue
        layout = list(parse(case.text).values())[-1]
        plain = load(generate_numpy(layout, source=case.text, certificate=None))
        module = native_module(layout, plain)
        tensor = np.random.default_rng(0).integers(0, 100, case.shape).astype(case.dtype)
        packed, back = plain.pack(tensor), np.empty_like(tensor)
        assert np.array_equal(module.pack(tensor), packed), case
        assert np.array_equal(module.unpack(packed, case.shape), tensor), case
        other = np.empty_like(packed)
        verbs = {
            "pack": (
                pack_floor(tensor, other),
                {
                    "native": lambda: module.pack(tensor, other),
                    "numpy": lambda: plain.pack(tensor, other),
                },
            ),
            "unpack": (
                unpack_floor(packed, back, plain.pack(np.ones_like(tensor), fill=0)),
                {
                    "native": lambda: module.unpack(packed, case.shape, back),
                    "numpy": lambda: plain.unpack(packed, case.shape, back),
                },
            ),
        }
        for verb, (floor, candidates) in verbs.items():
            if not beside:
                del candidates["numpy"]
            found = measure(floor, candidates, 9 if tensor.nbytes > 1e7 else 15)
            each = found["native"]
            shares.append(each.share)
            extra = f" numpy {found['numpy'].share:5.2f}" if beside else ""
            print(
                f"{case.name:<24} {'x'.join(map(str, case.shape)):<16} {case.dtype:<8} {verb:<7}"
                f" {each.seconds * 1e6:9.1f} {each.share:6.2f} {each.spread:5.2f}{extra}",
                flush=True,
            )
    mean = math.exp(sum(map(math.log, shares)) / len(shares))
    print(f"geometric mean of {len(shares)} shares: {mean:.3f}")


if __name__ == "__main__":
    main()
