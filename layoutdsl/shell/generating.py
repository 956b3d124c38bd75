"""``generate``: the numpy module of a layout, or its C: a .c, its .h, and a header of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from layoutdsl.language.integers.expr import text
from layoutdsl.shell.destination import refuse, refuse_foreign
from layoutdsl.shell.exits import Exit, Failure, reading, usage, writing
from layoutdsl.shell.options import CHECKER, WORDS, choice, forced, quiet
from layoutdsl.shell.output import error, say, say_passed
from layoutdsl.shell.record_code import (
    beside_layouts,
    record_packages,
    refuse_options,
    word_packages,
)
from layoutdsl.shell.shapes import numbers
from layoutdsl.shell.targets import Target, source_of, target

if TYPE_CHECKING:
    from layoutdsl.commands import Generated, GeneratedC
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.storage import StorageName


@click.command(short_help="Generate numpy or C code, proved.")
@click.argument("written", metavar="FILE[:NAME]")
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="PATH",
    help="A file; a directory, for one module per layout; or - for the standard output.",
)
@click.option(
    "--target",
    "language",
    type=click.Choice(["numpy", "c"]),
    default="numpy",
    show_default=True,
    help="A Python module, or C: a .c, its .h, and layout-kernels.h, which all layouts share.",
)
@click.option(
    "--shape",
    metavar="C=64,H=56",
    help="Of C: only shapes with these extents, which are numbers in the code then.",
)
@click.option(
    "--where",
    "range_",
    metavar="RANGE",
    help='Only shapes in a range: --where "C == 64, H <= 112".',
)
@click.option(
    "--storage",
    type=click.Choice(("items", "bytes", *WORDS)),
    default="items",
    show_default=True,
    help="With another than items elements lie in words, without room between them: a module of "
    "Python also has pack_words, unpack_words and words_shape, and C becomes a folder.",
)
@choice("check", "mode", "Write nothing; exit 1 if what is on the disk differs.")
@choice("unvalidated", "trust", "Generate code that was not proved to do what the layout means.")
@click.option(
    "--unproved",
    is_flag=True,
    help="Generate code for an undecided layout; its head and VALIDATED say so.",
)
@CHECKER
@quiet
@forced
def generate(
    written: str,
    output: str,
    language: str,
    shape: str | None,
    range_: str | None,
    storage: StorageName,
    mode: str,
    trust: str,
    unproved: bool,
    checker: str | None,
) -> int:
    """Prove a layout and generate a numpy module, or C, that packs and unpacks it.

    \b
      layoutdsl generate NCHW16c -o nchw16c.py
      layoutdsl generate NCHW16c --target c -o nchw16c.c
      layoutdsl generate NCHW16c --target c --shape C=3,H=224,W=224 -o rgb.c
      layoutdsl generate AwqWeights --storage i32 -o awq.py
      layoutdsl generate AwqWeights --storage i32 --target c -o awq/
      layoutdsl generate demo.layout -o modules/
      layoutdsl generate demo.layout -o modules/ --check
      layoutdsl generate Q6_K -o q6_k/
      layoutdsl generate NCHW16c -o nchw16c.py --checker coq

    The text of the module is read back, and it is proved for all shapes that it does what the
    layout means; VALIDATED in its head names that proof. Where there is none, nothing is written,
    unless --unvalidated asks for it: then the head says VALIDATED = False. Nothing is generated for
    an undecided layout either, unless --unproved asks for it: then CERTIFICATE and VALIDATED in the
    head begin with `unproved`.

    C is read back and proved likewise: as a nest of loops over a few fixed kernels, which tests
    hold against their meaning. It serves all shapes; extents that are given with --shape or --where
    are numbers in it, which is faster where they are small. The kernels are a header, the same for
    all layouts; a .c refuses one of another version. To the standard output goes the .c alone, with
    its kernels in it.

    A record becomes a folder: a module or C file for each part, proved and read back by itself, and
    one that puts them together. Python imports the folder; it was tried bit by bit at small shapes.

    With --checker coq, `layoutdsl-check` follows the proofs of the layout and of the code again,
    without a solver. What it does not confirm is not written, and the exit code is 3.

    A file that layoutdsl did not write is not replaced, but with --force.
    """
    if checker is not None:
        _refuse_checker(trust)
    chosen = target(written, None if language == "c" else range_, unproved)
    if chosen.record is not None:
        _refuse_records(checker)
        refuse_options({"--shape": shape, "--where": range_, "--storage": storage})
        found = record_packages(chosen, chosen.record, language, output, mode, trust)
        return _with_help(mode, found)
    layouts = _closed(chosen)
    folder = output != "-" and (output.endswith("/") or Path(output).is_dir())
    _refuse_several(chosen, layouts, folder)
    if output == "-" and mode == "check":
        raise Failure(Exit.USAGE, "--check compares with a file", "name it: -o PATH")
    if language == "c":
        if storage != "items":
            _refuse_records(checker)
            refuse_options({"--shape": shape, "--where": range_})
            _refuse_several(chosen, layouts, False)
            found = word_packages(chosen, layouts[0], storage, output, mode, trust)
            return _with_help(mode, found)
        made = [
            _program(chosen, layout, _shapes(layout, shape, range_), trust) for layout in layouts
        ]
        if checker is not None and not _is_confirmed(made, output):
            return Exit.UNDECIDED
        found = _c_files(chosen, made, output, folder, mode)
        found = max(found, _records(chosen, language, output, folder, mode, trust))
        return _with_help(mode, found)
    if shape is not None:
        hint = 'add --target c, or narrow the range: --where "C == 64"'
        raise Failure(Exit.USAGE, "--shape is for C", hint)
    made_in_python = [_module(chosen, layout, storage, trust) for layout in layouts]
    if checker is not None and not _is_confirmed(made_in_python, output):
        return Exit.UNDECIDED
    found = _python_files(chosen, made_in_python, output, folder, mode)
    found = max(found, _records(chosen, language, output, folder, mode, trust))
    return _with_help(mode, found)


def _refuse_checker(trust: str) -> None:
    from layoutdsl.shell.evidence import refuse_missing_checker

    if trust != "plain":
        message = "--unvalidated code has no proofs that --checker could follow"
        raise Failure(Exit.USAGE, message, "leave one of them out")
    refuse_missing_checker()


def _refuse_records(checker: str | None) -> None:
    """Fail where the code puts parts together, which is read off the text and not proved."""
    if checker is not None:
        message = "--checker follows proofs of layouts, and this is the code of a record"
        raise Failure(Exit.USAGE, message, "leave it out")


def _is_confirmed(made: Sequence[Generated | GeneratedC], output: str) -> bool:
    """Whether `layoutdsl-check` confirms what was proved of layouts and of their code."""
    from layoutdsl.commands import confirm
    from layoutdsl.shell.evidence import problem_text

    found = confirm((each.checked for each in made), made)
    for problem in found.problems:
        error(problem_text(problem))
    if output == "-":
        error(found.summary)  # the standard output is the code
    else:
        say_passed(found.summary)
    return not found.problems


def _with_help(mode: str, found: int) -> int:
    """Return the exit code; where --check found a difference, say the way out."""
    if mode == "check" and found == Exit.REFUTED:
        error("  = help: the same command without --check writes what differs")
    return found


def _python_files(
    chosen: Target, modules: list[Generated], output: str, folder: bool, mode: str
) -> int:
    """Write the modules, or compare with those on the disk."""
    if output == "-":
        click.echo(modules[0].text, nl=False)
        return Exit.OK
    places = [Path(output) / f"{each.name}.py" if folder else Path(output) for each in modules]
    if folder and mode != "check":
        with writing(f"`{output}`"):
            Path(output).mkdir(parents=True, exist_ok=True)
    pairs = [*zip(modules, places, strict=True)]
    if mode == "check":
        return max((_compare(place, each.text) for each, place in pairs), default=Exit.OK)
    for each, place in pairs:
        refuse(place, each.text, chosen.place)
    for each, place in pairs:
        _write(each, place)
    return Exit.OK


def _refuse_several(chosen: Target, layouts: tuple[Layout, ...], folder: bool) -> None:
    """Fail where one file is to hold none, or several."""
    if len(layouts) != 1 and not folder:
        records = len(chosen.module.records)
        held = f"{len(layouts)} layouts" if layouts or not records else f"{records} records"
        hint = f"name one, as `{chosen.place}:NAME`, or give a directory: -o modules/"
        raise Failure(Exit.USAGE, f"{chosen.called} has {held}", hint)


def _records(
    chosen: Target, language: str, output: str, folder: bool, mode: str, trust: str
) -> int:
    """The records of a whole file, each a package in the folder."""
    if chosen.name is not None or not folder:
        return Exit.OK
    return beside_layouts(chosen, language, output, mode, trust)


def _closed(chosen: Target) -> tuple[Layout, ...]:
    """The layouts that code can be generated for; in a whole file, those without parameters."""
    if chosen.name is not None:
        return chosen.layouts
    for layout in [each for each in chosen.layouts if each.parameters]:
        error(f"note: `{layout.name}` has open parameters and is left out")
    return tuple(each for each in chosen.layouts if not each.parameters)


def _module(chosen: Target, layout: Layout, storage: StorageName, trust: str) -> Generated:
    from layoutdsl.commands import generate as generated
    from layoutdsl.shell.verdicts import refusing

    with usage(), refusing(chosen):
        source = None if chosen.range else source_of(chosen, layout)
        return generated(
            layout,
            source=source,
            storage=storage,
            validate=trust == "plain",
            unproved=chosen.unproved,
        )


def _write(generated: Generated, place: Path) -> None:
    with writing(f"`{place}`"):
        generated.write(place)
    say_passed(f"wrote {place}{_falls_back(generated.fallback)}")


def _compare(place: Path, text: str) -> Exit:
    if not place.exists():
        say(f"differs: {place} is not there")
        return Exit.REFUTED
    with reading(f"`{place}`"):
        same = place.read_bytes() == text.encode()
    if same:
        say_passed(f"same: {place}")
    else:
        say(f"differs: {place}")
    return Exit.OK if same else Exit.REFUTED


def _falls_back(reason: str | None) -> str:
    return "" if reason is None else f"  (element by element: {reason})"


def _c_files(chosen: Target, made: list[GeneratedC], output: str, folder: bool, mode: str) -> int:
    """Write the files, or compare with those on the disk; to the standard output the .c alone."""
    if output == "-":
        click.echo(made[0].program.text, nl=False)
        return Exit.OK
    if not folder and Path(output).suffix not in (".c", ".h", ""):
        hint = f"choose a name such as {Path(output).stem}.c"
        raise Failure(Exit.USAGE, f"`{output}` is no name of a C file", hint)
    _refuse_same_names(chosen, made)
    places = [Path(output) / each.program.name if folder else Path(output) for each in made]
    files = dict[Path, str]()
    with usage():
        for each, place in zip(made, places, strict=True):
            files |= each.files(place)
    if mode == "check":
        return max((_compare(place, text) for place, text in files.items()), default=Exit.OK)
    for place in files:
        _refuse(place, chosen.place)
    if folder:
        with writing(f"`{output}`"):
            Path(output).mkdir(parents=True, exist_ok=True)
    for each, place in zip(made, places, strict=True):
        with writing(f"`{place.with_suffix('.c')}`"):
            written = each.write(place)
        *first, last = written
        names = f"{', '.join(map(str, first))} and {last}"
        say_passed(f"wrote {names}{_falls_back(each.program.fallback)}")
    return Exit.OK


def _refuse_same_names(chosen: Target, made: list[GeneratedC]) -> None:
    """Fail where one program could not hold two of the files."""
    known = dict[str, str]()
    for each in made:
        stem, name = each.program.stem, each.program.name
        if stem in known:
            other = known[stem]
            words = f"functions of `{other}` and of `{name}` would both start with `{stem}_`"
            hint = f"name one, as `{chosen.place}:{other}`, or rename one"
            raise Failure(Exit.USAGE, words, hint)
        known[stem] = name


def _shapes(layout: Layout, shape: str | None, range_: str | None) -> str | None:
    """Both options as one range."""
    said = [] if range_ is None else [range_]
    if shape is not None:
        hint = "name extents: --shape C=64,H=56"
        found = numbers(shape, "--shape", hint)
        if not isinstance(found, dict) or not found:
            raise Failure(Exit.USAGE, f"--shape is `{shape}`, and names no extents", hint)
        said += [_fixed(layout, name, value) for name, value in found.items()]
    return ", ".join(said) or None


def _fixed(layout: Layout, name: str, value: int) -> str:
    """That an extent, or the one of an axis, is a number."""
    named = {name: axis.extent for axis in layout.axes for name in (axis.name, text(axis.extent))}
    if name not in named:
        hint = f"its extents are {', '.join(text(axis.extent) for axis in layout.axes)}"
        raise Failure(Exit.USAGE, f"--shape names `{name}`, which `{layout.name}` has not", hint)
    if value < 1:
        raise Failure(Exit.USAGE, f"--shape gives `{name}` {value} elements", "give it 1 or more")
    return f"{text(named[name])} == {value}"


def _program(chosen: Target, layout: Layout, shapes: str | None, trust: str) -> GeneratedC:
    from layoutdsl.commands import CompilerError, generate_c
    from layoutdsl.shell.verdicts import refusing

    source, validate = source_of(chosen, layout), trust == "plain"
    try:
        with usage(), refusing(chosen):
            return generate_c(
                layout,
                source=source,
                where=shapes,
                validate=validate,
                unproved=chosen.unproved,
            )
    except CompilerError as failed:
        raise Failure(Exit.USAGE, failed.message, failed.remedy) from None


def _refuse(place: Path, spec: str) -> None:
    """Fail where writing would lose a file that layoutdsl did not generate."""
    if place.exists() and not place.is_file():
        raise Failure(Exit.INPUT, f"`{place}` is no file", "choose another name")
    refuse_foreign(place, spec, "choose another name")
