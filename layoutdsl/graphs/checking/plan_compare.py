"""A plan in JSON and its weights held against what a plan has to come to, piece by piece.

Nothing of either is believed: the text may say nothing twice, and the archive has just the members
that are written, stored as they are, of which every byte is compared.

Source: RFC 8259, section 4; PKWARE, APPNOTE.TXT 6.3.10.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any

from layoutdsl.files import npy
from layoutdsl.graphs.checking.onnx_compare import PIECE
from layoutdsl.graphs.checking.warrant import KEY
from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.models.onnx_faults import UnfitModelError
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.models.onnx_wire import WireError, read
from layoutdsl.graphs.models.plan_files import beside, plan_said
from layoutdsl.language.texts.values import printable

if TYPE_CHECKING:
    from zipfile import ZipFile

MOST = 1 << 28
"""Bytes of a plan's text; a network of 100,000 nodes has less."""

_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """A plan that lies in a file.

    Attributes:
        place: of its text.
        text: what that says.
    """

    place: Path
    text: dict[str, Any]

    @property
    def said(self) -> dict[str, str]:
        """Its metadata."""
        found = self.text.get("said")
        text = found.get(KEY) if isinstance(found, dict) else None
        return {KEY: text} if isinstance(text, str) else {}


def read_plan(place: Path) -> WrittenPlan | None:
    """Return the plan that a file holds; ``None`` where it holds no JSON, and may be a model.

    Raises:
        UnfitModelError: it is JSON, and no plan.
        OSError: it cannot be read.
    """
    handle = os.open(place, _LOOK)
    try:
        found = os.fstat(handle)
        if not S_ISREG(found.st_mode) or not os.pread(handle, 64, 0).lstrip().startswith(b"{"):
            return None
        data = read(handle, 0, min(found.st_size, MOST + 1))
    except WireError:
        data = b""  # it was cut short meanwhile
    finally:
        os.close(handle)
    words, remedy = f"`{place}` is no plan of layoutdsl", "write it again with `--emit plan`"
    if len(data) > MOST:
        raise UnfitModelError(f"`{place}` has more than {MOST} bytes of text", remedy)
    try:
        said = json.loads(data, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:
        raise UnfitModelError(f"{words}: it is no JSON, or says something twice", remedy) from wrong
    if said.get("format") != "layoutdsl plan":
        raise UnfitModelError(words, remedy)
    return WrittenPlan(place, said)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: readers take the first of two, or the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is said twice")
    return found


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def different_plan(written: WrittenPlan, model: Model, emission: Emission) -> Iterator[str]:
    """Yield what is there, and is not what a plan comes to.

    Args:
        written: that is there.
        model: that was planned.
        emission: what it comes to.

    Raises:
        OSError: the weights cannot be read.
    """
    wanted = json.loads(json.dumps(plan_said(model.graph, emission, written.said)))
    yield from _parts("", wanted, written.text)
    yield from _weights(beside(written.place), emission)


def _parts(place: str, wanted: Any, found: Any) -> Iterator[str]:
    """The first part of a value that is another one, named by its place in it."""
    if type(wanted) is not type(found):
        yield f"`{place}` is {_short(found)}, and has to be {_short(wanted)}"
    elif isinstance(wanted, dict):
        for key in dict.fromkeys((*wanted, *found)):
            where = f"{place}.{key}" if place else key
            if key not in found:
                yield f"`{_clean(where)}` is missing"
                return
            if key not in wanted:
                yield f"`{_clean(where)}` is none of the plan"
                return
            own = list(_parts(where, wanted[key], found[key]))
            if own:
                yield from own
                return
    elif isinstance(wanted, list):
        if len(wanted) != len(found):
            yield f"`{place}` has {len(found)} entries, and has to have {len(wanted)}"
            return
        for number, (one, two) in enumerate(zip(wanted, found, strict=True)):
            if own := list(_parts(f"{place}[{number}]", one, two)):
                yield from own
                return
    elif wanted != found:
        yield f"`{_clean(place)}` is {_short(found)}, and has to be {_short(wanted)}"


def _clean(text: str) -> str:
    clean = printable(text)
    return clean if len(clean) <= 80 else f"{clean[:77]}..."


def _short(value: object) -> str:
    try:
        return _clean(json.dumps(value))
    except RecursionError:
        return "something deep"


def _weights(place: Path, emission: Emission) -> Iterator[str]:
    """What of an archive is not the weights of a plan, in their order."""
    import zipfile

    wanted = [f"{number}.npy" for number in range(len(emission.constants))]
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
            if [each.filename for each in members] != wanted:
                yield f"`{place.name}` has other members than the plan has weights"
                return
            if any(each.compress_type != zipfile.ZIP_STORED for each in members):
                yield f"`{place.name}` has members that are not stored as they are"
                return
            for name, member in zip(emission.constants, wanted, strict=True):
                if not _holds(archive, member, emission, name):
                    yield f"the weight `{_clean(name)}` is not what the model has, packed"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as wrong:
        yield f"`{place.name}` is no archive of weights: {_clean(str(wrong))}"


class _Comparing:
    """Something to write to, that compares what is written with what is there."""

    def __init__(self, there: IO[bytes]) -> None:
        self._there, self.same = there, True

    def write(self, data: Any) -> int:
        own = memoryview(data)
        for start in range(0, own.nbytes, PIECE):
            piece = own[start : start + PIECE]
            self.same = self.same and self._there.read(piece.nbytes) == piece
        return own.nbytes


def _holds(archive: ZipFile, member: str, emission: Emission, name: str) -> bool:
    """Whether a member is, byte for byte, what is written of a weight."""
    with archive.open(member) as there:
        comparing = _Comparing(there)
        npy.write(comparing, emission.constants[name])  # type: ignore[arg-type]
        return comparing.same and not there.read(1)
