"""Arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

import click

from layoutdsl.files.ownership import overwriting
from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.output import QUIET

if TYPE_CHECKING:
    from layoutdsl.language.meaning.storage import StorageName

Command = TypeVar("Command", bound=Callable[..., Any])

TARGET = click.argument("written", metavar="FILE:NAME")
SHAPE = click.option(
    "--shape",
    metavar="2,20,3,4",
    help="The extents in axis order, then open parameters; or N=2,C=20,H=3,W=4. Those that the "
    "layout fixes may be left out.",
)


def choice(name: str, variable: str, help: str) -> Callable[[Command], Command]:  # noqa: A002
    """A flag that chooses one way to do it: the variable is its name, and `plain` without it."""
    return click.option(f"--{name}", variable, flag_value=name, default="plain", help=help)


JSON = choice(
    "json", "form", "Print JSON; its keys are listed in the documentation, under JSON keys."
)


CHECKER = click.option(
    "--checker",
    type=click.Choice(["coq"]),
    help="Follow the proofs with layoutdsl-check, which is proved in Coq.",
)


def _keep_quiet(context: click.Context, _: click.Parameter, given: bool) -> None:
    context.meta[QUIET] = given


# The value is kept in the run's context and not handed to commands: progress and summaries are
# printed by functions far below them.
quiet = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_keep_quiet,
    help="Print no progress and no summary, and nothing about what passed.",
)

Form: TypeAlias = Literal["text", "json", "sarif", "github"]
"""How `check` and `prove` say what they found."""


def forms(command: Command) -> Command:
    """Give a verb ``--format``, and ``--json`` for one of them; its parameter is ``form``."""

    @wraps(command)
    def chosen(*, format_: Form | None, form: str, **given: Any) -> Any:
        if form == "json" and format_ not in (None, "json"):
            raise Failure(Exit.USAGE, f"--json is --format json, and not {format_}", "give one")
        return command(form=format_ or ("json" if form == "json" else "text"), **given)

    choose = click.option(
        "--format",
        "format_",
        type=click.Choice(get_args(Form)),
        help="text, for people; json; sarif 2.1.0, for code scanning and editors; or github: "
        "annotations, for its runners.",
    )
    return cast("Command", JSON(choose(chosen)))


WORDS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64")


WORD = click.option(
    "--word",
    type=click.Choice(WORDS),
    help="Store elements without room between them, in words such as u32; the first lies in the "
    "lowest bits of little-endian words.",
)
BYTES = choice("bytes", "dense", "The same in bytes: --word u8.")


def storage_of(word: str | None, dense: str) -> StorageName:
    """Return what `WORD` and `BYTES` say of how elements are stored.

    Raises:
        Failure: they say two things.
    """
    if dense == "plain":
        return cast("StorageName", word or "items")
    if word not in (None, "u8"):
        raise Failure(Exit.USAGE, f"--bytes and --word {word} are two ways to store", "give one")
    return "bytes"


def forced(command: Command) -> Command:
    """Give a verb that writes files ``--force``."""

    @wraps(command)
    def chosen(*, force: bool, **given: Any) -> Any:
        with overwriting(force, "--force"):
            return command(**given)

    words = "Replace a file that exists and was not written by layoutdsl."
    return cast("Command", click.option("--force", is_flag=True, help=words)(chosen))


def proving(command: Command) -> Command:
    """Give a command ``--where`` and ``--unproved``; its parameters are ``range_`` and those."""
    for option in (UNPROVED, RANGE):
        command = option(command)
    return command


RANGE = click.option(
    "--where",
    "range_",
    metavar="RANGE",
    help='Only shapes in a range, for which the layout is proved: --where "C <= 4096, N == 1".',
)
UNPROVED = click.option(
    "--unproved",
    is_flag=True,
    help="Take an undecided layout. Before anything is written, bounds and distinct slots are "
    "checked at the shape at hand; exit 1 if two elements share a slot.",
)
COMPILED = click.option(
    "--target",
    "compiled",
    type=click.Choice(["auto", "native", "numpy"]),
    default="auto",
    show_default=True,
    help="native: compiled C, or an error where there is no compiler; numpy; auto: C that was "
    "compiled before, or where a move is so large that it is worth to compile, else numpy.",
)
