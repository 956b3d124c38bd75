"""How one axis is cut, as Python.

For each axis that is cut or padded, `_cut_c` gives its parts (a slice of the tensor, the shape into
which it splits, slices of the buffer) and its gaps (slices of the buffer that hold no index of the
axis). An axis with several digits has as many parts: what is whole in the most major digit, then
what is whole in the next of the rest, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.code.moves import AxisMove, DigitMove, Plan
from layoutdsl.code.numpy.words import Words, indented, is_number, slice_text, tuple_text
from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.expr import Add, CeilDiv, Constant, Expr, Extent, FloorDiv, Mul

ALL = "slice(None)"


@dataclass(frozen=True, slots=True)
class _Side:
    """One buffer along an axis.

    Attributes:
        move: its digits, most major first.
        steps: for each digit, the numbers of the steps that it is made of.
    """

    move: AxisMove
    steps: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """How an axis is cut.

    Attributes:
        name: of the axis.
        extent: elements along it.
        steps: indices per step, most major first.
        side: the buffer, whose gaps are told.
    """

    name: str
    extent: Expr
    steps: tuple[Expr, ...]
    side: _Side


def name_of(plan: Plan, move: AxisMove) -> str:
    """Return the end of the names for an axis, or for several read as one."""
    names = [plan.layout.axes[axis].name for axis in move.axes]
    return names[0] if len(names) == 1 else f"{plan.moves.index(move)}_{'_'.join(names)}"


def cut_functions(plan: Plan, words: Words) -> list[str]:
    """Return the functions that cut axes."""
    lines: list[str] = []
    for move in looped(plan):
        lines += ["", "", *_cut_function(name_of(plan, move), _cut(move), words)]
    return lines


def looped(plan: Plan) -> list[AxisMove]:
    """Return the axes that are cut, or padded, in the buffer."""
    return [move for move in plan.moves if move.digits and not move.whole]


def _cut(move: AxisMove) -> _Cut:
    own = tuple((number,) for number in range(len(move.digits)))
    steps = tuple(digit.divisor for digit in move.digits)
    return _Cut(move.name, move.extent, steps, _Side(move, own))


def _cut_function(name: str, cut: _Cut, words: Words) -> list[str]:
    target = cut.side
    body = words.unpacked(_used(cut))
    body += [
        "parts: list[_Part] = []",
        "gaps: list[tuple[slice, ...]] = []",
        *_divisions(cut, words),
    ]
    for level in range(len(cut.steps)):
        body += _part(cut, level, words)
    for level in range(len(target.steps)):
        body += _gaps(cut, target, level, words)
    return [
        f"def _cut_{name}(shape: tuple[int, ...]) -> tuple[list[_Part], list[tuple[slice, ...]]]:",
        *indented(
            [
                f'"""Cut axis {cut.name} into its digits: parts that hold elements, and gaps."""',
                *body,
                "return parts, gaps",
            ]
        ),
    ]


def _used(cut: _Cut) -> list[Expr]:
    move = cut.side.move
    digits = [each for d in move.digits for each in (d.divisor, d.radix, d.extent)]
    return [cut.extent, *cut.steps[:1], *(digits[3:] if move.exact else digits)]


def _count(level: int) -> Expr:
    """The whole steps that fit into what the steps above leave."""
    return Extent(f"_q{level}")


def _rest(level: int) -> Expr:
    """What a step leaves to the steps below it."""
    return Extent(f"_l{level}")


def _divisions(cut: _Cut, words: Words) -> list[str]:
    lines: list[str] = []
    left = cut.extent
    for level, step in enumerate(cut.steps):
        given = words.text(left)
        if is_number(step, 1):
            lines.append(f"_q{level} = {given}")
        else:
            lines.append(f"_q{level}, _l{level} = divmod({given}, {words.text(step)})")
        left = _rest(level)
    return lines


def _digit(cut: _Cut, levels: Sequence[int], digit: DigitMove) -> Expr:
    """How far some of the steps that a digit is made of take it."""
    value: Expr = ZERO
    for level in levels:
        value = Add(value, _times(_count(level), cut.steps[level], digit))
    return simplify(value)


def _times(value: Expr, step: Expr, digit: DigitMove) -> Expr:
    ratio = ONE if step == digit.divisor else simplify(FloorDiv(step, digit.divisor))
    return simplify(Mul(value, ratio))


def _standing(cut: _Cut, side: _Side, number: int, words: Words) -> str:
    """A digit that stands on its last, incomplete step."""
    value = _digit(cut, side.steps[number], side.move.digits[number])
    return slice_text(words.text(value), words.text(Add(value, Constant(1))))


def _free(digit: DigitMove, words: Words) -> str:
    """A digit that takes all of its values."""
    return slice_text("0", words.text(digit.radix)) if digit.leaves_padding else ALL


def _slices(cut: _Cut, side: _Side, level: int, words: Words) -> list[str]:
    """Where a buffer holds the part of one level."""
    slices: list[str] = []
    for number, (steps, digit) in enumerate(zip(side.steps, side.move.digits, strict=True)):
        if steps[-1] < level:
            slices.append(_standing(cut, side, number, words))
        elif level < steps[0]:
            slices.append(_free(digit, words))
        else:
            first = _digit(cut, [each for each in steps if each < level], digit)
            run = _times(_count(level), cut.steps[level], digit)
            past = run if first == ZERO else Add(first, run)
            slices.append(slice_text(words.text(first), words.text(past)))
    return slices


def _part(cut: _Cut, level: int, words: Words) -> list[str]:
    steps = [simplify(Mul(_count(k), cut.steps[k])) for k in range(level + 1)]
    first: Expr = ZERO
    past: Expr = steps[0]
    for step in steps[1:]:
        first, past = past, Add(past, step)
    taken = slice_text(words.text(first), words.text(past))
    below = [words.text(_radix(cut, k)) for k in range(level + 1, len(cut.steps))]
    split = tuple_text(["1"] * level + [words.text(_count(level)), *below])
    lines = [
        f"put = {tuple_text(_slices(cut, cut.side, level, words))}",
        f"parts.append(({taken}, {split}, put))",
    ]
    return [f"if _q{level}:", *indented(lines)]


def _radix(cut: _Cut, level: int) -> Expr:
    """How many steps make one of the next larger ones."""
    return cut.side.move.digits[level].radix


def _gaps(cut: _Cut, side: _Side, level: int, words: Words) -> list[str]:
    """The gaps that show at one digit: beyond the steps in use, and below the whole steps."""
    digits = side.move.digits
    digit, below = digits[level], digits[level + 1 :]
    above = [_standing(cut, side, number, words) for number in range(level)]
    count = _digit(cut, side.steps[level], digit)
    whole = words.text(count)
    lines: list[str] = []
    for number, lower in enumerate(below):
        if lower.leaves_padding:
            box = [
                *above,
                slice_text("0", whole),
                *[_free(each, words) for each in below[:number]],
                slice_text(words.text(lower.radix), words.text(lower.extent)),
                *[ALL] * (len(below) - number - 1),
            ]
            lines += [f"if {whole}:", *indented([f"gaps.append({tuple_text(box)})"])]
    if level == 0 and side.move.exact:
        return lines
    before = cut.extent if level == 0 else _rest(side.steps[level - 1][-1])
    last = is_number(digit.divisor, 1)
    used = words.text(count if last else CeilDiv(before, digit.divisor))
    extent = words.text(digit.extent)
    box = [*above, slice_text(used, extent), *[ALL] * len(below)]
    given = [] if level == 0 else [words.text(before)]
    condition = " and ".join([*given, f"{used} < {extent}"])
    return [*lines, f"if {condition}:", *indented([f"gaps.append({tuple_text(box)})"])]
