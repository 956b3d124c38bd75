"""``propagate``: layouts carried through a model of ONNX, and checked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from errno import ENOTDIR
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.files.places import widest_mode
from layoutdsl.language.texts.resources import install_command
from layoutdsl.language.texts.values import printable
from layoutdsl.shell.destination import refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, reason, usage, writing
from layoutdsl.shell.options import JSON, forced, quiet
from layoutdsl.shell.output import say, say_json, say_passed
from layoutdsl.shell.propagation_words import extents, layout, layouts, pairs

if TYPE_CHECKING:
    from layoutdsl.commands.propagating import Propagation
    from layoutdsl.graphs.telling.batch import Open
    from layoutdsl.language.meaning.model import Layout

_CODES = {"done": Exit.OK, "refuted": Exit.REFUTED, "open": Exit.UNDECIDED}
_ALL = ""
"""What `--explain` is given where it names no value."""


@click.command(short_help="Carry layouts through a model, with as little moved as can be.")
@click.argument("model", metavar="MODEL.onnx", required=False)
@click.option("-o", "output", metavar="OUT", help="The model that is written; without it, none is.")
@click.option(
    "--prefer",
    multiple=True,
    metavar="OP=L1,L2",
    help="The first layout that fits a node is required there.",
)
@click.option(
    "--engine",
    metavar="NAME",
    help="What has kernels for which layouts: a text, or nhwc, blocked16, onnxruntime (as on this "
    "machine), onnxruntime8, onnxruntime16.",
)
@click.option(
    "--choose",
    "choice",
    flag_value="any",
    default="first",
    help="Layouts of --prefer are of equal worth: any may be taken.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="x=1,3,224,224",
    help="The extents of an input that the model leaves open; a batch alone may stay so.",
)
@click.option(
    "--input", "inputs", multiple=True, metavar="x=L", help="The caller gives x in layout L."
)
@click.option(
    "--output", "outputs", multiple=True, metavar="y=L", help="The caller takes y in layout L."
)
@click.option(
    "--emit",
    type=click.Choice(["functions", "inlined", "plain", "onnxruntime", "plan"]),
    default="functions",
    show_default=True,
    help="Functions of the model's own, or their bodies inlined, for runtimes without functions; "
    "plain ONNX; kernels of onnxruntime (experimental); or no model, but a plan in JSON with its "
    "weights.",
)
@click.option(
    "--verify",
    type=click.Choice(["nodes", "outputs", "off"]),
    default="nodes",
    show_default=True,
    help="Run each node alone, with zero, junk and NaN in padding; outputs only; or nothing.",
)
@click.option(
    "--feed",
    metavar="INPUTS.npz",
    help="Arrays to verify with, by names of inputs, as MODEL takes them; others are drawn.",
)
@click.option(
    "--rtol",
    type=click.FloatRange(min=0),
    metavar="NUMBER",
    help="How far outputs may be off, relative; without it, four times as far as MODEL is from "
    "itself when it is run in two ways.",
)
@click.option(
    "--unproved",
    is_flag=True,
    help="Use an undecided layout; running the model shows whether elements are lost.",
)
@click.option(
    "--explain",
    is_flag=False,
    flag_value=_ALL,
    metavar="[VALUE]",
    help="Say why each transform is left, or why a value lies as it does.",
)
@click.option(
    "--report", metavar="OUT.html", help="Write a page with the graph coloured by layout."
)
@click.option(
    "--check",
    "checked",
    metavar="OUT",
    help="Check the certificate of a model, or of a plan, without planning.",
)
@click.option("--against", metavar="MODEL", help="With --check: the model that was planned.")
@JSON
@quiet
@forced
def propagate(model: str | None, output: str | None, **options: Any) -> int:
    """Carry layouts through a model of ONNX, with as little moved as can be, and prove it.

    Operators that are asked for a layout get it. Whatever does not care follows them, weights are
    laid beforehand, and what has to be moved is as little as there can be: an integer for each row
    of a linear program proves that, and the model carries them. The rules that are used are proved,
    every node is run alone, and nothing that was found wrong is written.

    \b
      layoutdsl propagate model.onnx --prefer Conv=NHWC -o out.onnx
      layoutdsl propagate model.onnx --engine acme.layout -o out.onnx
      layoutdsl propagate model.onnx --prefer Conv=NCHW16c,NHWC \\
          --input x=NHWC -o out.onnx
      layoutdsl propagate model.onnx --prefer Conv=NCHW --emit plain -o out.onnx
      layoutdsl propagate --check out.onnx --against model.onnx

    Exit code 1: a rule, a node or a certificate was found wrong, and nothing is written. 3: it is
    written, but a rule is undecided, or the plan is only near its bound; or a layout is undecided,
    and nothing is written unless --unproved is given.
    """
    needed()
    if options["checked"] is not None:
        return _check(model, output, options)
    if options["against"] is not None:
        raise Failure(Exit.USAGE, "--against is for --check", "write `--check OUT --against MODEL`")
    if model is None:
        raise Failure(Exit.USAGE, "no model is named", "see `layoutdsl propagate --help`")
    for place in (output, options["report"]):
        if place is not None:
            _refuse(place, model, options["engine"], options["feed"])
    _refuse_twice(output, options["report"])
    with failing(model):
        found = _propagated(model, options)
    name = Path(model).name
    lines = list(_lines(name, found))
    asked = options["explain"]
    told = lines if asked is None else list(_explained(found, asked))
    if found.status != "refuted":
        with failing(model):  # its weights are read once more
            told += _write(found, output, options["report"], name, lines)
    if options["form"] == "json":
        say_json(_told(found, model, output))
    else:
        passed = found.status == "done" and asked is None
        (say_passed if passed else say)("\n".join(map(printable, told)))
    return _CODES[found.status]


def needed() -> None:
    """Fail where a package that models need is not there."""
    for name in ("onnx", "scipy"):
        if find_spec(name) is None:
            hint = f"install it: {install_command('onnx')}"
            raise Failure(Exit.USAGE, f"the package {name} is not installed", hint)


def _propagated(model: str, options: Mapping[str, Any]) -> Propagation:
    from layoutdsl.commands.propagating import propagate as propagated

    preferred: dict[str, list[str | Layout]] = {}
    for name, words in pairs(options["prefer"], "--prefer", "Conv=NHWC"):
        preferred.setdefault(name, []).extend(layouts(words))
    shapes = {
        name: extents(name, words)
        for name, words in pairs(options["shapes"], "--shape", "x=1,3,224,224")
    }
    ends = [
        {name: layout(word) for name, word in pairs(options[each], f"--{each[:-1]}", "x=NHWC")}
        for each in ("inputs", "outputs")
    ]
    if not preferred and options["engine"] is None:
        hint = "name the layouts that operators prefer: --prefer Conv=NHWC, or --engine nhwc"
        raise Failure(Exit.USAGE, "the model gets no preference and no engine", hint)
    return propagated(
        model,
        options["engine"],
        prefer=preferred,
        shapes=shapes,
        inputs=ends[0],
        outputs=ends[1],
        choice=options["choice"],
        emit=options["emit"],
        verify=options["verify"],
        feed=None if options["feed"] is None else _fed(options["feed"]),
        rtol=options["rtol"],
        unproved=options["unproved"],
    )


def _fed(name: str) -> dict[str, Any]:
    from layoutdsl.shell.record_files import read_archive

    return read_archive(name, None, "write it with `np.savez(FILE, x=array)`")[1]


def _refuse(place: str, model: str, *others: str | None) -> None:
    if place == "-":
        hint = "name a file"
        raise Failure(Exit.USAGE, "a model does not go to the standard output", hint)
    refuse_inputs(place, model, *(each for each in others if each is not None))
    with writing(f"`{place}`"):
        if not (folder := Path(place).absolute().parent).is_dir():
            raise NotADirectoryError(ENOTDIR, f"`{folder}` is no folder", place)


def _refuse_twice(output: str | None, report: str | None) -> None:
    """Look whether the page would take the place of the model, or of the weights beside it."""
    if output is None or report is None:
        return
    page, model = Path(report).resolve(), Path(output).resolve()
    if page in (model, *(model.with_name(f"{model.name}.{each}") for each in ("data", "npz"))):
        raise Failure(Exit.USAGE, f"`{report}` is to hold two things", "name another --report")


@contextmanager
def failing(model: str) -> Iterator[None]:
    """What is wrong with a model or with what is asked of it, in words for a shell."""
    from layoutdsl.graphs.models.onnx_faults import UnfitModelError

    with _in_a_line(), usage():
        try:
            yield
        except UnfitModelError as unfit:
            code = Exit.USAGE if unfit.kind == "option" else Exit.INPUT
            raise Failure(code, unfit.message, unfit.remedy or None) from None
        except UnicodeDecodeError:
            raise Failure(Exit.INPUT, "the text of the engine is not UTF-8") from None
        except OSError as failure:
            name = str(failure.filename or model)
            raise Failure(Exit.INPUT, f"`{name}` cannot be read: {reason(failure)}") from None


@contextmanager
def _in_a_line() -> Iterator[None]:
    """Names of a model may hold anything: what is said of them is a line, and does nothing."""
    try:
        yield
    except Failure as failure:
        hint = None if failure.hint is None else printable(failure.hint)
        raise Failure(failure.code, printable(failure.message), hint) from None


def _lines(name: str, found: Propagation) -> Iterator[str]:
    from layoutdsl.graphs.telling.batch import told_batch
    from layoutdsl.graphs.telling.report import proved, run, told

    head, *rest = told(found.figures, name)
    tried = () if found.verified is None else found.verified.batches
    yield from (head, *told_batch(found.batch, tried), *rest)
    yield from proved(found.theorems)
    yield from run(found.verified)


def _explained(found: Propagation, value: str) -> Iterator[str]:
    from layoutdsl.graphs.telling.batch import told_batch
    from layoutdsl.graphs.telling.explain import Explaining

    graph = found.source.graph
    asked = Explaining(graph, found.ways, found.plan, found.layouts, found.figures)
    if value == _ALL:
        yield from told_batch(found.batch)
    with _in_a_line(), usage():
        yield from asked.all() if value == _ALL else asked.one(value)


def _write(
    found: Propagation, output: str | None, report: str | None, name: str, lines: list[str]
) -> Iterator[str]:
    """Write what was asked for, and yield a line for each."""
    if report is not None:
        with writing(f"`{report}`"):
            found.refuse_sources(report)
    if output is not None:
        with writing(f"`{output}`"):
            found.write(output)
        yield f"{'wrote':<18}{output}"
    if report is not None:
        from layoutdsl.files.whole import write_whole

        with writing(f"`{report}`"):
            write_whole(report, found.page(name, lines), widest_mode(found.source.files))
        yield f"{'wrote':<18}{report}"


def _told(found: Propagation, model: str, output: str | None) -> dict[str, Any]:
    """What `--json` prints."""
    figures = found.figures
    return {
        "status": {"done": "done", "refuted": "refuted", "open": "undecided"}[found.status],
        "model": model,
        "output": None if found.status == "refuted" else output,
        "batch": None if found.batch is None else _batch(found.batch),
        **asdict(figures),
        "minimal": figures.minimal,
        "rules": asdict(found.theorems),
        "verified": None if found.verified is None else _numbers(asdict(found.verified)),
    }


def _batch(batch: Open) -> dict[str, Any]:
    from layoutdsl.graphs.telling.batch import Kept

    return {"open": isinstance(batch, Kept), **asdict(batch)}


def _numbers(found: dict[str, Any]) -> dict[str, Any]:
    """JSON has nothing for what is no number."""
    return {
        key: None if isinstance(each, float) and not isfinite(each) else each
        for key, each in found.items()
    }


def _check(model: str | None, output: str | None, options: Mapping[str, Any]) -> int:
    against = options["against"] or model
    if against is None or output is not None:
        hint = "write `layoutdsl propagate --check out.onnx --against model.onnx`"
        raise Failure(Exit.USAGE, "--check compares two models, and writes none", hint)
    from layoutdsl.commands.propagating import check_model

    with failing(against):
        found = check_model(options["checked"], against)
    if options["form"] == "json":
        say_json({"status": "confirmed" if found.holds else "failed", **asdict(found)})
    else:
        from layoutdsl.graphs.telling.report import checked

        lines = "\n".join(map(printable, checked(found, Path(options["checked"]).name)))
        (say_passed if found.holds else say)(lines)
    return Exit.OK if found.holds else Exit.REFUTED
