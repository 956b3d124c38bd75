"""The algebra against pycute and tensor-layouts, on static layouts; plain integers judge all three.

`pytest -m campaign -k static_pairs -s` looks at 2000 pairs, with `pip install nvidia-cutlass` for
pycute. CuTe counts colexicographically, so its layouts come in with their modes reversed.

Differences that are allowed were listed before the first run:

* *no strides*: a composition that no strides say. Both packages refuse, or answer wrongly;
* *outside*: the slots of `B` reach beyond `A`. CuTe extends the last mode of `A`, ours refuses;
* *no packing*: strides of 0, and two elements in a slot. Ours takes packings alone;
* *no complement*: strides that do not divide. Ours refuses, both packages answer with a gap.

In every other case all three are equal, and ours is never wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import pytest

import layoutdsl
from layoutdsl import Layout, LayoutError, algebra

Modes = list[tuple[int, int]]
"""Shape and stride of each mode, the fastest first."""

SAMPLE = 60
COUNT = 2000


def at(modes: Modes, number: int) -> int:
    """The offset of an element by its colexicographic number; the last mode is not extended."""
    total = 0
    for extent, stride in modes:
        number, digit = divmod(number, extent)
        total += digit * stride
    return total


def size(modes: Modes) -> int:
    return prod(extent for extent, _ in modes)


def drawn(random: Random, modes: int, most: int, kind: str) -> Modes:
    while True:
        shape = [random.choice([1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 16]) for _ in range(modes)]
        if prod(shape) <= most:
            break
    if kind == "free":
        return [(extent, random.choice([0, 1, 2, 3, 4, 6, 8, 12, 16])) for extent in shape]
    strides, step = [0] * modes, random.choice([1, 1, 2, 4]) if kind == "gaps" else 1
    for mode in random.sample(range(modes), modes):
        strides[mode] = step
        step *= shape[mode] * (random.choice([1, 1, 1, 2, 3]) if kind == "gaps" else 1)
        step += random.choice([0, 0, 1, 2]) if kind == "ragged" else 0
    return list(zip(shape, strides, strict=True))


def ours(modes: Modes, name: str) -> Layout:
    """A layout with the axes of the modes, the slowest first.

    Raises:
        LayoutError: it is no packing.
    """
    shape, stride = (",".join(str(mode[k]) for mode in modes) for k in (0, 1))
    read = layoutdsl.from_notation("cute", f"({shape}):({stride})")
    turned = algebra.permute(read, [axis.name for axis in read.axes][::-1])
    names = {axis.name: f"{name}{number}" for number, axis in enumerate(turned.axes)}
    return algebra.rename(turned, **names)


def offsets(layout: Layout) -> list[int]:
    return [int(each) for each in layout.offsets({}).ravel()]


@dataclass(frozen=True)
class Judged:
    """What came of one case: ours, and each package, against plain integers."""

    kind: str
    ours: str
    packages: tuple[str, ...]


class Package:
    """A package with CuTe's operations."""

    def __init__(self, module: Any, compose: str) -> None:
        self._module, self._compose = module, compose

    def layout(self, modes: Modes) -> Any:
        if len(modes) == 1:
            return self._module.Layout(*modes[0])
        return self._module.Layout(*(tuple(mode[k] for mode in modes) for k in (0, 1)))

    def compose(self, one: Modes, two: Modes) -> Any:
        return getattr(self._module, self._compose)(self.layout(one), self.layout(two))

    def complement(self, modes: Modes, slots: int) -> list[int]:
        found = self._module.complement(self.layout(modes), slots)
        count = found.size() if callable(getattr(found, "size", None)) else self._module.size(found)
        return [found(number) for number in range(count)]

    def coalesce(self, modes: Modes) -> Any:
        return self._module.coalesce(self.layout(modes))


def told(run: Callable[[], Any], truth: list[int]) -> str:
    """Whether a package is right, wrong, or refuses."""
    try:
        found = run()
        right = [found(number) for number in range(len(truth))] == truth
    except Exception:
        return "refuses"
    return "right" if right else "wrong"


def compose_case(random: Random, packages: list[Package]) -> Judged:
    kinds = ["compact", "compact", "gaps", "ragged"]
    one = drawn(random, random.randint(1, 4), 512, random.choice(kinds))
    two = drawn(random, random.randint(1, 3), 128, random.choice(["compact", "gaps", "free"]))
    inner = [at(two, number) for number in range(size(two))]
    inside = max(inner) < size(one)
    truth = [at(one, number) for number in inner] if inside else []
    others = tuple(told(lambda p=p: p.compose(one, two), truth) for p in packages if inside)  # type: ignore[misc]
    try:
        a, b = ours(one, "a"), ours(two, "b")
    except LayoutError:
        return Judged("compose", "no packing", ())
    try:
        result = algebra.compose(a, b)
    except algebra.PreconditionError:
        return Judged("compose", "wrongly refused" if inside else "outside", ())
    if not inside:
        return Judged("compose", "wrongly accepted", ())
    proved = algebra.evidence(result).status
    return Judged("compose", proved if offsets(result) == truth else "wrong", others)


def complement_case(random: Random, packages: list[Package]) -> Judged:
    kind = random.choice(["compact", "gaps", "gaps", "ragged"])
    modes = drawn(random, random.randint(1, 3), 128, kind)
    seen = {at(modes, number) for number in range(size(modes))}
    slots = (max(seen) + 1) * random.choice([1, 2, 3])

    def is_right(steps: list[int]) -> bool:
        every = [one + two for one in seen for two in steps]
        return len(set(every)) == len(every) and set(range(slots)) <= set(every)

    others = []
    for package in packages:
        try:
            others.append("right" if is_right(package.complement(modes, slots)) else "wrong")
        except Exception:
            others.append("refuses")
    try:
        result = algebra.complement(ours(modes, "a"), slots)
    except LayoutError:
        return Judged("complement", "no packing", ())
    except algebra.PreconditionError:
        refused = "wrongly refused" if "right" in others else "no complement"
        return Judged("complement", refused, tuple(others))
    proved = algebra.evidence(result).status
    return Judged("complement", proved if is_right(offsets(result)) else "wrong", tuple(others))


def coalesce_case(random: Random, packages: list[Package]) -> Judged:
    modes = drawn(random, random.randint(1, 4), 256, random.choice(["compact", "gaps"]))
    truth = [at(modes, number) for number in range(size(modes))]
    others = tuple(told(lambda p=p: p.coalesce(modes), truth) for p in packages)  # type: ignore[misc]
    result = algebra.coalesce(ours(modes, "a"))
    proved = algebra.evidence(result).status
    return Judged("coalesce", proved if offsets(result) == truth else "wrong", others)


def cases(seed: int, count: int, packages: list[Package]) -> Iterator[Judged]:
    random = Random(seed)
    makers = (compose_case, compose_case, compose_case, complement_case, coalesce_case)
    return (makers[number % len(makers)](random, packages) for number in range(count))


def judge(seed: int, count: int, packages: list[Package]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for each in cases(seed, count, packages):
        assert "wrong" not in each.ours, each
        # Where a package is right, ours is equal: it was refused for no other reason.
        if "right" in each.packages:
            assert each.ours == "proved", each
        found[each.kind, each.ours, *each.packages] += 1
    return found


def test_static_layouts_against_tensor_layouts() -> None:
    module = pytest.importorskip("tensor_layouts")
    found = judge(3, SAMPLE, [Package(module, "compose")])
    assert sum(n for (_, said, *_), n in found.items() if said == "proved") >= SAMPLE // 2


def test_static_layouts_against_pycute() -> None:
    module = pytest.importorskip("pycute")
    found = judge(4, SAMPLE, [Package(module, "composition")])
    assert sum(n for (_, said, *_), n in found.items() if said == "proved") >= SAMPLE // 2


def test_answers_that_are_wrong_elsewhere_stay_as_the_page_says() -> None:
    """`docs/cute-users.md` quotes these answers of tensor-layouts."""
    package = Package(pytest.importorskip("tensor_layouts"), "compose")
    carried = package.compose([(5, 2), (6, 30)], [(2, 1), (3, 2)])
    assert carried(5) == 10
    assert at([(5, 2), (6, 30)], 5) == 30
    assert package.complement([(8, 1), (3, 10)], 30) == [0]
    crossed = package.compose([(6, 1), (2, 7)], [(3, 2), (2, 3)])
    assert crossed(5) == 7
    assert at([(6, 1), (2, 7)], 7) == 8


@pytest.mark.campaign
def test_two_thousand_static_pairs() -> None:
    modules = [("tensor_layouts", "compose"), ("pycute", "composition")]
    packages = [Package(pytest.importorskip(name), compose) for name, compose in modules]
    for kind, count in sorted(judge(0, COUNT, packages).items()):
        print(count, *kind)
