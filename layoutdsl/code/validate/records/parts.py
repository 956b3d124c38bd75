"""What the functions of one part have to do, by what the record means; and whether they do it.

Bits go from an element to an item, from an item to its place among the items of a block, and from
there to a byte of the buffer. Of each of these steps all bits are listed, for one turn of every
loop, and compared with those of the text. That an item's bits then lie where the record says is an
identity of expressions, in which every index occurs: `expect_addresses`.
"""

from __future__ import annotations

from layoutdsl.code.validate.records.bits import Address, address
from layoutdsl.code.validate.records.maps import blocks, elements
from layoutdsl.code.validate.records.reading import Call, Read, Stores
from layoutdsl.code.validate.records.sides import Side, times
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.meaning.model import ZERO


def expect_part(side: Side, verb: str, found: Read, little: bool) -> None:
    """Compare what a function does with what it has to.

    Args:
        side: the part.
        verb: which of its functions.
        found: what that does.
        little: on which machine.

    Raises:
        Meaningless: it does something else, or it cannot be told.
    """
    direct = side.is_direct
    moved: Stores = {} if direct else elements(side, verb, little)
    joined = blocks(side, verb, little)
    first, then = (moved, joined) if verb == "pack" else (joined, moved)
    _expect_same(found.before, first, "before")
    _expect_same(found.after, then, "behind")
    tensor = ("field", address(ZERO)) if direct else _tensor(side)
    items = ("scratch", address(ZERO))
    arrays = (tensor, items) if verb == "pack" else (items, tensor)
    more = ("own", 0) if verb == "pack" else ("own",)
    name = f"{side.stem}_{verb}_{8 * side.width}"
    shape = tuple(map(address, side.shape)) or (address(Constant(1)),)
    if found.call != Call(name, arrays, shape, more):
        raise Meaningless("the items are moved otherwise")


def _expect_same(found: Stores, wanted: Stores, where: str) -> None:
    if found.keys() != wanted.keys():
        raise Meaningless(f"loops {where} the move of the items are others")
    for group, stores in wanted.items():
        if found[group] != stores:
            raise Meaningless(f"a bit {where} the move of the items is another")


def _tensor(side: Side) -> tuple[str, Address]:
    return "scratch", address(times(side.width, side.size))
