"""``probe``: a function of somebody else's, called, and held against a layout."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from layoutdsl.cli.exits import Exit, Failure, usage
from layoutdsl.cli.options import JSON, SHAPE
from layoutdsl.cli.output import error, say, say_json
from layoutdsl.cli.progress import Progress
from layoutdsl.cli.targets import SHIELD, shape_of, target

if TYPE_CHECKING:
    from layoutdsl.compare.calling import ProbeHint
    from layoutdsl.compare.probe import Probe

FILE_MODULE = "probed"


@click.command(short_help="Call a pack function, and compare what it does with a layout.")
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option("--against", required=True, metavar="LAYOUT", help="FILE:NAME or NOTATION:TEXT.")
@SHAPE
@click.option("--unpack", is_flag=True, help="The function takes a buffer and returns a tensor.")
@click.option("--dtype", default="u1", metavar="u1", help="Type of the elements, as numpy says it.")
@click.option(
    "--array",
    type=click.Choice(["numpy", "torch", "jax"]),
    default="numpy",
    help="What the function is called with.",
)
@click.option("--flat", is_flag=True, help="With --unpack: the buffer is flat, and not a box.")
@JSON
def probe(
    function: str,
    against: str,
    shape: str | None,
    unpack: bool,
    dtype: str,
    array: str,
    flat: bool,
    form: str,
) -> int:
    """Call a function that packs or unpacks, and compare what it does with a layout.

    THE FUNCTION IS RUN, with all that its module does on import: probe only code that you would
    run yourself. It is called with numbers below 16 that spell, digit by digit, the number of each
    element; so what it does with a whole tensor comes out in a few calls. It may take a second
    argument, the shape. What it prints goes to the standard error.

    Exit code 0: at this shape it does what the layout says. 1: it does not. This is a test of one
    shape, and no proof.

    \b
      layoutdsl probe mine.py:pack --against NCHW16c --shape 1,20,3,4
      layoutdsl probe package.module:unpack --against onednn:aBcd16b --shape 1,20,3,4 --unpack
    """
    layout = target(against).layout
    extents = shape_of(layout, shape)
    with usage():
        layout.bind(extents)
    from layoutdsl.cli.encode import plain
    from layoutdsl.compare.probe import probe as ask

    called = _imported(function.removeprefix(SHIELD))
    progress = Progress()
    with usage(), redirect_stdout(sys.stderr):
        found = ask(
            called,
            layout,
            extents,
            unpack=unpack,
            dtype=dtype,
            array=cast("Any", array),
            flat=flat,
            progress=progress,
        )
    progress.clear()
    if os.environ.get("LAYOUTDSL_DEBUG") == "1" and found.raised is not None:
        error("".join(traceback.format_exception(found.raised)).rstrip())
    if form == "json":
        status = "same" if found.same else "different"
        say_json({"status": status, "function": function, "against": against, **plain(found)})
    else:
        say("\n".join(_lines(found, function, against)))
    return Exit.OK if found.same else Exit.REFUTED


def _imported(written: str) -> Callable[..., Any]:
    """Import what ``module:function`` or ``file.py:function`` names."""
    path, colon, name = written.rpartition(":")
    if not colon or not path or not name:
        hint = "write `module:function`, or `path/to/file.py:function`"
        raise Failure(Exit.USAGE, f"`{written}` names no function of a module", hint)
    with _of_the_user(path):
        module = _from_file(Path(path)) if path.endswith(".py") else _from_path(path)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        from layoutdsl.texts.faults import did_you_mean

        raise Failure(
            Exit.USAGE, f"`{path}` has no `{name}`", did_you_mean(name, _functions(module))
        )
    from layoutdsl.meaning.arguments import FUNCTION

    if not FUNCTION.holds(found):
        raise Failure(Exit.USAGE, f"`{written}` is a {type(found).__name__}, and no function")
    return cast("Callable[..., Any]", found)


def _functions(module: Any) -> list[str]:
    return [name for name, each in vars(module).items() if inspect.isroutine(each)]


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise Failure(Exit.INPUT, f"`{path}` cannot be read: there is no such file")
    spec = importlib.util.spec_from_file_location(FILE_MODULE, path)
    if spec is None or spec.loader is None:
        raise Failure(Exit.INPUT, f"`{path}` cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[FILE_MODULE] = module
    spec.loader.exec_module(module)
    return module


def _from_path(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


@contextmanager
def _of_the_user(path: str) -> Iterator[None]:
    """What a module raises on import is its own, and told as such."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except Failure:
        raise
    except (Exception, SystemExit) as raised:
        if os.environ.get("LAYOUTDSL_DEBUG") == "1":
            error("".join(traceback.format_exception(raised)).rstrip())
        first = (str(raised).splitlines() or [""])[0]
        message = f"`{path}` cannot be imported: {type(raised).__name__}: {first}"
        raise Failure(Exit.INPUT, message) from None


def _lines(found: Probe, function: str, against: str) -> Iterator[str]:
    from layoutdsl.showing.words import named_text

    at = f", at shape {named_text(found.shape)}" if found.shape else ""
    calls = f"{found.calls} {'call' if found.calls == 1 else 'calls'}"
    if found.same:
        head = click.style("same", fg="green", bold=True)
        yield f"{head}  `{function}` does what `{against}` says{at}  ({calls})"
    else:
        head = click.style("different", fg="red", bold=True)
        yield f"{head}  `{function}` does not do what `{against}` says{at}  ({calls})"
    for fault in found.faults:
        yield f"  {fault.sentence}"
    if found.wrong > 1:
        yield f"  so do {found.wrong - 1} others of {found.elements} elements"
    for hint in found.hints:
        yield f"  = hint: {_hint(hint, against)}"
    if found.padding:
        values = ", ".join(f"{value:g}" for value in found.padding)
        yield f"  = note: slots that no element reaches hold {values}"


def _hint(hint: ProbeHint, against: str) -> str:
    from layoutdsl.cli.comparison_text import lanes_text
    from layoutdsl.compare.calling import RoundedDown
    from layoutdsl.compare.lanes import LanesPermuted

    match hint:
        case LanesPermuted():
            return lanes_text(hint, f"`{against}`", "the function")
        case RoundedDown(extent):
            return f"this is the size with `{extent}` rounded down"
    pairs = ", ".join(f"{b} for {a}" for a, b in hint.pairs if a != b)
    return f"axes are exchanged: the function takes {pairs}"
