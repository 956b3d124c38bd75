"""No wrong module of views is validated: each mutant that is behaves as the right one does."""

from __future__ import annotations

from random import Random

import pytest
from emitted_fuzz.modules import executed
from random_layouts import drawn
from text_mutants import mutants
from views_modules import outcomes, shapes_of

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code.arrays import has_views
from layoutdsl.code.arrays.module import module_text
from layoutdsl.code.validate.arrays import validate
from layoutdsl.code.validate.outcome import Validated

KINDS = {
    "blocks": "layout L(n, c, h) = [n, c/4, h, c%4]",
    "twice": "layout L(c, h) = [c/12, h, c%12/4, c%4] fill any",
    "exact": "layout L(c, h) = [c/4, h, c%4] where C%4 == 0 of u4",
    "tuple": "layout L(h, w) = [(h, w)/6, (h, w)%6] of f16",
    "offset": "layout L(h, w) = [w/2, h, 1 - w%2 : 2] offset 3",
    "gaps": "layout L(k, n) = [k/3, n, 2 + k%3 : 7] fill 9",
    "wide": "layout L(k, n) = [k : 9, n] where K <= 9",
    "xor": "layout L(m: 8, k: 16) = [m, k/2 ^ m, k%2] of u8",
    "runs": "layout L(m, k) = [m, k/4 ^ m%4, k%4] where K == 16",
    "swizzle": "layout L(a) = [a ^ a/4 & 24] of u4",
    "across": "layout L(k, r) = [r, k/4 ^ r%4, k%4] where K%16 == 0",
    "upper": "layout L(b, i: N, j: N) = [b, i + j*(j + 1)/2 : (N*N + N)/2] where i <= j",
    "band": "layout L(i, j) = [i, j - i + 1 : 3] where i <= j + 1, j <= i + 1",
    "sparse": "layout L(i: N, j: N) = [(i + j)/2, i] where (i + j)%2 == 0",
}


UNDECIDED = {("tuple", "grids"), ("tuple", "indices")}


def layout_of(text: str) -> Layout:
    return next(iter(layoutdsl.parse(text).layouts.values()))


def unsound(layout: Layout, text: str, random: Random, count: int) -> tuple[list[str], int]:
    """Mutants that are validated and behave otherwise; and how many were validated at all."""
    shapes = list(shapes_of(layout, random, 5))
    every = list(mutants(text, typed=True))
    wanted = outcomes(executed(text), layout, shapes)
    found, validated = list[str](), 0
    for mutant in random.sample(every, min(count, len(every))):
        changed = mutant.text
        if changed is None:
            continue
        outcome = validate(changed, layout, source="")
        if isinstance(outcome, Validated):
            validated += 1
            if outcomes(executed(changed), layout, shapes) != wanted:
                found.append(f"{layout}\n{mutant.what}")
    return found, validated


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["views", "grids", "indices"])
def test_mutants_of_each_kind(kind: str, way: str) -> None:
    layout = layout_of(KINDS[kind])
    text, _ = module_text(layout, source="", certificate=None, way=way)
    if (kind, way) in UNDECIDED:
        pytest.skip("it is proved in another way")
    assert isinstance(validate(text, layout, source=""), Validated)
    found, _ = unsound(layout, text, Random(f"{kind} {way}"), 25)
    assert not found


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(40))
def test_many_mutants_of_views(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    random, done = Random(seed), 0
    while done < 50:
        layout = layout_of(random.choice(list(KINDS.values()))) if seed % 2 else drawn(random)
        if not has_views(layout):
            continue
        way = random.choice(("views", "views", "grids", "indices"))
        text, _ = module_text(layout, source="", certificate=None, way=way)
        if not isinstance(validate(text, layout, source=""), Validated):
            continue
        found, validated = unsound(layout, text, random, 10)
        assert not found
        done += 10
        with capsys.disabled():
            print(f"{validated} of 10 validated, and right", end="; ")


def test_a_text_is_of_its_own_layout_alone() -> None:
    text, _ = module_text(layout_of(KINDS["blocks"]), source="", certificate=None)
    other = layout_of("layout L(n, c, h) = [n, c/4, c%4, h]")
    assert not isinstance(validate(text, other, source=""), Validated)
    assert not isinstance(validate(text, layout_of(KINDS["blocks"]), source="x"), Validated)
