"""Check and format `.layout` source."""

from __future__ import annotations

from codecs import BOM_UTF8, getincrementaldecoder
from os import PathLike
from typing import TYPE_CHECKING, BinaryIO, overload
from warnings import warn

from layoutdsl.language.elaborate.shelf import parse
from layoutdsl.language.meaning.arguments import TEXT, expect
from layoutdsl.language.texts.source import Diagnostic, LayoutError, Source

if TYPE_CHECKING:
    from layoutdsl.graphs.checking.check import Checked


@overload
def check(text: str | PathLike[str], against: str | PathLike[str]) -> Checked: ...


@overload
def check(text: str, *, name: str = "<text>") -> tuple[Diagnostic, ...]: ...


def check(
    text: str | PathLike[str] | None = None,
    against: str | PathLike[str] | None = None,
    *,
    name: str = "<text>",
    out: str | PathLike[str] | None = None,
) -> tuple[Diagnostic, ...] | Checked:
    """Check that a `.layout` source is well formed, and return its errors and warnings.

    >>> for found in check("layout A(n, c) = [n, c/16]"):
    ...     print(found.severity, found.code, found.message)
    error L202 the digits of axis `c` leave a gap between 1 and 16

    Nothing is proved, and no `LayoutError` is raised: the result is empty where all is well. The
    command ``layoutdsl check`` reports the same.

    Args:
        text: the source. `load` reads a file.
        against: deprecated, with `out`: two arguments check a model, as `check_model` does. This
            meaning goes with version 0.3.
        name: the name of the source in messages.
        out: deprecated, see `against`.

    Raises:
        TypeError: ``text`` or ``name`` is no text.
    """
    if against is not None or out is not None:
        from layoutdsl.commands.propagating import check_model

        words = "`layoutdsl.check` checks `.layout` source; models are checked by"
        warn(f"{words} `layoutdsl.check_model(out, against)`", DeprecationWarning, stacklevel=2)
        return check_model(text if out is None else out, against)  # type: ignore[arg-type]
    try:
        module = parse(text, name)  # type: ignore[arg-type]
    except LayoutError as wrong:
        return wrong.diagnostics
    return tuple(each for about in module.warnings.values() for each in about)


def formatted(text: str, name: str = "<text>") -> str:
    """Return a text in the usual spelling; no word and no remark of it is another then.

    >>> formatted("layout A(n,c)=[n,c/4,c % 4]   # blocks")
    'layout A(n, c) = [n, c/4, c%4]  # blocks\\n'

    Args:
        text: in the language; it need not be right, only well formed.
        name: what messages call it.

    Raises:
        LayoutError: it is not in the language.
        TypeError: ``text`` or ``name`` is no text.
    """
    from layoutdsl.language.syntax import format as spelling

    expect(text=(text, TEXT), name=(name, TEXT))
    return spelling.formatted(Source(name, text))


def marked_text(stream: BinaryIO) -> tuple[bytes, str]:
    """Return the mark that a stream of UTF-8 may start with, and its text.

    No more is read than a text may have; one that is longer has a character too many then.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    from layoutdsl.language.syntax.parser import MOST_CHARACTERS

    most = 4 * MOST_CHARACTERS + 4
    data = stream.read(most)
    mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    decoder = getincrementaldecoder("utf-8")()
    return mark, decoder.decode(data[len(mark) :], final=len(data) < most)
