"""Buffers of one layout into those of another: straight, or through the tensor.

Compiled C moves a buffer straight, where it takes the arrays. Else the generated numpy module does,
where two layouts have common digits; where they have none, the tensor is unpacked and packed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from layoutdsl.language.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.code.modules import Moves
    from layoutdsl.code.native.conversion import NativeConversion


@dataclass(frozen=True, slots=True)
class StraightConversion:
    """Buffers of one layout into those of another, region by region.

    Attributes:
        plain: the generated numpy module; its `VALIDATED` names the proof.
        native: compiled C, for arrays that it takes.
    """

    plain: ModuleType
    native: NativeConversion | None = None

    fallback = None

    __repr__ = brief

    def __call__(
        self,
        src: Any,
        shape: Sequence[int],
        out: Any = None,
        fill: Any = None,
        threads: int = 1,
    ) -> Any:
        """Return the buffer of the second layout for a buffer of the first.

        Args:
            src: a buffer of the first layout, in its shape or flat; padding is not read.
            shape: the extents of the tensor, in the axis order of the first layout.
            out: the buffer to write, which does not overlap `src`; a new one is made without it.
            fill: the number in padding; that of the second layout if left out.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        if self.native is not None:
            found = self.native.converted(src, shape, out, fill, threads)
            if found is not None:
                return found
        given = {} if fill is None else {"fill": fill}
        return self.plain.convert(src, shape, out, **given, threads=threads)


@dataclass(frozen=True, slots=True)
class TensorConversion:
    """Buffers of one layout into those of another, through the tensor.

    Attributes:
        first: unpacks.
        second: packs; its axes are those of the first.
        fallback: why numpy has no straight way.
        native: compiled C, which may have one, for arrays that it takes.
    """

    first: Moves
    second: Moves
    fallback: str
    native: NativeConversion | None = None

    __repr__ = brief

    def __call__(
        self,
        src: Any,
        shape: Sequence[int],
        out: Any = None,
        fill: Any = None,
        threads: int = 1,
    ) -> Any:
        """Return the buffer of the second layout for a buffer of the first.

        The arguments are those of `StraightConversion`. Elements that have no slot in the first
        layout are what `unpack` makes of them.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        if self.native is not None:
            found = self.native.converted(src, shape, out, fill, threads)
            if found is not None:
                return found
        given = {} if fill is None else {"fill": fill}
        tensor = self.first.unpack(src, tuple(shape), threads=threads)
        return self.second.pack(tensor, out, **given, threads=threads)
