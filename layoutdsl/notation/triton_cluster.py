"""The blocks of a cluster: which part of a tensor each has, as Triton's attributes say it.

`CTASplitNum` says into how many parts each dimension is split, `CTAsPerCGA` how many blocks there
are along it, which hold copies where they are more, and `CTAOrder` which dimension goes first.
Newer texts say bases, `CGALayout`: where a step of each bit of the block's number leads, in parts.
A part is a tensor of its own, in which a layout does what it does for a single block.

Source: Triton, `TritonGPUAttrDefs.td` and `LinearLayoutConversions.cpp` (`makeCgaLayout`,
`combineCtaCgaWithShape`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from layoutdsl.language.texts.faults import fault
from layoutdsl.notation.triton_said import Attribute

Bases: TypeAlias = tuple[tuple[int, ...], ...]

FIELDS = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")
NEWER = "CGALayout"


def parts(said: Attribute, shape: Sequence[int]) -> tuple[list[int], Bases]:
    """Return the shape of the part of a block, and where the bits of its number lead.

    Args:
        said: an attribute with or without blocks.
        shape: of the whole tensor, powers of two.
    """
    steps = _steps(said, len(shape))
    within = [
        tuple(step if step < extent else 0 for step, extent in zip(each, shape, strict=True))
        for each in steps
    ]
    counts = [
        1 << max((each[dim].bit_length() for each in within), default=0)
        for dim in range(len(shape))
    ]
    own = [extent // count for extent, count in zip(shape, counts, strict=True)]
    return own, tuple(
        tuple(step * extent for step, extent in zip(each, own, strict=True)) for each in within
    )


def _steps(said: Attribute, rank: int) -> Bases:
    given = [name for name in FIELDS if name in said.fields]
    if NEWER in said.fields:
        if given:
            words = f"`{NEWER}` and `{given[0]}` are two ways to say it"
            raise fault("L404", words, said.span, help="leave one of them out")
        found = said.vectors(NEWER)
        if any(len(each) != rank for each in found):
            words = f"the tensor has {rank} axes, and `{NEWER}` bases of others"
            raise fault("L403", words, said.span)
        return found
    return _older(said, rank, given) if given else ()


def _older(said: Attribute, rank: int, given: Sequence[str]) -> Bases:
    if len(given) < len(FIELDS):
        missing = next(name for name in FIELDS if name not in given)
        raise fault("L407", f"`{given[0]}` is said without `{missing}`", said.span)
    blocks, splits, order = (said.numbers(name) for name in FIELDS)
    if sorted(order) != list(range(rank)):
        raise fault("L405", f"`CTAOrder` is no order of {rank} dimensions", said.span)
    for name, each in zip(FIELDS, (blocks, splits), strict=False):
        if len(each) != rank:
            message = f"`{name}` has {len(each)} numbers, and the tensor {rank} axes"
            raise fault("L403", message, said.span)
        if any(number < 1 or number & (number - 1) for number in each):
            raise fault("L405", f"`{name}` holds powers of two", said.span)
    if any(split > count for split, count in zip(splits, blocks, strict=True)):
        words = "`CTASplitNum` splits into more parts than `CTAsPerCGA` has blocks"
        raise fault("L405", words, said.span)
    steps = ((dim, 1 << bit) for dim in order for bit in range(blocks[dim].bit_length() - 1))
    return tuple(
        tuple(step if at == dim and step < splits[dim] else 0 for at in range(rank))
        for dim, step in steps
    )
