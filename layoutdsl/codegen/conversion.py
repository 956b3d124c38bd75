"""Buffers of one layout into those of another: straight, or through the tensor.

Where two layouts have common digits, a buffer is moved straight: by compiled C where that takes the
arrays, by the generated numpy module otherwise. Where they have none, the tensor is unpacked and
packed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdsl.codegen.native.conversion import NativeConversion
    from layoutdsl.codegen.native.module import NativeModule

MOST_THREADS = 256


@dataclass(frozen=True, slots=True)
class StraightConversion:
    """Buffers of one layout into those of another, region by region.

    Attributes:
        plain: the generated numpy module; its `VALIDATED` names the proof.
        native: compiled C, for arrays that it takes.
        digits: the hash of the proof that the digits which the C is made from are those of the
            layouts.
    """

    plain: ModuleType
    native: NativeConversion | None = None
    digits: str | None = None

    fallback = None

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
            threads: how many may work at once, 1 to 256; numpy uses one.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        _refuse_threads(threads)
        if self.native is not None:
            found = self.native.converted(src, shape, out, fill, threads)
            if found is not None:
                return found
        given = {} if fill is None else {"fill": fill}
        return self.plain.convert(src, shape, out, **given)


@dataclass(frozen=True, slots=True)
class TensorConversion:
    """Buffers of one layout into those of another, through the tensor.

    Attributes:
        first: unpacks.
        second: packs; its axes are those of the first.
        fallback: why there is no straight way.
    """

    first: ModuleType | NativeModule
    second: ModuleType | NativeModule
    fallback: str

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
        _refuse_threads(threads)
        given = {} if fill is None else {"fill": fill}
        tensor = self.first.unpack(src, shape, **_threads(self.first, threads))
        return self.second.pack(tensor, out, **given, **_threads(self.second, threads))


def _threads(module: ModuleType | NativeModule, threads: int) -> dict[str, Any]:
    return {"threads": threads} if getattr(module, "target", "numpy") == "native" else {}


def _refuse_threads(threads: object) -> None:
    if type(threads) is not int:
        raise TypeError(f"`threads` is a {type(threads).__name__}, not an int")
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"`threads` is {threads}, not 1 to {MOST_THREADS}")
