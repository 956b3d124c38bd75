"""Applied layouts, ``R(c) = A(f(c))``: meaning, printed text, doors, and what the prover finds.

The oracle is `Layout.offset` of the applied layout, at indices that Python computes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

import layoutdsl
from layoutdsl import Checked, Layout, LayoutError, RefusedError

__all__ = ["shell"]

TEXT = """\
layout Image(n, c, h, w) = [n, c/16, h, w, c%16] fill 7 of u8
layout Tile(y: 8, x: 16) = [y, x/4, x%4]
layout Outer(gy, gx) = [gx, gy] offset 3
layout Tiles(y, x) = [y/8, x/16, y%8, x%16]
layout Rows(y, x) = [y, x : roundup(X, 128)]
layout Blocked<k>(n, c) = [n, c/k, c%k]
layout Lower(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i
layout Scales(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8]
layout Planes(r, k) = [r, bit, k] of u4
layout Codes(n, c) = [n, c/4, c%4] of u8 as scale_offset per n
layout Chunks(y, x) = [y/8, x/8; y%8, x%8]
layout Even(n, c) = [n, c/2, c%2] where C % 2 == 0
layout Square(i: N, j: N) = [j, i]
"""

Shape = dict[str, int]
Case = tuple[str, str, Callable[..., tuple[int, ...]], Callable[[Shape], Shape], tuple[Shape, ...]]

CASES: tuple[Case, ...] = (
    # declaration, applied layout, its index, its shape, shapes to look at
    (
        "R<H>(n, c, h1, w, h0: 8) = Image[n, c, h1*8 + h0, w] where h1*8 + h0 < H, H1 == ceil(H/8)",
        "Image",
        lambda n, c, h1, w, h0: (n, c, h1 * 8 + h0, w),
        lambda s: {"N": s["N"], "C": s["C"], "H": s["H"], "W": s["W"]},
        ({"N": 1, "C": 17, "H1": 2, "W": 2, "H": 11}, {"N": 2, "C": 3, "H1": 1, "W": 1, "H": 8}),
    ),
    (
        "R(n, h, w) = Image[n, 3, h, w]",
        "Image",
        lambda n, h, w: (n, 3, h, w),
        lambda s: {**s, "C": 4},
        ({"N": 2, "H": 3, "W": 2},),
    ),
    (
        "R<C>(n, h, w) = Image[n, 19, h, w] where 19 < C",
        "Image",
        lambda n, h, w: (n, 19, h, w),
        lambda s: s,
        ({"N": 2, "H": 3, "W": 2, "C": 40},),
    ),
    (
        "R(n, h, w) = Image[n, 19 : 64, h, w]",
        "Image",
        lambda n, h, w: (n, 19, h, w),
        lambda s: {**s, "C": 64},
        ({"N": 2, "H": 3, "W": 2},),
    ),
    (
        "R<W>(n, c, p) = Image[n, c, p/W, p%W]",
        "Image",
        lambda n, c, p, w: (n, c, p // w, p % w),
        lambda s: {"N": s["N"], "C": s["C"], "H": -(-s["P"] // s["W"]), "W": s["W"]},
        ({"N": 1, "C": 5, "P": 12, "W": 4}, {"N": 1, "C": 17, "P": 7, "W": 3}),
    ),
    (
        "R<C>(n, c: K, h, w) = Image[n, c + 16, h, w] where K + 16 <= C",
        "Image",
        lambda n, c, h, w: (n, c + 16, h, w),
        lambda s: {"N": s["N"], "C": s["C"], "H": s["H"], "W": s["W"]},
        ({"N": 1, "K": 20, "H": 2, "W": 1, "C": 40},),
    ),
    (
        "R(w, h, n, c) = Image[n, c, w, h]",
        "Image",
        lambda w, h, n, c: (n, c, w, h),
        lambda s: {"N": s["N"], "C": s["C"], "H": s["W"], "W": s["H"]},
        ({"N": 2, "C": 18, "H": 2, "W": 3},),
    ),
    (
        "R(n, c1, h, w, c0: 8) = Image[n, c1*8 + c0, h, w]",
        "Image",
        lambda n, c1, h, w, c0: (n, c1 * 8 + c0, h, w),
        lambda s: {"N": s["N"], "C": 8 * s["C1"], "H": s["H"], "W": s["W"]},
        ({"N": 1, "C1": 3, "H": 2, "W": 2},),
    ),
    (
        "R(y, c) = Blocked<3>[y, c]",
        "Blocked<3>",
        lambda y, c: (y, c),
        lambda s: {"N": s["Y"], "C": s["C"]},
        ({"Y": 2, "C": 7},),
    ),
    (
        "R<m>(y, c) = Blocked<m>[y, c]",
        "Blocked<5>",
        lambda y, c: (y, c),
        lambda s: {"N": s["Y"], "C": s["C"]},
        ({"Y": 2, "C": 7, "m": 5},),
    ),
    (
        "R(j: N, i: N) = Lower[i, j]",
        "Lower",
        lambda j, i: (i, j),
        lambda s: s,
        ({"N": 4},),
    ),
    (
        "R(g, r, q: 4 broadcast) = Scales[r, g, q]",
        "Scales",
        lambda g, r, q: (r, g, q),
        lambda s: s,
        ({"G": 9, "R": 2},),
    ),
    (
        "R(k, r) = Planes[r, k]",
        "Planes",
        lambda k, r, bit: (r, k, bit),
        lambda s: s,
        ({"K": 3, "R": 2},),
    ),
    (
        "R(c, m) = Codes[m, c]",
        "Codes",
        lambda c, m: (m, c),
        lambda s: {"N": s["M"], "C": s["C"]},
        ({"C": 5, "M": 2},),
    ),
    (
        "R(x, y) = Chunks[y, x]",
        "Chunks",
        lambda x, y: (y, x),
        lambda s: s,
        ({"X": 9, "Y": 17},),
    ),
    (
        "R(n, c1, c0: 2) = Even[n, c1*2 + c0]",
        "Even",
        lambda n, c1, c0: (n, c1 * 2 + c0),
        lambda s: {"N": s["N"], "C": 2 * s["C1"]},
        ({"N": 2, "C1": 3},),
    ),
    (
        "R(x: N, y: N) = Square[x, y]",
        "Square",
        lambda x, y: (x, y),
        lambda s: s,
        ({"N": 3},),
    ),
)


def verdict(subject: Any) -> Checked:
    (checked,) = layoutdsl.prove(subject).checked
    return checked


def made(declaration: str) -> Layout:
    return layoutdsl.parse(f"{TEXT}layout {declaration}\n")["R"]


def elements(layout: Layout, shape: Shape) -> list[tuple[int, ...]]:
    values = layout.bind(shape)
    every = product(*map(range, layout.shape_of(values)))
    names = [axis.name for axis in layout.axes]
    return [i for i in every if layout.holds({**values, **dict(zip(names, i, strict=True))})]


@pytest.mark.parametrize("case", CASES, ids=[each[0] for each in CASES])
def test_an_applied_layout_is_the_layout_at_that_index(case: Case) -> None:
    declaration, applied, index, shape_of, shapes = case
    layout, outer = made(declaration), layoutdsl.parse(TEXT)[applied]
    for shape in shapes:
        there = shape_of(shape)
        assert layout.size(shape) == outer.size(there)
        assert layout.physical_shape(shape) == outer.physical_shape(there)
        found = elements(layout, shape)
        assert found
        for each in found:
            names = {axis.name: at for axis, at in zip(layout.axes, each, strict=True)}
            extents = {name.lower(): number for name, number in shape.items()}
            said = index.__code__.co_varnames
            at = index(**{name: {**extents, **names}[name] for name in said})
            assert layout.offset(each, shape) == outer.offset(at, there)


@pytest.mark.parametrize("case", CASES, ids=[each[0] for each in CASES])
def test_every_one_of_them_is_proved_and_is_what_it_says(case: Case) -> None:
    declaration = case[0]
    right = declaration.partition(" = ")[2].partition(" where ")[0]
    module = layoutdsl.parse(f"{TEXT}layout {declaration}\nprove R == {right}\n")
    claim = verdict([module.claims[0]])
    assert claim.status == "proved", str(claim)
    assert verdict(module["R"]).status == "proved"


@pytest.mark.parametrize("case", CASES, ids=[each[0] for each in CASES])
def test_the_printed_coordinates_mean_the_same(case: Case) -> None:
    layout = made(case[0])
    again = layoutdsl.parse(str(layout))["R"]
    for shape in case[4]:
        assert np.array_equal(again.offsets(shape), layout.offsets(shape))
    if not layout.applied:
        assert again == layout


def test_a_whole_body_keeps_the_clauses_and_a_clause_replaces_one() -> None:
    plain = made("R(n, c, h, w) = Image[n, c, h, w]")
    assert str(plain) == "layout R(n, c, h, w) = [n, c/16, h, w, c%16] fill 7 of u8"
    other = made("R(n, c, h, w) = Image[n, c, h, w] fill 3 where C <= 8")
    assert other.clauses == ("fill 3", "of u8", "where C <= 8")
    chunks = made("R(x, y) = Chunks[y, x]")
    assert chunks.chunk_rank == 2
    assert made("R(m, c) = Codes[m, c]").clauses == ("of u8 as scale_offset per m",)
    assert str(made("R(n, c1, c0: 2) = Even[n, c1*2 + c0]")).endswith("(c1, c0)%2]")


def test_inside_a_coordinate_an_application_is_the_offset_below_the_size() -> None:
    layout = made("R(gy, gx, y: 8, x: 16) = [Outer[gy, gx], Tile[y, x]]")
    tile, outer = (layoutdsl.parse(TEXT)[name] for name in ("Tile", "Outer"))
    shape, grid = {"GY": 2, "GX": 3}, {"GY": 2, "GX": 3}
    assert layout.box(shape) == (outer.size(grid), tile.size({}))
    for gy, gx, y, x in elements(layout, shape):
        offset = outer.offset((gy, gx), grid) * tile.size({}) + tile.offset((y, x), {})
        assert layout.offset((gy, gx, y, x), shape) == offset
    cut = made("R(y: 8, x: 16) = [Tile[y, x]/32, Tile[y, x]%32*2 + 1 : 64]")
    for y, x in elements(cut, {}):
        offset = tile.offset((y, x), {})
        assert cut.offset((y, x), {}) == offset // 32 * 64 + offset % 32 * 2 + 1
    generic = made("R(y, c) = [Blocked<3>[y, c]/4, Blocked<3>[y, c]%4]")
    blocked = layoutdsl.parse(TEXT)["Blocked<3>"]
    for index in elements(generic, {"Y": 2, "C": 7}):
        offset = blocked.offset(index, {"N": 2, "C": 7})
        assert generic.offset(index, {"Y": 2, "C": 7}) == offset


def test_domains_and_ranges_of_layouts_in_coordinates_are_those_of_the_result() -> None:
    layout = made("R(g, j: N, i: N) = [g, Lower[i, j]]")
    assert [str(each) for each in layout.domain] == ["j <= i"]
    even = made("R(g, n, c) = [g, Even[n, c]] where G <= 4")
    assert [str(each) for each in even.where] == ["C%2 == 0", "G <= 4"]


COMPOSED = (
    # declarations, shape, the outer layout, its shape, its index from the slot or as it is
    (
        "layout R = Tiles[Rows]",
        {"Y": 9, "X": 20},
        "Tiles",
        {"Y": 9, "X": 128},
        None,
    ),
    (
        "layout R<X> = Tiles[Lines]\nlayout Lines(n, c) = [n/2, c, n%2]",
        {"N": 5, "C": 3, "X": 4},
        "Tiles",
        {"Y": 5, "X": 4},
        lambda slot: divmod(slot, 4),
    ),
    (
        "layout R = Line[Image]\nlayout Line(i) = [i/8, i%8 : 10]",
        {"N": 2, "C": 3, "H": 2, "W": 2},
        "Line",
        {"I": 128},
        lambda slot: (slot,),
    ),
)


@pytest.mark.parametrize("case", COMPOSED, ids=[each[0] for each in COMPOSED])
def test_a_composition_packs_the_buffer_of_the_inner_layout(case: Any) -> None:
    text, shape, name, there, index = case
    module = layoutdsl.parse(f"{TEXT}{text}\n")
    inner = module[text.partition("[")[2].partition("]")[0]]
    layout, outer = module["R"], module[name]
    own = {each: shape[each] for each in inner.symbols}
    assert layout.size(shape) == outer.size(there)
    for each in elements(layout, shape):
        slot = inner.offset(each, own)
        at = each if index is None else index(slot)
        assert layout.offset(each, shape) == outer.offset(at, there)
    right = text.partition("= ")[2].partition("\n")[0]
    again = layoutdsl.parse(f"{TEXT}{text}\nprove R == {right}\n")
    assert verdict([again.claims[0]]).status == "proved"
    assert verdict(layout).status != "refuted"


def test_the_fill_of_a_composition_is_the_one_that_both_have() -> None:
    module = layoutdsl.parse(
        f"{TEXT}layout Packed = Tiles[Rows]\nlayout Full = Image[Tall]\n"
        "layout Tall(n, c, h, w) = [n, c, h, w] fill 1\n"
        "layout Mixed = Image[Padded]\nlayout Padded(n, c, h, w) = [n, c, h, w : W + 1] fill 1\n"
    )
    assert module["Packed"].clauses == ()
    assert module["Full"].clauses == ("fill 7", "of u8")
    assert module["Mixed"].clauses == ("fill any", "of u8")


REFUTED = (
    ("R<H>(n, c, h1, w, h0: 8) = Image[n, c, h1*8 + h0, w] where H1 == ceil(H/8)", "h1*8 + h0", 1),
    ("R<C>(n, h, w) = Image[n, 3, h, w]", "3", 3),
    ("R(x, y) = Square[x, y]", "y", 1),
    ("R(y: 9, x: 16) = [Tile[y, x]]", "y", 8),
    ("R(y: 8, x: 16) = Tile[y - 1, x]", "y - 1", -1),
)


@pytest.mark.parametrize(("declaration", "index", "value"), REFUTED)
def test_an_index_outside_the_shape_is_refuted(declaration: str, index: str, value: int) -> None:
    layout = made(declaration)
    found = {each.property: each for each in verdict(layout).findings}
    finding = found["every applied index stays in its shape"]
    example = finding.example  # type: ignore[union-attr]
    assert "`R` leaves the shape of" in example.sentence
    assert f"`{index}` is {value}," in example.points[0].words
    numbers = dict.fromkeys(layout.parameters, 1)
    closed = layout(**numbers) if numbers else layout
    with pytest.raises(RefusedError, match="leaves the shape"):
        layoutdsl.compile(closed)
    with pytest.raises(RefusedError):
        layoutdsl.compile(closed, unproved=True)


def test_a_claim_about_an_index_outside_the_shape_is_refuted() -> None:
    """The offsets agree wherever both are defined, but the second layout ends before."""
    text = (
        "layout Line(i: 8) = [i : 16]\n"
        "layout R(i: 12) = [i : 16]\n"
        "prove R == Line[i]\n"
        "layout S(i: 8) = [i : 16]\n"
        "prove S == Line[i]\n"
        "prove S == [Line[i] : 16]\n"
        "prove R == [Line[i] : 16]\n"
    )
    found = [verdict([each]) for each in layoutdsl.parse(text).claims]
    assert [each.status for each in found] == ["refuted", "proved", "proved", "refuted"]
    assert "`i` is 8, outside 0..7" in str(found[0])


def test_a_record_applies_layouts_in_its_parts() -> None:
    text = (
        "layout Tile(y: 4, x: 8) = [y/2, x, y%2]\n"
        "layout Plain(r, k) = [r, k]\n"
        "record Packed(r, k) = {\n"
        "    d(r, b: K/32) = [r, b, 0 : 17] of f16\n"
        "    q(r, k) = [r, k/32, 1 + Tile[k%32/8, k%8]/2 : 17, Tile[k%32/8, k%8]%2] of u8\n"
        "} where K % 32 == 0\n"
        "record Turned(r, k) = { q(r, k) = Plain[k, r] of u8 }\n"
    )
    module = layoutdsl.parse(text)
    assert verdict(module["Turned"]).status == "proved"
    packed, tile = module["Packed"], module["Tile"]
    assert verdict(packed).status != "refuted"
    for k in range(64):
        slot = tile.offset((k % 32 // 8, k % 8), {})
        bit = (k // 32 * 17 + 1) * 16 + slot * 8
        assert packed.bit_address("q", (0, k), 0, (1, 64)) == bit  # type: ignore[union-attr]


def test_a_rule_applies_a_layout() -> None:
    module = layoutdsl.parse(f'{TEXT}tensor "**.a"(n, k) = Tiles[k, n]\n')
    (rule,) = module.rules
    assert str(rule.layout).endswith("(n, k) = [k/8, n/16, k%8, n%16]")  # type: ignore[union-attr]


@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize(
    ("declaration", "shape"),
    [
        (CASES[1][0], (2, 3, 2)),
        (CASES[7][0], (1, 3, 2, 2, 8)),
        (CASES[14][0], (9, 17)),
    ],
)
def test_they_pack_like_other_layouts(
    target: Any, declaration: str, shape: tuple[int, ...]
) -> None:
    layout = made(declaration)
    if target == "native" and not layoutdsl.compile(layout).__class__.__name__.startswith("N"):
        pytest.skip("no C compiler")
    module: Any = layoutdsl.compile(layout, target=target)
    tensor = np.arange(1, 1 + np.prod(shape), dtype=np.uint8).reshape(shape)
    packed = module.pack(tensor)
    offsets = layout.offsets(shape)
    assert np.array_equal(packed.ravel()[offsets], tensor)
    assert np.array_equal(module.unpack(packed, shape), tensor)


def test_generated_code_quotes_what_it_packs(shell: Shell) -> None:
    """The text of an applied layout alone does not say what it is."""
    Path("demo.layout").write_text(f"{TEXT}layout R(n, h, w) = Image[n, 3, h, w]\n")
    assert shell("generate", "demo.layout:R", "-o", ".").code == 0
    quoted = Path("R.py").read_text()
    assert '"layout R(n, h, w) = [n, 0, h, w, 3 : 16] fill 7 of u8"' in quoted
    assert shell("generate", "demo.layout:R", "-o", ".", "--check").code == 0


def test_certificates_state_the_indices(shell: Shell) -> None:
    text = f"{TEXT}layout R<C>(n, c1, h, w, c0: 8) = Image[n, c1*8 + c0, h, w] where 8*C1 == C\n"
    Path("demo.layout").write_text(text)
    written = shell("prove", "demo.layout", "--write", "--into", "proofs")
    assert written.code == 0, written.err
    assert shell("recheck", "demo.layout", "--dir", "proofs").code == 0
    certificate = Path("proofs/R.json")
    kept = certificate.read_text()
    assert "# Image: c1*8 + c0 : C" in kept
    assert '"indices"' in kept
    # Without the property, and with another index, the certificate does not stand.
    certificate.write_text(kept.replace("every applied index stays in its shape", "injective"))
    assert shell("recheck", "demo.layout", "--dir", "proofs").code == 1
    certificate.write_text(kept)
    Path("demo.layout").write_text(text.replace("where 8*C1 == C", "where 8*C1 <= C"))
    assert shell("recheck", "demo.layout", "--dir", "proofs").code == 1


def test_a_deep_chain_of_applications_is_refused() -> None:
    lines = ["layout A0(i) = [i]"]
    lines += [f"layout A{number}(i) = A{number - 1}[i]" for number in range(1, 60)]
    with pytest.raises(LayoutError, match="L104"):
        layoutdsl.parse("\n".join(reversed(lines)))
