"""Records to modules that run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from layoutdsl.api.generating import UnvalidatedError, refuse_refuted
from layoutdsl.api.modules import (
    CompileTarget,
    can_compile,
    compiled,
    failing,
    numpy_serves,
    say_once,
)
from layoutdsl.meaning.record import Record
from layoutdsl.texts.values import exact

if TYPE_CHECKING:
    from layoutdsl.codegen.loops.moves import NoCode
    from layoutdsl.codegen.native.record_library import RecordCode, RecordProgram
    from layoutdsl.codegen.placed import Placed
    from layoutdsl.codegen.record import RecordModule


@cache
def record_module(record: Record, target: CompileTarget, validate: bool) -> RecordModule:
    """Return the module of a record; its arguments are those of `compile`.

    That it is proved is kept, as the text of a module is.
    """
    from layoutdsl.codegen.native.cache import keep_text, kept_text
    from layoutdsl.codegen.placed import placed
    from layoutdsl.codegen.record import RecordModule
    from layoutdsl.texts.resources import fingerprint

    if record.parameters:
        message = f"the record `{record.name}` has an open parameter `{record.parameters[0]}`"
        raise ValueError(
            f"{message}: give it a number, as `record({record.parameters[0]}=16)` does"
        )
    key = f"{fingerprint()} record {exact(record)}"
    if kept_text(key) != "proved":
        checked = refuse_refuted(record)
        if checked.status == "proved":
            keep_text(key, "proved")
        else:
            say_once(f"`{record.name}` is moved, and not proved: it is undecided")
    parts = placed(record)
    for each in parts:  # what is refused is refused now, not at a call
        if not each.items.parameters:
            compiled(each.items, target, validate)
    code = _code(record, parts, target, validate) if can_compile(target) else None
    return RecordModule(record, parts, lambda items: compiled(items, target, validate), code)


def _code(
    record: Record, parts: Sequence[Placed], target: CompileTarget, validate: bool
) -> RecordCode | None:
    """The C that moves all fields at once, or that there is none."""
    from layoutdsl.codegen.native.record_library import RecordCode
    from layoutdsl.texts.resources import fingerprint

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
    from layoutdsl.api.records import record_program
    from layoutdsl.codegen.loops.moves import NoCode

    checked = refuse_refuted(record)
    if validate and checked.status != "proved":
        return NoCode(f"the record `{record.name}` is undecided")
    try:
        return record_program(record, parts, checked, validate)
    except (UnvalidatedError, ValueError) as reason:
        return NoCode(str(reason))
