"""A text in the usual spelling, remarks and all."""

from __future__ import annotations

from codecs import BOM_UTF8, getincrementaldecoder
from typing import BinaryIO

from layoutdsl.language.meaning.arguments import TEXT, expect
from layoutdsl.language.texts.source import Source


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
