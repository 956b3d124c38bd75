"""A small reader of MLIR: functions of `arith` in integers that wrap, and affine maps.

It reads the text line by line, as the reference of MLIR says, and knows nothing of ours.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

_FUNCTION = re.compile(r"func\.func @(\w+)\((.*?)\) -> (.*) \{")
_LINE = re.compile(r"  (%\w+) = arith\.(\w+) (.*) : (i\d+)")
_MAP = re.compile(r"#(\w+) = affine_map<\((.*?)\)(?:\[(.*?)\])? -> \((.*)\)>")


@dataclass(frozen=True)
class Function:
    """Names of arguments, the width of each, lines, and what is returned with its types."""

    arguments: tuple[str, ...]
    types: tuple[str, ...]
    lines: tuple[tuple[str, str, str, str], ...]
    returned: tuple[str, ...]
    result_types: tuple[str, ...]

    def __call__(self, *given: int) -> tuple[int, ...]:
        assert len(given) == len(self.arguments)
        values = {
            name: _wrapped(value, type_)
            for name, value, type_ in zip(self.arguments, given, self.types, strict=True)
        }
        for name, operation, operands, type_ in self.lines:
            assert name not in values, f"{name} is given twice"
            values[name] = _worked_out(operation, operands.split(", "), type_, values)
        return tuple(values[name] for name in self.returned)


def _width(type_: str) -> int:
    return int(type_.removeprefix("i"))


def _wrapped(value: int, type_: str) -> int:
    bits = _width(type_)
    if bits == 1:
        return value & 1
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}
_DONE: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "minsi": min,
    "maxsi": max,
}


def _worked_out(operation: str, operands: list[str], type_: str, values: dict[str, int]) -> int:
    if operation == "constant":
        value = int(operands[0])
        assert _wrapped(value, type_) == value
        return value
    if operation == "cmpi":
        predicate, left, right = operands
        return int(_COMPARED[predicate](values[left], values[right]))
    left, right = (values[each] for each in operands)
    if operation in ("divui", "remui"):
        whole = 1 << _width(type_)
        quotient, rest = divmod(left % whole, right % whole)
        return _wrapped(quotient if operation == "divui" else rest, type_)
    return _wrapped(_DONE[operation](left, right), type_)


def functions(text: str) -> dict[str, Function]:
    found: dict[str, Function] = {}
    lines = iter(text.splitlines())
    for line in lines:
        head = _FUNCTION.fullmatch(line)
        if head is None:
            assert not line.strip() or line.startswith(("//", "#")), line
            continue
        asked = [each.split(": ") for each in head[2].split(", ")] if head[2] else []
        body: list[tuple[str, str, str, str]] = []
        while not (line := next(lines)).startswith("  return "):
            parts = _LINE.fullmatch(line)
            assert parts is not None, line
            body.append((parts[1], parts[2], parts[3], parts[4]))
        names, _, types = line.removeprefix("  return ").partition(" : ")
        assert next(lines) == "}"
        results = tuple(types.split(", "))
        assert head[3].strip("()") == types
        found[head[1]] = Function(
            tuple(name for name, _ in asked),
            tuple(type_ for _, type_ in asked),
            tuple(body),
            tuple(names.split(", ")),
            results,
        )
    return found


@dataclass(frozen=True)
class Map:
    """Names of dimensions and symbols, and expressions over them in words of Python."""

    dimensions: tuple[str, ...]
    symbols: tuple[str, ...]
    results: tuple[ast.expr, ...]

    def __call__(self, dimensions: tuple[int, ...], symbols: tuple[int, ...]) -> tuple[int, ...]:
        values = dict(zip((*self.dimensions, *self.symbols), (*dimensions, *symbols), strict=True))
        return tuple(_value(each, values) for each in self.results)


def _value(node: ast.expr, values: dict[str, int]) -> int:
    """`*`, floordiv, ceildiv and mod bind alike, and from the left, as in Python."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=operator, right=right):
            one, other = _value(left, values), _value(right, values)
            match operator:
                case ast.Add():
                    return one + other
                case ast.Sub():
                    return one - other
                case ast.Mult():
                    return one * other
                case ast.FloorDiv():
                    return one // other
                case ast.MatMult():
                    return -(-one // other)
                case ast.Mod():
                    return one % other
    raise AssertionError(ast.dump(node))


def maps(text: str) -> dict[str, Map]:
    found = {}
    for line in text.splitlines():
        parts = _MAP.fullmatch(line)
        if parts is None:
            continue
        words = parts[4].replace("floordiv", "//").replace("ceildiv", "@").replace("mod", "%")
        tree = ast.parse(f"[{words}]", mode="eval").body
        assert isinstance(tree, ast.List)
        names = [tuple(each.split(", ")) if each else () for each in (parts[2], parts[3])]
        found[parts[1]] = Map(names[0], names[1], tuple(tree.elts))
    return found
