"""A whole C file and its header: what packs and unpacks a layout, for some widths of elements.

The text stands alone, or includes one header of kernels, which all layouts share: C11, no
allocation, no globals that change, nothing but `string.h` and, on x86, the intrinsics of vectors.
The same arguments give the same text, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutdsl.code.digits import by_digits
from layoutdsl.code.loops import tree
from layoutdsl.code.loops.chains import Ends
from layoutdsl.code.loops.moves import Move, NoCode, move_of
from layoutdsl.code.loops.planner import Unplanned
from layoutdsl.code.loops.sides import Apart
from layoutdsl.code.loops.trees import digits, tree_of
from layoutdsl.code.moves import Limit, Plan
from layoutdsl.code.native import WIDTHS
from layoutdsl.code.native.codes_text import codes_c
from layoutdsl.code.native.guard_text import below, bound
from layoutdsl.code.native.header_text import header_text
from layoutdsl.code.native.kernel_text import Call, kernel_text, kernels_included
from layoutdsl.code.native.nest_text import functions
from layoutdsl.code.native.spelling import Spelling
from layoutdsl.code.plan import plan
from layoutdsl.language.integers.expr import Constant, Extent, text
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import size_expr
from layoutdsl.language.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.code.validate.outcome import Certificates

VERBS = ("pack", "unpack")


@dataclass(frozen=True, slots=True)
class Moved:
    """The functions of one move, as C: ``NAME``, ``NAME_part`` and ``NAME_units``.

    Attributes:
        name: of the function that moves everything.
        move: what is moved.
        planned: the move by which it is planned: `move`, or its layouts by their digits.
        width: bytes of an element.
        text: the functions.
        calls: the kernels that they call.
    """

    name: str
    move: Move
    planned: Move
    width: int
    text: str
    calls: frozenset[Call]

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class EmittedProgram:
    """C that moves the elements of a layout.

    Attributes:
        name: of the layout; `stem` in lower case starts the name of every function.
        head: what it is, in comments.
        size: the function that says how large a buffer is, if there is one.
        moves: what it offers.
        header: for those who call it.
        fallback: why elements are moved by formula; ``None`` where tiles or runs are.
        seal: the hash of the proofs that its functions do what the layouts mean, for all shapes.
        decided: whether the layout is proved too: that each element has a slot of its own.
        codes: what turns real numbers into codes and back, where elements are such.
        certificates: the theorems of each function, if it was read back.
    """

    name: str
    head: tuple[str, ...]
    size: tuple[str, ...]
    moves: tuple[Moved, ...]
    header: str
    fallback: str | None = None
    seal: str | None = None
    decided: bool = True
    codes: tuple[str, ...] = ()
    certificates: Certificates = ()

    __repr__ = brief

    @property
    def text(self) -> str:
        """The C file that includes no header of ours: kernels, and then what calls them."""
        return self._written(alone=True)

    @property
    def nests(self) -> str:
        """The C file that includes the header of kernels: what is of this layout alone."""
        return self._written(alone=False)

    def _written(self, *, alone: bool) -> str:
        seal = self.seal or "no proof that it does what the layout means"
        said = [f"   Validated: {seal}."]
        if not self.decided:
            said = [
                f"   Validated: unproved: {seal}.",
                "   The layout is undecided: elements may share a slot, or leave the buffer.",
            ]
        functions = "\n".join([*self.size, *(each.text for each in self.moves), *self.codes])
        kernels = kernel_text(self.calls, functions) if alone else kernels_included(self.calls)
        return "\n".join([*self.head, *said, " */", "", kernels, functions, ""])

    @property
    def calls(self) -> frozenset[Call]:
        """The kernels that its functions call."""
        return frozenset[Call]().union(*(each.calls for each in self.moves))

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that move everything."""
        return tuple(each.name for each in self.moves)

    @property
    def stem(self) -> str:
        """What the names of the functions start with."""
        return stem_of(self.name)


def stem_of(name: str) -> str:
    """Return what the names of a layout's functions start with."""
    return name.lower()


def generate_c(
    layout: Layout,
    *,
    source: str,
    certificate: str | None,
    widths: Sequence[int] = WIDTHS,
    verbs: Sequence[str] = VERBS,
    rank: int = 0,
) -> EmittedProgram | NoCode:
    """Return C that packs and unpacks a layout, or why there is none.

    Args:
        layout: every parameter has a value.
        source: the text in which the layout was written; it is quoted.
        certificate: the hash of its proofs; ``None`` makes the text say "unproved".
        widths: bytes of an element, of 1, 2, 4 and 8.
        verbs: what there are functions for.
        rank: 0 for the tree that seems to be the fastest, more for one of the next.

    Raises:
        ValueError: a parameter has no value, the name cannot name a function, or a width is none.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", layout.name):
        raise ValueError(f"`{layout.name}` cannot name a function")
    for width in widths:
        if width not in WIDTHS:
            raise ValueError(f"elements of {width} bytes have no kernel; {WIDTHS} have one")
    stem, made = stem_of(layout.name), list[Moved]()
    for width in widths:
        for verb in verbs:
            found = moved(f"{stem}_{verb}_{8 * width}", move_of(layout, verb), width, rank=rank)
            if isinstance(found, NoCode):
                return found
            made.append(found)
    head = [f"/* {layout.name}, generated by layoutdsl.", *_comment(source)]
    proofs = _plain(certificate or "unproved")
    head += [f"   Proofs: {proofs}."]
    header = header_text(stem, layout, widths, proofs)
    size = _size(stem, layout, Spelling(layout))
    apart = digits(Move(None, by_digits(layout)))
    fallback = apart.reason if isinstance(apart, Apart) else None
    codes = tuple(codes_c(layout, stem)) if layout.interface is not None else ()
    return EmittedProgram(
        layout.name, tuple(head), tuple(size), tuple(made), header, fallback, codes=codes
    )


def conversion_c(name: str, move: Move, width: int, rank: int = 0) -> EmittedProgram | NoCode:
    """Return C that turns buffers of one layout into those of another, or why there is none.

    Args:
        name: of both layouts.
        move: from one to the other.
        width: bytes of an element.
        rank: of its tree, as in `generate_c`.
    """
    found = moved(f"{stem_of(name)}_convert_{8 * width}", move, width, rank=rank)
    if isinstance(found, NoCode):
        return found
    return EmittedProgram(name, (f"/* {name}, generated by layoutdsl.",), (), (found,), "")


def moved(
    name: str,
    move: Move,
    width: int,
    ends: Ends = Ends.ANY,
    rank: int = 0,
    *,
    spelled: bool = True,
) -> Moved | NoCode:
    """Return the functions of a move, or why there are none.

    Args:
        name: of the function that moves everything.
        move: what is moved.
        width: bytes of an element.
        ends: which leaves its tree may have.
        rank: of its tree, as in `generate_c`.
        spelled: whether it is planned by the digits of its layouts, however they are written.
    """
    sides = (move.source, move.target)
    planned = Move(*(side and by_digits(side) for side in sides)) if spelled else move
    node = tree_of(planned, width, ends, rank)
    if isinstance(node, Unplanned):
        return NoCode(node.reason)
    words = Spelling(planned.layouts[-1])
    try:
        lines, calls = functions(name, node, planned.sizes[1], width, words)
    except OverflowError as error:
        return NoCode(str(error))
    return Moved(name, move, planned, width, "\n".join([*lines, *_whole(name, move.verb)]), calls)


def _comment(source: str) -> list[str]:
    return [f"   {_plain(line)}".rstrip() for line in source.splitlines()]


def _plain(line: str) -> str:
    """Text that ends no comment, and starts none."""
    return ascii(line)[1:-1].replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")


def _whole(name: str, verb: str) -> list[str]:
    """The function that does all parts at once."""
    fill = "" if verb == "unpack" else ", const void *fill"
    given = "0" if verb == "unpack" else "fill"
    return [
        "",
        f"int {name}(const void *restrict src, void *restrict dst, const int64_t *shape{fill})",
        "{",
        f"    return {name}_part(src, dst, shape, {given}, 0, {name}_units(shape));",
        "}",
    ]


def _size(stem: str, layout: Layout, words: Spelling) -> list[str]:
    found, size = plan(layout), size_expr(layout)
    limits = found.limits if isinstance(found, Plan) else ()
    used = [axis.extent for axis in layout.element_axes] + [size]
    used += [side for each in layout.where for side in (each.left, each.right)]
    most = bound(tree.Seq(()), [*used, *(s for each in limits for s in (each.least, each.most))], 1)
    spoken, least = below(most, words)
    large = f"if (!({least})) return -1; /* numbers on the way might leave 64 bits */"
    return [
        f"int64_t {stem}_size(const int64_t *shape)",
        "{",
        *([] if layout.axes else ["    (void)shape;"]),
        *(f"    {line}" for line in words.unpacked([*used, *spoken])),
        *(f"    {line}" for line in _tests(layout, large if spoken else "", limits, words)),
        f"    return {words.text(size)};",
        "}",
    ]


def _tests(layout: Layout, large: str, limits: Iterable[Limit], words: Spelling) -> Iterable[str]:
    """What a shape is asked: its extents first, as what follows works with them."""
    known, wrong = set[str](), list[str]()
    for number, axis in enumerate(layout.element_axes):
        match axis.extent:
            case Extent(name) if name not in known:
                known.add(name)
                wrong.append(f"shape[{number}] < 1")
            case Extent() | Constant():
                wrong.append(f"shape[{number}] != {words.text(axis.extent)}")
    if wrong:
        yield f"if ({' || '.join(wrong)}) return -1;"
    if large:
        yield large
    for condition in layout.where:
        left, right = words.text(condition.left), words.text(condition.right)
        yield f"if (!({left} {condition.operator} {right})) return -1; /* {condition} */"
    for limit in limits:
        least, most = words.text(limit.least), words.text(limit.most)
        note = f"{text(limit.least)} <= {text(limit.most)}"
        yield f"if ({least} > {most}) return -1; /* {_plain(note)} */"
