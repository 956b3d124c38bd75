"""Certificates: written, kept, and checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.proof.claims import claims_about, claims_of

if TYPE_CHECKING:
    from layoutdsl.code.generating import Generated, GeneratedC
    from layoutdsl.proof.evidence import Confirmed, NoSolver, Rechecked, Recorded, Subject
    from layoutdsl.proof.prover.verdict import Checked


def subjects(
    module: Module, subject: Layout | Table | Record | None = None, family: str = ""
) -> tuple[Subject, ...]:
    """Return the claims of a module by the certificates that they share.

    Args:
        module: a text.
        subject: only what is claimed about this layout, table or record.
        family: the folder of the certificates, for a family of the library.
    """
    from layoutdsl.proof.evidence import subjects as grouped

    claims = claims_of(module) if subject is None else claims_about(module, subject)
    return grouped(claims, family)


def record(subject: Subject, checked: Sequence[Checked]) -> Recorded:
    """Return the certificate for what was found of the claims of a subject."""
    from layoutdsl.proof.evidence import record as recorded

    return recorded(subject, checked)


def write_files(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Write certificates to files below a folder, each whole or not at all.

    Raises:
        OccupiedError: there is a file that is no certificate.
        OSError: a file was not written; those before it were.
    """
    from layoutdsl.files.ownership import overwriting
    from layoutdsl.files.places import OccupiedError
    from layoutdsl.files.whole import write_whole
    from layoutdsl.proof.evidence import is_certificate

    for name, text in files:
        place = folder / name
        if place.exists() and not is_certificate(place):
            message = f"`{place}` is no certificate of layoutdsl, and is not replaced"
            raise OccupiedError(message, "choose another folder, or remove this one")
        place.parent.mkdir(parents=True, exist_ok=True)
        with overwriting(True):  # it is a certificate
            write_whole(place, text)


def lemma_files() -> tuple[tuple[str, str], ...]:
    """Return the certificate of the lemma library, on which all others rest."""
    from layoutdsl.proof.evidence import lemma_files as files

    return files()


def left_over(found: Iterable[Subject], folder: Path) -> tuple[str, ...]:
    """Return the files of certificates in a folder that belong to none of these subjects."""
    from layoutdsl.proof.evidence import left_over as files

    return tuple(files(found, folder))


def recheck(
    found: Iterable[Subject],
    folder: Path,
    solvers: Sequence[str] = ("z3",),
    progress: Callable[[str], None] | None = None,
) -> Iterator[Rechecked]:
    """Yield what comes of each certificate in a folder, checked again; the lemmas first.

    Args:
        found: what certificates have to be there for.
        folder: where they are.
        solvers: ``z3``, ``cvc5``, or both; without any, `layoutdsl-check` follows the proofs, the
            checker that is proved in Coq (`missing_checker` says whether it is there).
        progress: is told which certificate is being checked.

    Raises:
        OSError: a file cannot be read.
    """
    from layoutdsl.proof.evidence import recheck as checked
    from layoutdsl.proof.kernel.solver import SOLVERS

    asked = [SOLVERS[each] for each in solvers]
    return checked(found, folder, asked, progress or (lambda _: None))


def missing_solver(name: str) -> NoSolver | None:
    """Return why a solver cannot be asked, and how to mend it; ``None`` where it can."""
    from layoutdsl.proof.evidence import why_not_asked

    return why_not_asked(name)


def missing_checker() -> NoSolver | None:
    """Return why `layoutdsl-check` cannot be run, and how to build it; ``None`` where it can."""
    from layoutdsl.proof.evidence import why_not_checked

    return why_not_checked()


def confirm(checked: Iterable[Checked], code: Iterable[Generated | GeneratedC] = ()) -> Confirmed:
    """Let `layoutdsl-check` follow the proofs of claims that were just proved, and of code.

    Args:
        checked: what was found of claims; those without theorems are left out.
        code: what `generate` and `generate_c` returned; its theorems say that it does what the
            layouts mean.
    """
    from layoutdsl.proof.evidence import confirm as confirmed

    functions = (
        (f"code of `{each.layout.name}`: {name}", proofs)
        for each in code
        for name, proofs in each.certificates
    )
    return confirmed(checked, functions)
