"""C that was proved to do what its layouts mean: what is compiled, and what is handed out."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from layoutdsl.code.digits import equality
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native.program import EmittedProgram, Moved
    from layoutdsl.code.validate.outcome import NotValidated, Validated
    from layoutdsl.proof.kernel.certificate import Certificate


def validated(program: EmittedProgram) -> EmittedProgram | NoCode:
    """Return the program with the hash of its proofs, or why there is none.

    Every function is read back from its text, and it is shown to do what its layouts mean. One of
    which that is not shown is written anew, of leaves in which no axis ends: there is less to show.
    If that fails, it is planned from the layout as it is written.
    """
    from layoutdsl.code.loops.chains import Ends
    from layoutdsl.code.loops.moves import NoCode
    from layoutdsl.code.native.program import moved
    from layoutdsl.code.validate.outcome import NotValidated

    seals: list[str] = []
    moves: list[Moved] = []
    certificates: list[tuple[str, Certificate]] = []
    for each in program.moves:
        found, shown = read_back(each), each
        for spelled in (True, False):
            if isinstance(found, NotValidated) and (spelled or each.planned != each.move):
                other = moved(each.name, each.move, each.width, Ends.NONE, spelled=spelled)
                again = found if isinstance(other, NoCode) else read_back(other)
                if not isinstance(other, NoCode) and not isinstance(again, NotValidated):
                    found, shown = again, other
        if isinstance(found, NotValidated):
            return NoCode(f"`{each.name}` was not validated: {found.reason}")
        seals.append(found.seal)
        moves.append(shown)
        certificates += [(f"{each.name}: {verb}", proofs) for verb, proofs in found.certificates]
    seal = sha256("\n".join(seals).encode()).hexdigest()
    return replace(program, moves=tuple(moves), seal=seal, certificates=tuple(certificates))


def read_back(each: Moved) -> Validated | NotValidated:
    """Return whether functions of C were shown to do what the layouts of a move mean.

    A layout whose digits are written in another spelling is one with that spelling: both are
    proved to have the same offsets, and the text is read against the spelling.
    """
    from layoutdsl.code.validate.loops import validate_c, validate_c_conversion
    from layoutdsl.code.validate.outcome import NotValidated

    text, name, width = each.text, each.name, each.width
    written = (each.move.source, each.move.target)
    sides = [each.planned.source, each.planned.target]
    proofs: list[Certificate] = []
    for side, planned in zip(written, sides, strict=True):
        if side is not None and planned is not None and planned != side:
            proof = equality(side, planned)
            if proof is None:
                return NotValidated(f"`{side.name}` was not proved to be its own digits")
            proofs.append(proof)
    match sides:
        case [None, Layout() as target]:
            found = validate_c(text, name, target, "pack", width)
        case [Layout() as source, None]:
            found = validate_c(text, name, source, "unpack", width)
        case [Layout() as source, Layout() as target]:
            found = validate_c_conversion(text, name, source, target, width)
        case _:
            raise AssertionError("one side is a buffer")
    if isinstance(found, NotValidated) or not proofs:
        return found
    seal = sha256("\n".join([found.seal, *(p.hash for p in proofs)]).encode()).hexdigest()
    digits = ((f"{verb}, by digits", each) for verb, _ in found.certificates for each in proofs)
    return replace(found, seal=seal, certificates=(*found.certificates, *digits))
