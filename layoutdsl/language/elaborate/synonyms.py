"""Names that others give to what the language has: element types, fills, interfaces, functions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_expression

_TYPES: Mapping[str, str] = {
    "half": "f16",
    "float": "f32",
    "single": "f32",
    "double": "f64",
    "byte": "u8",
    "ubyte": "u8",
    "uchar": "u8",
    "char": "i8",
    "sbyte": "i8",
    "short": "i16",
    "ushort": "u16",
    "int": "i32",
    "uint": "u32",
}
_PREFIXES: Mapping[str, str] = {
    "int": "i",
    "sint": "i",
    "s": "i",
    "si": "i",
    "uint": "u",
    "ui": "u",
    "unsigned": "u",
    "float": "f",
    "fp": "f",
    "bfloat": "bf",
    "r": "f",
}
_FILLS: Mapping[str, str] = {
    **dict.fromkeys(("none", "null", "undef", "undefined", "unspecified", "nothing"), "any"),
    **dict.fromkeys(("garbage", "dontcare", "dont_care", "uninitialized", "poison"), "any"),
    **dict.fromkeys(("zero", "zeros", "zeroes"), "0"),
    **dict.fromkeys(("nan", "not_a_number", "quiet_nan"), "nan"),
    **dict.fromkeys(("inf", "infinity", "+inf"), "inf"),
    **dict.fromkeys(("-inf", "-infinity", "neg_inf", "neginf", "ninf"), "-inf"),
    **dict.fromkeys(("zeropoint", "zero_pt", "zp", "zero_value"), "zero_point"),
}
_INTERFACES: Mapping[str, str] = {
    **dict.fromkeys(("scaleoffset", "offsetscale", "scalezeropoint"), "scale_offset"),
    **dict.fromkeys(("affine", "quantised", "quantized", "quant", "asymmetric"), "scale_offset"),
    **dict.fromkeys(("plain", "none", "raw", "identity", "itself"), "plain"),
}
_OPERATORS: Mapping[str, str] = {
    **dict.fromkeys(("mod", "floormod", "truncmod", "rem", "fmod", "indexmod"), "%"),
    **dict.fromkeys(("div", "floordiv", "truncdiv", "idiv", "indexdiv"), "/"),
    **dict.fromkeys(("xor", "bitwise_xor"), "^"),
    **dict.fromkeys(("bitor", "bitwise_or"), "|"),
    **dict.fromkeys(("bitand", "bitwise_and"), "&"),
    **dict.fromkeys(("shl", "lshift", "shift_left", "left_shift"), "<<"),
    **dict.fromkeys(("shr", "rshift", "shift_right", "right_shift"), ">>"),
    **dict.fromkeys(("add", "plus"), "+"),
    **dict.fromkeys(("sub", "minus"), "-"),
    **dict.fromkeys(("mul", "times"), "*"),
}
_CEILINGS = {"ceil", "ceildiv", "cdiv", "divup", "divceil", "divroundup"}
_ROUNDED = {"roundup", "alignup", "rndup", "padto"}


def element_called(name: str) -> str | None:
    """Return the element type that others call so, as the language calls it."""
    lower = name.lower().removesuffix("_t")
    if lower in _TYPES:
        return _TYPES[lower]
    found = re.fullmatch(r"([a-z]+?)_?([0-9]+)(?:_?e[0-9]+m[0-9]+[a-z]*)?", lower)
    if found is None:
        return None
    known = _PREFIXES.get(found[1], found[1]) + found[2]
    kind = next((each for each in ("e4m3", "e5m2") if each in lower), "")
    if known == "f8":
        return known + kind
    return known if known in ELEMENT_TYPES else None


def fill_called(name: str) -> str | None:
    """Return the fill that others call so, as the language calls it."""
    return _FILLS.get(name.lower())


def interface_called(name: str) -> str | None:
    """Return the interface that others call so, as the language calls it."""
    return _INTERFACES.get(name.lower().replace("_", "").removesuffix("interface"))


def call_written(call: ast.Call) -> str | None:
    """Return how the language writes a call of a function that others have."""
    name, arguments = call.function.text.lower(), call.arguments
    plain = name.replace("_", "")
    match arguments:
        case (ast.Operation(symbol="/") as quotient,) if plain == "floor":
            return print_expression(quotient)
        case (left, right) if name in _OPERATORS or plain in _OPERATORS:
            symbol = _OPERATORS.get(name) or _OPERATORS[plain]
            return print_expression(ast.Operation(symbol, left, right, call.span))
        case (left, right) if plain in _CEILINGS:
            quotient = ast.Operation("/", left, right, call.span)
            return f"ceil({print_expression(quotient)})"
        case (left, right) if plain in _ROUNDED and name != "roundup":
            return f"roundup({print_expression(left)}, {print_expression(right)})"
    return None
