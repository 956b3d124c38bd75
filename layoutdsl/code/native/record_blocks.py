"""Loops of C over the blocks of a buffer: items side by side in their bytes, and back.

Narrow items go in groups that fill whole bytes, each bit by a shift that is a number. Wide ones are
bytes, the lowest first; a machine whose numbers begin with the highest turns them round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import lcm

from layoutdsl.code.native.record_loops import INDENT, extent_text, item_bytes, loop, shifted
from layoutdsl.code.placed import Placed
from layoutdsl.code.record_shape import lead_exprs


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some items, and the bytes that they fill.

    Attributes:
        block: the number of the block, as C.
        bytes_: the number of the first byte in the buffer, as C.
        items: the number of the first item, as C.
        many: how many items there are.
        slot: the bits of an item.
        width: the bytes in which it travels.
    """

    block: str
    bytes_: str
    items: str
    many: int
    slot: int
    width: int

    @property
    def count(self) -> int:
        """The bytes that they fill, the last one perhaps in part."""
        return -(-self.many * self.slot // 8)

    def later(self, bytes_: str, items: str, many: int) -> Stretch:
        """Return items further on."""
        first, number = f"{self.bytes_} + {bytes_}", f"{self.items} + {items}"
        return replace(self, bytes_=first, items=number, many=many)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bits of an item that lie in one byte: which, from where in either, and how many."""

    item: int
    byte: int
    from_item: int
    from_byte: int
    bits: int


_Moved = Callable[[Stretch], list[str]]


def joined(placed: Placed) -> list[str]:
    """Return loops that add items to the bytes of a buffer that are theirs."""
    return _over_blocks(placed, _put)


def parted(placed: Placed) -> list[str]:
    """Return loops that take items out of the bytes of a buffer."""
    return _over_blocks(placed, _take)


def _over_blocks(placed: Placed, moved: _Moved) -> list[str]:
    window, slot = placed.window, placed.bits
    if window is not None:
        leads = lead_exprs(placed)
        assert leads is not None, "what has a window has blocks"
        many = window.count * 8 // slot
        blocks = "*".join(f"({extent_text(each)})" for each in leads) or "1"
        return loop("b", blocks, moved(_stretch(placed, window.block, window.first, many)))
    count = lcm(slot, 8) // 8
    many = count * 8 // slot
    blocks = f"size/{many}" if many > 1 else "size"
    lines = loop("b", blocks, moved(_stretch(placed, count, 0, many)))
    if many > 1:  # of the last group there may be some
        whole = _stretch(placed, count, 0, many, f"(size/{many})")
        for number in range(1, many):
            lines.append(f"if (size%{many} == {number}) {{")
            lines += [*(INDENT + line for line in moved(replace(whole, many=number))), "}"]
    return lines


def _stretch(placed: Placed, block: int, first: int, many: int, name: str = "b") -> Stretch:
    bytes_ = f"{block}*{name} + {first}"
    return Stretch(name, bytes_, f"{many}*{name}", many, placed.bits, item_bytes(placed))


def _put(given: Stretch) -> list[str]:
    if given.slot < 8:
        return _in_groups(given, _put_bits)
    byte = f"out[{given.bytes_} + j] |= items[{given.width}*({given.items}) + j];"
    plain = loop("j", str(given.count), [byte])
    if given.slot == 8:
        return plain
    item = f"load(items, {given.items} + j, {given.width})"
    turned = [
        f"out[{given.bytes_} + {given.width}*j + {k}] |= (uint8_t)({shifted(item, 8 * k, 255)});"
        for k in range(given.width)
    ]
    return _either(plain, loop("j", str(given.many), turned))


def _take(given: Stretch) -> list[str]:
    if given.slot < 8:
        whole = _in_groups(given, _take_bits)
        if given.slot in _AT_ONCE and given.many * given.slot % 8 == 0:
            once = loop("j", str(given.count), _take_at_once(given))
            return _either(once, whole)
        return whole
    byte = f"items[{given.width}*({given.items}) + j] = in[{given.bytes_} + j];"
    plain = loop("j", str(given.count), [byte])
    if given.slot == 8:
        return plain
    bytes_ = (
        f"((uint64_t)in[{given.bytes_} + {given.width}*j + {k}] << {8 * k})"
        for k in range(given.width)
    )
    turned = f"store(items, {given.items} + j, {given.width}, {' | '.join(bytes_)});"
    return _either(plain, loop("j", str(given.many), [turned]))


def _either(little: list[str], other: list[str]) -> list[str]:
    inner = ([INDENT + line for line in lines] for lines in (little, other))
    return ["if (LITTLE) {", *next(inner), "} else {", *next(inner), "}"]


def _in_groups(given: Stretch, moved: _Moved) -> list[str]:
    """Items in groups that fill whole bytes, and those that are left."""
    step = lcm(given.slot, 8) // 8
    group = step * 8 // given.slot
    groups, left = divmod(given.many, group)
    lines = []
    if groups:
        lines += loop("j", str(groups), moved(given.later(f"{step}*j", f"{group}*j", group)))
    if left:
        lines += moved(given.later(str(step * groups), str(group * groups), left))
    return lines


def _pieces(given: Stretch) -> Iterator[_Piece]:
    for item in range(given.many):
        begin, end = item * given.slot, (item + 1) * given.slot
        for byte in range(begin // 8, (end - 1) // 8 + 1):
            low, high = max(begin, 8 * byte), min(end, 8 * byte + 8)
            yield _Piece(item, byte, low - begin, low - 8 * byte, high - low)


def _put_bits(given: Stretch) -> list[str]:
    lines = []
    for byte in range(given.count):
        values = (
            _cut(f"items[{given.items} + {each.item}]", each.from_item, each.from_byte, each.bits)
            for each in _pieces(given)
            if each.byte == byte
        )
        lines.append(f"out[{given.bytes_} + {byte}] |= (uint8_t)({' | '.join(values)});")
    return lines


def _take_bits(given: Stretch) -> list[str]:
    lines = []
    for item in range(given.many):
        values = (
            _cut(f"in[{given.bytes_} + {each.byte}]", each.from_byte, each.from_item, each.bits)
            for each in _pieces(given)
            if each.item == item
        )
        lines.append(f"items[{given.items} + {item}] = (uint8_t)({' | '.join(values)});")
    return lines


def _cut(value: str, low: int, to: int, bits: int) -> str:
    return f"({shifted(value, low, (1 << bits) - 1, to)})"


_AT_ONCE = (2, 4)


def _take_at_once(given: Stretch) -> list[str]:
    """Two or four items in one number: one by one, compilers make short rows forty times slower."""
    number, byte = f"{given.count}*{given.block} + j", f"in[{given.bytes_} + j]"
    if given.slot == 4:
        return [f"store(items, {number}, 2, ({byte} | {byte} << 4) & {0x0F0F});"]
    return [
        f"const uint64_t two = ({byte} | {byte} << 12) & {0x000F000F};",
        f"store(items, {number}, 4, (two | two << 6) & {0x03030303});",
    ]
