"""The languages that expressions are written in, a table each; `layoutdsl` itself is in `expr`.

Each has its signs, how strongly they bind, and its functions. Where a language has no sign for an
operation, or means another thing by it, the table has a function that says it. None but `layoutdsl`
has tuples: `written` puts sums and products in their place.
"""

from __future__ import annotations

from collections.abc import Callable

from layoutdsl.language.integers.bounds import at_least
from layoutdsl.language.integers.expr import (
    Add,
    Arithmetic,
    Binding,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Expr,
    FloorDiv,
    Infix,
    Max,
    Min,
    Mod,
    Mul,
    Operations,
    Printer,
    Sub,
    Written,
    as_it_is,
    call,
    enclosed_number,
    infix,
)
from layoutdsl.language.integers.written_out import folded


def written(expr: Expr, language: Arithmetic, name: Callable[[str], str] = as_it_is) -> str:
    """Return an expression as text: tuples written out, quotients of numbers worked out.

    Args:
        expr: any.
        language: what it is written in.
        name: what an index or an extent is called.
    """
    return Printer(language, name).text(folded(expr, sums=False))


_OR, _XOR, _AND, _SUM, _PRODUCT, _UNARY, _ATOM = list(Binding)[1:]

_SUMS: Operations = {Add: infix(" + ", _SUM), Sub: infix(" - ", _SUM), Mul: infix("*", _PRODUCT)}
_BITS: Operations = {
    BitOr: infix(" | ", _OR),
    BitXor: infix(" ^ ", _XOR),
    BitAnd: infix(" & ", _AND),
}


def _rounded_up(printer: Printer, expr: CeilDiv) -> Written:
    left, right = printer.text(expr.left, _ATOM), printer.text(expr.right, _UNARY)
    return f"-(-{left}//{right})", _SUM


_PYTHON: Operations = {
    **_SUMS,
    **_BITS,
    FloorDiv: infix("//", _PRODUCT),
    Mod: infix("%", _PRODUCT),
    CeilDiv: _rounded_up,
}
PYTHON = Arithmetic({**_PYTHON, Min: call("min"), Max: call("max")})
"""Integers of any size, and arrays of numpy where there is no `min` and no `max`."""
NUMPY = Arithmetic({**_PYTHON, Min: call("np.minimum"), Max: call("np.maximum")})
"""Arrays of numpy."""


def machine(
    quotient: str,
    smaller: Callable[[str, str], str],
    larger: Callable[[str, str], str],
    number: Callable[[int], str] = str,
) -> Arithmetic:
    """Return a language whose quotients go towards zero, where no dividend is negative.

    A ceiling has to be said by a quotient before.

    Args:
        quotient: its sign between dividend and divisor.
        smaller: the smaller of two values.
        larger: the larger of two.
        number: a number that is not negative.
    """

    def of(word: Callable[[str, str], str]) -> Callable[[Printer, Min | Max], Written]:
        return lambda printer, expr: (
            word(printer.text(expr.left), printer.text(expr.right)),
            _ATOM,
        )

    return Arithmetic(
        {
            **_SUMS,
            BitOr: Infix(" | ", _OR, _UNARY, _UNARY),
            BitXor: Infix(" ^ ", _XOR, _UNARY, _UNARY),
            BitAnd: Infix(" & ", _AND, _UNARY, _UNARY),
            FloorDiv: infix(quotient, _PRODUCT),
            Mod: infix("%", _PRODUCT),
            Min: of(smaller),
            Max: of(larger),
        },
        lambda value: (number(value), _ATOM) if value >= 0 else (f"-{number(-value)}", _SUM),
    )


INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


def c_family(*, signed: bool) -> Arithmetic:
    """Return the arithmetic of C, OpenCL C and CUDA C++, in integers with a sign or without one.

    A number beyond the usual ones says that it has no sign, where the type has none: it would be
    worked out in more bits than are needed, or in none.
    """
    most = LONG_MAX if signed else INT_MAX
    return machine(
        "/",
        lambda one, other: f"(({one}) < ({other}) ? ({one}) : ({other}))",
        lambda one, other: f"(({one}) > ({other}) ? ({one}) : ({other}))",
        lambda value: f"{value}u" if value > most else str(value),
    )


TRITON = machine(
    "//",
    lambda one, other: f"tl.minimum({one}, {other})",
    lambda one, other: f"tl.maximum({one}, {other})",
)
"""Tensors of integers; quotients of these go towards zero as in C."""

AFFINE = Arithmetic(
    {
        Add: infix(" + ", _SUM),
        Sub: infix(" - ", _SUM),
        **{
            operation: Infix(f" {word} ", _PRODUCT, _PRODUCT, _ATOM)
            for operation, word in (
                (Mul, "*"),
                (FloorDiv, "floordiv"),
                (CeilDiv, "ceildiv"),
                (Mod, "mod"),
            )
        },
    }
)
"""Affine expressions of MLIR, where quotients and remainders round down.

Source: MLIR, "'affine' Dialect", section Affine Expressions.
"""

TVM = Arithmetic(
    {
        operation: infix(f" {sign} ", level)
        for operation, sign, level in (
            (BitOr, "|", _OR),
            (BitXor, "^", _XOR),
            (BitAnd, "&", _AND),
            (Add, "+", _SUM),
            (Sub, "-", _SUM),
            (Mul, "*", _PRODUCT),
            (FloorDiv, "//", _PRODUCT),
            (Mod, "%", _PRODUCT),
        )
    },
    enclosed_number,
)
"""What a function of an index map does with its indices, which are expressions of TVM."""


def _quotient_in_c(printer: Printer, expr: FloorDiv) -> Written:
    divisor = printer.text(expr.right, _UNARY)
    if at_least(expr.left, 0):
        return f"{printer.text(expr.left, _PRODUCT)}/{divisor}", _PRODUCT
    dividend = printer.text(expr.left)
    down = f"-((-({dividend}) + {divisor} - 1)/{divisor})"
    return f"(({dividend}) < 0 ? {down} : ({dividend})/{divisor})", _ATOM


def _ceiling_in_c(printer: Printer, expr: CeilDiv) -> Written:
    divisor = printer.text(expr.right, _UNARY)
    if at_least(expr.left, 1):
        return f"(({printer.text(expr.left, _SUM)} - 1)/{divisor} + 1)", _ATOM
    dividend = printer.text(expr.left)
    up = f"(({dividend}) - 1)/{divisor} + 1"
    return f"(({dividend}) > 0 ? {up} : -(-({dividend})/{divisor}))", _ATOM


def _remainder_in_c(printer: Printer, expr: Mod) -> Written:
    divisor = printer.text(expr.right, _UNARY)
    if at_least(expr.left, 0):
        return f"{printer.text(expr.left, _PRODUCT)}%{divisor}", _PRODUCT
    return f"(({printer.text(expr.left)})%{divisor} + {divisor})%{divisor}", _PRODUCT


def _chosen_in_c(sign: str) -> Callable[[Printer, Min | Max], Written]:
    def written(printer: Printer, expr: Min | Max) -> Written:
        left, right = printer.text(expr.left), printer.text(expr.right)
        return f"({left}) {sign} ({right}) ? ({left}) : ({right})", Binding.NOTHING

    return written


_IN_C: Operations = {
    **_SUMS,
    **_BITS,
    FloorDiv: _quotient_in_c,
    Mod: _remainder_in_c,
    CeilDiv: _ceiling_in_c,
    Min: _chosen_in_c("<"),
    Max: _chosen_in_c(">"),
}

C = Arithmetic(_IN_C)
"""C for signed integers that are wide enough for every part of an expression.

C rounds quotients towards zero; where a dividend may be negative, the text says so with a
conditional. Extents are at least 1. C works out what numbers alone say in `int`, where it may not
fit: `folded` is to do that before.
"""

C_WITH_LEAST = Arithmetic({**_IN_C, Min: call("least")})
"""C beside a function `least` of two integers."""
