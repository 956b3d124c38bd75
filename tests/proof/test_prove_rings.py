"""Rings that hold a window of an axis, as a cache does: `t%c where T <= t + c`."""

from __future__ import annotations

from random import Random

import pytest
from proving import replays, shapes, sound, wrong_at
from texts import layout

import layoutdsl

RIGHT = """
(t) = [t%8 : 8] where T <= t + 8
(t) = [t%8 : 8] where T <= t + 5
<c>(t) = [t%c : c] where T <= t + c
<c>(t, h) = [h/4, (t + 3)%c : c, h%4] where T <= t + c
<c, s>(t) = [(t + s)%c : c] where T <= t + c
<s, c>(t, h) = [(t - s)%c : c, h] where s <= t, t < s + c
<c>(t, b) = [b, (T - 1 - t)%c : c] where T <= t + c
(t) = [(T - 1 - t)%8 : 8] where T <= t + 8
""".strip().splitlines()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", RIGHT)
def test_rings_are_proved(text: str) -> None:
    assert sound(layout(f"layout L{text}")).status == "proved"


@pytest.mark.parametrize(
    "text",
    [
        "<c>(t) = [t%c : c] where T <= t + c + 1",
        "(t) = [t%8 : 8] where T <= t + 9",
        "(t) = [2*t%8 : 8] where T <= t + 8",
    ],
)
def test_a_window_that_is_too_long_is_refuted(text: str) -> None:
    made = layout(f"layout L{text}\nrefute L\n")
    found = sound(made)
    assert found.status == "refuted"
    for each in found.findings:
        if hasattr(each, "example"):
            assert replays(made, each.property, each.example)


def drawn(random: Random) -> str:
    """A ring with a window that begins anywhere, counted up or down; often too long."""
    ring = random.choice(["3", "4", "8", "c", "c"])
    first = random.choice(["T - {0}", "T - {0}", "s", "T - 2", "T - s", "T - {0} - 1"]).format(ring)
    shift = random.choice(["", " + 1", " + 5", " + s", " - s", " + T"])
    place = random.choice([f"(t{shift})%{ring}", f"(T - 1 - t{shift})%{ring}"])
    last = random.choice(["", "", f", t < s + {ring}", ", t + 1 < T"])
    axes, values = random.choice([("t", place), ("t, h", f"h, {place}"), ("t, h", f"{place}, h")])
    values = values.replace(place, f"{place} : {ring}")
    return f"layout L<c, s>({axes}) = [{values}] where {first} <= t{last}"


@pytest.mark.slow
@pytest.mark.ci(2)
@pytest.mark.parametrize("seed", range(9))
def test_verdicts_about_drawn_rings_agree_with_counting(seed: int) -> None:
    random, proved = Random(seed), 0
    for _ in range(8):
        text = drawn(random)
        made = layout(f"{text}\nrefute L\n")
        found = sound(made)
        proved += found.status == "proved"
        wrong = set[str]()
        for values in shapes(made, 7, 30):
            wrong |= wrong_at(made, values)
        shown = {each.property for each in found.findings if hasattr(each, "certificate")}
        assert not wrong & shown, text
        for each in found.findings:
            if hasattr(each, "example"):
                assert replays(made, each.property, each.example)
    assert proved


def test_a_ring_is_packed_as_it_says() -> None:
    ring = layoutdsl.parse("layout L(t, h) = [h, (t + 3)%8 : 8] where T <= t + 8")["L"]
    with pytest.warns(RuntimeWarning, match="element by element"):
        module = layoutdsl.compile(ring, "numpy")
    offsets = ring.offsets((20, 3))
    tensor = offsets * 0 + 1 + offsets.argsort(axis=None).reshape(offsets.shape)
    packed = module.pack(tensor).reshape(-1)
    assert packed.size == 24
    assert (packed[offsets[offsets >= 0]] == tensor[offsets >= 0]).all()
