"""``recheck``, and what ``prove --write`` writes: certificates on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.shell.exits import Exit, Failure, reading, writing
from layoutdsl.shell.options import CHECKER, JSON, quiet
from layoutdsl.shell.output import say, say_json, say_passed
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.targets import Target, refuse_silent, targets_of

if TYPE_CHECKING:
    from layoutdsl.proof.evidence.problem import Problem, Rechecked
    from layoutdsl.proof.evidence.subjects import Subject
    from layoutdsl.proof.prover.verdict import Checked


def _subjects(targets: tuple[Target, ...]) -> tuple[Subject, ...]:
    """Return what certificates there have to be for targets: the library's, or one file's."""
    from layoutdsl.commands import subjects

    files = [each for each in targets if each.place]
    if files and len(targets) > 1:
        message = "certificates of a file have a folder of their own"
        raise Failure(Exit.USAGE, message, "name one file, or layouts of the library only")
    found: dict[str, Subject] = {}
    for each in targets:
        subject = None if each.name is None else each.subject
        family = "" if each.place else each.module.name.removesuffix(".layout")
        found |= {one.file: one for one in subjects(each.module, subject, family)}
    return tuple(found.values())


def _whole(targets: tuple[Target, ...], named: bool) -> bool:
    """Whether targets are all of the library, or all of a file: then nothing else may be there."""
    return all(each.name is None for each in targets) and (
        not named or bool(targets and targets[0].place)
    )


class Writer:
    """Takes what is found of claims, one after the other, and writes their certificates."""

    def __init__(self, targets: tuple[Target, ...], into: str | None, named: bool) -> None:
        self._subjects = _subjects(targets)
        self._folder = _writable(targets, into)
        self._whole = _whole(targets, named)
        self._found: dict[tuple[str, str], Checked] = {}
        self._written: list[str] = []
        self._removed: list[str] = []

    def take(self, checked: Checked) -> None:
        """Remember what was found of a claim."""
        self._found[checked.claim.subject.name, checked.claim.text] = checked

    def finish(self) -> dict[str, Any]:
        """Write every certificate, and remove those that belong to nothing any more."""
        from layoutdsl.commands import left_over, lemma_files, record, write_files

        progress = Progress()
        with writing(f"`{self._folder}`"):
            write_files(self._folder, lemma_files())
            for subject in self._subjects:
                progress(f"writing {subject.file}")
                checked = [self._found[c.subject.name, c.text] for c in subject.claims]
                files = record(subject, checked).files
                write_files(self._folder, files)
                self._written += [name for name, _ in files]
            if self._whole:
                kept = tuple(each for each in self._subjects if each.manifest in self._written)
                self._removed = list(left_over(kept, self._folder))
                for name in self._removed:
                    (self._folder / name).unlink()
        progress.clear()
        return {"written": self._written, "removed": self._removed}

    @property
    def summary(self) -> str:
        """What was written, in a line."""
        count = len(self._written) // 2
        removed = f", {len(self._removed)} files removed" if self._removed else ""
        words = f"{count} certificate{'' if count == 1 else 's'}"
        return f"wrote {words} to {self._folder}{removed}"


def _writable(targets: tuple[Target, ...], into: str | None) -> Path:
    if into is not None:
        return Path(into)
    if any(each.place for each in targets):
        message = "certificates of a file need a folder of their own"
        raise Failure(Exit.USAGE, message, "write --into DIR")
    from layoutdsl.language.texts import resources

    folder = resources.folder("proofs")
    if folder.parent == resources.PACKAGE:
        message = "the certificates of an installed library are not rewritten"
        raise Failure(Exit.USAGE, message, "write --into DIR")
    return folder


@click.command(short_help="Check certificates again, by solvers or a proved checker.")
@click.argument("written", metavar="[FILE[:NAME]]...", nargs=-1)
@click.option(
    "--solver",
    type=click.Choice(["z3", "cvc5", "both"]),
    help="Who is asked; both have to agree.  [default: z3]",
)
@CHECKER
@click.option("--dir", "folder", metavar="DIR", help="Where the certificates are.")
@click.option("-v", "--verbose", is_flag=True, help="List every certificate.")
@quiet
@JSON
def recheck(
    written: tuple[str, ...],
    solver: str | None,
    checker: str | None,
    folder: str | None,
    verbose: bool,
    form: str,
) -> int:
    """Check certificates again: of the library, of some layouts or tables of it, or of a file.

    Nothing is proved anew, and whoever wrote the certificates is not believed. The statements are
    written again from the source text; the proofs are read from the certificate and followed step
    by step; the script beside it has to hold exactly the questions they rest on, and the solvers
    are asked that script. Counterexamples are found again in plain integers.

    With --checker coq no solver is asked. The statements are still written again and compared;
    then `layoutdsl-check`, a checker that is proved in Coq, follows the proofs. It also reads the
    declarations of layouts, and counts those whose theorems imply that the offset is a bijection.
    Build it once: `make -C proofs/coq`.

    \b
      layoutdsl recheck
      layoutdsl recheck --solver both
      layoutdsl recheck --checker coq
      layoutdsl recheck NCHW16c R4CroutonLayout
      layoutdsl recheck demo.layout --dir demo.proofs

    Exits with 1 where a certificate is stale, missing, left over or broken, or where the solvers
    disagree; with 3 where an answer is missing. Codes are explained: `layoutdsl explain P101`.
    """
    targets = targets_of(written)
    for chosen in targets:
        refuse_silent(chosen)
    subjects = _subjects(targets)
    place = _readable(targets, folder)
    solvers = _solvers(solver, checker)
    _refuse_missing(solvers)
    started = perf_counter()
    found: list[Rechecked] = []
    progress = Progress()
    with reading(f"`{place}`"):
        for each in _every(subjects, place, solvers, progress, _whole(targets, bool(written))):
            progress.clear()
            found.append(each)
            if form != "json":
                _tell(each, verbose)
    progress.clear()
    status = _status(found)
    seconds = perf_counter() - started
    if form == "json":
        by = {"solvers": solvers, **({"checker": checker} if checker else {})}
        say_json({"status": status, **by, "certificates": found})
    else:
        say_passed(_summary(found, solvers, seconds))
    return {"confirmed": Exit.OK, "failed": Exit.REFUTED, "undecided": Exit.UNDECIDED}[status]


def _readable(targets: tuple[Target, ...], folder: str | None) -> Path:
    if folder is not None:
        return Path(folder)
    if any(each.place for each in targets):
        message = "the folder of the certificates of this file is unknown"
        raise Failure(Exit.USAGE, message, "write --dir DIR")
    from layoutdsl.language.texts import resources

    return resources.folder("proofs")


def _solvers(solver: str | None, checker: str | None) -> tuple[str, ...]:
    if checker is None:
        return ("z3", "cvc5") if solver == "both" else (solver or "z3",)
    if solver is not None:
        message = "--checker coq asks no solver"
        raise Failure(Exit.USAGE, message, f"leave out --solver {solver}, or --checker coq")
    return ()


def refuse_missing_checker() -> None:
    """End the command if `layoutdsl-check` is not built."""
    from layoutdsl.commands import missing_checker

    missing = missing_checker()
    if missing is not None:
        raise Failure(Exit.UNDECIDED, missing.message, missing.remedy)


def _refuse_missing(solvers: tuple[str, ...]) -> None:
    from layoutdsl.commands import missing_solver

    if not solvers:
        refuse_missing_checker()
    for each in solvers:
        missing = missing_solver(each)
        if missing is not None:
            raise Failure(Exit.UNDECIDED, missing.message, missing.remedy)


def _every(
    subjects: tuple[Subject, ...],
    folder: Path,
    solvers: tuple[str, ...],
    progress: Progress,
    whole: bool,
) -> Iterator[Rechecked]:
    from layoutdsl.commands import left_over, recheck
    from layoutdsl.proof.evidence.problem import Kind, Problem, Rechecked

    yield from recheck(subjects, folder, solvers, progress)
    if whole:
        for name in left_over(subjects, folder):
            words = "the source has no layout, table or claim that this belongs to"
            yield Rechecked(name, 0, 0, (Problem(Kind.LEFT_OVER, name, words),))


def _tell(found: Rechecked, verbose: bool) -> None:
    for each in found.problems:
        say(problem_text(each))
    if verbose and not found.problems:
        word = click.style("confirmed", fg="green", bold=True)
        say_passed(f"{word}  {found.name}  ({_counted(found.claims, found.questions)})")


def problem_text(problem: Problem) -> str:
    """Return a problem of a certificate as text: code, place, message, help."""
    head = click.style(f"{problem.kind.word}[{problem.kind.code}]", fg="red", bold=True)
    return f"{head}: {problem.place}\n  {problem.message}\n  = help: {problem.kind.help}"


def _counted(claims: int, questions: int) -> str:
    return (
        f"{claims} claim{'' if claims == 1 else 's'}, "
        f"{questions} question{'' if questions == 1 else 's'}"
    )


def _status(found: list[Rechecked]) -> str:
    statuses = {each.status for each in found}
    return next((each for each in ("failed", "undecided") if each in statuses), "confirmed")


def _summary(found: list[Rechecked], solvers: tuple[str, ...], seconds: float) -> str:
    counts: dict[str, int] = {}
    for each in found:
        for word in _words(each):
            counts[word] = counts.get(word, 0) + 1
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    claims = sum(each.claims for each in found[1:])
    questions = sum(each.questions for each in found)
    by = f"asked of {' and '.join(solvers)}" if solvers else "checked by layoutdsl-check"
    sentences = sum(each.sentences or 0 for each in found)
    if sentences:
        by += f", {sentences} layout{'' if sentences == 1 else 's'} from the declaration"
    return f"{words}: {_counted(claims, questions)}, {by}  ({seconds:.1f} s)"


def _words(found: Rechecked) -> list[str]:
    return list(dict.fromkeys(each.kind.word for each in found.problems)) or ["confirmed"]
