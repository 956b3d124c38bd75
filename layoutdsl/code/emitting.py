"""C that was proved to do what its layouts mean: what is compiled, and what is handed out."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native.program import EmittedProgram, Moved
    from layoutdsl.code.validate import NotValidated, Validated


def validated(program: EmittedProgram) -> EmittedProgram | NoCode:
    """Return the program with the hash of its proofs, or why there is none.

    Every function is read back from its text, and it is shown to do what its layouts mean. One of
    which that is not shown is written anew, of leaves in which no axis ends: there is less to show.
    """
    from layoutdsl.code.loops.chains import Ends
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native.program import moved
    from layoutdsl.code.validate import NotValidated

    seals: list[str] = []
    moves: list[Moved] = []
    for each in program.moves:
        found, shown = read_back(each), each
        if isinstance(found, NotValidated):
            other = moved(each.name, each.move, each.width, Ends.NONE)
            again = found if isinstance(other, NoCode) else read_back(other)
            if isinstance(other, NoCode) or isinstance(again, NotValidated):
                return NoCode(f"`{each.name}` was not validated: {found.reason}")
            found, shown = again, other
        seals.append(found.seal)
        moves.append(shown)
    seal = sha256("\n".join(seals).encode()).hexdigest()
    return replace(program, moves=tuple(moves), seal=seal)


def read_back(each: Moved) -> Validated | NotValidated:
    """Return whether functions of C were shown to do what the layouts of a move mean."""
    from layoutdsl.code.validate.loops import validate_c, validate_c_conversion

    text, name, move, width = each.text, each.name, each.move, each.width
    if move.source is None:
        assert move.target is not None, "one side is a buffer"
        return validate_c(text, name, move.target, "pack", width)
    if move.target is None:
        return validate_c(text, name, move.source, "unpack", width)
    return validate_c_conversion(text, name, move.source, move.target, width)
