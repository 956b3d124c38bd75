"""The group of verbs, and the door through which every run leaves.

Whatever happens, the shell sees an exit code and at most one short message; a traceback only where
``LAYOUTDSL_DEBUG=1`` asks for it.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import click

from layoutdsl import __version__
from layoutdsl.language.texts.faults import VerdictError
from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.exits import Exit, Failure, reason
from layoutdsl.shell.output import error, error_json, faults_json, say_json
from layoutdsl.shell.streams import drop, stand_in
from layoutdsl.shell.targets import SHIELD

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_CODES = """\b
Exit codes:
  0    proved, or done
  1    refuted or different; --check found a difference; a certificate fails
  2    the spec or the command line is wrong, or there is nothing to prove
  3    undecided, which is never a pass
  4    a file cannot be read or written, or does not fit
  70   a bug of ours
  130  interrupted
"""


_HELP = {"-h", "--help", "--version"}

NUMPY = "pip install numpy"

COMPLETING = "_LAYOUTDSL_COMPLETE"
"""Is set where a shell wants to know what may follow."""

SOLVER, SOLVERS = "LAYOUTDSL_SOLVER", ("", "in-process")
"""The variable that says where z3 runs, and what it may be; the solver knows them by itself, and is
not loaded to say that another word is none."""

_VERBS = {
    "tour": "tour.tour",
    "check": "checking.check",
    "prove": "proofs.prove",
    "cost": "costs.cost",
    "recheck": "evidence.recheck",
    "formula": "formulas.formula",
    "generate": "generating.generate",
    "pack": "packing.pack",
    "unpack": "unpacking.unpack",
    "convert": "converting.convert",
    "verify": "verifying.verify",
    "inspect": "verifying.inspect",
    "propagate": "propagating.propagate",
    "plan": "planning.plan",
    "run": "sharding.run",
    "bench": "benchmark.bench",
    "tune": "tuning.tune",
    "where": "places.where",
    "at": "places.at",
    "show": "showing.show",
    "banks": "banks.banks",
    "view": "viewing.view",
    "diff": "comparing.diff",
    "translate": "translating.translate",
    "identify": "identifying.identify",
    "probe": "probing.probe",
    "explain": "texts.explain",
    "list": "listing.list_library",
    "print": "texts.print_file",
    "completion": "completing.completion",
    "format": "formatting.format_files",
    "lsp": "language_server.lsp",
}
"""Where each verb is."""


class _Commands(Mapping[str, click.Command]):
    """The verbs by name; each is loaded when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        file, _, verb = _VERBS[name].partition(".")
        return cast("click.Command", getattr(import_module(f"layoutdsl.shell.{file}"), verb))

    def __iter__(self) -> Iterator[str]:
        return iter(_VERBS)

    def __len__(self) -> int:
        return len(_VERBS)


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the verbs in the order in which they are met, not of the alphabet."""
        return list(self.commands)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the verbs and options that begin so; no verb is loaded for it."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(each) for each in self.commands if each.startswith(incomplete)]
        return verbs if verbs else click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=_Verbs,
    commands=_Commands(),
    epilog=_CODES,
    # Help follows the width of the terminal; lines longer than 98 characters are hard to read.
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 98},
    no_args_is_help=True,
)
@click.version_option(__version__, prog_name="layoutdsl", message="%(prog)s %(version)s")
def layoutdsl() -> None:
    """Say how a tensor lies in memory, prove it for every shape, generate the code for it.

    FILE:NAME is a layout of a `.layout` file; a name alone is a layout of the library. FILE alone
    stands for the only layout of a file, or for all of them; FILE may be - for the standard input.
    Records, several tensors in one buffer, are named alike.
    NOTATION:TEXT is a layout in another notation: onednn:aBcd16b.

    \b
      layoutdsl tour                    see all of it in a few seconds
      layoutdsl prove demo.layout       prove a file
      layoutdsl show NCHW4c --shape 1,6,2,3
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    stand_in()
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return _broken_pipe()
    except OSError as failure:
        return _unwritten(failure)
    return code


def _run(given: Sequence[str]) -> int:
    try:
        asking = os.environ.get(COMPLETING)
        if asking is not None:
            from layoutdsl.shell.completing import complete

            complete(layoutdsl, asking, given)
            return Exit.OK
        solver = os.environ.get(SOLVER, "")
        if solver not in SOLVERS and given and _HELP.isdisjoint(given):
            words = f"{SOLVER} is `{solver[:40]}`"
            raise Failure(Exit.USAGE, words, f"leave it out, or set it to {SOLVERS[-1]}")
        result = layoutdsl.main(
            [SHIELD + each if each.startswith("-:") else each for each in given],
            prog_name="layoutdsl",
            standalone_mode=False,
        )
    except OSError:
        raise
    except SystemExit as ended:  # click leaves so where the reader of our output is gone
        raise BrokenPipeError from ended
    except (KeyboardInterrupt, click.Abort):
        error("interrupted")
        return Exit.INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as helped:
        click.echo(helped.format_message())
        return Exit.OK
    except LayoutError as failure:
        return _faulty(failure, given)
    except Exception as failure:
        return _failed(_failure(failure, given), given)
    return result if isinstance(result, int) else Exit.OK


def _form(given: Sequence[str]) -> str:
    """Return the form that a command line asks for; what follows ``--`` are names."""
    words = [*given, "--"]
    words = words[: words.index("--")]
    asked = [each.removeprefix("--format=") for each in words if each.startswith("--format=")]
    asked += [word for option, word in pairwise(words) if option == "--format"]
    return "json" if "--json" in words else next(iter(asked), "text")


def _faulty(failure: LayoutError, given: Sequence[str]) -> int:
    match _form(given):
        case "json":
            say_json(faults_json(failure))
        case "sarif" | "github" as form:
            from layoutdsl.shell.reporting import report_faults

            report_faults(form, failure)
        case _:
            error(str(failure))
    return Exit.USAGE


def _failed(failure: Failure, given: Sequence[str]) -> int:
    match _form(given):
        case "json":
            say_json(error_json(failure.message, failure.hint))
        case "sarif" | "github" as form:
            from layoutdsl.shell.reporting import report_failure

            report_failure(form, failure)
        case _:
            error(str(failure))
    return failure.code


def _options(given: Sequence[str]) -> dict[str, str]:
    """Return the help text of each option of a command, in the middle of a sentence."""
    verb = next((each for each in given if each in _VERBS), None)
    params = [] if verb is None else layoutdsl.commands[verb].params
    helps = {name: getattr(each, "help", None) or "" for each in params for name in each.opts}
    return {name: f"{text[:1].lower()}{text[1:]}".rstrip(".") for name, text in helps.items()}


def _failure(raised: Exception, given: Sequence[str]) -> Failure:
    match raised:
        case Failure():
            return raised
        case click.ClickException():
            return _misused(raised)
        case MemoryError():
            return Failure(Exit.INPUT, "there is not enough memory for this")
        case VerdictError():
            from layoutdsl.shell.verdicts import verdict_failure

            return verdict_failure(raised, _options(given))
        case ModuleNotFoundError(name="numpy"):
            return Failure(Exit.USAGE, "this needs numpy, which is not installed", NUMPY)
        case _:
            return _bug(raised)


def _misused(failure: click.ClickException) -> Failure:
    words = failure.format_message().strip()
    words = words.replace("'", "`").replace(". (Did you mean one of:", ". Did you mean one of")
    message, mark, hint = words.replace("?)", "?").partition(". Did you mean")
    context = getattr(failure, "ctx", None)
    verb = context.command_path if context is not None else "layoutdsl"
    proposed = f"did you mean{hint}" if mark else f"see `{verb} --help`"
    proposed = _instead(failure, verb.removeprefix("layoutdsl").strip()) or proposed
    return Failure(Exit.USAGE, message[:1].lower() + message[1:].rstrip("."), proposed)


_COMMANDS_CALLED = {
    **dict.fromkeys(("compile", "build", "codegen", "emit", "gen"), "generate"),
    **dict.fromkeys(("draw", "plot", "render", "visualize", "picture"), "show"),
    **dict.fromkeys(("compare", "equal", "equivalent"), "diff"),
    **dict.fromkeys(("fmt",), "format"),
    **dict.fromkeys(("lint", "validate", "parse"), "check"),
    **dict.fromkeys(("test", "refute"), "prove"),
    **dict.fromkeys(("repack", "transpose", "reorder"), "convert"),
    **dict.fromkeys(("import", "export"), "translate"),
    **dict.fromkeys(("infer", "guess"), "probe"),
    **dict.fromkeys(("padding", "size", "overhead"), "cost"),
    **dict.fromkeys(("offset", "index"), "where"),
    **dict.fromkeys(("weights", "quantize"), "pack"),
    **dict.fromkeys(("ls", "library"), "list"),
    **dict.fromkeys(("conflicts",), "banks"),
}
"""Commands by the names that other tools give them."""

_TO_FILE = "the formula goes to the standard output: `layoutdsl formula ... > FILE`"
_OPTIONS_CALLED = {
    ("formula", "-o"): _TO_FILE,
    ("formula", "--out"): _TO_FILE,
    ("formula", "--output"): _TO_FILE,
    ("recheck", "--proofs"): "write `--checker coq`: a checker that is proved, and asks no solver",
    ("prove", "--solver"): "`layoutdsl recheck --solver cvc5` asks another solver",
    ("generate", "--as"): "`layoutdsl formula FILE --as cuda` prints index functions",
}
"""What does the work of an option that a command does not have."""


def _instead(failure: click.ClickException, verb: str) -> str | None:
    """Return the help for a command, option or target that is known by another name."""
    words = failure.format_message()
    if isinstance(failure, click.NoSuchOption):
        return _OPTIONS_CALLED.get((verb, failure.option_name))
    if verb == "generate" and words.startswith("Invalid value for '--target'"):
        target = words.removeprefix("Invalid value for '--target': '").partition("'")[0]
        if target in ("cuda", "opencl", "triton", "mlir"):
            return f"`layoutdsl formula FILE --as {target}` prints index functions for it"
    name = words.removeprefix("No such command '").partition("'")[0]
    called = _COMMANDS_CALLED.get(name.lower()) if not verb else None
    return called and f"write `layoutdsl {called}`"


def _bug(failure: Exception) -> Failure:
    if os.environ.get("LAYOUTDSL_DEBUG") == "1":
        error("".join(traceback.format_exception(failure)).rstrip())
    first = (str(failure).splitlines() or [""])[0]
    words = f"{type(failure).__name__}: {first}" if first else type(failure).__name__
    hint = "please report it with this command line; LAYOUTDSL_DEBUG=1 shows where it happened"
    message = f"this is a bug of layoutdsl {__version__}, not of yours: {words}"
    return Failure(Exit.BUG, message, hint)


def _unwritten(failure: OSError) -> int:
    """Files report their own failures; one that comes this far is most likely the output's."""
    name = f"`{failure.filename}`" if failure.filename else "the standard output"
    error(f"error: {name} cannot be written: {reason(failure)}")
    drop(sys.stdout)
    return Exit.INPUT


def _broken_pipe() -> int:
    """Whoever read our output has read enough; Python must not complain of it at exit."""
    drop(sys.stdout)
    return Exit.BROKEN_PIPE
