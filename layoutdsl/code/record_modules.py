"""Records to modules that run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from layoutdsl.code.generating import UnvalidatedError
from layoutdsl.code.modules import (
    CompileTarget,
    Moves,
    can_compile,
    compiled,
    failing,
    numpy_serves,
)
from layoutdsl.code.proved import CheckedModule, require_proved
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.texts.values import exact

if TYPE_CHECKING:
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native.record_library import RecordCode, RecordProgram
    from layoutdsl.code.placed import Placed
    from layoutdsl.code.record import RecordModule
    from layoutdsl.language.meaning.model import Layout


@cache
def record_module(
    record: Record, target: CompileTarget, validate: bool, unproved: bool = False
) -> RecordModule:
    """Return the module of a record; its arguments are those of `compile`.

    That it is proved is kept, as the text of a module is.
    """
    from layoutdsl.code.native.cache import keep_text, kept_text
    from layoutdsl.code.placed import placed
    from layoutdsl.code.record import RecordModule
    from layoutdsl.language.texts.resources import fingerprint

    if record.parameters:
        message = f"the record `{record.name}` has an open parameter `{record.parameters[0]}`"
        raise ValueError(
            f"{message}: give it a number, as `record({record.parameters[0]}=16)` does"
        )
    key = f"{fingerprint()} record {exact(record)}"
    is_proved = kept_text(key) == "proved"
    if not is_proved:
        is_proved = require_proved(record, unproved=unproved).status == "proved"
        if is_proved:
            keep_text(key, "proved")

    def module_of(items: Layout) -> Moves:
        # The record as a whole is proved or was allowed; a part alone need not be.
        return compiled(items, target, validate, unproved=True)

    parts = placed(record)
    for each in parts:  # what is refused is refused now, not at a call
        if not each.items.parameters:
            module_of(each.items)
    code = _code(record, parts, target, validate) if can_compile(target) else None
    module = RecordModule(record, parts, module_of, code)
    return module if is_proved else cast("RecordModule", CheckedModule(record, module))


def _code(
    record: Record, parts: Sequence[Placed], target: CompileTarget, validate: bool
) -> RecordCode | None:
    """The C that moves all fields at once, or that there is none."""
    from layoutdsl.code.native.record_library import RecordCode
    from layoutdsl.language.texts.resources import fingerprint

    opened = next((name for each in parts for name in each.items.parameters), None)
    if opened is not None:
        reason = f"a part of `{record.name}` is laid out by `{opened}`, which is open"
        numpy_serves(target, f"{reason}, so its parts are put together there")
        return None

    def untold(found: NoCode) -> None:
        numpy_serves(target, f"{found.reason}, so the parts are put together there")

    return RecordCode(
        record.name.lower(),
        f"{fingerprint()} record {validate} {exact(record)}",
        lambda: _program(record, parts, validate),
        untold,
        failing(target),
        waits=target == "native",
    )


def _program(record: Record, parts: Sequence[Placed], validate: bool) -> RecordProgram | NoCode:
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.records import record_program

    checked = require_proved(record, unproved=True)
    if validate and checked.status != "proved":
        return NoCode(f"the record `{record.name}` is undecided")
    try:
        return record_program(record, parts, checked, validate)
    except (UnvalidatedError, ValueError) as reason:
        return NoCode(str(reason))
