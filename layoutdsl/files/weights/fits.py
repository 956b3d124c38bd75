"""Whether tensors fit what is said of them, and what was perhaps meant."""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.files.weights.bounds import shown
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.texts.faults import did_you_mean


def travels_as(wanted: ElementType, element: ElementType) -> bool:
    """Return whether items of a file may be elements: of this type, or of one narrower."""
    if wanted.item != element.item:
        return False
    if element.name == "f8" and wanted.kind != "u":
        return True  # files of numpy do not say which float of 8 bits it is
    return not wanted.fills_item or wanted == element or wanted.name in ("f8", element.kind + "8")


def nearest(pattern: str, names: Sequence[str]) -> str:
    """Return what was perhaps meant: the closest name, or one with the same last part."""
    close = did_you_mean(pattern, names)
    if close is not None:
        return close.rstrip("?")
    last = pattern.rpartition("*")[2].rpartition(".")[2]
    alike = [each for each in names if last and each.endswith(last)]
    some = ", ".join(shown(each) for each in (alike or names)[:3])
    return f"there are {some}" if some else "the file has no tensor"


def extents_text(shape: tuple[int, ...]) -> str:
    """Return a shape as messages have it."""
    return " x ".join(map(str, shape)) or "()"
