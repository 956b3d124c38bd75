"""How large the numbers are that emitted arithmetic passes through, read off its text. Trusted.

The *magnitude* of a part of the text is a number of extents, at least 1, that neither its value nor
any other on the way to it exceeds, at any index: an index has its extent, a number its absolute
value, a product the product of both sides, all else their sum. That a sum does is plain; a quotient
by at least 1 is no larger than what is divided; and of integers of either sign ``|a & b|`` and
``|a ^ b|`` are at most ``|a| + |b|``. A remainder has the magnitude of its divisor, so what is
above it is told beside.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from layoutdsl.code.validate.expressions import Names
from layoutdsl.code.validate.values import Meaningless, added, times
from layoutdsl.proof.kernel.checker import Term


def peaks(
    node: ast.expr, names: Names, indices: Mapping[Term, Term], plain: Collection[Term]
) -> Iterator[Term]:
    """Yield what no value of the arithmetic at hand exceeds: of it, and of all that it is made of.

    Args:
        node: arithmetic over names; where all of them are plain, integers are Python's.
        names: what they stand for.
        indices: the extent of each index.
        plain: what is known to be one number.

    Raises:
        Meaningless: a name stands for what was worked out before.
    """
    spoken = [names.get(each.id) for each in ast.walk(node) if isinstance(each, ast.Name)]
    if not any(isinstance(each, str | tuple) and each not in plain for each in spoken):
        return
    lost: list[Term] = []
    whole = _magnitude(node, names, indices, lost)
    yield from lost
    yield whole


def _magnitude(
    node: ast.expr, names: Names, indices: Mapping[Term, Term], lost: list[Term]
) -> Term:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return max(1, abs(value))
        case ast.Name(id=name):
            return _of_name(name, names, indices)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _magnitude(operand, names, indices, lost)
        case (
            ast.BinOp(left=one, op=operator, right=other)
            | ast.Call(
                func=ast.Attribute(
                    value=ast.Name(id="np"), attr=("minimum" | "maximum") as operator
                ),
                args=[one, other],
                keywords=[],
            )
        ):
            left, right = (_magnitude(each, names, indices, lost) for each in (one, other))
            match operator:
                case ast.Mult():
                    return times(left, right)
                case ast.Mod():
                    lost.append(added(left, right))
                    return right
                case ast.Add() | ast.Sub() | ast.FloorDiv() | str():
                    return added(left, right)
                case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                    return added(left, right)
    raise Meaningless(f"`{ast.unparse(node)}` may leave 64 bits")


def _of_name(name: str, names: Names, indices: Mapping[Term, Term]) -> Term:
    value = names.get(name)
    if isinstance(value, str | tuple) and value in indices:
        return indices[value]
    if isinstance(value, int) and not isinstance(value, bool):
        return max(1, abs(value))
    if isinstance(value, str) and value in indices.values():
        return value
    raise Meaningless(f"`{name}` may leave 64 bits")
