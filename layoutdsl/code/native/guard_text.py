"""That no number leaves 64 bits: worked out in floating point before anything is done.

Numbers on the way to an offset may be larger than it is, where digits are put together in another
way. What none of them exceeds is a polynomial in the extents, which costs a few products a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from layoutdsl.code.loops import tree
from layoutdsl.code.magnitude import peaks
from layoutdsl.code.native.spelling import Spelling
from layoutdsl.language.integers.expr import Add, Constant, Expr, Extent, Mul
from layoutdsl.language.integers.written_out import written_out

TOO_LARGE = 1 << 62
"""Numbers stay below it: half of what 64 bits hold, as bounds are worked out in floating point."""

Bound = Mapping[tuple[str, ...], int]
"""A sum of products of extents, each with its factor."""


def bound(node: tree.Node, numbers: Iterable[Expr], width: int) -> Bound:
    """Return what no number that a function works out exceeds, where no extent is 0.

    Args:
        node: the tree, for how far its loops go.
        numbers: all that the function works out, in elements.
        width: bytes of an element.
    """
    turns = dict[str, Expr]()
    for name, count in _loops(node):
        *_, most = peaks(written_out(count), turns)
        turns[name] = most
    found = dict[tuple[str, ...], int]()
    for number in dict.fromkeys(numbers):
        for peak in peaks(written_out(Mul(number, Constant(width))), turns):
            for factors, times in _products(peak).items():
                found[factors] = max(times, found.get(factors, 0))
    return found


def exceeds(found: Bound) -> bool:
    """Return whether a bound is too large at every shape."""
    return sum(found.values()) >= TOO_LARGE


def below(found: Bound, words: Spelling) -> tuple[tuple[Extent, ...], str]:
    """Return the extents of a bound, and the C that says whether it is not too large.

    That is worked out in floating point, where nothing overflows.
    """
    spoken, terms = dict[Extent, None](), list[str]()
    for key, times in found.items():
        spoken.update(dict.fromkeys(map(Extent, key)))
        terms.append("*(double)".join((f"{times}.0", *map(words.name, key))))
    return tuple(spoken), f"{' + '.join(terms)} < {TOO_LARGE}.0"


def _loops(node: tree.Node) -> Iterator[tuple[str, Expr]]:
    """The loops of a tree, outermost first, and what their variables stay below."""
    match node:
        case tree.For(name, count, body):
            yield name, count
            yield from _loops(body)
        case tree.Slide(name, extent, step, body):
            yield name, Add(extent, Constant(step))
            yield from _loops(body)
        case tree.If(_, then, other):
            yield from _loops(then)
            yield from _loops(other)
        case tree.Seq(parts):
            for part in parts:
                yield from _loops(part)
        case tree.Scratch():
            yield from _loops(node.body)


def _products(peak: Expr) -> dict[tuple[str, ...], int]:
    """A sum or product of extents and numbers, written out."""
    match peak:
        case Constant(value):
            return {(): value}
        case Extent(name):
            return {(name,): 1}
        case Add(left, right):
            one, other = _products(left), _products(right)
            return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}
        case Mul(left, right):
            found = dict[tuple[str, ...], int]()
            for first, times in _products(left).items():
                for second, more in _products(right).items():
                    key = tuple(sorted((*first, *second)))
                    found[key] = found.get(key, 0) + prod((times, more))
            return found
    raise TypeError("a bound is a sum of products")
