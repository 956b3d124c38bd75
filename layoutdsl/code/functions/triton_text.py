"""Index functions for kernels in Triton, where quotients of tensors go towards zero as in C.

Arguments are tensors of integers, or integers. Triton works in 32 bits where all it is given has
32 bits, and an integer of 1 is none of its tensors; so where 64 are needed each argument is cast.
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutdsl.code.functions.machine import Backward, Functions
from layoutdsl.code.functions.text import BUFFER, DOMAIN, HELD, Known, Language, remarks
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.expr import Constant, Expr, Printer
from layoutdsl.language.integers.languages import TRITON
from layoutdsl.language.meaning.model import Condition

TYPES = {"int32": "tl.int32", "int64": "tl.int64"}

PRINTER = Printer(TRITON)


def write(functions: Functions, known: Known) -> str:
    """Return functions to be called from a kernel."""
    return "\n".join(_lines(functions, known))


def _lines(said: Functions, known: Known) -> Iterable[str]:
    text, name = PRINTER.text, said.layout.name
    wide, symbols = known.integers.name == "int64", said.layout.symbols
    given = (*said.axes, *symbols)
    yield from ("import triton", "import triton.language as tl", "")
    yield from (f"# {line}".rstrip() for line in remarks(said, known, TYPES[known.integers.name]))
    yield from _function(f"{name}_offset", given, (), _values(said.offset), wide)
    yield f"# {BUFFER}"
    yield from _function(f"{name}_size", symbols, (), _values(said.size), wide)
    yield from _function(f"{name}_physical_shape", symbols, (), _values(*said.box), wide)
    if said.domain:
        yield f"# {DOMAIN}"
        yield from _function(f"{name}_has_slot", given, (), _all(said.domain), wide)
    back = said.backward
    if isinstance(back, str):
        yield f"# no closed inverse: {back}"
        return
    yield from _function(f"{name}_padded_extents", symbols, (), _values(*back.padded), wide)
    steps = [step for piece in back.pieces for step in piece.steps]
    lines = [f"{step} = {text(expr)}" for step, expr in (*steps, *back.index)]
    yield f"# {HELD}: the index, and whether it is an element; if not, the index says nothing"
    found = ", ".join([*said.axes, _all(_conditions(back)) or f"{SLOT} >= 0"])
    *rest, _, _ = _function(f"{name}_index", (SLOT, *symbols), lines, found, wide)
    yield from rest


def _conditions(back: Backward) -> list[Condition]:
    """What an element satisfies, but for what is known of numbers, as these are no tensors."""
    steps = [step for piece in back.pieces for step in piece.steps]
    numbers = {name: expr for name, expr in (*steps, *back.index) if isinstance(expr, Constant)}
    guards = [each for piece in back.pieces for each in piece.guards]
    found = [*back.first, *guards, *back.within]
    return [each for each in found if not _evident(each.substituted(numbers))]


def _evident(condition: Condition) -> bool:
    numbers = isinstance(condition.left, Constant) and isinstance(condition.right, Constant)
    return numbers and condition.holds({})


def _all(conditions: Iterable[Condition]) -> str:
    written = [each.written(PRINTER) for each in conditions]
    return written[0] if len(written) == 1 else " & ".join(f"({each})" for each in written)


def _values(*exprs: Expr) -> str:
    return ", ".join(map(PRINTER.text, exprs))


def _function(
    name: str,
    given: tuple[str, ...],
    steps: Iterable[str],
    value: str,
    wide: bool,
) -> list[str]:
    casts = [f"{each} = tl.cast({each}, tl.int64)" for each in given] if wide else []
    body = [f"    {step}" for step in (*casts, *steps, f"return {value}".rstrip())]
    return ["@triton.jit", f"def {name}({', '.join(given)}):", *body, "", ""]


LANGUAGE = Language("triton", TYPES, write, lambda _: TRITON)
