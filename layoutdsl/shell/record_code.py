"""``generate`` of records: each a folder, of modules or of C files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.shell.destination import refuse, refuse_foreign
from layoutdsl.shell.exits import Exit, Failure, reading, usage, writing
from layoutdsl.shell.output import error, say, say_passed
from layoutdsl.shell.targets import Target

if TYPE_CHECKING:
    from layoutdsl.commands import GeneratedRecord, RecordTarget
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.language.meaning.storage import StorageName


def refuse_options(given: Mapping[str, str | None]) -> None:
    """Fail where options were given that records do not take."""
    for option, value in given.items():
        if value not in (None, "items"):
            message = f"{option} is not for records"
            raise Failure(
                Exit.USAGE, message, "they are stored in bytes, and code serves all shapes"
            )


def record_packages(
    chosen: Target, record: Record, language: str, output: str, mode: str, trust: str
) -> int:
    """Write the package of a record that was named into the folder ``output``.

    Raises:
        Failure: there is no folder to write into, or something else is in its place.
    """
    if output == "-":
        message = f"`{record.name}` is a record, and becomes a folder of modules"
        raise Failure(Exit.USAGE, message, f"name it: -o {record.name.lower()}/")
    return _written([(made_of(chosen, record, language, trust), Path(output))], chosen, mode)


def word_packages(
    chosen: Target, layout: Layout, storage: StorageName, output: str, mode: str, trust: str
) -> int:
    """Write the C of a layout that is stored in words into the folder ``output``.

    Raises:
        Failure: there is no folder to write into, or there is no such C.
    """
    from layoutdsl.code.records import generate_words
    from layoutdsl.commands import CompilerError
    from layoutdsl.shell.verdicts import refusing

    if output == "-":
        message = f"C of `{layout.name}` in words becomes a folder of files"
        raise Failure(Exit.USAGE, message, f"name it: -o {layout.name.lower()}/")
    try:
        with usage(), refusing(chosen):
            made = generate_words(
                layout, storage, validate=trust == "plain", unproved=chosen.unproved
            )
    except CompilerError as failed:
        raise Failure(Exit.USAGE, failed.message, failed.remedy) from None
    return _written([(made, Path(output))], chosen, mode)


def beside_layouts(chosen: Target, language: str, output: str, mode: str, trust: str) -> int:
    """Write the packages of all records of a text into a folder, each by its name."""
    made = []
    for record in chosen.module.records.values():
        if record.parameters:
            error(f"note: `{record.name}` has open parameters and is left out")
            continue
        made.append((made_of(chosen, record, language, trust), Path(output) / record.name))
    return _written(made, chosen, mode)


def made_of(chosen: Target, record: Record, language: str, trust: str) -> GeneratedRecord:
    """Return the code of a record, in numpy or in C."""
    from layoutdsl.commands import generate_record
    from layoutdsl.shell.verdicts import refusing

    with usage(), refusing(chosen):
        target: RecordTarget = "c" if language == "c" else "numpy"
        validate = trust == "plain"
        return generate_record(record, target, validate=validate, unproved=chosen.unproved)


def _written(made: list[tuple[GeneratedRecord, Path]], chosen: Target, mode: str) -> int:
    files = [(each, folder / name) for each, folder in made for name in each.files]
    if mode == "check":
        same = [_same(place, each.files[place.name]) for each, place in files]
        return Exit.OK if all(same) else Exit.REFUTED
    for each, place in files:
        _refuse(place, each.files[place.name], chosen.place)
    for each, folder in made:
        with writing(f"`{folder}`"):
            each.write(folder)
        say_passed(f"wrote {folder}/ ({len(each.files)} files)")
    return Exit.OK


def _refuse(place: Path, text: str, spec: str) -> None:
    """Fail where writing would lose a file of somebody else."""
    if place.suffix == ".py":
        refuse(place, text, spec)
    else:
        refuse_foreign(place, spec, "choose another folder")


def _same(place: Path, text: str) -> bool:
    found = False
    if place.exists():
        with reading(f"`{place}`"):
            found = place.read_bytes() == text.encode()
    if found:
        say_passed(f"same: {place}")
    else:
        say(f"differs: {place}")
    return found
