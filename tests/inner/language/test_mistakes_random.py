"""Mistakes at random places of texts that are right: what is told of them is true, and in place.

The texts are the statements of the library and of the examples. Whether a proposal leads on is read
off the grammar alone, by how much of the text lark has left, which no public result tells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from statements import STATEMENTS
from texts import GOLDEN, LIBRARY
from texts import said as answered

from layoutdsl import Diagnostic, LayoutError
from layoutdsl.language.syntax import advice as offered
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.advice import advice
from layoutdsl.language.syntax.grammars import LANGUAGE, Fault, parsed
from layoutdsl.language.syntax.mistakes import Advice, Mistake, entries
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.texts.source import Source

COUNT = 60
"""Mistakes of each kind; more in a campaign."""

WORDS = ("layout", "table", "prove", "refute", "fill", "offset", "where", "with", "fits", "keeps")
WORDS += ("contiguous", "aligns", "bytes", "computes", "inverts", "offsets", "bits")
WORDS += ("reads", "by", "at", "without", "conflicts")


@dataclass(frozen=True)
class Mistaken:
    """A text with a mistake, the place of which is ``start`` to ``end``."""

    text: str
    start: int
    end: int
    right: str
    removed: str = ""


def replaced(right: str, start: int, end: int, instead: str) -> Mistaken:
    text = right[:start] + instead + right[end:]
    return Mistaken(text, start, start + len(instead), right, right[start:end])


def one_of(shuffled: random.Random, right: str, pattern: str) -> tuple[int, int]:
    """A place outside of remarks and quotes where a pattern is found; nowhere, if it is not."""
    bare = re.sub(r'#[^\n]*|"[^"]*"', lambda each: "\0" * len(each[0]), right)
    found = [match.span() for match in re.finditer(pattern, bare)]
    return shuffled.choice(found) if found else (0, 0)


def misspelt(shuffled: random.Random, right: str) -> Mistaken | None:
    """A keyword with two letters exchanged, or one doubled, lost or wrong."""
    start, end = one_of(shuffled, right, rf"\b({'|'.join(WORDS)})\b(?=\s)")
    word = right[start:end]
    if len(word) < 4:
        return None
    place = shuffled.randrange(1, len(word) - 1)
    wrong = shuffled.choice(
        [
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
            word[:place] + word[place] + word[place:],
            word[:place] + word[place + 1 :],
            word[:place] + shuffled.choice("aeioux") + word[place + 1 :],
            word.upper(),
            word.capitalize(),
        ]
    )
    return None if wrong == word else replaced(right, start, end, wrong)


def unclosed(shuffled: random.Random, right: str) -> Mistaken | None:
    start, end = one_of(shuffled, right, r"[)\]]")
    return replaced(right, start, end, "") if end else None


def unopened(shuffled: random.Random, right: str) -> Mistaken | None:
    start, end = one_of(shuffled, right, r"[(\[]")
    return replaced(right, start, end, "") if end else None


def closed_twice(shuffled: random.Random, right: str) -> Mistaken | None:
    start, end = one_of(shuffled, right, r"[)\]]")
    return replaced(right, start, end, 2 * right[start:end]) if end else None


def closed_otherwise(shuffled: random.Random, right: str) -> Mistaken | None:
    start, end = one_of(shuffled, right, r"[)\]]")
    return replaced(right, start, end, "])"[right[start] == "]"]) if end else None


FOREIGN = [
    # what the language writes, and what others do
    (r"%", " mod "),
    (r"/", " div "),
    (r"\*", "**"),
    (r"(?<=\w) ?== ?(?=0)", "="),
    (r"<=", "=<"),
    (r">=", "=>"),
    (r"\.\.", "..."),
    (r"(?<=\)) = (?=\[)", " := "),
    (r"(?<=\)) = (?=\[)", " -> "),
    (r"(?<=\)) = (?=\[)", ": "),
    (r"\*", "\u00d7"),
    (r"\(", "\uff08"),
    (r" ", "\u00a0"),
    (r"(?<=0), (?=[A-Z] )", " and "),
    (r"(?<=0), (?=[A-Z] )", " && "),
    (r"\Z", ";"),
]


def foreign(shuffled: random.Random, right: str) -> Mistaken | None:
    """An operator as another language writes it."""
    pattern, instead = shuffled.choice(FOREIGN)
    start, end = one_of(shuffled, right, pattern)
    return replaced(right, start, end, instead) if end else None


def without_comma(shuffled: random.Random, right: str) -> Mistaken | None:
    start, end = one_of(shuffled, right, r", ")
    return replaced(right, start, end, " ") if end else None


def with_two_commas(shuffled: random.Random, right: str) -> Mistaken | None:
    start, end = one_of(shuffled, right, r", ")
    return replaced(right, start, end, ",, ") if end else None


STRAY = [*"()[]<>{},:;=+-*/%&^.#?$!~|'`\\@", "\u00d7", "\u2212", "\uff43", "\u0441", "\u200b"]


def stray(shuffled: random.Random, right: str) -> Mistaken:
    place = shuffled.randrange(len(right))
    return replaced(right, place, place, shuffled.choice(STRAY))


def lost(shuffled: random.Random, right: str) -> Mistaken:
    place = shuffled.randrange(len(right))
    return replaced(right, place, place + 1, "")


def exchanged(shuffled: random.Random, right: str) -> Mistaken:
    place = shuffled.randrange(len(right) - 1)
    return replaced(right, place, place + 2, right[place + 1] + right[place])


def word_lost(shuffled: random.Random, right: str) -> Mistaken:
    start, end = one_of(shuffled, right, r"\w+ ?")
    return replaced(right, start, end, "")


def word_twice(shuffled: random.Random, right: str) -> Mistaken:
    start, end = one_of(shuffled, right, r"\w+ ?")
    return replaced(right, start, end, f"{right[start:end].rstrip()} {right[start:end]}")


Kind = Callable[[random.Random, str], Mistaken | None]
KINDS: list[Kind] = [misspelt, unclosed, unopened, closed_twice, closed_otherwise, foreign]
KINDS += [without_comma, with_two_commas, stray, lost, exchanged, word_lost, word_twice]


@cache
def made(kind: Kind, count: int = COUNT) -> list[Mistaken]:
    """Texts with a mistake of one kind that are not in the language any more."""
    shuffled = random.Random(kind.__name__)
    found: list[Mistaken] = []
    for _ in range(20 * count):
        each = kind(shuffled, shuffled.choice(STATEMENTS))
        if each is not None and isinstance(parsed(LANGUAGE, each.text), Fault):
            found.append(each)
        if len(found) == count:
            break
    return found


@cache
def told(text: str) -> Diagnostic:
    """The first fault of a text."""
    with pytest.raises(LayoutError) as caught:
        parse(Source("demo.layout", text))
    assert str(caught.value)
    return caught.value.diagnostics[0]


def left(text: str, behind: int = 0) -> int:
    """How much of a text lark has left where it stops; less than nothing, where it does not."""
    found = parsed(LANGUAGE, text)
    start = max(found.start, behind) if isinstance(found, Fault) else len(text) + 1
    return len(text) - start


def around(mistaken: Mistaken) -> tuple[int, int]:
    """The mistake, the word before it and the word or sign behind it."""
    before = re.search(r'("[^"]*"|\w+|[^\w\s])?\s*\Z', mistaken.text[: mistaken.start])
    behind = re.match(r'\s*("[^"]*"|\w+|[^\w\s]|\Z)', mistaken.text[mistaken.end :])
    assert before is not None
    return before.start(), mistaken.end + (behind.end() if behind else 0)


def lies_in(said: Diagnostic, start: int, end: int) -> bool:
    return any(
        label.span.start <= end and start <= label.span.end
        for label in (said.primary, *said.others)
    )


def check(kind: Kind, count: int) -> None:
    for each in made(kind, count):
        said = told(each.text)
        assert lies_in(said, *PLACES.get(kind, anywhere)(each)), str(said)
        if said.mend is not None:
            assert left(said.mend.mended) < left(each.text), str(said)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.__name__)
def test_what_is_told_is_true_and_in_place(kind: Kind) -> None:
    check(kind, COUNT)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.__name__)
def test_many_more_mistakes(kind: Kind) -> None:
    check(kind, 50 * COUNT)


def anywhere(mistaken: Mistaken) -> tuple[int, int]:
    return 0, len(mistaken.text)


def itself(mistaken: Mistaken) -> tuple[int, int]:
    return mistaken.start, mistaken.end


def of_opening(mistaken: Mistaken) -> tuple[int, int]:
    """From the outermost bracket that is open here to the one whose end is gone.

    Brackets behind the mistake close the inner ones, so that an outer one may be left open.
    """
    opened: list[int] = []
    for place in range(mistaken.start):
        if mistaken.right[place] in "([":
            opened.append(place)
        elif mistaken.right[place] in ")]":
            opened.pop()
    return opened[0], opened[-1] + 1


def of_closing(mistaken: Mistaken) -> tuple[int, int]:
    """From a bracket too many to the last of those after it, one of which closes nothing."""
    return mistaken.start, max(mistaken.end, *(mistaken.text.rfind(each) + 1 for each in ")]"))


PLACES: dict[Kind, Callable[[Mistaken], tuple[int, int]]] = {
    misspelt: itself,
    foreign: itself,
    with_two_commas: itself,
    without_comma: around,
    closed_otherwise: around,
    closed_twice: of_closing,
    unclosed: of_opening,
}
"""Where the mistake is pointed at, of the kinds that point at it and not behind it."""


def test_a_misspelt_word_is_set_right() -> None:
    mended = [(each, told(each.text).mend) for each in made(misspelt)]
    right = [mend is not None and mend.mended == each.right for each, mend in mended]
    assert all(right)


@pytest.mark.slow
def test_most_mistakes_have_a_way_out() -> None:
    rates = {kind.__name__: share_with_help(kind) for kind in KINDS}
    assert all(rate > 0.6 for rate in rates.values()), rates


def share_with_help(kind: Kind) -> float:
    found = made(kind)
    return sum(told(each.text).help is not None for each in found) / len(found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["layout", "table", "prove"])
def test_a_mistake_does_not_hide_the_next(name: str) -> None:
    shuffled = random.Random(name)
    of_kind = [each for each in STATEMENTS if each.startswith(name)]
    for _ in range(20):
        first, second = (told_of(shuffled, of_kind) for _ in range(2))
        right = shuffled.choice(STATEMENTS)
        with pytest.raises(LayoutError) as caught:
            parse(Source("", f"{first}\n{right}\n# remark\n{second}"))
        assert len(caught.value.diagnostics) == 2


def told_of(shuffled: random.Random, statements: list[str]) -> str:
    while True:
        each = shuffled.choice([unclosed, without_comma, foreign])(
            shuffled, shuffled.choice(statements)
        )
        if each is not None and isinstance(parsed(LANGUAGE, each.text), Fault):
            return each.text


def test_statements_are_read() -> None:
    assert len(STATEMENTS) > 300
    assert all(isinstance(parse(Source("", each)), ast.File) for each in STATEMENTS[:20])


@pytest.mark.slow
def test_every_entry_is_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """`golden/mistakes.txt` has a text for each entry of `mistakes.toml`."""
    met: set[Mistake] = set()

    def remembered(name: str, text: str, fault: Fault) -> Advice | None:
        found = advice(name, text, fault)
        if found is not None:
            met.update(each for each in entries(name) if each.advice(text, fault) == found)
        return found

    monkeypatch.setattr(offered, "advice", remembered)
    table = (GOLDEN / "mistakes.txt").read_text(encoding="utf-8")
    for block in re.findall(r"^(?:>.*\n)+", table, re.MULTILINE):
        answered("\n".join(line[2:] for line in block.splitlines()), LIBRARY)
    left_out = [each for name in (LANGUAGE, "xla") for each in entries(name) if each not in met]
    assert not left_out, "\n".join(f"{each.before} {each.seen}" for each in left_out)
