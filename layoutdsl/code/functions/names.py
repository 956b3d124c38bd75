"""Names in formulas: those of a layout, where they mean nothing else in the language."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.integers.expr import (
    Expr,
    Extent,
    Index,
    substitute,
)
from layoutdsl.language.meaning.model import Layout, instantiate

_ON_THE_SHEET = ("offset", "size", "physical_shape", "padded_extents", "has_slot", "holds")
_PYTHON = frozenset({*keyword.kwlist, *_ON_THE_SHEET, "min", "max"})
_SYMPY = frozenset({*keyword.kwlist, *_ON_THE_SHEET, "floor", "ceiling", "symbols"})
_WORDS_OF_C = """
    auto bool break case char const continue default do double else enum extern false float for
    goto if inline int long register restrict return short signed sizeof static struct switch true
    typedef union unsigned void volatile while alignas alignof constexpr nullptr static_assert
    thread_local typeof typeof_unqual asm linux unix
"""
_C = frozenset(_WORDS_OF_C.split())
_WORDS_OF_OPENCL = """
    half quad complex imaginary kernel global local constant private generic read_only write_only
    read_write uniform pipe event_t queue_t clk_event_t reserve_id_t ndrange_t sampler_t size_t
    ptrdiff_t intptr_t uintptr_t cl_mem_fence_flags uchar ushort uint ulong NULL INFINITY NAN
    MAXFLOAT HUGE_VALF HUGE_VAL printf vec_step select
"""
_OPENCL = _C | frozenset(_WORDS_OF_OPENCL.split())
_OF_OPENCL = re.compile(
    r"__\w+|(u?(char|short|int|long)|float|double|half|bool|quad)\d+(x\d+)?|image\w*_t"
    r"|(as|convert)_\w+|atomic_\w+|memory_\w+|(CL|CLK|M)_\w+|\w+_(MAX|MIN|BIT|DIG|EPSILON)"
)
_WORDS_OF_CUDA = """
    alignas and and_eq asm bitand bitor catch char8_t char16_t char32_t class compl concept
    consteval constexpr constinit const_cast co_await co_return co_yield decltype delete
    dynamic_cast explicit export final friend import module mutable namespace new noexcept not
    not_eq nullptr operator or or_eq override private protected public reinterpret_cast requires
    static_assert static_cast template this thread_local throw try typeid typename using virtual
    wchar_t xor xor_eq threadIdx blockIdx blockDim gridDim warpSize dim3 NULL NAN INFINITY
"""
_CUDA = _C | frozenset(_WORDS_OF_CUDA.split())
_OF_CUDA = re.compile(
    r"__\w+|u?(char|short|int|long|longlong)[1-4]|(float|double)[1-4]|CUDART_\w+|M_\w+"
    r"|\w+_(MAX|MIN|BIT|DIG|EPSILON)"
)
_TRITON = frozenset({*keyword.kwlist, "tl", "triton", "min", "max"})
_FROM_STDINT = re.compile(
    r"u?int\w*_t|U?INT\w*_(MAX|MIN|C)|(SIZE|PTRDIFF|SIG_ATOMIC|WCHAR|WINT)_(MAX|MIN)|NULL"
)


def renamed(layout: Layout, language: str) -> Layout:
    """Return the layout with ``_`` after each name that is taken in a language."""
    return instantiate(layout, _spoken(layout, language)[1])


def renamed_inverse(
    inverse: Inverse | NotDigits, layout: Layout, language: str
) -> Inverse | NotDigits:
    """Return the inverse of the layout that `renamed` gives."""
    if isinstance(inverse, NotDigits):
        return inverse
    spoken, values = _spoken(layout, language)

    def pairs(named: tuple[tuple[str, Expr], ...]) -> tuple[tuple[str, Expr], ...]:
        return tuple((spoken.get(name, name), substitute(expr, values)) for name, expr in named)

    return Inverse(
        pairs(inverse.steps),
        pairs(inverse.index),
        pairs(inverse.padded),
        tuple(each.substituted(values) for each in inverse.guards),
        tuple(substitute(each, values) for each in inverse.radices),
    )


def _spoken(layout: Layout, language: str) -> tuple[dict[str, str], dict[str, Expr]]:
    """What each name is called, and what stands for it."""
    names = [*(axis.name for axis in layout.axes), *layout.symbols]
    spoken = dict(zip(names, _free(names, language), strict=True))
    values: dict[str, Expr] = {name: Extent(spoken[name]) for name in layout.symbols}
    values |= {axis.name: Index(spoken[axis.name]) for axis in layout.axes}
    return spoken, values


def _free(names: Sequence[str], language: str) -> list[str]:
    if language == "latex":
        return [_italic(name) for name in names]
    taken = set(names)
    found = []
    for name in names:
        free = name
        while _reserved(free, language) or (free != name and free in taken):
            free += "_"
        taken.add(free)
        found.append(free)
    return found


def _italic(name: str) -> str:
    """A word keeps its letters together, and is no letter of Greek."""
    return name if len(name) == 1 else rf"\mathit{{{name.replace('_', chr(92) + '_')}}}"


def _reserved(name: str, language: str) -> bool:
    match language:
        case "c":
            return name in _C or _FROM_STDINT.fullmatch(name) is not None
        case "opencl":
            return name in _OPENCL or _OF_OPENCL.fullmatch(name) is not None
        case "cuda":
            return name in _CUDA or _OF_CUDA.fullmatch(name) is not None
        case "triton":
            return name in _TRITON
        case "python":
            return name in _PYTHON
        case "sympy":
            return name in _SYMPY
        case _:
            return False
