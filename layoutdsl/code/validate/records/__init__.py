"""C of a record, read back: that the functions of all fields do what the record means.

`code/validate/loops/` validates the C of each part's layout; here it is a call that puts each
element of a tensor at its offset among items, and back. What stands around these calls is read
as a map of bits, for one turn of every loop, and compared with what the record says: which bit of
which element lies where, bit by bit, for every shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from layoutdsl.code.placed import Placed
from layoutdsl.code.validate.loops.numbers import Scope
from layoutdsl.code.validate.loops.parsing import Function, parsed, without_notes
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.code.validate.records.addresses import expect_addresses
from layoutdsl.code.validate.records.bits import equal
from layoutdsl.code.validate.records.parts import expect_part
from layoutdsl.code.validate.records.reading import Reader
from layoutdsl.code.validate.records.sides import Side
from layoutdsl.code.validate.records.sizes import (
    Whole,
    expect,
    expect_bytes,
    expect_scratch,
    extents_of,
)
from layoutdsl.code.validate.records.wholes import expect_moves, signed_late
from layoutdsl.code.validate.seals import seal, spelled
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import product
from layoutdsl.language.integers.expr import Extent, text
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.proof.statements.terms import NotExpressible

__all__ = ["validate_record"]

_MEMORY = "const int64_t * shape, uint8_t * restrict scratch"


def validate_record(
    written: str, record: Record, parts: Sequence[Placed], stems: Sequence[str]
) -> Validated | NotValidated:
    """Return whether C was shown to pack and unpack a record, for every shape of its range.

    Wherever its functions return 0, each bit of each element lies where the record says, and is
    read from there; all other bits of the buffer are 0. That holds where the record is proved, and
    where the C of each part's layout does what that means. Numbers stay in 64 bits as no buffer has
    2**53 bits: where one would, `_bytes` says so.

    Args:
        written: the functions, without what all such files carry.
        record: without open parameters.
        parts: how each part is moved.
        stems: what the functions of each part's layout begin with.
    """
    try:
        functions = parsed(without_notes(written))
        sides = tuple(map(Side, parts, stems))
        stem = record.name.lower()
        along, piece = _along(functions, record, stem)
        whole = Whole(record, sides, stem, along, piece)
        bodies = _Bodies(functions)
        for number, side in enumerate(sides, 1):
            expect(side.placed.part is record.parts[number - 1], "a part is of another record")
            expect_addresses(side)
            _expect_part(bodies, whole, side, number)
        for number, each in enumerate(record.fields, 1):
            if signed_late(each):
                _expect_sign(bodies, record, each, number)
        expect_bytes(whole, bodies.of(f"int64_t {stem}_bytes(const int64_t * shape)"))
        expect_scratch(whole, bodies.of(f"int64_t {stem}_scratch(const int64_t * shape)"))
        for verb in ("pack", "unpack"):
            expect_moves(whole, verb, bodies.of(_signature(record, stem, verb)))
        expect(not bodies.left, "there are more functions")
    except (Meaningless, NotExpressible) as reason:
        return NotValidated(str(reason))
    said = [f"{part.label} {spelled(part.layout)}" for part in record.parts]
    values = [f"{name} {text(expr)}" for part in record.parts for name, expr in part.values]
    items = [spelled(each.items) for each in parts]
    return Validated(seal(written, *said, *values, *items), 2 * len(parts) + 4, 0)


class _Bodies:
    """The functions of a text, each asked for once by its head."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self.left = {each.head: each.body for each in functions.values()}

    def of(self, head: str) -> tuple[tuple[object, ...], ...]:
        """Return the body of a function.

        Raises:
            Meaningless: there is none with this head.
        """
        if head not in self.left:
            raise Meaningless(f"there is no function `{head}`")
        return self.left.pop(head)


def _along(functions: Mapping[str, Function], record: Record, stem: str) -> tuple[str | None, int]:
    """Along which extent rows are moved some at a time, if any, and how many bytes of them."""
    found = functions.get(f"{stem}_pack")
    scope, _ = extents_of(record, found.body if found else ())
    match [each for each in (found.body if found else ()) if each[0] == "let" and len(each) == 4]:
        case [
            *_,
            (_, _, "each", ("/", "bytes", str(name))),
            (_, _, "step", ("+", ("/", int(piece), _), 1)),
        ]:
            match scope.numbers.get(name):
                case Extent(along):
                    return along, piece
    return None, 0


def _expect_part(bodies: _Bodies, whole: Whole, side: Side, number: int) -> None:
    for verb in ("pack", "unpack"):
        source, target = ("field", "out") if verb == "pack" else ("in", "field")
        given = f"const uint8_t * restrict {source}, uint8_t * restrict {target}"
        if verb == "unpack":
            given = f"uint8_t * restrict {target}, const uint8_t * restrict {source}"
        body = bodies.of(f"static int {verb}_{number}({given}, {_MEMORY})")
        for little in (True, False):
            reader = Reader(whole.record.frame.symbols, side.size, side.stem, little)
            expect_part(side, verb, reader.read(body, (source, target, "scratch")), little)


def _expect_sign(bodies: _Bodies, record: Record, field: Field, number: int) -> None:
    """That the highest bit of each element of a field is copied upwards."""
    body = bodies.of(f"static void sign_{number}(uint8_t * field, const int64_t * shape)")
    scope, statements = extents_of(record, body)
    signs = ("cast", "uint8_t", ("call", "with_sign", ("[]", "field", "e"), field.element.bits))
    match statements:
        case (("for", ("let", "int64_t", "e", 0), ("<", "e", count), ("p++", "e"), inner),) if (
            inner == (("do", ("=", ("[]", "field", "e"), signs)),)
        ):
            found = Scope(numbers=scope.numbers).number(count)
            expect(equal(found, product(field.extents)), "signs of other elements")
        case _:
            raise Meaningless("signs are of another form")
    expect(field.element.item[1] == 1, "signs of wide elements")


def _signature(record: Record, stem: str, verb: str) -> str:
    if verb == "pack":
        given = [f"const void * f_{each.name}" for each in record.fields]
        given = [*given, "void * out"]
    else:
        given = ["const void * src", *(f"void * f_{each.name}" for each in record.fields)]
    more = "const int64_t * shape, void * scratch"
    return f"int {stem}_{verb}({', '.join(given)}, {more})"
