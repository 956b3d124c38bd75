"""No wrong module of views is validated: each mutant that is behaves as the right one does."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from emitted_fuzz.modules import executed
from random_layouts import drawn
from text_mutants import mutants
from views_modules import outcomes, shapes_of

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code.arrays.module import module_text
from layoutdsl.code.validate.arrays import frame, validate
from layoutdsl.code.validate.outcome import NotValidated, Validated

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
    "codes": "layout L(n, c) = [n, c/4, c%4] of u8 as scale_offset",
    "sparse": "layout L(i: N, j: N) = [(i + j)/2, i] where (i + j)%2 == 0",
    "copies": "layout L(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]",
    "copies on a diagonal": "layout L(q: 4 broadcast) = [(q, q)]",
    "one copy": "layout L(q: 1 broadcast) = [0]",
    "copies of one element": "layout L(q: 3 broadcast) = [q]",
    "copies of a tuple": "layout L(r, g, q: 3 broadcast) = [r, (g, q)] of u4",
    "copies in blocks": "layout L(r, g: 64, q: 2 broadcast) = [r/8, (q, g/16), r%8, g%16 ^ r%8]",
    "copies of a triangle": "layout L(i: N, j: N, q: 2 broadcast) = [q, i, j] where j <= i",
    "bits": "layout L(r, k) = [r, bit, k/8, k%8] of u4 fill any",
    "any formula": "layout L(i, j: 2) = [(i*i + j)%4093, j] fill 3",
    "beyond": "layout L(r, k: P, g: P) = [g/6%16, g%6*P + g/96%100 : 600, r, k] offset P",
}


UNDECIDED = {
    *product(("tuple",), ("grids", "indices")),
    *product(("any formula",), ("views", "grids")),
    ("beyond", "views"),
}


def layout_of(text: str) -> Layout:
    return next(iter(layoutdsl.parse(text).layouts.values()))


def unsound(layout: Layout, text: str, random: Random, count: int) -> tuple[list[str], int]:
    """Mutants that are validated and behave otherwise; and how many were validated at all."""
    shapes = list(shapes_of(layout, random, 5))
    every = list(mutants(text))
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


PLAIN = "layout L(n, c) = [c, n]"
RUNS = "layout L(r, k) = [r, k/4 ^ r%4, k%4] where K%16 == 0"
YIELD = "    yield tensor.transpose(1, 0), buffer"
SHAPE = "    N, C, H = tensor.shape\n"
PART = "        part = tensor"
ROW = "    r, run = _grid(R, K//4)\n"
FILL = "        buffer[:, C//4, :, C%4:] = item\n"
START = "    if out is None:\n        buffer[:3] = item\n"
ATTACKS = {
    # what was validated once, although Python does something else than the reader took it for
    "a branch binds": (KINDS["blocks"], SHAPE, f"{SHAPE}    if C > 5:\n        C = 4\n"),
    "a turn binds": (
        PLAIN,
        YIELD,
        "    N, _ = tensor.shape\n    i = 0\n    for i in range(N):\n        x = 0\n"
        "        yield tensor[i:].transpose(1, 0), buffer[:, i:]",
    ),
    "a name of two loops": (
        PLAIN,
        YIELD,
        "    N, _ = tensor.shape\n    for i in range(1):\n        j = i\n"
        "    for i in range(N):\n        yield tensor[j], buffer[:, j]",
    ),
    "a builtin is bound": (KINDS["blocks"], SHAPE, f"{SHAPE}    divmod = C\n"),
    "a grid of views": (
        PLAIN,
        YIELD,
        "    N, C = tensor.shape\n    n, c = _grid(N, C)\n    yield tensor[n, c], buffer[c, n]",
    ),
    "single elements": (
        PLAIN,
        YIELD,
        "    N, C = tensor.shape\n    for n in range(N):\n        for c in range(C):\n"
        "            yield tensor[n, c], buffer[c, n]",
    ),
    "an array is asked": (RUNS, "    yield part,", "    if run >= 0:\n        yield part,"),
    "an array beyond 64 bits": (RUNS, ROW, f"{ROW}    x = run*2**70\n"),
    "two grids": (RUNS, ROW, "    r, = _grid(R)\n    run, = _grid(K//4)\n"),
    "the fill is another": (KINDS["blocks"], FILL, f"        item = 7\n{FILL}"),
    "the source is another": (KINDS["blocks"], FILL, f"{FILL}    src = buffer\n"),
    "a fill yields": (KINDS["blocks"], FILL, f"{FILL}        yield buffer, buffer\n"),
    "a branch that is never done": (
        KINDS["blocks"],
        FILL,
        f"{FILL}    if 0 > 1:\n        np = 1\n",
    ),
    "no fill before the first slot": (KINDS["offset"], START, ""),
    "a default is executed": (KINDS["blocks"], "block: int)", "block: int = 1//0)"),
    "a type is executed": (PLAIN, "-> Iterator[tuple[Array, Array]]:", "-> 1/0:"),
    "a function that nobody calls": (
        PLAIN,
        "def _views(",
        'def _cut9(a=print()):\n    """X."""\n    return\n\n\ndef _views(',
    ),
    "an import is missing": (PLAIN, "import Iterator, Sequence", "import Sequence"),
    "another name of an exception": (
        KINDS["blocks"],
        "    N, C, H = map",
        "    ValueError, C, H = map",
    ),
    "a format in a message": (KINDS["blocks"], "and not {shape}", "and not {shape:{print()}}"),
    "extents of 0": (KINDS["blocks"], "min(shape) < 1", "min(shape) < 0"),
    "another encoding": (PLAIN, "# @generated", "# -*- coding: utf-7 -*- @generated"),
    "too deep": (PLAIN, YIELD, f"    x = {'1 + ' * 3000}1\n{YIELD}"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_texts_that_were_validated_once(name: str) -> None:
    said, old, new = ATTACKS[name]
    layout = layout_of(said)
    text, _ = module_text(layout, source="", certificate=None)
    assert old in text, text
    changed = text.replace(old, new, 1)
    assert isinstance(validate(text, layout, source=""), Validated)
    assert not isinstance(validate(changed, layout, source=""), Validated)


def test_a_grid_without_dimensions_is_refused() -> None:
    """`_grids` asks for the first extent: it was validated once, and raised an IndexError."""
    layout = layout_of("layout L(q: 4 broadcast) = [(q, q)]")
    text, _ = module_text(layout, source="", certificate=None)
    assert "np.ndindex(*shape)" in text, text
    changed = text.replace("np.ndindex(*shape)", "_grids(shape)") + "\n".join(frame.GRIDS) + "\n"
    assert isinstance(validate(text, layout, source=""), Validated)
    found = validate(changed, layout, source="")
    assert isinstance(found, NotValidated)
    assert "all indices" in found.reason


def test_an_index_in_terms_of_itself_is_refused_soon() -> None:
    """The guess of `g` speaks of `g`; put into itself again and again, it filled the memory."""
    layout = layout_of(KINDS["copies in blocks"])
    text, _ = module_text(layout, source="", certificate=None)
    changed = text.replace("(q*4 + g//16)", "(g*4 + g//16)")
    assert changed != text
    assert not isinstance(validate(changed, layout, source=""), Validated)
