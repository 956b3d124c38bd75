"""How fast generated modules are, beside `np.pad`, `reshape` and `transpose` written by hand.

    python tests/campaigns/views_speed.py --count 200 --seed 1

Layouts of the library and drawn ones, at drawn shapes of 2^10 to 2^22 elements and drawn types. All
ways are timed in turn, in another order each time; a way's time is its least one. A ratio above 1
says that the module is faster.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from random_layouts import drawn

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code.arrays.axes import Axes, axes_of
from layoutdsl.language.integers.value import evaluate

Way = Callable[[], np.ndarray]
EXTENTS = (1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 32, 56, 64, 65, 100, 128, 224, 256, 300, 512, 1000)
TYPES = ("u1", "i2", "f4", "f8")


def padded_way(layout: Layout, axes: Axes, tensor: np.ndarray) -> Way | None:
    """Pad, reshape and transpose; `None` if slots lie between those of elements."""
    if axes.has_gaps or layout.start.value != 0 or any(len(a.axes) > 1 for a in axes.cut):
        return None
    if any(a.padded[1] is not None for a in axes.cut) or axes.target.splits_buffer:
        return None
    values = layout.bind(tensor.shape)
    pads, digits, names = list[tuple[int, int]](), list[int](), list[tuple[str, int]]()
    for axis in axes.cut:
        extent = evaluate(axis.extent, values)
        whole = -(-extent // axis.divisors[0])
        pads.append((0, whole * axis.divisors[0] - extent))
        digits += [whole, *axis.radices]
        names += [(axis.name, level) for level in range(len(axis.divisors))]
    order = dict[int, list[tuple[str, int]]]()
    for axis in axes.cut:
        for place in axis.places[1]:
            order[place.dimension] = [(axis.name, k) for k in range(place.first, place.past)]
    kept = [names.index(each) for dimension in sorted(order) for each in order[dimension]]
    if len(kept) != len(names):
        return None
    box = layout.physical_shape(values)

    def pack() -> np.ndarray:
        wide = np.pad(tensor, pads) if any(past for _, past in pads) else tensor
        moved = np.ascontiguousarray(wide.reshape(digits).transpose(kept))
        return (moved.copy() if np.may_share_memory(moved, tensor) else moved).reshape(box)

    return pack


def case(random: Random) -> tuple[Layout, tuple[int, ...]]:
    names = [n for n in layoutdsl.library_names() if not layoutdsl.library(n).parameters]
    while True:
        layout = layoutdsl.library(random.choice(names)) if random.random() < 0.6 else drawn(random)
        if layout.rank == 0:
            continue
        for _ in range(50):
            values = {name: random.choice(EXTENTS) for name in layout.symbols}
            try:
                bound = layout.bind(values)
            except ValueError:
                continue
            if 2**10 <= layout.size(bound) <= 2**22:
                return layout, tuple(layout.element_shape(bound))


def timed(ways: dict[str, Way], random: Random, rounds: int) -> dict[str, float]:
    found, names = dict.fromkeys(ways, float("inf")), list(ways)
    for _ in range(rounds):
        random.shuffle(names)
        for name in names:
            begun = time.perf_counter()
            ways[name]()
            found[name] = min(found[name], time.perf_counter() - begun)
    return found


def main() -> None:
    """Print a line for each slow case, and the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=21)
    asked = parser.parse_args()
    random, ratios = Random(asked.seed), dict[str, list[tuple[float, str]]]()
    done = 0
    while done < asked.count:
        layout, shape = case(random)
        try:
            new = layoutdsl.generate(layout).load()
        except (layoutdsl.UnvalidatedError, layoutdsl.UnprovedError, layoutdsl.RefusedError):
            continue
        done += 1
        dtype = np.dtype(random.choice(TYPES))
        if layout.element is not None:
            dtype = np.dtype("{}{}".format(*layout.element.item))
        tensor = np.arange(np.prod(shape)).reshape(shape) % 2
        tensor = tensor.astype(dtype)
        buffer = new.pack(tensor, fill=0)
        ways: dict[str, Way] = {
            "new": lambda new=new, t=tensor: new.pack(t, fill=0),
        }
        axes = axes_of(None, layout)
        padded = padded_way(layout, axes, tensor) if isinstance(axes, Axes) else None
        if padded is not None and np.array_equal(padded(), buffer):
            ways["pad"] = padded
        found = timed(ways, random, asked.rounds)
        said = f"{layout} at {shape} {dtype} {found['new'] * 1e6:.0f} us"
        if "pad" in found:
            ratios.setdefault("pad", []).append((found["pad"] / found["new"], said))
    for name, each in ratios.items():
        each.sort()
        mean = exp(sum(log(ratio) for ratio, _ in each) / len(each))
        print(f"\n{name}: {len(each)} cases, mean {mean:.2f}, least {each[0][0]:.2f},", end=" ")
        print(
            f"5th percentile {each[len(each) // 20][0]:.2f}, median {each[len(each) // 2][0]:.2f}"
        )
        for ratio, said in each[:8]:
            print(f"  {ratio:.2f}  {said}")


if __name__ == "__main__":
    main()
