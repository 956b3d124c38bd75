"""What packing by compiled C costs beside a copy: `python tests/bench_native.py [--numpy] [WORD]`.

Not a test: the figures belong to the machine. WORD keeps the cases whose names hold it. With
`--numpy` the numpy target is measured as well.
"""

from __future__ import annotations

import math
import sys
from functools import partial

import numpy as np

from layoutdsl.api import parse
from layoutdsl.bench.cases import CASES, BenchCase
from layoutdsl.bench.measure import Call, Measured, measure, pack_floor, unpack_floor
from layoutdsl.codegen import generate_numpy, load
from layoutdsl.codegen.native.loader import native_module

HEAD = (
    f"{'case':<20}{'shape':<15}{'type':<9}{'verb':<7}{'us':>9} {'share':>6} {'best':>5} {'+-':>5}"
)


def measured(case: BenchCase, beside: bool) -> dict[str, dict[str, Measured]]:
    """The shares of each way, for `pack` and `unpack`; results are compared first."""
    layout = list(parse(case.text).values())[-1]
    plain = load(generate_numpy(layout, source=case.text, certificate=None))
    ways = {"native": native_module(layout, plain), **({"numpy": plain} if beside else {})}
    tensor = np.random.default_rng(0).integers(0, 100, case.shape).astype(case.dtype)
    packed, back = plain.pack(tensor), np.empty_like(tensor)
    holds = plain.pack(np.ones_like(tensor), fill=0)
    target = np.empty_like(packed)
    packs: dict[str, Call] = {}
    unpacks: dict[str, Call] = {}
    for name, module in ways.items():
        assert np.array_equal(module.pack(tensor), packed), case
        assert np.array_equal(module.unpack(packed, case.shape), tensor), case
        packs[name] = partial(module.pack, tensor, target)
        unpacks[name] = partial(module.unpack, packed, case.shape, back)
    rounds = 11 if tensor.nbytes > 1e7 else 25
    return {
        "pack": measure(pack_floor(tensor, target), packs, rounds),
        "unpack": measure(unpack_floor(packed, back, holds), unpacks, rounds),
    }


def main() -> None:
    """Print a row per case and verb, and the geometric means of the shares."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    beside = "--numpy" in sys.argv
    shares, bests = list[float](), list[float]()
    print(HEAD)
    for case in CASES:
        if not all(word in f"{case.name} {case.dtype} {case.shape}" for word in words):
            continue
        for verb, found in measured(case, beside).items():
            each = found["native"]
            shares.append(each.share)
            bests.append(each.best)
            shape = "x".join(map(str, case.shape))
            extra = f"  numpy {found['numpy'].share:5.2f}" if beside else ""
            print(
                f"{case.name:<20}{shape:<15}{case.dtype:<9}{verb:<7}{each.seconds * 1e6:9.1f}"
                f" {each.share:6.2f} {each.best:5.2f} {each.spread:5.2f}{extra}",
                flush=True,
            )
    for name, values in (("share", shares), ("best", bests)):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"geometric mean of {len(values)} values of {name}: {mean:.3f}")


if __name__ == "__main__":
    main()
