"""Random texts of CuTe: what each means in plain integers, spelled as programs spell it.

The meaning is transcribed from CUTLASS, `crd2idx` of `cute/stride.hpp` and `Swizzle::apply` of
`cute/swizzle.hpp`. Nothing of ours is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from random import Random

MOST_ELEMENTS = 400

Form = int | tuple["Form", ...]


@dataclass(frozen=True)
class Drawn:
    """Functions before extents and strides, the last applied first.

    A function is a number, a swizzle ``("S", bits, base, shift)`` or a layout ``(shape, strides)``.
    """

    shape: Form
    strides: Form
    before: tuple[object, ...] = ()

    @property
    def extents(self) -> list[int]:
        """Of the axes: one for each entry of the outermost tuple."""
        entries = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        return [prod(leaves(each)) for each in entries]

    def offsets(self) -> dict[tuple[int, ...], int]:
        """Return the place of every element."""
        return {index: self.offset(index) for index in product(*map(range, self.extents))}

    def offset(self, index: tuple[int, ...]) -> int:
        shape = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        strides = self.strides if isinstance(self.strides, tuple) else (self.strides,)
        found = sum(placed(*each) for each in zip(index, shape, strides, strict=True))
        for function in reversed(self.before):
            match function:
                case int(number):
                    found += number
                case ("S", int(bits), int(base), int(shift)):
                    found = swizzled(found, bits, base, shift)
                case (a, b):
                    found = placed(found, a, b)
        return found


def placed(number: int, shape: Form, strides: Form) -> int:
    """The offset of a number that a layout takes apart, the leftmost extent moving fastest."""
    if isinstance(shape, int):
        assert isinstance(strides, int)
        return number * strides
    assert isinstance(strides, tuple)
    found = 0
    for n, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        if n == len(shape) - 1:
            return found + placed(number, extent, stride)
        size = prod(leaves(extent))
        found += placed(number % size, extent, stride)
        number //= size
    return found


def swizzled(number: int, bits: int, base: int, shift: int) -> int:
    mask = (1 << bits) - 1
    taken = number >> (base + max(shift, 0)) & mask
    return number ^ taken << (base - min(shift, 0))


def leaves(form: Form) -> list[int]:
    return [n for each in form for n in leaves(each)] if isinstance(form, tuple) else [form]


def text_of(form: Form, spell: Random | None = None) -> str:
    """The form; some numbers as static ones, a comma behind the only part of a tuple."""
    if isinstance(form, int):
        return f"_{form}" if spell and spell.random() < 0.5 else str(form)
    comma = "," if spell and len(form) == 1 and spell.random() < 0.5 else ""
    return f"({','.join(text_of(each, spell) for each in form)}{comma})"


def text(drawn: Drawn, spell: Random | None = None) -> str:
    words = [_function(each, spell) for each in drawn.before]
    words.append(f"{text_of(drawn.shape, spell)}:{text_of(drawn.strides, spell)}")
    return (spell.choice([" o ", "  o "]) if spell else " o ").join(words)


def _function(function: object, spell: Random | None) -> str:
    match function:
        case int(number):
            return f"_{number}" if spell and spell.random() < 0.5 else str(number)
        case ("S", bits, base, shift):
            name = spell.choice(["S", "Sw"]) if spell else "S"
            return f"{name}<{bits},{base},{shift}>"
        case (shape, strides):
            return f"{text_of(shape, spell)}:{text_of(strides, spell)}"
    raise AssertionError(function)


def draw(random: Random) -> Drawn:
    """Return a layout, often with functions before it; it may put elements at one offset."""
    shape = tuple(_form(random, 2) for _ in range(random.randint(1, 3)))
    while prod(leaves(shape)) > MOST_ELEMENTS:
        shape = tuple(_form(random, 2) for _ in range(random.randint(1, 3)))
    drawn = Drawn(shape, _strides(random, shape))
    kind = random.random()
    if kind < 0.3:
        bits, shift = random.randint(0, 3), random.choice([-1, 1])
        shift *= random.randint(max(bits, 1), 4)
        swizzle = ("S", bits, random.randint(0, 3), shift)
        return replace(drawn, before=(swizzle, random.choice([0, 0, 0, 3, 8])))
    if kind < 0.6:
        outer = tuple(_form(random, 1) for _ in range(random.randint(1, 3)))
        other = (outer, _strides(random, outer))
        before = random.choice([(other,), (other, random.choice([0, 2])), (("S", 1, 0, 2), other)])
        return replace(drawn, before=before)
    return drawn


def _form(random: Random, depth: int) -> Form:
    if depth == 0 or random.random() < 0.5:
        return random.choice([1, 2, 2, 3, 4])
    return tuple(_form(random, depth - 1) for _ in range(random.randint(1, 3)))


def _strides(random: Random, shape: Form) -> Form:
    """Strides of which most are compact in a random order, some are anything."""
    sizes = leaves(shape)
    order = random.sample(range(len(sizes)), len(sizes))
    steps, below = [0] * len(sizes), random.choice([1, 1, 1, 2])
    for at in order:
        steps[at] = 0 if sizes[at] == 1 and random.random() < 0.5 else below
        below = below * sizes[at] + random.choice([0, 0, 0, 1])
    if random.random() < 0.15:
        steps[random.randrange(len(steps))] = random.choice([0, 1, 2, 3])
    left = iter(steps)

    def taken(form: Form) -> Form:
        return tuple(map(taken, form)) if isinstance(form, tuple) else next(left)

    return taken(shape)
