"""C that was proved to do what its layouts mean: what is compiled, and what is handed out."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layoutdsl.codegen.loops.moves import NoCode
    from layoutdsl.codegen.native.program import EmittedProgram, Moved
    from layoutdsl.validate import NotValidated, Validated


def validated(program: EmittedProgram) -> EmittedProgram | NoCode:
    """Return the program with the hash of its proofs, or why there is none.

    Every function is read back from its text, and it is shown to do what its layouts mean.
    """
    from layoutdsl.codegen.loops.moves import NoCode
    from layoutdsl.validate import NotValidated

    seals = list[str]()
    for each in program.moves:
        found = read_back(each)
        if isinstance(found, NotValidated):
            return NoCode(f"`{each.name}` was not validated: {found.reason}")
        seals.append(found.seal)
    return replace(program, seal=sha256("\n".join(seals).encode()).hexdigest())


def read_back(each: Moved) -> Validated | NotValidated:
    """Return whether functions of C were shown to do what the layouts of a move mean."""
    from layoutdsl.validate.loops import validate_c, validate_c_conversion

    text, name, move, width = each.text, each.name, each.move, each.width
    if move.source is None:
        assert move.target is not None, "one side is a buffer"
        return validate_c(text, name, move.target, "pack", width)
    if move.target is None:
        return validate_c(text, name, move.source, "unpack", width)
    return validate_c_conversion(text, name, move.source, move.target, width)
