"""Tree -> meaning for records: each part becomes a layout of its own.

The axes of that layout are the free digits of the part, `bit` last where the part places bits. What
they extend over is said in extents of the record; such an extent is a name of its own in the
layout, ``S`` for ``s: K/256``, and a range of the record is carried over: ``K % 256 == 0`` is
``B % 16 == 0`` where ``B`` is ``K/16``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword

from layoutdsl.language.elaborate.application import Applications
from layoutdsl.language.elaborate.axes import axes_of, on_axes_of
from layoutdsl.language.elaborate.elements import bit_in, element_of, fill_of
from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.rules import scope_of, silent, start_of, twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Mul,
    extents,
    substitute,
)
from layoutdsl.language.meaning.elements import (
    BIT,
    BIT_AXIS,
    ELEMENT_TYPES,
    ElementType,
    Fill,
    FillAny,
    FillValue,
)
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.language.meaning.part import Part, PickedDigit, Picks, plain
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Label, Span


def own_extents(
    layout: Layout, given: Mapping[str, Expr], where: Sequence[Condition], scope: Scope
) -> tuple[Layout, tuple[tuple[str, Expr], ...]]:
    """Return the layout without extents of the record that are none of its own, as far as can be.

    Returns what each of its extents and parameters is in the record, too.
    """
    own = {axis.extent.name for axis in layout.axes if isinstance(axis.extent, Extent)}
    bases = _bases(given, own, scope)
    layout = layout.substituted(bases)
    coordinates = tuple(replace(c, extent=simplify(c.extent)) for c in layout.coordinates)
    layout = replace(layout, coordinates=coordinates, start=simplify(layout.start))
    spoken = [each.extent for each in layout.all_coordinates]
    spoken += [layout.start, *(each.value for each in layout.all_coordinates)]
    spoken += [each.extent for one in layout.applied for each in one.index]
    opened = sorted({name for each in spoken for name in extents(each)} - own)
    known = {*own, *opened, *bases}
    carried = [each for each in where if _symbols(each) <= known]
    conditions = [plain(each.substituted(bases)) for each in carried]
    exact = {name for each in bases.values() for name in extents(each)}
    for name, expr in given.items():
        value = simplify(substitute(expr, bases))
        if name not in exact and extents(expr) <= known:
            conditions.append(Condition(Extent(name), "==", value))
    found = tuple(
        dict.fromkeys([*layout.where, *(each for each in conditions if each is not None)])
    )
    values = tuple((name, given.get(name, Extent(name))) for name in (*sorted(own), *opened))
    return replace(layout, where=found, parameters=tuple(opened)), values


def _symbols(condition: Condition) -> frozenset[str]:
    return frozenset(extents(condition.left)) | frozenset(extents(condition.right))


def _bases(given: Mapping[str, Expr], own: set[str], scope: Scope) -> dict[str, Expr]:
    """Extents of the record that the part has under another name: 16*B, where B is K/16 exactly."""
    multiples: dict[str, int] = {}
    for left, right in scope.multiples:
        match left, right:
            case Extent(name), Constant(value):
                multiples[name] = max(value, multiples.get(name, 1))
    found: dict[str, tuple[int, str]] = {}
    for name, expr in given.items():
        match expr:
            case Extent(whole):
                found[whole] = (1, name)
            case FloorDiv(Extent(whole), Constant(divisor)) if (
                multiples.get(whole, 1) % divisor == 0
            ):
                found[whole] = min(found.get(whole, (divisor, name)), (divisor, name))
    return {
        whole: Extent(name) if factor == 1 else Mul(Constant(factor), Extent(name))
        for whole, (factor, name) in found.items()
        if whole not in own
    }


_TAKEN = frozenset({"out", "threads", "shape", "src"})
"""What `pack` and `unpack` take besides fields."""


def record_of(declaration: ast.RecordDecl, layouts: Layouts) -> Record:
    """Return the record of a declaration.

    Raises:
        Fault: it breaks a rule of the language.
    """
    axes = axes_of(declaration.axes, declaration.parameters)
    parameters: dict[str, Expr] = {each.text: Extent(each.text) for each in declaration.parameters}
    scope = scope_of(axes, parameters)
    where, fill = _clauses(declaration, scope)
    conditions = [
        each
        for clause in declaration.clauses
        if isinstance(clause, ast.WhereClause)
        for each in clause.conditions
    ]
    reader = _Reader(
        declaration.name.text, axes, scope.within(conditions), where, layouts, _types(declaration)
    )
    parts = [reader.part(each) for each in declaration.parts]
    fields = tuple(_fields(declaration, parts))
    opened = tuple(parameters)
    name = declaration.name.text
    return Record(name, axes, fields, tuple(parts), where, fill, opened)


def _clauses(declaration: ast.RecordDecl, scope: Scope) -> tuple[tuple[Condition, ...], Fill]:
    """The range and the fill of a record."""
    where: tuple[Condition, ...] = ()
    fill: Fill = FillValue(0)
    seen: dict[type, ast.Clause] = {}
    for clause in declaration.clauses:
        first = seen.setdefault(type(clause), clause)
        if first is not clause:
            label = (Label(first.span, "first here"),)
            raise fault("L203", "a clause stands here twice", clause.span, others=label)
        match clause:
            case ast.WhereClause():
                where, inside = scope.restrictions(clause)
                if inside:
                    message = "the range of a record speaks of extents, not of an index"
                    hint = "select the elements of a part with a fixed digit, as in `1 : 2`"
                    raise fault("L204", message, clause.span, help=hint)
            case ast.FillClause():
                fill = fill_of(clause)
                if fill not in (FillValue(0), FillAny()):
                    message = "bits that no field of a record holds are 0 or `any`"
                    raise fault("L208", message, clause.span)
            case _:
                message = "this clause belongs to a part of a record, not to the record"
                raise fault("L208", message, clause.span, help="write it behind the part")
    return where, fill


def _types(declaration: ast.RecordDecl) -> Mapping[str, tuple[ElementType, Span]]:
    """The type of each field whose parts name one."""
    found: dict[str, tuple[ElementType, Span]] = {}
    for part in declaration.parts:
        for clause in part.clauses:
            if isinstance(clause, ast.ElementClause):
                element = element_of(clause.name)
                _refuse_interface(clause)
                _refuse_sign(element, clause)
                known, place = found.setdefault(part.name.text, (element, clause.span))
                if known != element:
                    message = f"the field `{part.name.text}` is of {known.name} already"
                    label = (Label(place, "said here"),)
                    raise fault("L208", message, clause.span, others=label)
    return found


def _refuse_sign(element: ElementType, clause: ast.ElementClause) -> None:
    """Records copy the sign of narrow fields, of up to 8 bits, and of those with whole items."""
    if element.kind == "i" and element.bits > 8 and not element.fills_item:
        message = f"a field of a record is no `{element.name}`: its sign is not extended"
        hint = f"write `of u{element.bits}`, and extend the sign yourself"
        raise fault("L208", message, clause.name.span, help=hint)


def _refuse_interface(clause: ast.ElementClause) -> None:
    if clause.interface is not None:
        message = "a field of a record holds plain codes, without `as`"
        hint = f"write `of {clause.name.text}`"
        raise fault("L208", message, clause.interface.span, help=hint)


def _fields(declaration: ast.RecordDecl, parts: Sequence[Part]) -> Iterator[Field]:
    """The fields, in the order in which parts name them first."""
    for name in dict.fromkeys(each.field for each in parts):
        own = tuple(each for each in parts if each.field == name)
        said = [each for each in declaration.parts if each.name.text == name]
        for part, written in zip(own, said, strict=True):
            if len(part.picks) != len(own[0].picks):
                message = f"`{name}` has {len(own[0].picks)} axes, and {len(part.picks)} here"
                label = (Label(said[0].name.span, "first here"),)
                raise fault("L208", message, written.name.span, others=label)
            if part.field_type != own[0].field_type:
                message = f"`{name}` is of {own[0].field_type.name}"
                here = f"{message}, and of {part.field_type.name} here"
                label = (Label(said[0].name.span, "first here"),)
                raise fault("L208", here, written.name.span, others=label)
        sizes = tuple(simplify(_product(digits)) for digits in own[0].picks)
        yield Field(name, own[0].field_type, sizes, own)


def _product(digits: Sequence[PickedDigit]) -> Expr:
    found: Expr = Constant(1)
    for each in digits:
        found = Mul(found, each.extent)
    return found


@dataclass(slots=True)
class _Reader:
    """What parts are read with: the names of the record, its range, and the types of fields."""

    name: str
    axes: tuple[Axis, ...]
    scope: Scope
    where: tuple[Condition, ...]
    layouts: Layouts
    types: Mapping[str, tuple[ElementType, Span]]
    count: int = 0

    def part(self, written: ast.PartDecl) -> Part:
        """Return one part."""
        name = written.name
        if name.text != name.text.lower() or not name.text[0].isalpha():
            message = f"the field `{name.text}` is not in lower case"
            raise fault("L204", message, name.span)
        if iskeyword(name.text) or name.text in _TAKEN:
            message = (
                f"a field cannot be called `{name.text}`, by which `pack` takes something else"
            )
            raise fault("L204", message, name.span, help=f"write `{name.text}_`")
        picks, given = self._picks(written)
        axes = tuple(
            Axis(each.name, _own_extent(each, self.axes))
            for digits in picks
            for each in digits
            if each.name
        )
        self.count += 1
        bare = Layout(f"{self.name}_{name.text}_{self.count}", axes, ())
        layout, field_type = self._body(written, bare)
        low, held = _held(written, field_type)
        if layout.bit_of not in (None, held):
            message = f"the layout places the bits of {field_type.name}, and the part holds some"
            raise fault("L208", message, written.body.span)
        layout = _of_type(layout, held, written)
        layout, values = own_extents(layout, given, self.where, self.scope)
        return Part(name.text, picks, low, layout, values, field_type)

    def _picks(self, written: ast.PartDecl) -> tuple[Picks, dict[str, Expr]]:
        """The digits of an index, and what the extents of those that have their own are."""
        given: dict[str, Expr] = {}
        seen: dict[str, ast.Name] = {}
        found = tuple(
            tuple(self._digit(each, seen, given) for each in digits) for digits in written.picks
        )
        return found, given

    def _digit(
        self, written: ast.DigitDecl, seen: dict[str, ast.Name], given: dict[str, Expr]
    ) -> PickedDigit:
        own = {axis.name: axis.extent for axis in self.axes}
        extent = None
        if written.extent is not None:
            extent = self.scope.extent(written.extent)
            if isinstance(extent, Constant) and extent.value < 1:
                raise fault("L204", "an extent is at least 1", written.extent.span)
        match written.value:
            case ast.Number(value, span):
                assert extent is not None, "the grammar asks for it"
                if isinstance(extent, Constant) and value >= extent.value:
                    message = f"the digit {value} is outside 0..{extent.value - 1}"
                    raise fault("L204", message, span)
                return PickedDigit("", value, extent)
            case ast.Name(text_) as name:
                pass
        if text_ in seen:
            raise twice("digit", name, seen[text_])
        _expect_digit(name)
        seen[text_] = name
        if extent is None:
            if text_ in own:
                return PickedDigit(text_, 0, own[text_])
            hint = did_you_mean(text_, own) or f"write `{text_}: EXTENT`"
            message = f"`{text_}` is no axis of the record, and has no extent"
            raise fault("L201", message, name.span, help=hint)
        if not isinstance(extent, Constant) and own.get(text_) != extent:
            if text_.upper() in self.scope.symbols:
                message = f"`{text_.upper()}` is another extent of the record"
                hint = "give this digit a name of its own"
                raise fault("L203", message, name.span, help=hint)
            given[text_.upper()] = extent
        return PickedDigit(text_, 0, extent)

    def _body(self, written: ast.PartDecl, bare: Layout) -> tuple[Layout, ElementType]:
        """The layout of a part, its type not yet set, and the type of its field."""
        said = self.types.get(written.name.text)
        body = written.body
        if isinstance(body, ast.Coordinates):
            if said is None:
                raise _no_type(written)
            return self._coordinates(written, body, bare), said[0]
        if isinstance(body, ast.Foreign):
            hint = "name a layout that is that text, and write its name here"
            raise fault("L208", "a part is a list of coordinates or a layout", body.span, help=hint)
        other = self._other(body, bare)
        if other.domain:
            raise fault("L208", f"`{other.name}` holds only part of a shape", body.span)
        if other.copies:
            message = f"`{other.name}` holds copies, and a record each bit once"
            raise fault("L208", message, body.span)
        named = replace(other, name=print_body(body))
        if other.bit_of is not None:
            bare = replace(bare, axes=(*bare.axes, other.axes[-1]))
        found = replace(on_axes_of(bare, named, body.span), name=bare.name)
        element = other.tensor_element or (said[0] if said else None)
        if element is None:
            raise _no_type(written)
        if said is not None and said[0] != element:
            raise fault("L208", f"`{other.name}` is of {element.name}", said[1])
        return self._with_start(found, written, scope_of(found.axes, {})), element

    def _other(self, body: ast.Reference | ast.Application, bare: Layout) -> Layout:
        """The layout that a part names, or applies to an index over its axes."""
        if isinstance(body, ast.Reference):
            found = self.layouts.referred(body)
            if found is None:
                raise silent(body.span)
            return found
        scope = self._scope(bare.axes)
        applications = Applications(self.layouts, "", {})
        if applications.inner(body, scope) is None:
            return replace(applications.body(body, bare, scope), name=print_body(body))
        return applications.composed(body)

    def _scope(self, axes: tuple[Axis, ...]) -> Scope:
        scope = scope_of(axes, dict(self.scope.symbols))
        return replace(scope, multiples=self.scope.multiples)

    def _coordinates(self, written: ast.PartDecl, body: ast.Coordinates, bare: Layout) -> Layout:
        axes = bare.axes
        if bit_in(body.places) is not None and all(axis.name != BIT_AXIS for axis in axes):
            width = _held(written, self.types[written.name.text][0])[1].bits
            axes = (*axes, Axis(BIT_AXIS, Constant(width)))
        scope = self._scope(axes)
        applications = Applications(self.layouts, "", {})
        placing = replace(scope, applies=applications.offset)
        places = tuple(map(placing.coordinate, body.places))
        if applications.domain:
            raise fault("L208", "an applied layout holds only part of a shape", body.span)
        layout = replace(
            bare,
            axes=axes,
            coordinates=places,
            chunk_rank=body.chunk_rank,
            where=(*bare.where, *applications.where),
            applied=tuple(applications.indices),
        )
        return self._with_start(layout, written, scope)

    def _with_start(self, layout: Layout, written: ast.PartDecl, scope: Scope) -> Layout:
        """Add what the clauses of a part say, but for its type."""
        seen: dict[type, ast.Clause] = {}
        for clause in written.clauses:
            first = seen.setdefault(type(clause), clause)
            if first is not clause:
                label = (Label(first.span, "first here"),)
                raise fault("L203", "a clause stands here twice", clause.span, others=label)
            match clause:
                case ast.OffsetClause(value):
                    layout = replace(layout, start=start_of(scope, value))
                case ast.ElementClause():
                    pass
                case _:
                    word = "fill" if isinstance(clause, ast.FillClause) else "where"
                    message = f"`{word}` belongs to the record, not to a part"
                    raise fault("L208", message, clause.span, help="write it behind the `}`")
        return layout


def _expect_digit(name: ast.Name) -> None:
    """Refuse a name that no digit may have."""
    if name.text == BIT_AXIS:
        message = "`bit` is a bit of an element here, and no digit of an index"
        raise fault("L203", message, name.span, help="give this digit a name of its own")
    if name.text != name.text.lower() or not name.text[0].isalpha():
        raise fault("L204", f"the axis `{name.text}` is not in lower case", name.span)


def _no_type(written: ast.PartDecl) -> Exception:
    message = f"the field `{written.name.text}` does not say how wide an element is"
    return fault("L208", message, written.name.span, help="add `of u4`")


def _own_extent(digit: PickedDigit, axes: Sequence[Axis]) -> Extent | Constant:
    """The extent of a free digit as an axis of the part's layout."""
    if isinstance(digit.extent, Constant):
        return digit.extent
    for axis in axes:
        if axis.name == digit.name:
            return axis.extent
    return Extent(digit.name.upper())


def _held(written: ast.PartDecl, element: ElementType) -> tuple[int, ElementType]:
    """The lowest bit that a part holds, and the type of what it holds of an element."""
    if written.bits is None:
        return 0, element
    first, last = written.bits
    if not first.value <= last.value < element.bits:
        span = first.span.to(last.span)
        message = f"{element.name} has the bits 0..{element.bits - 1}, the lower one first"
        raise fault("L204", message, span)
    width = last.value - first.value + 1
    if width == element.bits:
        return 0, element
    if f"u{width}" not in ELEMENT_TYPES:
        message = f"a part holds 1 to 8, 10, 12, 14, 16, 24 or 32 bits, not {width}"
        raise fault("L204", message, first.span.to(last.span), help="write two parts")
    return first.value, ELEMENT_TYPES[f"u{width}"]


def _of_type(layout: Layout, held: ElementType, written: ast.PartDecl) -> Layout:
    """The layout with the type of what it moves, whose bits it may place."""
    axes, held_axes = len(layout.axes), sum(1 for each in layout.axes if each.name == BIT_AXIS)
    placed = axes > sum(1 for ds in written.picks for d in ds if isinstance(d.value, ast.Name))
    if not placed:
        return replace(layout, element=held, bit_of=None, fill=FillValue(0), interface=None)
    assert held_axes, "the axis more is that of bits"
    return replace(layout, element=BIT, bit_of=held, fill=FillValue(0), interface=None)
