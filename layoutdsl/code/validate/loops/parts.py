"""What callers call: the part of a walk, and all of it. Trusted.

Whether a part goes past the cache is a choice of speed, which kernels make for themselves once more
where an address is not aligned.
"""

from __future__ import annotations

from typing import Any

from layoutdsl.code.validate.loops.numbers import Scope
from layoutdsl.code.validate.loops.parsing import Body, C, Function
from layoutdsl.code.validate.terms import Meaningless


def check_part(body: Body, name: str, scope: Scope, width: int) -> None:
    """Check that ``NAME_part`` does its part of the walk, with as many fills as 16 bytes have.

    Args:
        body: its statements, once the extents are named.
        name: of the function that moves everything.
        scope: what they may speak of.
        width: bytes of an element.

    Raises:
        Meaningless: it does something else.
    """

    def walked(stream: int) -> tuple[Any, ...]:
        given = ("src", "dst", "shape", "rest", "first", "past", stream)
        return ("do", ("call", f"{name}_walk", *given))

    fill = ("do", ("call", "memcpy", ("+", "rest", "k"), "fill", width))
    match body:
        case (
            ("array", "uint8_t", "rest", 16, ("list", 0)),
            (
                "for",
                ("let", "int", "k", 0),
                ("&&", "fill", ("<", "k", 16)),
                ("+=", "k", step),
                (given,),
            ),
            *walks,
            ("return", 0),
        ) if step == width and given == fill:
            match walks:
                case [only] if only == walked(0):
                    return
                case [("if", pays, (("do", ("list", *streaming)),), (plain,))]:
                    _check_pays(pays, scope)
                    ending = ("call", "streamed", 1)
                    if (streaming, plain) == ([walked(1)[1], ending], walked(0)):
                        return
    raise Meaningless("the part of a walk has another form")


def _check_pays(condition: C, scope: Scope) -> None:
    """That a choice of speed works out nothing that is not known to stay in its bits."""
    match condition:
        case ("&&", left, ("==", ("%", ("cast", "uintptr_t", "dst"), 64), 0)):
            _check_pays(left, scope)
        case ("&&", left, ("==", ("%", whole, 64), 0)):
            scope.number(whole)
            _check_pays(left, scope)
        case _:
            check_large(condition, scope)


def check_large(condition: C, scope: Scope) -> None:
    """Check that what says how fast something is to be done works out nothing but numbers.

    Raises:
        Meaningless: it says something else.
    """
    match condition:
        case (">=", size, "STREAM_BYTES"):
            scope.number(size)
        case _:
            raise Meaningless("the part of a walk has another form")


def check_whole(whole: Function, name: str, *, fills: bool) -> None:
    """Check that ``NAME`` does all pieces at once.

    Args:
        whole: the function.
        name: of it.
        fills: it is given a fill, which it hands on.

    Raises:
        Meaningless: it does something else.
    """
    given = "const void * restrict src, void * restrict dst, const int64_t * shape"
    units = ("call", f"{name}_units", "shape")
    more, fill = (", const void * fill", "fill") if fills else ("", 0)
    all_of = ("call", f"{name}_part", "src", "dst", "shape", fill, 0, units)
    if whole != Function(f"int {name}({given}{more})", (("return", all_of),)):
        raise Meaningless("the whole of a walk has another form")
