"""A way to run a node, read back: the one order of digits that its operands and results follow.

Nothing here knows how the way was found: whoever checks a plan asks it of every node.
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.roles.products import columns, from_product
from layoutdsl.graphs.roles.roles import (
    Joint,
    Template,
    as_channels,
    factors,
    from_joint,
    from_view,
    how,
    lifted,
)


def joint_of(bound: Bound, template: Template) -> Joint | None:
    """Return the digits of a node's axes that a way goes along, or `None` where it is no way."""
    if how(bound) == "product":
        return next(_of_product(bound, template), None)
    plain = as_channels(bound) if how(bound) == "window" else bound
    wanted = _alike(plain, template)
    for number, each in enumerate((*plain.operands, *plain.results)):
        placing = wanted.placings[number]
        joint = None if each is None or placing is None else lifted(plain, each, placing)
        if joint is not None and from_joint(plain, joint, template.how) == wanted:
            return joint
    return None


def follows(bound: Bound, template: Template) -> bool:
    """Return whether the rule of a node allows a way to run it, but for what padding holds."""
    if bound.steps is not None:
        first = template.takes[0]
        found = None if first is None else from_view(bound, 0, first)
        return found is not None and found.makes == template.makes[:1]
    return joint_of(bound, template) is not None


def _alike(bound: Bound, template: Template) -> Template:
    """The way without what the rule says nothing of."""
    both = zip(bound.operands, template.takes, strict=False)
    takes = tuple(None if each is None else placing for each, placing in both)
    made = zip(bound.results, template.makes, strict=False)
    return Template(
        takes, tuple(None if each is None else placing for each, placing in made), template.how
    )


def _of_product(bound: Bound, template: Template) -> Iterator[Joint]:
    first = factors(bound)[0]
    one, result = bound.operands[first], bound.results[0]
    rows, made = template.takes[first], template.makes[0]
    if one is None or result is None or rows is None or made is None:
        return
    left, whole = lifted(bound, one, rows), lifted(bound, result, made)
    if left is None or whole is None:
        return
    wanted = _alike(bound, template)
    for _, ends in columns(bound, whole):
        found = from_product(bound, left, ends)
        if found is not None and found.placings == wanted.placings:
            yield (*left, *ends)
