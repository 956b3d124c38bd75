"""The functions of words and of codes behind a module of views: other ones are not validated.

The validator decides which generated texts may run, and no public door takes a wrong text.
"""

from __future__ import annotations

import ast
from functools import cache
from itertools import product
from random import Random

import pytest
from text_mutants import mutants

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code.arrays.module import module_text
from layoutdsl.code.validate.arrays import frame, validate
from layoutdsl.code.validate.arrays.codecs import codec_lines
from layoutdsl.code.validate.outcome import Validated
from layoutdsl.language.meaning.storage import stored

KINDS = {
    "words": ("layout L(k, n) = [k, n/8, n%2, n%8/2] of u4 where N%8 == 0", "i32"),
    "padded": ("layout L(n, c) = [n, c/8, c%8] of i4 fill any", "u32"),
    "bytes": ("layout L(n, c) = [n, c/8, c%8] of u10", "bytes"),
    "planes": ("layout L(r, k) = [r, bit, k/8, k%8] of i4", "u8"),
    "copies": ("layout L(r, g, copy: 4 broadcast) = [r, g/8, copy, g%8] of u4", "u16"),
    "codes": ("layout L(n, c) = [n, c/4, c%4] of u8 as scale_offset per c", None),
    "partial": ("layout L(n, c) = [n, c/4, c%4] of i8 as scale_offset where c <= n", None),
    "both": ("layout L(n, c) = [n, c/8, c%8] of i4 as scale_offset", "u64"),
}


@cache
def made(kind: str) -> tuple[Layout, str]:
    """A layout and the text of its module."""
    said, storage = KINDS[kind]
    layout = layoutdsl.parse(said)["L"]
    how = None if storage is None else stored(layout, storage)
    return layout, module_text(layout, source="", certificate=None, stored=how)[0]


def is_validated(kind: str, text: str) -> bool:
    return isinstance(validate(text, made(kind)[0], source=""), Validated)


@pytest.mark.parametrize("kind", KINDS)
def test_right_modules_are_validated(kind: str) -> None:
    _, text = made(kind)
    assert is_validated(kind, text)
    assert is_validated(kind, ast.unparse(ast.parse(text)))


def constants(text: str) -> list[tuple[str, tuple[object, ...]]]:
    """The lines that bind `_STORED` and `_CODES`, and the tuples."""
    lines = [each for each in text.split("\n") if each.startswith(("_STORED = ", "_CODES = "))]
    return [(line, ast.literal_eval(line.partition(" = ")[2])) for line in lines]


@pytest.mark.parametrize("kind", KINDS)
def test_every_other_constant_is_refused(kind: str) -> None:
    """Another value, and a value that is equal and of another type."""
    _, text = made(kind)
    assert constants(text)
    for line, parts in constants(text):
        for place, value in enumerate(parts):
            others: tuple[object, ...] = ("u1x", 1, True)
            if isinstance(value, bool):
                others = (not value, int(value), float(value), str(value))
            elif isinstance(value, int):
                others = (value + 1, value - 1, float(value), bool(value), str(value))
            for other in others:
                if (type(other), other) != (type(value), value):
                    spelled = repr((*parts[:place], other, *parts[place + 1 :]))
                    changed = text.replace(line, f"{line.partition(' = ')[0]} = {spelled}")
                    assert not is_validated(kind, changed), spelled


ODD = ("-True", "-False", "-'1'", "1j", "b'1'", "...", "(1,)", "[1]", "-1.0", "2*2", "print()")


@pytest.mark.parametrize("odd", ODD)
def test_a_constant_that_is_computed_is_refused(odd: str) -> None:
    for kind in ("words", "codes"):
        _, text = made(kind)
        ((line, parts),) = constants(text)
        spelled = ", ".join([odd, *map(repr, parts[1:])])
        assert not is_validated(
            kind, text.replace(line, f"{line.partition(' = ')[0]} = ({spelled})")
        )


WORDS = '_STORED = (4, "u1", 0, 15, False, 2, "<i4", True, False)\n'
CODES = '_CODES = ("u1", 0, 255, 2, 1, "u8", True, False)\n'
PACKS = "    return _pack_words(pack, physical_shape, src, out, fill, _STORED)\n"
RINT = "np.asarray(np.rint(quotients))"
CHANGES = {
    "no constant": ("words", WORDS, ""),
    "a constant twice": ("words", WORDS, 2 * WORDS),
    "another name of a constant": ("codes", "_CODES = (", "_CODED = ("),
    "codes of elements that are none": ("words", WORDS, WORDS + CODES),
    "words of no functions": ("codes", CODES, CODES + WORDS),
    "another type": ("words", "_Array = NDArray[np.generic]", "_Array = NDArray[np.int8]"),
    "another function is called": ("words", "_pack_words(pack,", "_pack_words(unpack,"),
    "nothing is written": ("words", "src, out, fill, _STORED)", "src, None, fill, _STORED)"),
    "arguments are exchanged": ("codes", "shape, scale, zero_point,", "shape, zero_point, scale,"),
    "another shift": ("words", "pairs | pairs >> 4", "pairs | pairs >> 3"),
    "rounded down": ("codes", RINT, RINT.replace("rint", "floor")),
    "one code more": ("codes", "high - zeros, zeros)", "high - zeros + 1, zeros)"),
    "another name of a function": ("words", "def words_shape(", "def word_shape("),
    "a default is executed": ("words", "out: _Array | None = None", "out: _Array | None = print()"),
    "a type is executed": ("words", ") -> _Array:", ") -> print():"),
    "a decorator": ("words", "def words_shape(", "@print\ndef words_shape("),
    "a statement more": ("words", PACKS, f"    print()\n{PACKS}"),
    "a statement behind": ("words", WORDS, f"{WORDS}print()\n"),
    "an import behind": ("words", WORDS, f"{WORDS}import os\n"),
    "a name of numpy": ("words", WORDS, f"{WORDS}np = 1\n"),
    "a builtin is bound": ("words", WORDS, f"{WORDS}divmod = max\n"),
    "`pack` once more": (
        "words",
        WORDS,
        f'{WORDS}\n\ndef pack(src: ArrayLike) -> Array:\n    """X."""\n    return src\n',
    ),
    "a function of the layout behind": (
        "words",
        WORDS,
        f'{WORDS}\n\ndef _cut(a: int) -> int:\n    """X."""\n    return a\n',
    ),
    "a docstring is executed": ("words", '"""Return the shape of the stored', 'f"""{1} the stored'),
    "an import is missing": ("words", "from math import prod\n", ""),
    "another prod": ("words", "from math import prod\n", "from math import perm as prod\n"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_other_functions_are_refused(name: str) -> None:
    kind, old, new = CHANGES[name]
    _, text = made(kind)
    assert old in text, text
    assert not is_validated(kind, text.replace(old, new, 1))


def test_functions_of_codes_that_are_missing_are_refused() -> None:
    layout, text = made("codes")
    plain, _, _ = text.partition("\n\n_Array = ")
    plain = plain.replace("Callable, ", "").replace("from math import prod\n", "")
    assert not isinstance(validate(plain, layout, source=""), Validated)


def test_words_may_be_missing() -> None:
    """They are an offer of the module, and no property of the layout."""
    _, text = made("words")
    plain, _, _ = text.partition("\n\n_Array = ")
    plain = plain.replace("Callable, ", "").replace("from math import prod\n", "")
    assert is_validated("words", plain)


@pytest.mark.parametrize(("one", "other"), [*product(("words", "padded", "codes"), repeat=2)])
def test_functions_of_another_layout_are_refused(one: str, other: str) -> None:
    texts = [made(each)[1] for each in (one, other)]
    (head, mark, _), (_, _, behind) = (each.partition("\n\n_Array = ") for each in texts)
    assert is_validated(one, f"{head}{mark}{behind}") == (one == other)


def test_no_name_is_bound_twice() -> None:
    """By the functions of a layout, and by those of words and codes."""
    own = {"SOURCE", "CERTIFICATE", "VALIDATED", "FALLBACK", "Array", "Any", "np", "math", "prod"}
    for text in (*frame.ITEM, *frame.PUT, *frame.GRIDS, *frame.GRID, *frame.HELD):
        own |= {text[4:].partition("(")[0]} if text.startswith("def ") else set()
    for name in ("pack", "unpack", "offset", "physical_shape", "_views", "_runs", "_slots"):
        own |= {name}
    own |= {"_target", "_refuse_values", *(frame.cut_name(depth) for depth in range(9))}
    lines = codec_lines(["_STORED = ()", "_CODES = ()"], words=True, codes=True)
    found = list[str]()
    for each in ast.parse("\n".join(lines)).body:
        match each:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                found.append(name)
    assert len(found) == len({*found}) == len({*found} - own)


def refused(kind: str, count: int) -> int:
    """How many mutants of the functions of words and of codes were tried; each is refused."""
    _, text = made(kind)
    own = text.partition("\n_Array = ")[0]
    every = [each for each in mutants(text) if f"def {_function(each.what)}(" not in own]
    tried = 0
    for mutant in Random(kind).sample(every, min(count, len(every))):
        changed = mutant.text
        if changed is not None:
            tried += 1
            assert not is_validated(kind, changed), mutant.what
    return tried


def _function(what: str) -> str:
    return what.partition(":")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_are_refused(kind: str) -> None:
    assert refused(kind, 40) > 20


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_all_mutants_are_refused(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    tried = refused(kind, 10**6)
    with capsys.disabled():
        print(f"{kind}: {tried} mutants refused", end="; ")
