"""What a text of CuTe is made of: swizzles, offsets, pointers and layouts; and its spelling."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from layoutdsl.language.texts.source import Span


@dataclass(frozen=True, slots=True)
class Leaf:
    """An extent or a stride; ``value`` is ``None`` where it is not known, but a multiple."""

    value: int | None
    multiple: int
    span: Span
    text: str


Form: TypeAlias = "Leaf | tuple[Form, ...]"


@dataclass(frozen=True, slots=True)
class Swizzle:
    """``S<bits,base,shift>``: so many bits from ``base`` on, and those ``shift`` above them."""

    bits: int
    base: int
    shift: int
    text: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a tensor lies: bits of an element, its type if that is named, a swizzle of bytes."""

    bits: int | None
    kind: str | None
    swizzle: Swizzle | None
    address: int | None
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Shaped:
    """Extents and strides; ``None`` for those that are compact, the leftmost moving fastest."""

    shape: Form
    strides: Form | None
    span: Span

    @property
    def placed(self) -> Form | None:
        """The strides that are given, or those that are compact where all extents are known."""
        return _compact(self.shape) if self.strides is None else self.strides

    @property
    def text(self) -> str:
        """Extents and strides, as CuTe prints them."""
        strides = self.placed
        return _form_text(self.shape) + ("" if strides is None else f":{_form_text(strides)}")


Part: TypeAlias = Swizzle | Pointer | Shaped


@dataclass(frozen=True, slots=True)
class Chain:
    """The parts, the last of which is applied first; ``tensor`` where they are a tensor's."""

    parts: tuple[Part, ...]
    tensor: bool

    @property
    def text(self) -> str:
        """The parts as CuTe prints them."""
        found = " o ".join(_in_chain(each) for each in self.parts[:-1])
        found += f"{' o ' if found else ''}{self.parts[-1].text}"
        return f"tensor<{found}>" if self.tensor else found


def offset_of(part: Part) -> Leaf | None:
    """Return the number that a part before the last one is, where it is one: an offset."""
    if isinstance(part, Shaped) and part.strides is None and isinstance(part.shape, Leaf):
        return part.shape
    return None


def _in_chain(part: Part) -> str:
    offset = offset_of(part)
    return part.text if offset is None else offset.text


def leaves(form: Form) -> tuple[Leaf, ...]:
    """Return the numbers of a form from the left."""
    if isinstance(form, Leaf):
        return (form,)
    return tuple(leaf for each in form for leaf in leaves(each))


def _form_text(form: Form) -> str:
    return form.text if isinstance(form, Leaf) else f"({','.join(map(_form_text, form))})"


def _compact(shape: Form) -> Form | None:
    """Return the strides that a shape of known extents has, where none are given."""
    values = [leaf.value for leaf in leaves(shape)]
    if None in values:
        return None
    steps = iter([prod(v or 0 for v in values[:n]) for n in range(len(values))])

    def placed(form: Form) -> Form:
        if isinstance(form, tuple):
            return tuple(map(placed, form))
        step = next(steps)
        return Leaf(step, step, form.span, str(step))

    return placed(shape)
