"""XLA's layouts against XLA itself: its parser and printer in jaxlib, and its compiler for TPUs.

What the compiler printed once is in `facts/xla_layouts.txt`, and read in every run. The rest is a
campaign, `pytest -m campaign -k xla -s`; it needs `pip install jax libtpu`, and no TPU.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
from notation_texts import assert_read_or_refused, mangled
from texts import HERE
from xla_programs import argument_in, compiled, shapes_in, topology
from xla_shapes import draw

import layoutdsl
from layoutdsl import LayoutError

PRINTED = [
    line
    for line in (HERE / "facts/xla_layouts.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
# OpenXLA, `xla_data.proto`, `PrimitiveType`: the types that have elements.
TYPES = {
    "pred",
    *(f"{kind}{bits}" for kind in "su" for bits in (1, 2, 4, 8, 16, 32, 64)),
    *("f16", "f32", "f64", "bf16", "c64", "c128"),
    *("f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4", "f8e5m2fnuz", "f8e4m3fnuz"),
    *("f8e8m0fnu", "f6e2m3fn", "f6e3m2fn", "f4e2m1fn"),
}
SHAPES = 3000
TOPOLOGIES = ["v5e:2x2", "v4:2x2x1", "v5p:2x2x1"]


def printed_back(text: str) -> str:
    return layoutdsl.to_notation(layoutdsl.from_notation("xla", text), "xla")


def with_order(text: str) -> str:
    """XLA gives a shape without braces its dimensions in their order."""
    head, _, rest = text.partition("[")
    if "{" in text or rest == "]":
        return text
    rank = rest.count(",") + 1
    return f"{head}[{rest}{{{','.join(str(n) for n in reversed(range(rank)))}}}"


@pytest.mark.slow
def test_what_xla_printed_is_printed_back() -> None:
    assert [text for text in PRINTED if printed_back(text) != text] == []


@pytest.mark.slow
def test_a_few_wrong_characters_are_refused_or_mean_something_else() -> None:
    random = Random(1)
    read_still = 0
    for _ in range(400):
        letters = "f32[]{}(),:TLESCDMPb0123456789*#<=?/ "
        written = mangled(random.choice(PRINTED), letters, PRINTED, random)
        read_still += assert_read_or_refused("xla", written)
    assert read_still > 10


@pytest.fixture(scope="module")
def xla_shape() -> Any:
    """jaxlib's own shape, from its text; it ends the process where a text makes no sense."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    pytest.importorskip("jaxlib")
    from jaxlib import xla_client

    return xla_client.Shape


@pytest.mark.campaign
def test_jaxlib_prints_random_xla_shapes_alike(xla_shape: Any) -> None:
    for seed in range(SHAPES):
        text = draw(Random(seed)).text
        assert str(xla_shape(text)) == printed_back(text) == text
    for text in PRINTED:
        if not text.startswith("{"):
            assert str(xla_shape(text)) == text


@pytest.mark.campaign
def test_jaxlib_knows_the_same_xla_types(xla_shape: Any) -> None:
    near = {f"{kind}{bits}" for kind in ("s", "u", "f", "c", "bf", "f8") for bits in range(130)}
    for name in TYPES | near:
        text = f"{name}[3]"
        try:
            theirs = str(xla_shape(text))
        except Exception:
            with pytest.raises(LayoutError, match="XLA has no element type"):
                printed_back(text)
        else:
            assert theirs == printed_back(text)


@pytest.mark.campaign
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_layouts_of_compiled_xla_programs_are_read_and_printed_back(name: str) -> None:
    """The bytes of an argument are those that the layout says, padding included."""
    try:
        device = topology(name).devices[0]
    except (ImportError, RuntimeError) as reason:
        pytest.skip(f"libtpu does not start: {reason}")
    found: set[str] = set()
    measured = 0
    for text, size in compiled(device):
        found |= shapes_in(text)
        if size is not None:
            layout = layoutdsl.from_notation("xla", argument_in(text))
            assert layout.element is not None
            bits = layout.size(layout.shape_of({})) * layout.element.bits
            assert bits == 8 * size, argument_in(text)
            measured += 1
    assert [each for each in sorted(found) if printed_back(each) != with_order(each)] == []
    print(f"{name}: {len(found)} shapes printed back, {measured} sizes are the compiler's")
    assert len(found) > 400
    assert measured > 100
