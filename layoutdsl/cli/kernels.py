"""``formula --as c`` and the like: index functions as text, with what was proved of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.output import error, say, say_json
from layoutdsl.cli.targets import Target

if TYPE_CHECKING:
    from layoutdsl.api import IndexFunctions, WidthError
    from layoutdsl.api.functions import Width


def kernel_functions(
    chosen: Target, language: str, range_: str | None, width: str, form: str
) -> int:
    """Print the index functions of a layout; on the standard error, how far they go."""
    from layoutdsl.api import WidthError, index_functions
    from layoutdsl.cli.encode import plain
    from layoutdsl.cli.verdicts import refusing

    if range_ is not None and not range_.strip():
        hint = 'write a range: --where "C <= 4096, N == 1"'
        raise Failure(Exit.USAGE, "--where is empty", hint)
    bits: Width | None = None if width == "auto" else 32 if width == "32" else 64
    layout = chosen.layout
    with usage():
        try:
            with refusing(chosen):
                found = index_functions(layout, language, where=range_, width=bits)
        except WidthError as narrow:
            raise _refused(chosen, narrow) from None
    if form == "json":
        say_json({**plain(found), **found.parts})
        return Exit.OK
    say(found.text.removesuffix("\n"))
    for line in _remarks(found):
        error(line)
    return Exit.OK


def _refused(chosen: Target, narrow: WidthError) -> Failure:
    from layoutdsl.cli.verdicts import verdict_of, verdict_text

    error(verdict_text(verdict_of(chosen, narrow.checked, 0.0), 0))
    if narrow.checked.status == "refuted":
        hint = 'narrow the range of shapes, as --where "C <= 4096", or leave --width out'
        return Failure(Exit.REFUTED, str(narrow), hint)
    return Failure(
        Exit.UNDECIDED, str(narrow), 'narrow the range of shapes, as --where "C <= 4096"'
    )


def _remarks(found: IndexFunctions) -> list[str]:
    """What a reader of the text alone might not expect."""
    lines = []
    if found.why_wide:
        lines.append(f"note: 64 bits, as 32 were not proved to be enough: {found.why_wide}")
    if found.narrowed:
        range_ = ", ".join(map(str, found.narrowed))
        lines.append(f"note: proved where {range_}; --where gives another range")
    return lines
