"""Numbers beyond 64 bits on the way to an offset: emitted code is right there, or refuses."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import numpy as np
import pytest
from codegen_cases import layout_of
from random_numbers import arithmetic

import layoutdsl
from layoutdsl import Layout, RefusedError, UnvalidatedError

# Found wrong once: coordinates that are small, made of numbers that are not. Beside each a shape.
FOUND = {
    "layout P(i) = [i, (i - 1)*999999999999999999%7 : 7]": (40,),
    "layout Y(i, j) = [i, j, (i - j)*(i - j)*1000000007*1000000007%3 : 3]": (12, 12),
    "layout P5(i) = [i, ((i-5)*(i-5)*(i-5)*(i-5)*(i-5)*(i-5)*(i-5))%7 : 7]": (600,),
    "layout V(i) = [i, (i, 0 : 999999999999999999)%7 : 7]": (40,),
    "layout W(i) = [i] where (i - 1)*999999999999999999%7 <= 3": (40,),
    "layout Q(i) = [i, i*(1 << 62)/(1 << 62) - i + 1 : 3]": (9,),
    "layout B(i) = [i, (i*(1 << 62) ^ i)%5 : 5]": (9,),
    "layout M(i, j) = [i, j, min(i*(1 << 62), j*(1 << 62))%3 : 3]": (7, 9),
    "layout N(i) = [i] where i*(8 << 62) <= 5*(8 << 62)": (12,),
    "layout C(i) = [i, ((8 << 62) + 3)%4 : 4]": (5,),
}


def packed(layout: Layout, tensor: np.ndarray) -> np.ndarray:
    """The flat buffer, by the definition; 0 elsewhere."""
    flat = np.zeros(layout.size(tensor.shape), tensor.dtype)
    values, names = layout.bind(tensor.shape), [axis.name for axis in layout.axes]
    for index in product(*map(range, tensor.shape)):
        known = {**values, **dict(zip(names, index, strict=True))}
        if all(each.holds(known) for each in layout.domain):
            flat[layout.offset_at(known)] = tensor[index]
    return flat


def check(text: str, shape: tuple[int, ...]) -> bool:
    """Whether the module was validated; whatever was, does what the layout means."""
    layout = layout_of(text)
    try:
        module = layoutdsl.generate(layout, unproved=True).load()
    except (RefusedError, UnvalidatedError):
        return False
    tensor = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)
    want = packed(layout, tensor)
    assert np.array_equal(module.pack(tensor, fill=0).reshape(-1), want), text
    held = module.pack(np.ones_like(tensor), fill=0).sum() if layout.domain else tensor.size
    back = module.unpack(want, shape)
    assert (back != 0).sum() == held
    assert (back[back != 0] == tensor[back != 0]).all(), text
    return True


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("text", "shape"), FOUND.items(), ids=lambda each: str(each)[:12])
def test_layouts_that_once_were_packed_wrongly(text: str, shape: tuple[int, ...]) -> None:
    assert check(text, shape)


# Random arithmetic: what is worked out on the way may have any size, the remainder has few values.


@cache
def drawn(seed: int) -> tuple[str, tuple[int, int]]:
    draw = random.Random(seed)
    shape = (draw.choice((1, 2, 5, 9)), draw.choice((1, 3, 8)))
    value, most = arithmetic(draw, draw.randrange(1, 5)), draw.choice((2, 3, 5))
    if draw.randrange(4) == 0:
        return f"layout Drawn(i, j) = [i, j] where {value} <= {arithmetic(draw, 2)}", shape
    return f"layout Drawn(i, j) = [i, j, ({value})%{most} : {most}]", shape


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_random_arithmetic(block: int) -> None:
    """Most of it is validated; all that is validated is right."""
    done = sum(check(*drawn(seed)) for seed in range(block * 10, block * 10 + 10))
    assert done >= 6


@pytest.mark.campaign
def test_random_arithmetic_without_end() -> None:
    done = sum(check(*drawn(seed)) for seed in range(1000, 6000))
    print(f"{done} of 5000 validated, none wrong")
    assert done > 4000
