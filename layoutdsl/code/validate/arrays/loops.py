"""Loops over elements that two views have in common. Trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from layoutdsl.language.integers.expr import Expr, Extent, Mul


@dataclass(frozen=True, slots=True)
class Loop:
    """So many turns, each so far from the one before in the target and in the source."""

    count: Expr
    target: Expr
    source: Expr


def merged(
    loops: Sequence[Loop], fused: Sequence[Sequence[str]], same: Callable[[Expr, Expr], bool]
) -> list[Loop]:
    """Return loops of which two are one if both sides have whole axes as one there.

    Args:
        loops: the outermost first.
        fused: names of extents whose product is one name in the theorems.
        same: whether two numbers are equal as polynomials.
    """
    found = list(loops)
    for pair in combinations(range(len(found)), 2):
        for major, minor in (pair, pair[::-1]):
            outer, inner = found[major], found[minor]
            if (
                _is_fused(outer.count, inner.count, fused)
                and same(outer.target, Mul(inner.count, inner.target))
                and same(outer.source, Mul(inner.count, inner.source))
            ):
                left = [each for k, each in enumerate(found) if k not in pair]
                count = Mul(outer.count, inner.count)
                left.insert(min(pair), Loop(count, inner.target, inner.source))
                return merged(left, fused, same)
    return found


def _is_fused(one: Expr, other: Expr, fused: Sequence[Sequence[str]]) -> bool:
    """Whether two counts are whole axes that are among those that are read as one."""
    factors = list[str]()
    for count in (one, other):
        rest = count
        while isinstance(rest, Mul) and isinstance(rest.right, Extent):
            factors.append(f"n.{rest.right.name}")
            rest = rest.left
        if not isinstance(rest, Extent):
            return False
        factors.append(f"n.{rest.name}")
    return any(not Counter(factors) - Counter(each) for each in fused)
