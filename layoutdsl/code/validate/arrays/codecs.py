"""The functions of words and of codes, which stand behind those of a layout. Trusted as they stand.

They call `pack`, `unpack` and `physical_shape`, and know of the layout only what `_STORED` and
`_CODES` say. `code.arrays` prints them from here; the reader compares them, statement by statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files

from layoutdsl.code.validate.arrays.frame import lines_of
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.meaning.elements import FillAny, FillZeroPoint
from layoutdsl.language.meaning.interface import codes_of
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import STORAGES, NoWordsError, stored

FIRST = "_Array"
"""The first name that is bound behind the functions of the layout."""
CONSTANTS = ("_STORED", "_CODES")

WORDS = lines_of('''
def words_shape(shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:
    """Return the shape of the stored array, in words."""
    return _stored_shape(physical_shape, shape, _STORED)


def pack_words(src: _Array, out: _Array | None = None, fill: _Number | None = None) -> _Array:
    """Return the tensor as the layout stores it, without room between elements."""
    return _pack_words(pack, physical_shape, src, out, fill, _STORED)


def unpack_words(
    src: _Array, shape: tuple[int, ...] | list[int], out: _Array | None = None
) -> _Array:
    """Return the tensor that a stored array holds; padding is not read."""
    return _unpack_words(unpack, physical_shape, src, shape, out, _STORED)
''')

CODES = lines_of('''
def pack_numbers(
    src: _Array,
    scale: object,
    zero_point: object,
    out: _Array | None = None,
    fill: _Number | None = None,
) -> _Array:
    """Return the codes of real numbers as the layout stores them."""
    return _pack_numbers(pack, physical_shape, src, scale, zero_point, out, fill, _CODES)


def unpack_numbers(
    src: _Array,
    shape: tuple[int, ...] | list[int],
    scale: object,
    zero_point: object,
    out: _Array | None = None,
    dtype: object = "float32",
) -> _Array:
    """Return the real numbers that codes of a packed array stand for."""
    return _unpack_numbers(unpack, src, shape, scale, zero_point, out, dtype, _CODES)
''')

_RULE = f"\n# {'-' * 98}\n"
"""The line in a file of which all below is carried."""
_TYPES = ("_Array", "_Number")
_CHECKS = {
    "dense.py": ("_array", "_travels", "_within", "_boxed", "_destination"),
    "codes.py": ("_array", "_within", "_destination"),
}
"""The functions of `support.py` that those of another file call."""


def codec_lines(constants: Sequence[str], *, words: bool, codes: bool) -> list[str]:
    """Return the statements behind the functions of a layout.

    Args:
        constants: the lines that say what `_STORED` and `_CODES` are.
        words: there are functions of words.
        codes: there are functions of codes.
    """
    names = [*(["dense.py"] if words else []), *(["codes.py"] if codes else [])]
    checks = {each for name in names for each in _CHECKS[name]}
    support = [
        "\n".join(lines)
        for name, lines in _statements(carried("support.py"))
        if name in (*_TYPES, *checks)
    ]
    return [
        "",
        "",
        *(each for each in support if not each.startswith("def ")),
        *constants,
        *(WORDS if words else []),
        *(CODES if codes else []),
        *(line for each in support if each.startswith("def ") for line in lines_of(each)),
        *(line for name in names for line in lines_of(carried(name))),
    ]


@lru_cache(maxsize=8)
def carried(name: str) -> str:
    """Return what modules carry of a file."""
    text = files("layoutdsl.code.numpy").joinpath(name).read_text("utf-8").replace("\r\n", "\n")
    return text.split(_RULE, 1)[1].strip("\n")


def _statements(text: str) -> Iterable[tuple[str, list[str]]]:
    """Yield the name that each statement of a text binds, and its lines."""
    lines = text.split("\n")
    for each in ast.parse(text).body:
        name = each.name if isinstance(each, ast.FunctionDef) else _bound(each)
        yield name, lines[each.lineno - 1 : each.end_lineno]


def _bound(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def parted(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the statements of a layout, and those of words and codes behind them."""
    names = [*map(_bound, body)]
    at = names.index(FIRST) if FIRST in names else len(body)
    return [*body[:at]], [*body[at:]]


def check_codecs(body: Sequence[ast.stmt], layout: Layout) -> None:
    """Refuse other functions of words and of codes than a layout has.

    Args:
        body: the statements behind those of the layout.
        layout: whose elements become words, or are codes.

    Raises:
        Meaningless: a statement or a constant is another.
    """
    said = {_bound(each): each for each in body if _bound(each) in CONSTANTS}
    words, codes = (name in said for name in CONSTANTS)
    if codes != (layout.interface is not None):
        raise Meaningless("there are functions of codes for elements that are none, or none")
    found = [ast.dump(each) for each in body if each not in said.values()]
    if found != (_known(words=words, codes=codes) if said else []):
        raise Meaningless("the functions of words or of codes are others")
    if words:
        check_words(plain_tuple(said["_STORED"]), layout)
    if codes:
        check_codes(plain_tuple(said["_CODES"]), layout)


@lru_cache(maxsize=4)
def _known(*, words: bool, codes: bool) -> list[str]:
    lines = codec_lines((), words=words, codes=codes)
    return [*map(ast.dump, ast.parse("\n".join(lines)).body)]


def plain_tuple(statement: ast.stmt) -> tuple[object, ...]:
    """Return the tuple of constants that a statement binds.

    Raises:
        Meaningless: it is computed.
    """
    match statement:
        case ast.Assign(value=ast.Tuple(elts=parts) as value) if all(map(_is_plain, parts)):
            found: tuple[object, ...] = ast.literal_eval(value)
            return found
    raise Meaningless("what is said of words or codes is computed")


def _is_plain(value: ast.expr) -> bool:
    """Whether it is a constant, or the negative of a number."""
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=number)):
            return type(number) is int
    return isinstance(value, ast.Constant)


def check_words(said: tuple[object, ...], layout: Layout) -> None:
    """Refuse words that are made of other elements than a layout's, or of other padding.

    Raises:
        Meaningless: `_STORED` is of another layout, or of words that it does not fill.
    """
    keeps = isinstance(layout.fill, FillAny)
    for name in STORAGES if layout.tensor_element is not None else ():
        try:
            how = stored(layout, name)
        except NoWordsError:
            continue
        element = how.element
        kind, width = element.item
        low, high = (0, 0) if element.fills_item else element.values or (0, 0)
        slots = (element.bits, f"{kind}{width}", low, high, how.placed)
        wanted = (*slots, how.joined, how.words.dtype, how.single, keeps)
        if [*map(_typed, said)] == [*map(_typed, wanted)]:
            return
    raise Meaningless("words are made of other elements than the layout's")


def check_codes(said: tuple[object, ...], layout: Layout) -> None:
    """Refuse codes that are others than those that a layout's elements are.

    Raises:
        Meaningless: `_CODES` is of another layout.
    """
    if layout.interface is not None and layout.element is not None:
        (kind, width), per = layout.element.item, layout.interface.per
        names = [axis.name for axis in layout.tensor_axes]
        wanted = (
            f"{kind}{width}",
            *codes_of(layout.element),
            len(layout.tensor_axes),
            -1 if per is None else names.index(per),
            layout.element.name,
            isinstance(layout.fill, FillZeroPoint),
            bool(layout.domain),
        )
        if [*map(_typed, said)] == [*map(_typed, wanted)]:
            return
    raise Meaningless("numbers are made of other codes than the layout's")


def _typed(value: object) -> tuple[type, object]:
    """Return a value with its type: 1 and True are two."""
    return type(value), value
