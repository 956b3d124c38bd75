"""What `pack` and `unpack` do with files of weights, and what goes wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import realpath
from typing import TYPE_CHECKING, Any, Literal

import click

from layoutdsl.language.texts.faults import VerdictError
from layoutdsl.shell.exits import Exit, Failure, reason
from layoutdsl.shell.interrupts import watched
from layoutdsl.shell.large import kept_part, too_little
from layoutdsl.shell.options import Command
from layoutdsl.shell.output import error
from layoutdsl.shell.progress import Progress, Way
from layoutdsl.shell.telling import notes, say_words

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget
    from layoutdsl.files.weights.faults import UnfitError
    from layoutdsl.files.weights.packing import Done
    from layoutdsl.shell.targets import Target


OUT = click.option(
    "-o",
    "output",
    metavar="OUT",
    help="Of weights: the file that is written; of an index, the folder.",
)


FORMAT = click.option(
    "--format",
    "called",
    metavar="NAME",
    help="Of weights: the format of both files, where the ends of their names do not say it.",
)


STRICT = click.option(
    "--strict",
    "unruled",
    flag_value="refuse",
    default="keep",
    help="Of weights: refuse tensors that no rule is for, instead of keeping them.",
)


RULES = click.option(
    "--rules",
    metavar="RULES.layout",
    help="FILE is a file of weights, and each tensor is packed by the rule for its name.",
)


_OURS = {
    "plan": "layoutdsl plan model.safetensors --rules rules.layout -o plan.json --out OUT",
    "pack": "layoutdsl pack model.safetensors --rules rules.layout -o packed.safetensors",
    "unpack": "layoutdsl unpack packed.safetensors -o model.safetensors",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What was asked for of any verb on files of weights."""

    mem: int | None
    jobs: int | None
    way: Way
    form: str | None
    unproved: bool = False

    def given(self, progress: Progress) -> dict[str, Any]:
        """Return it as arguments of the verbs of Python."""
        from layoutdsl.commands import MEM

        mem = MEM if self.mem is None else self.mem
        return {
            "mem": mem,
            "jobs": self.jobs or 1,
            "form": self.form,
            "progress": progress,
        }


def by_rules(command: Command) -> Command:
    """Give `pack` the options for files of weights."""
    for option in (FORMAT, STRICT, OUT, RULES):
        command = option(command)
    return command


def by_itself(command: Command) -> Command:
    """Give `unpack` the options for files of weights."""
    for option in (FORMAT, OUT):
        command = option(command)
    return command


def refuse_both(verb: str, files: tuple[str | None, ...], options: Mapping[str, object]) -> None:
    """Fail where a file of weights was named together with what is for a single tensor."""
    for name in files:
        if name is not None:
            message = f"`{name}` is one file too many: weights go to the file after -o"
            raise Failure(Exit.USAGE, message, f"write `{_OURS[verb]}`")
    for option, value in options.items():
        if value not in (None, "plain", ()):
            message = f"{option} is for a single tensor, and this is a file of weights"
            raise Failure(Exit.USAGE, message, "leave it out; it is said of each tensor by itself")


def refuse_range(range_: str | None) -> None:
    """Fail if ``--where`` is given for a file of weights: its rules have ranges of their own."""
    if range_ is not None:
        message = "--where is for a single tensor, and this is a file of weights"
        raise Failure(Exit.USAGE, message, "write the range in the layouts of the rules: `where`")


def refuse_alone(verb: str, needed: str, options: Mapping[str, object]) -> None:
    """Fail where options for files of weights were given without the one that names such a file."""
    for option, value in options.items():
        if value not in (None, "keep"):
            message = f"{option} is for files of weights, which need {needed}"
            raise Failure(Exit.USAGE, message, f"write `{_OURS[verb]}`")


def pack_by_rules(
    files: tuple[str, str | None],
    rules: str,
    unruled: Literal["keep", "refuse"],
    limits: Limits,
    compiled: CompileTarget,
    verbose: int,
) -> None:
    """Pack a file of weights."""
    from layoutdsl.commands import pack_weights

    chosen = rules_in(rules)
    source, destination = _two(files)
    _refuse_rules(destination, rules)
    progress = Progress("pack", limits.way)
    with failing_weights(source, destination, limits), watched(progress), notes():
        done = pack_weights(
            source,
            destination,
            chosen.module,
            unruled=unruled,
            target=compiled,
            tell=lambda words: progress.above(f"note: {words}"),
            unproved=limits.unproved,
            **limits.given(progress),
        )
    say_words(_done("packed", done), verbose)


def rules_in(rules: str) -> Target:
    """Return the rules of a file."""
    from layoutdsl.shell.targets import target

    chosen = target(rules)
    if not chosen.module.rules:
        hint = 'write `tensor "**.weight"(n, k) = [k/64, n, k%64]`'
        raise Failure(Exit.USAGE, f"{chosen.called} has no rules for tensors", hint)
    return chosen


def unpack_by_itself(
    files: tuple[str, str | None], limits: Limits, compiled: CompileTarget, verbose: int
) -> None:
    """Unpack a file of weights."""
    from layoutdsl.commands import unpack_weights

    source, destination = _two(files)
    progress = Progress("unpack", limits.way)
    with failing_weights(source, destination, limits), watched(progress), notes():
        done = unpack_weights(
            source,
            destination,
            target=compiled,
            tell=lambda words: progress.above(f"note: {words}"),
            unproved=limits.unproved,
            **limits.given(progress),
        )
    say_words(_done("unpacked", done), verbose)


def count_text(tensors: int) -> str:
    """Return how many tensors there are, in words."""
    return "1 tensor" if tensors == 1 else f"{tensors} tensors"


def _done(word: str, done: Done) -> str:
    pieces = "1 piece" if done.pieces == 1 else f"{done.pieces} pieces"
    return f"{word} {count_text(done.moved)}, kept {done.kept}, in {pieces}"


def _two(files: tuple[str, str | None]) -> tuple[str, str]:
    """Both files of weights, which are plain ones."""
    source, destination = files
    if destination is None:
        hint = "write `-o packed.safetensors`"
        raise Failure(Exit.USAGE, "the output file is missing", hint)
    for name, stream in ((source, "input"), (destination, "output")):
        if name == "-":
            raise Failure(
                Exit.USAGE, f"the standard {stream} cannot be processed in pieces", "name a file"
            )
    return source, destination


def _refuse_rules(destination: str, rules: str) -> None:
    """Fail where the result would take the place of the rules."""
    from layoutdsl.files.places import OccupiedError, refuse_input

    try:
        refuse_input(destination, rules, "text of the rules")
    except OccupiedError as same:
        raise Failure(Exit.INPUT, same.message, same.remedy or None) from None


@contextmanager
def failing_weights(source: str, destination: str, limits: Limits) -> Iterator[None]:
    """What goes wrong with rules, files and memory, in words for a shell."""
    from layoutdsl.commands import RefusedError, UnvalidatedError
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.pieces.runs import TooLittleError
    from layoutdsl.files.places import OccupiedError
    from layoutdsl.files.weights.faults import UnfitError
    from layoutdsl.shell.verdicts import Verdict, verdict_text

    try:
        yield
    except UnfitError as unfit:
        raise told_unfit(unfit) from None
    except TooLittleError as few:
        raise too_little(few.name, limits.mem, limits.jobs, few) from None
    except UnvalidatedError as missing:
        raise Failure(Exit.UNDECIDED, str(missing)) from None
    except RefusedError as refused:
        error(verdict_text(Verdict(refused.checked, 0.0), 0))
        raise Failure(Exit.REFUTED, refused.reason) from None
    except UnreadableError as unreadable:
        raise Failure(Exit.INPUT, f"`{source}` {unreadable.fact}") from None
    except OccupiedError as occupied:
        raise Failure(Exit.INPUT, occupied.message, occupied.remedy or None) from None
    except VerdictError:
        raise  # the shell shows the verdict
    except ValueError as unknown:
        message, _, remedy = str(unknown).partition("; ")
        raise Failure(Exit.USAGE, message, remedy or None) from None
    except OSError as failure:
        name = str(failure.filename or destination)
        made = source not in (name, destination) and realpath(name).startswith(
            realpath(destination)
        )
        name = destination if made and name.endswith((".part", ".part.json")) else name
        word = "written" if made else "read"
        raise Failure(Exit.INPUT, f"`{name}` cannot be {word}: {reason(failure)}") from None
    except KeyboardInterrupt:
        kept_part(destination)
        raise


def told_unfit(unfit: UnfitError) -> Failure:
    """Return how a verb ends where things do not fit; all problems but the last are printed."""
    from layoutdsl.files.weights.faults import MOST

    rules = any(each.kind == "rule" for each in unfit.problems)
    code = Exit.USAGE if rules else Exit.INPUT
    told = [Failure(code, each.message, each.remedy or None) for each in unfit.problems[:MOST]]
    left = len(unfit.problems) - len(told)
    if left:
        told.append(Failure(code, f"and {left} more", "nothing was written"))
    for each in told[:-1]:
        error(str(each))
    return told[-1]
