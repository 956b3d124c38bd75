"""CuTe's text -> its parts: swizzles, offsets, pointers and layouts, before they mean anything.

Source: CUTLASS, the `print` of `cute/layout.hpp`, `layout_composed.hpp`, `swizzle.hpp`,
`pointer*.hpp`; CuTe IR, "CuTe Algebra Types", for what the Python DSL prints.
"""

from __future__ import annotations

import re
from typing import cast

from lark import Token, Tree

from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.cute_parts import Chain, Form, Leaf, Part, Pointer, Shaped, Swizzle

MOST_DEPTH = 16
MOST_BITS = 40
MOST_DIGITS = 18
_SPELLING = {
    "INT": "a number",
    "STATIC": "a number",
    "SIGN": "`-`",
    "POINTER": "a pointer",
    "TYPE": "a type",
    "WIDTH": "a width",
}

_BITS = re.compile(r"[0-9]{1,4}", re.ASCII)
_ADDRESS = re.compile(r"\((0x[0-9a-fA-F]{1,16})\)", re.ASCII)

Branch = Tree[Token]


def said(text: Span) -> Chain:
    """Return the parts of a text.

    Raises:
        Fault: a number is none that a layout can have.
        LayoutError: the text is not in the grammar.
    """
    branch = tree("cute", text, "L401", _SPELLING)
    parts = _branches(_branches(branch)[0])
    reader = _Reader(text)
    return Chain(tuple(map(reader.part, parts)), branch.data == "tensor")


class _Reader:
    """Turns the branches of one text into its parts."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def part(self, branch: Branch) -> Part:
        match branch.data:
            case "swizzle":
                return self._swizzle(branch)
            case "address":
                return self._address(branch)
            case "typed":
                return self._typed(branch)
        shape, strides = cast("list[Branch | None]", branch.children)
        found = self._form(cast("Branch", shape), 0)
        given = None if strides is None else self._form(strides, 0)
        return Shaped(found, given, self._span(branch))

    def _form(self, branch: Branch, depth: int) -> Form:
        if depth > MOST_DEPTH:
            raise fault("L104", f"tuples are nested more than {MOST_DEPTH} deep", self._text)
        inside = _branches(branch)
        if len(inside) == 1 and inside[0].data == "leaf":
            return self._leaf(inside[0])
        return tuple(self._form(each, depth + 1) for each in inside)

    def _leaf(self, branch: Branch) -> Leaf:
        number, *basis = _branches(branch)
        span = self._span(branch)
        if basis:
            message = f"the stride `{span.text}` gives a coordinate, and no offset"
            hint = "a layout is of offsets: strides without `@`"
            raise fault("L409", message, span, help=hint)
        if number.data == "unknown":
            multiple = number.children[-1]
            found = 1 if multiple is None else self._number(cast("Token", multiple))
            if found < 1:
                raise fault("L405", "a multiple is at least 1", span)
            words = [] if number.children[0] is None else [str(number.children[0])]
            words += [] if multiple is None else [f"div={found}"]
            return Leaf(None, found, span, f"?{{{' '.join(words)}}}" if words else "?")
        value = self._number(cast("Token", number.children[-1]))
        value = -value if number.children[0] == "-" else value
        return Leaf(value, abs(value), span, "".join(span.text.split()))

    def _swizzle(self, branch: Branch) -> Swizzle:
        tokens = [each for each in branch.children if isinstance(each, Token)]
        sign = -1 if any(each.type == "SIGN" for each in tokens) else 1
        bits, base, shift = (self._number(each) for each in tokens if each.type != "SIGN")
        written = "".join(self._span(branch).text.split())
        found = Swizzle(bits, base, sign * shift, written)
        if bits + abs(base) + abs(shift) > MOST_BITS:
            message = f"a swizzle has {MOST_BITS} bits at most"
            raise fault("L405", message, self._span(tokens[0]))
        if base < 0:
            raise fault("L405", "a swizzle has bits from 0 on", self._span(tokens[1]))
        if abs(shift) < bits:
            message = "a swizzle moves its bits by at least their number"
            raise fault("L405", message, self._span(tokens[-1]))
        return found

    def _address(self, branch: Branch) -> Pointer:
        swizzle, token = branch.children
        written = str(token)
        found = None if swizzle is None else self._swizzle(cast("Branch", swizzle))
        (bits,) = _BITS.findall(written)[:1]
        address = _ADDRESS.search(written)
        return Pointer(
            int(bits),
            None,
            found,
            None if address is None else int(address[1], 16),
            self._span(branch),
            ("" if found is None else found.text) + " ".join(written.split()),
        )

    def _typed(self, branch: Branch) -> Pointer:
        kind, space, align, swizzle = branch.children
        found = None if swizzle is None else self._swizzle(cast("Branch", swizzle))
        words = [str(kind), str(space)]
        words += [] if align is None else [f"align<{align}>"]
        words += [] if found is None else [found.text]
        bits = _BITS.search(str(kind))
        return Pointer(
            None if bits is None else int(bits[0]),
            str(kind),
            found,
            None,
            self._span(branch),
            f"ptr<{', '.join(words)}>",
        )

    def _number(self, token: Token) -> int:
        if len(token) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, self._span(token))
        return int(token.lstrip("_"))

    def _span(self, place: Token | Branch) -> Span:
        found = place if isinstance(place, Token) else place.meta
        start = found.start_pos or 0
        end = found.end_pos or start
        return Span(self._text.source, self._text.start + start, self._text.start + end)


def _branches(branch: Branch) -> list[Branch]:
    return [each for each in branch.children if isinstance(each, Tree)]
