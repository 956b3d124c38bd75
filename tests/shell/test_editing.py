"""What an editor asks of a text, without an editor: places, names, words, verdicts."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from random import Random

import pytest
import random_declarations
from cli_shell import Shell, shell
from statements import STATEMENTS
from texts import LIBRARY_MODULES, small_shapes

import layoutdsl
from layoutdsl.commands import claims_of
from layoutdsl.language.syntax.grammars import LANGUAGE, Fault, parsed
from layoutdsl.language.syntax.words import words_of
from layoutdsl.language.texts import resources
from layoutdsl.shell.editing.completion import proposals
from layoutdsl.shell.editing.document import Document, changed, document
from layoutdsl.shell.editing.hover import hover
from layoutdsl.shell.editing.names import Occurrence
from layoutdsl.shell.editing.positions import Encoding, Lines, Moved
from layoutdsl.shell.editing.verdicts import verdicts

__all__ = ["shell"]

SIGNS = "ab #\t\n\r\u00e9\u2028\N{GRINNING FACE}\x0b\x0c"
APPLIED = """\
layout Tile(y: 8, x: 16) = [y, x/4, x%4]
layout Grid(gy, gx, y: 8, x: 16) = [gy, gx, Tile[y, x]]
layout Tiles(y, x) = [y/8, x/16, y%8, x%16]
layout Rows(y, x) = [y, x : roundup(X, 128)]
layout Packed = Tiles[Rows]
prove Grid == [gy, gx, Tile[y, x]]
prove Packed == Tiles[Rows]
"""
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_are_those_of_pythons_codecs(encoding: Encoding) -> None:
    random = Random(3)
    codec, width = CODECS[encoding]
    for _ in range(200):
        text = "".join(random.choices(SIGNS, k=random.randrange(30))).replace("\r", "\r\n")
        lines = Lines(text, encoding)
        for offset in range(len(text) + 1):
            before = text[:offset]
            line, unit = lines.position(offset)
            if not before.endswith("\r"):
                assert line == before.count("\n")
                last = before.rpartition("\n")[2]
                assert unit == len(last.encode(codec)) // width
                assert lines.offset((line, unit)) == offset
        assert lines.offset((99, 0)) == len(text)
        assert lines.offset((0, 99)) == len(text.partition("\n")[0].rstrip("\r"))


def test_places_move_with_what_stands_before_and_behind() -> None:
    random = Random(5)
    for _ in range(300):
        old = "".join(random.choices("abc\n", k=random.randrange(20)))
        start = random.randrange(len(old) + 1)
        end = random.randrange(start, len(old) + 1)
        new = old[:start] + "".join(random.choices("abc", k=random.randrange(4))) + old[end:]
        moved = Moved(old, new)
        for offset in range(len(old)):
            there = moved.onward(offset)
            if there is not None and offset != len(common(old, new)):
                assert new[there] == old[offset]
        assert moved.back(0) == 0


def common(one: str, other: str) -> str:
    """What both begin with."""
    pairs = zip(one, other, strict=False)
    return one[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]


def drawn(random: Random) -> str:
    """A text with claims: a family of the library, or declarations that were drawn."""
    if random.random() < 0.2:
        return APPLIED
    if random.random() < 0.2:
        families = [text for _, text in resources.library_families() if len(text) < 6000]
        return random.choice(families)
    made = random_declarations.right(random, block=False)
    name = made.split("(")[0].split()[1]
    return f"{made}\nlayout Other = {name}\nprove Other == {name}\n"


def declared(current: Document) -> list[Occurrence]:
    assert current.good is not None
    return [each for each in current.good.names if each.defines]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(12))
def test_a_name_is_another_everywhere_and_nothing_else_changes(seed: int) -> None:
    """There and back is the same text, and what lies where is the same meanwhile."""
    random = Random(seed)
    current = document("drawn.layout", drawn(random))
    assert current.right
    assert current.good is not None
    for name in random.sample(declared(current), min(4, len(declared(current)))):
        new = "zq" if name.symbol.kind != "extent" and not name.capital else "ZQ"
        changes = current.renamed(name, new)
        other = document("drawn.layout", changed(current.text, changes))
        assert other.right
        assert other.good is not None
        again = next(each for each in declared(other) if each.symbol.name == new)
        assert changed(other.text, other.renamed(again, name.symbol.name)) == current.text
        for one, two in zip(current.good.module.values(), other.good.module.values(), strict=True):
            for shape in list(small_shapes(one))[:3]:
                index = (0,) * len(one.element_axes)
                last = tuple(each - 1 for each in one.element_shape(one.bind(shape)))
                there = dict(zip(two.symbols, map(shape.get, one.symbols), strict=True))
                assert one.size(shape) == two.size(there)
                if not one.domain and one.elements(shape):
                    assert one.offset(index, shape) == two.offset(index, there)
                    assert one.offset(last, shape) == two.offset(last, there)


def test_the_parameter_that_gives_an_applied_layout_its_extent_keeps_its_name() -> None:
    text = "layout Part<H>(n, c, h: K, w) = NCHW[n, c, h, w] where K <= H\n"
    current = document("a.layout", text)
    assert current.good is not None
    named = next(each for each in declared(current) if each.symbol.kind == "parameter")
    with pytest.raises(ValueError, match="write the extent first"):
        current.renamed(named, "Q")
    written = document("a.layout", text.replace("h, w] where", "h : H, w] where"))
    named = next(each for each in declared(written) if each.symbol.kind == "parameter")
    assert "<Q>" in changed(written.text, written.renamed(named, "Q"))


def test_layouts_are_proposed_where_they_can_be_applied() -> None:
    begun = f"{APPLIED}layout Other(y: 8, x: 16) = [Ti"
    found = {each.word for each in proposals(document("a.layout", begun), len(begun))}
    assert {"Tile", "Tiles", "y", "x"} <= found


def test_an_applied_layout_is_told_where_it_stands() -> None:
    current = document("a.layout", APPLIED)
    told = hover(current, APPLIED.index("Tile[y, x]]"), {})
    assert told is not None
    assert "layout Tile(y: 8, x: 16) = [y, x/4, x%4]" in told[0]
    told = hover(current, APPLIED.index("Rows]"), {})
    assert told is not None
    assert "layout Rows" in told[0]


@pytest.mark.slow
def test_every_word_of_the_library_is_answered() -> None:
    """Hover and completion, at every word of it: an answer or none, never an error."""
    random = Random(1)
    for text in random.sample(STATEMENTS, 12):
        current = document("one.layout", text)
        for word in words_of(text)[0]:
            hover(current, word.start, {})
            proposals(current, word.start)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_proposed_leads_on(seed: int) -> None:
    """A word of the grammar that is proposed behind a beginning may stand there."""
    random = Random(seed)
    text = random.choice(STATEMENTS)
    words = words_of(text)[0]
    number = random.randrange(1, len(words))
    begun = text[: words[number].start]
    found = proposals(document("begun.layout", begun), len(begun))
    if words[number].text.isalpha() and words[number].kind not in ("NAME", "$END"):
        assert words[number].text in {each.word for each in found}
    for each in (each for each in found if each.what == "word"):
        fault = parsed(LANGUAGE, f"{begun} {each.word} ")
        assert not isinstance(fault, Fault) or fault.start > len(begun.rstrip())


def test_what_stands_there_is_proposed() -> None:
    """A name of the library that was said before is among what is proposed in its place."""
    random, missed, count = Random(2), list[str](), 0
    for name, text in random.sample(resources.library_families(), 5):
        current = document(name, text)
        assert current.good is not None
        behind = {each.span.start for each in current.good.names if each.symbol.kind == "name"}
        new = {each.span.start for each in declared(current)} | behind
        words = words_of(text)[0]
        places = [
            number
            for number in range(1, len(words))
            if words[number].kind == "NAME" and words[number].start not in new
            if words[number - 1].kind in ("LSQB", "COMMA", "LPAR", "SIGN", "FACTOR")
            if words[number + 1].kind not in ("LPAR", "EQUAL")
        ]
        for number in random.sample(places, min(30, len(places))):
            place = words[number].start
            found = proposals(replace(current, text=text[:place]), place)
            count += 1
            if words[number].text not in {each.word for each in found}:
                missed.append(text[max(0, place - 60) : place + 9])
    assert count > 100
    assert missed == []


def test_verdicts_say_for_which_shapes() -> None:
    text = (
        "layout A(n, c) = [n, c/4, c%4] where C >= 8\n"
        "prove A fits int32 where N <= 4, C <= 64\n"
        "refute A keeps n contiguous\n"
        "prove A keeps n contiguous\n"
        "prove A == n*C + c\n"
    )
    current = document("a.layout", text)
    assert current.good is not None
    proved = {"property": "p", "status": "proved", "conditions": ["the buffer is small"]}
    wrong = {
        "property": "p",
        "status": "refuted",
        "sentence": "it is not",
        "shape": {"N": 2, "C": 8},
        "points": [{"index": {"n": 1, "c": 0}, "words": "offset 8"}],
    }
    open_ = {"property": "p", "status": "undecided", "reason": "no proof was found"}
    rows = [(proved, True), (proved, True), (wrong, True), (wrong, False), (open_, False)]
    claims = [
        {"status": each["status"], "passed": passed, "findings": [each]} for each, passed in rows
    ]
    found = verdicts(current.good.module, json.dumps({"claims": claims}))
    assert [each.short for each in found] == [
        "proved where C >= 8",
        "proved where C >= 8, N <= 4, C <= 64",
        "refuted at N=2 C=8",
        "refuted at N=2 C=8",
        "undecided",
    ]
    assert found[0].long == "proved where C >= 8\nwhere the buffer is small"
    assert found[3].long == "refuted: it is not\nat shape N=2 C=8\n(n=1, c=0) -> offset 8"
    assert found[4].long == "undecided: p: no proof was found"
    assert [each.span.text for each in found] == text.splitlines()
    assert len(claims_of(current.good.module)) == 5
    assert verdicts(current.good.module, "{}") == ()
    assert verdicts(current.good.module, '{"claims": []}') == ()


def test_a_server_that_lacks_its_package_says_so(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    for name in ("server", "protocol"):
        monkeypatch.delitem(sys.modules, f"layoutdsl.shell.editing.{name}", raising=False)
    done = shell("lsp", "--stdio")
    assert (done.code, done.out) == (2, "")
    checkout = Path(layoutdsl.__file__).parents[1]
    hint = f"  = help: pip install -e '{checkout}[lsp]'\n"
    assert done.err.endswith(f"is not installed\n{hint}")


def test_hover_of_what_the_library_holds() -> None:
    current = document("a.layout", "prove NCHW16c\n")
    told = hover(current, 8, {})
    assert told is not None
    assert "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]" in told[0]
    assert len(LIBRARY_MODULES) > 10
