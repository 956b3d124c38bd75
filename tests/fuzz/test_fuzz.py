"""Whatever the text, only `LayoutError` comes out, and soon.

The guard is generous, so that a busy machine does not fail it: what it is after runs for minutes.
"""

from __future__ import annotations

import random
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutdsl
from layoutdsl import LayoutError

GUARD = 5.0
"""Seconds to read a text, and to say all that is wrong with it."""
PROVED = 40.0
"""Seconds for formulas of its layouts: what they are inverted by is proved, which has a budget."""


def check(text: str) -> None:
    begun = process_time()
    shown = ""
    try:
        layouts = layoutdsl.parse(text).layouts.values()
    except LayoutError as error:
        shown = str(error)
        codes = [each.code for each in error.diagnostics]
    assert process_time() - begun < GUARD
    if shown:
        assert all(f"[{code}]" in shown for code in codes)
        return
    for found in list(layouts)[:3]:
        assert str(layoutdsl.formula(found).offset)
    assert process_time() - begun < PROVED


def body(text: str, axes: str = "c") -> str:
    return f"layout A({axes}) = [{text}]"


def nested(before: str, inside: str, after: str, depth: int) -> str:
    return before * depth + inside + after * depth


SUMS = "*".join(["(N + C + H + W)"] * 60)
CHAIN = [f"layout P{n}<k> = P{n - 1}<k>" for n in range(1, 2000)]
CUT = "layout P0<k>(c) = [c/k, c%k]"
TOWER = "(min(C, C)+1)*(C+1)*(C+2)*(C+3)*(C+4)"

HAND_MADE = {
    "nul": "\0",
    "byte order mark": "\ufefflayout A(c) = [c]",
    "lone surrogate": "layout \ud800(c) = [c]",
    "look-alike letters": "layout \u0410(\u0441) = [\u0441]",
    "wide digits": body("c/\uff14"),
    "other digits": body("c/\u0664"),
    "zero-width space": body("c\u200b"),
    "right to left": body("c\u202e"),
    "long s": "layout A(\u017f) = [\u017f]",
    "kelvin": body("c : \u212a"),
    "names of Python": "layout __class__(lambda) = [lambda]\nlayout None(none) = [none]",
    "dunder axis": "layout A(__init__) = [__init__]",
    "code for a name": 'layout __import__("os").system("x")(c) = [c]',
    "1 MiB of comment": "#" + "x" * 2**20,
    "1 MiB of blanks": " " * 2**20,
    "1 MiB of layouts": "layout A(c) = [c]\n" * 60_000,
    "256 KiB of comment": "#" + "x" * (2**18 - 9),
    "256 KiB of lines": "\n" * (2**18 - 9) + "?",
    "256 KiB of brackets": "[" * 2**18,
    "256 KiB of one name": "layout " + "a" * 200_000 + "(c) = [c]",
    "names of 100 letters": f"layout A({'a' * 100}) = [{'a' * 99}b]",
    "40000 words": "= " * 40_000,
    "40000 signs": body("-" * 39_000 + "c"),
    "many pluses": body("+" * 30_000 + "c"),
    "parentheses": body(nested("(", "c", ")", 49)),
    "open parentheses": body("(" * 100_000),
    "tuples in tuples": body(nested("(", "c", ", c%2)", 45)),
    "ceilings": body("c : " + nested("ceil(", "(C - 5)", "/2)", 48)),
    "minima": body("c/" + nested("min(", "C", " - 5, C)", 48)),
    "roundups": body("c : " + nested("roundup(", "C", " + 1, 7)", 45)),
    "remainders": body(nested("(", "c", "%7/2)", 48)),
    "exclusive ors": body(nested("(", "c", " ^ c%8) + c", 40)),
    "every operator, nested": body(nested("(1|1^1&1<<1+1*-(", "c", "))", 24)),
    "sums in sums": body(nested("(", "c", "+1" * 99 + ")", 49)),
    "100 operands": body(" + ".join(["c"] * 100)),
    "101 operands": body(" + ".join(["c"] * 101)),
    "100 factors": body("*".join(["c"] * 100)),
    "100 masks": body(" & ".join(["c"] * 100)),
    "100 ors": body(" | ".join(["c%8"] * 100)),
    "100 exclusive ors": body(" ^ ".join(["c%8"] * 100)),
    "100 remainders": body("c" + "%7/2" * 49),
    "100 shifts": body("c " + "<< 62 " * 99),
    "shift by 62": body("c << 62"),
    "shift by much": body("c << 999999999999999999"),
    "shift by a parameter": "layout A<k>(c) = [c << k]\nlayout B = A<99>",
    "product of sums": body(f"n : {SUMS}, c, h, w", "n, c, h, w"),
    "product of sums in a condition": body("n, c, h, w", "n, c, h, w") + f" where {SUMS} > 3",
    "product of sums of indices": body("*".join(["(n + c + h + w)"] * 12), "n, c, h, w"),
    "products of minima": body("c : " + "*".join(f"(min(C, {n}) + 1)" for n in range(60))),
    "towers of minima": body("c : " + nested("(min(C,", "C", ")+1)*(C+1)*(C+2)*(C+3)*(C+4)", 20)),
    "towers": body("c : " + "*".join([TOWER] * 12)),
    "sums of 4500 quotients": body(
        "c : "
        + " + ".join(
            f"({' + '.join(f'C/{100 * i + j + 2}' for j in range(90))})" for i in range(50)
        )
    ),
    "squares of squares": body(nested("(", "c", ")*(c + 1)", 40)),
    "huge product": body("c : " + "*".join([f"({'*'.join(['9' * 18] * 70)})"] * 70)),
    "huge tuple": body("(" + ", ".join(["c : " + "9" * 18] * 60) + ")"),
    "huge number": body("c : " + "9" * 5000),
    "huge hexadecimal number": body("c : 0x" + "f" * 5000),
    "huge parameter": f"{CUT}\nlayout Q = P0<{'9' * 18}>\nprove Q fits int32",
    "huge fill": body("c") + " fill " + "9" * 18,
    "64 axes": body(", ".join(f"a{n}" for n in range(64)), ", ".join(f"a{n}" for n in range(64))),
    "3000 axes": body("a0", ", ".join(f"a{n}" for n in range(3000))),
    "5000 coordinates": body(", ".join(["c%2"] * 5000)),
    "60 digits": body(", ".join(f"c/{2**n}%2" for n in range(59, -1, -1))),
    "4000 layouts": "\n".join(f"layout A{n}(c) = [c]" for n in range(4000)),
    "4000 layouts of one name": "layout A(c) = [c]\n" * 4000,
    "3000 faults": "\n".join(f"layout A{n}(c) = [d]" for n in range(3000)),
    "4000 misspelt names": "\n".join(f"layout A{n} = B{n}" for n in range(4000)),
    "5000 claims": "layout A(c) = [c]\n" + "prove A == A\n" * 5000,
    "2500 arguments": f"{CUT}\n" + "".join(f"prove P0<{n}> == P0<{n}>\n" for n in range(1, 2500)),
    "2000 aliases": "\n".join([CUT, *CHAIN]),
    "2000 aliases backwards": "\n".join([*reversed(CHAIN), CUT]),
    "alias of itself": "layout A = A",
    "aliases in a circle": "layout A<k> = B<3>\nlayout B<k> = A<4>",
    "4000 tables": "\n".join(f"table T{n}(c)[a: C] = (c = a)" for n in range(4000)),
    "5000 slot coordinates": f"table T(c)[{', '.join(['a: C'] * 5000)}] = (c = a)",
    "5000 indices": f"table T(c)[a: C] = ({', '.join(['c = a'] * 5000)})",
    "deep index": f"table T(c)[a: C] = (c = {nested('(', 'a', '%7/2)', 48)})",
    "product of sums of slots": f"table T(c)[a: C] = (c = {'*'.join(['(a + C)'] * 12)})",
    "5000 claims about a table": "table T(c)[a: C] = (c = a)\n" + "prove T inverts T\n" * 5000,
    "names that double": "layout A(c) = [c]\nprove A == x63 with x0 = c, "
    + ", ".join(f"x{n} = x{n - 1} + x{n - 1}" for n in range(1, 64)),
    "names that multiply": "layout A(c) = [c]\nprove A == x63 with x0 = C, "
    + ", ".join(f"x{n} = (x{n - 1} + 1)*(C + {n})" for n in range(1, 64)),
    "names that nest": "layout A(c) = [c]\nprove A == x9 with x0 = c, "
    + ", ".join(f"x{n} = {nested('(', f'x{n - 1}', '+1)', 49)}" for n in range(1, 10)),
    "names in minima": "layout A(c) = [c]\nprove A == c/x60 with x0 = C, "
    + ", ".join(f"x{n} = min(x{n - 1} + 1, C) + {n}" for n in range(1, 61)),
    "5000 names": "layout A(c) = [c]\nprove A == c with "
    + ", ".join(f"x{n} = c" for n in range(5000)),
    "5000 conditions": body("c") + " where " + ", ".join(["C > 1"] * 5000),
    "5000 comparisons": body("c") + " where " + " < ".join(["C"] * 5000),
}


@pytest.mark.sampled(120)
@pytest.mark.parametrize("what", HAND_MADE)
def test_hand_made(what: str) -> None:
    check(HAND_MADE[what])


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    check(data.decode("utf-8", errors="replace"))


WORDS = [
    *"()[]<>{},:;=+-*/%&|^.#?$",
    *(
        "layout",
        "table",
        "inverts",
        "tensor",
        "group",
        "keep",
        "from",
        "words",
        '"a*"',
        '"{}.{i}"',
        "prove",
        "refute",
        "fill",
        "of",
        "as",
        "per",
        "offset",
        "where",
        "in",
    ),
    *("fits", "keeps", "offsets", "fit", "computes", "bits", "with"),
    *("reads", "by", "at", "without", "conflicts"),
    *("contiguous", "aligns", "to", "bytes", "==", "!=", "<=", ">=", "<<", ">>", "//", ".."),
    *(
        "ceil",
        "roundup",
        "min",
        "max",
        "any",
        "zero_point",
        "u4",
        "f32",
        "int32",
        "A",
        "B",
        "N",
        "C",
    ),
    *("n", "c", "h", "k", "0", "1", "2", "16", "0x10", "999999999999999999", "\n", "# x\n"),
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words(words: list[str]) -> None:
    check(" ".join(words))


FORMS = [
    *("{}+{}", "{}-{}", "{}*{}", "{}/{}", "{}%{}", "{}&{}", "{}^{}", "{}|{}", "{}<<{}", "{}>>{}"),
    *("({},{})", "({}:{})", "min({},{})", "max({},{})", "ceil({}/{})", "roundup({},{})"),
    *("-({}+{})", "({})*({})"),
]


@st.composite
def expression_text(draw: st.DrawFn, depth: int = 4) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["c", "h", "C", "H", "k", "0", "1", "3", "8", "16"]))
    one, other = draw(expression_text(depth - 1)), draw(expression_text(depth - 1))
    return draw(st.sampled_from(FORMS)).format(one, other)


@pytest.mark.slow
@given(st.lists(expression_text(), min_size=1, max_size=4), expression_text(), st.booleans())
def test_any_coordinates(coordinates: list[str], other: str, declared: bool) -> None:
    extents = f" : {other}" if declared else ""
    text = f"layout A<k>(c, h) = [{', '.join(coordinates)}{extents}] where C > 0"
    check(f"{text}\nlayout B = A<4>\nprove B == {other}\nprove A fits int32 where {other} > 1")


LIBRARY_TEXTS = [
    path.read_text(encoding="utf-8")
    for path in sorted(Path(layoutdsl.__file__).parent.rglob("*.layout"))
]


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_library_with_random_damage(seed: int, wounds: int) -> None:
    shuffled = random.Random(seed)
    text = shuffled.choice(LIBRARY_TEXTS)
    for _ in range(wounds):
        place, length = shuffled.randrange(len(text)), shuffled.randrange(12)
        text = text[:place] + shuffled.choice(WORDS) + text[place + length :]
    check(text)
