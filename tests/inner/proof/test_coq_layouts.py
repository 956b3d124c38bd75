"""Sentences about layouts that `layoutdsl-check` confirms: what it reads, and what follows from it.

The program reads the declaration that a certificate prints, and confirms that the offset is a
bijection if the theorems imply it. Here declarations, extents and sentences are held against
Python's reading and plain integers, and certificates are changed until the sentence must go.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import islice, product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from coq import run_checker
from proving import elements, shapes, sound, wrong_at
from random_declarations import mutated, read, right, swizzled

import layoutdsl
from layoutdsl import Layout, LayoutError
from layoutdsl.language.integers import expr
from layoutdsl.language.integers.expr import Coordinate, Expr
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.evidence.manifest import proofs_json, read_manifest
from layoutdsl.proof.evidence.record import manifest_of
from layoutdsl.proof.kernel.theorem import Term

COMMITTED = Path(layoutdsl.__file__).parent.parent / "proofs"
CERTIFICATES = sorted(COMMITTED.glob("*/*.json"))

pytestmark = pytest.mark.skipif(not CERTIFICATES, reason="this is no checkout")

Claim = dict[str, Any]


@cache
def claims_of(file: Path) -> tuple[Claim, ...]:
    return tuple(json.loads(file.read_text())["claims"])


def is_of_a_layout(claim: Claim) -> bool:
    """Whether a claim has a sentence: `prove NAME`, of a layout, proved by theorems."""
    words = claim["claim"].split()
    return len(words) == 2 and claim["subject"].startswith("layout ") and bool(claim["proofs"])


LAYOUTS = [each for file in CERTIFICATES for each in claims_of(file) if is_of_a_layout(each)]


def layout_claim(name: str) -> Claim:
    """A copy of the claim `prove NAME` of the library, to be changed."""
    return deepcopy(next(each for each in LAYOUTS if each["claim"] == f"prove {name}"))


def sentences(claims: list[Claim]) -> list[str]:
    """Which sentence is confirmed of each claim: `packs`, `places`, none, or why it is rejected."""
    done = run_checker("--by-claim", "-", text=json.dumps({"claims": claims}))
    *lines, last = done.stdout.splitlines()
    assert last.startswith("end\t"), done
    found = [line.split("\t") for line in lines]
    assert len(found) == len(claims)
    return [words if status == "confirmed" else status for status, words in found]


# The library.


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "NCHW16c",
            "for all N, C, H, W >= 1, its offset is a bijection between the box "
            "N x 16*ceil(C/16) x H x W, which contains the tensor, and all slots",
        ),
        (
            "GgufQ8_0",
            "for all R, K >= 1 where K%32 == 0, its offset is a bijection between the box "
            "R x 32*ceil(K/32), which contains the tensor, and the slots outside its gaps",
        ),
        (
            "Ldmatrix",
            "for its one shape, its offset is a bijection between the tensor and all slots",
        ),
        (
            "RepeatKv",
            "for all B, H, S, D, k >= 1, its offset is a bijection between the tensor with its "
            "copies and all slots",
        ),
    ],
)
def test_sentences_in_words(name: str, words: str) -> None:
    done = run_checker("-", text=json.dumps({"claims": [layout_claim(name)]}))
    assert done.stdout.splitlines()[:2] == ["CONFIRMED -", f"  {name} packs: {words}"]


def test_a_sentence_of_a_part() -> None:
    claim = layout_claim("LapackPackedLower")
    done = run_checker("-", text=json.dumps({"claims": [claim]}))
    assert (
        "LapackPackedLower places: for all N >= 1 where j <= i, each element has a slot of its own"
        in done.stdout
    )


def brute_force(layout: Layout, box: str) -> None:
    """Try the sentence that was printed: the offset is a bijection from the box to all slots."""
    extents = [each.replace("ceil(", "-(-").replace("/", "//") for each in box.split(" x ")]
    names = [axis.name for axis in layout.axes]
    for values in islice(shapes(layout, 4, 200), 20):
        sizes = [eval(each, {}, dict(values)) for each in extents]
        first = evaluate(layout.start, values)
        slots = first + prod(evaluate(each.extent, values) for each in layout.coordinates)
        found = sorted(
            layout.offset_at({**values, **dict(zip(names, index, strict=True))})
            for index in product(*map(range, sizes))
        )
        assert found == list(range(first, slots)), (layout, values)
        assert all(size >= n for size, n in zip(sizes, layout.shape_of(values), strict=True))


@pytest.mark.sampled(6)
@pytest.mark.ci(99)
@pytest.mark.parametrize("claim", LAYOUTS, ids=lambda claim: claim["claim"])
def test_sentences_by_counting(claim: Claim) -> None:
    done = run_checker("-", text=json.dumps({"claims": [claim]}))
    layout = layoutdsl.parse(claim["subject"]).layouts[claim["claim"].split()[1]]
    for values in islice(shapes(layout, 4, 60), 20):
        assert wrong_at(layout, values) == set()
    for box in re.findall(r"the box (.*), which contains .*, and all slots", done.stdout):
        brute_force(layout, box)


# The reader of declarations, beside Python's.


def written(term: Term) -> str:
    return f"({' '.join(map(written, term))})" if isinstance(term, tuple) else str(term)


WORDS: dict[type[Expr], str] = {
    expr.Add: "+",
    expr.Sub: "-",
    expr.Mul: "*",
    expr.FloorDiv: "div",
    expr.Mod: "mod",
    expr.CeilDiv: "ceil",
    expr.BitXor: "xor",
    expr.BitAnd: "and",
}


def of_expr(one: Expr) -> Term:
    match one:
        case expr.Index(name):
            return f"i.{name}"
        case expr.Extent(name):
            return f"n.{name}"
        case expr.Constant(value):
            return value
        case expr.MixedRadix(parts):
            return of_tuple(parts)
        case _:
            return (WORDS[type(one)], of_expr(one.left), of_expr(one.right))


def of_tuple(parts: tuple[Coordinate, ...]) -> Term:
    first, *rest = map(of_coordinate, parts)
    for each in rest:
        first = ("pair", first, each)
    return first


def of_coordinate(one: Coordinate) -> Term:
    value = of_expr(one.value)
    return ("sized", value, of_expr(one.extent)) if one.declared else value


def of_condition(one: Condition) -> Term:
    left, right = of_expr(one.left), of_expr(one.right)
    match one.operator:
        case "==":
            return ("=", left, right)
        case "!=":
            return ("not", ("=", left, right))
        case ">" | ">=":
            return (one.operator.replace(">", "<"), right, left)
        case _:
            return (one.operator, left, right)


def listed(items: Any) -> str:
    return f"({' '.join(items)})"


def of_layout(one: Layout) -> str:
    """A layout as `--declarations` prints it, all but the number of slots at the end."""
    axes = listed(f"(i.{each.name} {written(of_expr(each.extent))})" for each in one.axes)
    symbols = listed(f"n.{each}" for each in one.symbols)
    where = listed(written(of_condition(each)) for each in (*one.where, *one.domain))
    body = written(of_tuple(one.coordinates))
    start = written(of_expr(one.start))
    return f"(layout {one.name} {axes} {symbols} {where} {start} {body} "


def compare_declarations(layouts: list[Layout]) -> None:
    """Compare what both readers read of declarations, and the number of slots at small shapes."""
    claims = [{"claim": "prove", "subject": str(each), "proofs": []} for each in layouts]
    done = run_checker("--declarations", "-", text=json.dumps({"claims": claims}))
    lines = done.stdout.splitlines()
    assert len(lines) == len(layouts)
    for layout, line in zip(layouts, lines, strict=True):
        expected = of_layout(layout)
        assert line.startswith(expected), (str(layout), line)
        slots = python_text(line.removeprefix(expected)[:-1])
        for values in islice(shapes(layout, 5, 10**6), 40):
            own = prod(evaluate(each.extent, values) for each in layout.coordinates)
            assert eval(slots, {}, {f"n_{k}": v for k, v in values.items()}) == own


def python_text(term: str) -> str:
    """A term such as ``(* n.N (div n.C 4))`` as Python."""
    tokens = re.findall(r"[()]|[^\s()]+", term)

    def one() -> str:
        token = tokens.pop(0)
        if token != "(":
            return token.replace("n.", "n_")
        operator = {"div": "//", "mod": "%"}.get(name := tokens.pop(0), name)
        left, right = one(), one()
        assert tokens.pop(0) == ")"
        return f"({left} {operator} {right})"

    return one()


def library_layouts() -> Iterator[Layout]:
    for claim in LAYOUTS:
        yield layoutdsl.parse(claim["subject"]).layouts[claim["claim"].split()[1]]


def test_both_readers_read_the_same_declarations() -> None:
    layouts = list(library_layouts())
    assert [str(each) for each in layouts] == [each["subject"] for each in LAYOUTS]
    compare_declarations(layouts)


def drawn(random: Random, count: int) -> Iterator[Layout]:
    """Random layouts, right and wrong, that the program covers."""
    while count:
        text = swizzled(random) if random.random() < 0.3 else right(random, random.random() < 0.3)
        layout = read(mutated(random, text) if random.random() < 0.3 else text)
        if layout is not None and " | " not in str(layout) and "roundup" not in str(layout):
            count -= 1
            yield layout


def compare_drawn_declarations(seed: int, count: int) -> None:
    layouts = list(drawn(Random(seed), count))
    claims = [{"claim": "prove", "subject": str(each), "proofs": []} for each in layouts]
    done = run_checker("--declarations", "-", text=json.dumps({"claims": claims}))
    lines = done.stdout.splitlines()
    covered = [
        layout
        for layout, line in zip(layouts, lines, strict=True)
        if not line.startswith("outside: ")
    ]
    assert len(covered) > 0.7 * count
    compare_declarations(covered)


def test_both_readers_read_the_same_random_declarations() -> None:
    compare_drawn_declarations(0, 100)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1, 11))
def test_both_readers_read_many_random_declarations(seed: int) -> None:
    """10,000 declarations: `pytest -m campaign -k many_random_declarations`."""
    compare_drawn_declarations(seed, 1000)


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("record R(r) = { a(r) = [r] of u8 }", "it is a record"),
        ("table T(w)[i: W] = (w = i)", "it is a table"),
        ("layout L(c) = [c/k, c%k]", "`k` is no axis, extent or parameter of it"),
        ("layout L(c, C) = [c]", "an axis has the name of an extent"),
        ("layout L(c, c) = [c]", "two axes have one name"),
        ("layout L(c) = [c | 3]", "it has `|`"),
        ("layout L(c, h) = [c & h]", "it has `&` without a number"),
        ("layout L(c) = [c << 1]", "it has a shift"),
        ("layout L(c) = [max(c, 3)]", "it has `max(...)`"),
        ("layout L(c) = [ceil(c)]", "it has `ceil` of no quotient"),
        ("layout L(c) = []", "it has no coordinates"),
        ("layout L(c) = NCHWc<4>", "it is written as `NCHWc`, without coordinates"),
        ("layout L(c) = [c", "`]` is missing before its end"),
        ("layout L(c) = [c 2]", "`]` is missing before `2`"),
        ("layout L(c) = [c + 0x10]", "an expression is missing before `0x10`"),
        ("layout L(c) = [c] where C", "a comparison is missing before its end"),
        ("layout L(c) = [c] of u8 more", "it has the clause `more`"),
        ("layout L(c) = [c] offset 1 offset 2", "it has the clause `offset`"),
        ("", "it begins with its end"),
    ],
)
def test_declarations_that_are_not_covered(subject: str, reason: str) -> None:
    claim = {"claim": "prove L", "subject": subject, "proofs": []}
    done = run_checker("--declarations", "-", text=json.dumps({"claims": [claim]}))
    assert done.stdout == f"outside: {reason}\n"


def test_a_claim_with_a_range_of_its_own() -> None:
    text = "layout L(c) = [c/4, c%4]\nprove L where C >= 5, C%4 == 0"
    manifest = manifest_of(layoutdsl.prove(layoutdsl.parse(text).claims).checked)
    done = run_checker("--layouts", "-", text=manifest.text)
    assert done.returncode == 0
    assert (
        "  L packs: for all C >= 1 where C >= 5, C%4 == 0, its offset is a bijection" in done.stdout
    )
    wider = manifest.text.replace("prove L where C >= 5, C%4 == 0", "prove L where C%4 == 0")
    assert run_checker("--layouts", "-", text=wider).returncode == 1


# Certificates that were changed: the declaration.

NO = ""
CHANGED: dict[str, tuple[str, str, str, str]] = {
    # what is changed: layout, old text, new text, the sentence of the changed declaration
    "coordinates in another order": ("NCHW16c", "[n, c/16, h", "[n, h, c/16", NO),
    "axes in another order": ("NCHW16c", "(n, c, h, w)", "(n, h, c, w)", "packs"),
    "another divisor": ("NCHW16c", "c/16", "c/8", NO),
    "another remainder": ("NCHW16c", "c%16", "c%8", NO),
    "a quotient for a remainder": ("NCHW16c", "c%16", "c/16", NO),
    "another index": ("NCHW16c", "c%16", "w%16", NO),
    "no digit": ("NCHW16c", ", c%16", "", NO),
    "one more axis": ("NCHW16c", "(n, c, h, w)", "(n, c, h, w, d)", NO),
    "an axis less": ("NCHW16c", "(n, c, h, w) = [n, c/16, h, w,", "(n, c, h) = [n, c/16, h,", NO),
    "a declared extent": ("NCHW16c", "c%16]", "c%16 : 17]", NO),
    "the same extent, declared": ("NCHW16c", "c%16]", "c%16 : 16]", "packs"),
    "a fixed extent": ("NCHW16c", "w) =", "w: 7) =", NO),
    "a common extent": ("NCHW16c", "h, w) =", "h: W, w) =", NO),
    "an offset": ("NCHW16c", "c%16]", "c%16] offset 1", NO),
    "a narrower range": ("NCHW16c", "c%16]", "c%16] where C <= 7", "packs"),
    "a range without the shape of the file": ("NCHW16c", "c%16]", "c%16] where C >= 7", NO),
    "an empty range": ("NCHW16c", "c%16]", "c%16] where C < 1", NO),
    "a domain": ("NCHW16c", "c%16]", "c%16] where h <= w", "places"),
    "another type and fill": ("NCHW16c", "c%16]", "c%16] fill 3.5 of u8 as scale_offset", "packs"),
    "chunks": ("NCHW16c", "c/16, h", "c/16; h", "packs"),
    "a tuple, whose bound no theorem states": ("NCHW16c", "h, w, c", "(h, w), c", NO),
    "a wider range": ("GgufQ8_0", " where K%32 == 0", "", NO),
    "another range": ("GgufQ8_0", "K%32 == 0", "K%16 == 0", NO),
    "no range of a pad": ("XlaPaddedExample", " where Y <= 3, X <= 5", "", NO),
    "a smaller pad": ("XlaPaddedExample", "x : 5", "x : 4", NO),
    "another parameter": ("NCHWc", "c%k", "c%16", NO),
    "the natural extent": ("GgufQ8_0", " : 34", "", "packs outside gaps"),
    "another declared extent": ("GgufQ8_0", " : 34", " : 35", NO),
    "an or of other bits": ("Swizzle128", "112", "48", NO),
    "bits of another digit": ("Swizzle128", "a/8", "a/16", NO),
    "a sum for an or": ("GmmaKSw128", "k/8 ^ m", "k/8 + m", NO),
    "an or for a digit": ("GmmaKSw128", "k/8 ^ m", "k/8", NO),
    "a larger part": ("LapackPackedLower", "j <= i", "j <= i + 1", NO),
    "the whole": ("LapackPackedLower", " where j <= i", "", NO),
    "a smaller part": ("LapackPackedLower", "j <= i", "j <= i, i <= 3", "places"),
}


def changed_claim(name: str, old: str, new: str) -> Claim:
    claim = layout_claim(name)
    assert claim["subject"].count(old) == 1, claim["subject"]
    claim["subject"] = claim["subject"].replace(old, new)
    return claim


def test_changed_declarations() -> None:
    """The theorems are true as before, but say nothing of the changed layout."""
    found = sentences([changed_claim(*change) for *change, _ in CHANGED.values()])
    assert dict(zip(CHANGED, found, strict=True)) == {
        name: words for name, (*_, words) in CHANGED.items()
    }


def test_a_layout_without_its_sentence_is_rejected_on_demand() -> None:
    claim = changed_claim("NCHW16c", "c%16", "c%8")
    text = json.dumps({"claims": [claim]})
    words = "NCHW16c: the theorems do not say that its offset is a bijection"
    done = run_checker("-", text=text)
    assert (done.returncode, done.stdout.splitlines()[:2]) == (0, ["CONFIRMED -", f"  {words}"])
    done = run_checker("--layouts", "-", text=text)
    assert (done.returncode, done.stdout.splitlines()[:2]) == (1, ["REJECTED -", f"  {words}"])


def judge_mutants(seed: int, count: int) -> Counter[str]:
    """Change declarations at random; whatever sentence remains is true at small shapes."""
    random = Random(seed)
    claims: list[Claim] = []
    layouts: list[Layout] = []
    while len(claims) < count:
        claim = deepcopy(random.choice(LAYOUTS))
        subject = spoiled(random, claim["subject"])
        try:
            layout = layoutdsl.parse(f"{subject}\nrefute {claim['claim'][6:]}")
        except LayoutError:
            continue
        if subject != claim["subject"]:
            claim["subject"] = subject
            claims.append(claim)
            layouts.append(layout.layouts[claim["claim"].split()[1]])
    found = sentences(claims)
    for layout, words in zip(layouts, found, strict=True):
        if words:
            for values in islice(shapes(layout, 40, 400), 60):
                kept = [each for each in elements(layout, values) if layout.holds(each)]
                offsets = [layout.offset_at(each) for each in kept]
                assert len({*offsets}) == len(offsets), (str(layout), values)
                first = evaluate(layout.start, values)
                slots = prod(evaluate(each.extent, values) for each in layout.coordinates)
                assert all(first <= each < first + slots for each in offsets), str(layout)
    return Counter(words or "none" for words in found)


def spoiled(random: Random, text: str) -> str:
    """A declaration with one or two tokens changed, left out, or exchanged."""
    for _ in range(random.choice([1, 1, 2])):
        tokens = re.findall(r"\w+|[<>=!]=|\s+|.", text)
        at = [n for n, each in enumerate(tokens) if n > 2 and not each.isspace()]
        one, other = random.choice(at), random.choice(at)
        match random.randrange(4):
            case 0 if tokens[one].isdigit():
                tokens[one] = str(max(0, int(tokens[one]) + random.choice([-1, 1])))
            case 1:
                tokens[one], tokens[other] = tokens[other], tokens[one]
            case 2:
                tokens[one] = tokens[other]
            case _:
                del tokens[one]
        text = "".join(tokens)
    return text


@pytest.mark.sampled(10)
@pytest.mark.ci(10)
@pytest.mark.parametrize("seed", range(101, 111))
def test_mutated_declarations(seed: int) -> None:
    assert judge_mutants(seed, 15).total() == 15


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1, 21))
def test_many_mutated_declarations(seed: int) -> None:
    """20,000 declarations with one or two tokens changed: `-k many_mutated_declarations -s`."""
    print(dict(judge_mutants(seed, 1000)))


# Certificates that were changed: the statements.

Key = tuple[str, str]


def written_claim(claim: Claim, change: dict[str, Any]) -> Claim:
    """The claim with some of its theorems replaced, or left out."""
    (entry,) = read_manifest(manifest_text(claim)).entries
    proofs = [(change.get(th.name, th), proof) for th, proof in entry.proofs]
    kept = tuple((theorem, proof) for theorem, proof in proofs if theorem is not None)
    return {**claim, "proofs": proofs_json(kept)}


def manifest_text(claim: Claim) -> str:
    whole = json.loads((COMMITTED / "blocked" / "NCHW16c.json").read_text())
    return json.dumps({**whole, "claims": [claim]})


def without_a_goal(name: str) -> Iterator[tuple[Key, Claim]]:
    """The claim without one goal of one theorem, for all of them. The proofs stay as they are."""
    claim = layout_claim(name)
    (entry,) = read_manifest(manifest_text(claim)).entries
    for theorem, _ in entry.proofs:
        for number, goal in enumerate(theorem.goals):
            goals = theorem.goals[:number] + theorem.goals[number + 1 :]
            change = {theorem.name: replace(theorem, goals=goals)}
            yield (theorem.name, written(goal)), written_claim(claim, change)


UNUSED = {"range", "printed", "fits", "injective", "padding"}
"""Theorems that the sentence does not need: a shape is tried, `element` and `decode` say more."""

LOST = {"", "places", "rejected", "unanswered"}
"""The bijection is not confirmed. A claim is rejected if another of its proofs uses the goal."""


@pytest.mark.parametrize("name", ["NCHW16c", "GgufQ4_K", "Swizzle128"])
def test_every_goal_is_needed(name: str) -> None:
    changed = dict(without_a_goal(name))
    found = dict(zip(changed, sentences(list(changed.values())), strict=True))
    # `encode` repeats that coordinates are within their extents.
    goals = [goal for theorem, goal in changed if theorem == "encode"]
    repeated = goals[: goals.index("(<= 0 slot)")]
    for (theorem, goal), words in found.items():
        idle = theorem in UNUSED or (theorem == "encode" and goal in repeated)
        if not idle and (theorem, goal[:4]) != ("shape", "(< 0"):
            assert words in LOST, (theorem, goal, words)


@pytest.mark.parametrize("theorem", ["shape", "encode", "element", "decode"])
def test_a_further_hypothesis_ends_the_sentence(theorem: str) -> None:
    """The theorem is weaker and still true."""
    claim = layout_claim("NCHW16c")
    (entry,) = read_manifest(manifest_text(claim)).entries
    (old,) = [th for th, _ in entry.proofs if th.name == theorem]
    for condition in [("<=", "n.C", 100), ("<=", 2, "n.C"), ("<", "n.H", "n.W")]:
        weaker = replace(old, hypotheses=(*old.hypotheses, condition))
        assert sentences([written_claim(claim, {theorem: weaker})])[0] in LOST


@pytest.mark.parametrize("theorem", ["shape", "encode", "element", "decode"])
def test_a_missing_theorem_ends_the_sentence(theorem: str) -> None:
    assert sentences([written_claim(layout_claim("NCHW16c"), {theorem: None})])[0] in LOST


def test_an_empty_range_has_no_sentence() -> None:
    claim = layout_claim("NCHW16c")
    claim["shape"] = {"N": 1, "C": 0, "H": 1, "W": 1}
    assert sentences([claim]) == [""]
    claim["shape"] = {"N": 3, "C": 50, "H": 2, "W": 1}
    assert sentences([claim]) == ["packs"]


# Layouts drawn at random, proved by Python.


def judge_drawn(seed: int, count: int) -> Counter[str]:
    """Prove random layouts; the theorems of each that the program covers say its sentence."""
    found = Counter[str]()
    entries: list[Claim] = []
    for layout in drawn(Random(seed), count):
        checked = sound(layout)
        if checked.status != "proved":
            found["not proved"] += 1
            continue
        entries += json.loads(manifest_of([checked]).text)["claims"]
    done = run_checker("--layouts", "-", text=json.dumps({"claims": entries}))
    assert "do not say" not in done.stdout
    found.update(words or "outside" for words in sentences(entries))
    return found


@pytest.mark.slow
@pytest.mark.ci(99)
@pytest.mark.parametrize("seed", range(4))
def test_random_layouts_have_their_sentences(seed: int) -> None:
    assert judge_drawn(seed, 25)["packs"] > 5


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_random_layouts_have_their_sentences(seed: int) -> None:
    """2000 layouts: `pytest -m campaign -k many_random_layouts -s`."""
    print(dict(judge_drawn(seed, 200)))
