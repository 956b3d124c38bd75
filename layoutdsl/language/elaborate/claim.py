"""Tree -> meaning for claims: what is said of a layout or a table, and what threads read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutdsl.language.elaborate.application import Applications
from layoutdsl.language.elaborate.axes import on_axes_of
from layoutdsl.language.elaborate.claimed import counted, refuse_domain, run_of, width_of, word_of
from layoutdsl.language.elaborate.elements import element_of
from layoutdsl.language.elaborate.field_claim import no_fields
from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.naming import with_names
from layoutdsl.language.elaborate.rules import scope_of, twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.elaborate.table import Tables, plain_predicate
from layoutdsl.language.integers.expr import Constant, Expr, Extent
from layoutdsl.language.meaning import claims
from layoutdsl.language.meaning.banks import MOST_THREADS, WIDTHS, Reading
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_declaration
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.notation.foreign import foreign


def reading_of(claim: ast.Reads, layout: Layout, scope: Scope) -> Reading:
    """Return what each thread reads.

    Args:
        claim: as it was written.
        layout: of what is read.
        scope: its extents and parameters; indices are those of a thread, and none of its own.

    Raises:
        Fault: there are no such threads, or they begin at no element.
    """
    number, threads = claim.bytes, claim.threads
    if number.value not in WIDTHS:
        known = ", ".join(map(str, WIDTHS[:-1]))
        message = f"a thread reads {known} or {WIDTHS[-1]} bytes at once"
        raise fault("L301", message, number.span)
    if not 1 <= threads.value <= MOST_THREADS:
        raise fault("L301", f"there are 1 to {MOST_THREADS} threads", threads.span)
    index = dict(_index(claim, layout, _threads(claim, scope)))
    missing = [axis.name for axis in layout.axes if axis.name not in index]
    if missing:
        message = f"the start index along `{missing[0]}` is missing"
        raise fault("L301", message, claim.span, help=f"add `{missing[0]} = 0`, or another value")
    ordered = tuple((axis.name, index[axis.name]) for axis in layout.axes)
    return Reading(number.value, claim.thread.text, threads.value, ordered, _element(claim, layout))


def _threads(claim: ast.Reads, scope: Scope) -> Scope:
    """The names in the index of a thread: its number, extents and parameters."""
    name = claim.thread
    if name.text != name.text.lower() or not name.text[0].isalpha():
        hint = f"write `{name.text.lower().lstrip('_') or 't'}`"
        raise fault("L301", f"the thread `{name.text}` is not in lower case", name.span, help=hint)
    if name.text in scope.axes or name.text in scope.symbols:
        message = f"the layout already has the name `{name.text}`"
        raise fault("L301", message, name.span, help="call the thread otherwise, as `t`")
    return Scope({name.text: Constant(claim.threads.value)}, scope.symbols, "the thread")


def _index(claim: ast.Reads, layout: Layout, scope: Scope) -> Iterator[tuple[str, Expr]]:
    names = [axis.name for axis in layout.axes]
    seen: dict[str, ast.Name] = {}
    for entry in claim.index:
        name = entry.axis
        if name.text not in names:
            hint = did_you_mean(name.text, names)
            raise fault("L301", f"`{layout.name}` has no axis `{name.text}`", name.span, help=hint)
        if name.text in seen:
            raise twice("axis", name, seen[name.text])
        seen[name.text] = name
        yield name.text, scope.value(entry.value)


def _element(claim: ast.Reads, layout: Layout) -> ElementType:
    if claim.element is not None:
        return element_of(claim.element)
    if layout.element is None:
        message = f"`{layout.name}` does not say how wide an element is"
        raise fault("L301", message, claim.bytes.span, help="add `of f16` behind `bytes`")
    return layout.element


def claim_of(claim: ast.ClaimDecl, layouts: Layouts) -> claims.Claim | None:
    """Return what is claimed of a layout; ``None`` where faults of the layout are reported already.

    Raises:
        Fault: the claim says nothing of this layout.
    """
    layout = layouts.referred(claim.subject)
    if layout is None:
        return None
    if claim.part is not None:
        raise no_fields(claim.subject.name, "layout", claim.part)
    layout = replace(layout, name=print_body(claim.subject))
    scope = scope_of(layout.axes, {name: Extent(name) for name in layout.parameters})
    predicate = _predicate(claim.predicate, layout, scope, layouts)
    where = scope.conditions(claim.where)
    return claims.Claim(claim.polarity, layout, predicate, where, print_declaration(claim))


def table_claim_of(claim: ast.ClaimDecl, tables: Tables, layouts: Layouts) -> claims.TableClaim:
    """Return what is claimed of a table.

    Raises:
        Fault: the claim says nothing of this table.
    """
    table = tables.referred(claim.subject)
    if claim.part is not None:
        raise no_fields(claim.subject.name, "table", claim.part)
    table = replace(table, name=print_body(claim.subject))
    parameters = {name: Extent(name) for name in table.parameters}
    where = scope_of(table.axes, parameters).conditions(claim.where)
    predicate: claims.Sound | claims.Inverts
    match claim.predicate:
        case ast.Inverts(reference):
            other = layouts.on_axes_of_slots(table.frame, reference)
            if other.domain:
                message = f"`{other.name}` holds only part of a shape, and a table all of it"
                raise fault("L304", message, reference.span)
            predicate = claims.Inverts(other)
        case plain:
            predicate = plain_predicate(plain, table, claim.span)
    return claims.TableClaim(claim.polarity, table, predicate, where, print_declaration(claim))


def _predicate(
    predicate: ast.Predicate, layout: Layout, scope: Scope, layouts: Layouts
) -> claims.Predicate:
    match predicate:
        case ast.Sound():
            return claims.Sound()
        case ast.Fits(width, measure):
            return claims.Fits(width_of(width), counted(measure, layout))
        case ast.OffsetsFit(width, measure):
            return claims.OffsetsFit(width_of(width), counted(measure, layout))
        case ast.Computes(width):
            return claims.Computes(width_of(width))
        case ast.Keeps() | ast.Aligns():
            return _of_runs(predicate, layout, scope)
        case ast.Fills(number, span):
            return claims.Fills(word_of(number, layout, span))
        case ast.Reads():
            return claims.Reads(reading_of(predicate, layout, scope))
        case ast.Equals(right, names):
            return _equality(right, layout, with_names(scope, right, names), layouts)
        case ast.Inverts(reference):
            message = f"`{layout.name}` is a layout, and only a table inverts one"
            hint = f"write `{layout.name} == {print_body(reference)}`"
            raise fault("L304", message, reference.span, help=hint)


def _of_runs(predicate: ast.Keeps | ast.Aligns, layout: Layout, scope: Scope) -> claims.Predicate:
    refuse_domain(layout, predicate.places[0].span)
    if isinstance(predicate, ast.Keeps):
        return claims.Keeps(run_of(scope, predicate.places))
    number = predicate.bytes
    if number.value < 1:
        raise fault("L301", "alignment is to 1 byte or more", number.span)
    run = run_of(scope, predicate.places)
    if predicate.element is not None:
        return claims.Aligns(run, number.value, element_of(predicate.element))
    if layout.element is None:
        message = f"`{layout.name}` does not say how wide an element is"
        raise fault("L301", message, number.span, help="add `of f32` behind `bytes`")
    return claims.Aligns(run, number.value, layout.element)


def _equality(
    right: ast.Body | ast.Expression,
    layout: Layout,
    scope: Scope,
    layouts: Layouts,
) -> claims.Predicate:
    if isinstance(right, ast.Coordinates):
        applications = _applications(layout, layouts)
        placing = replace(scope, applies=applications.offset)
        body = replace(
            layout,
            coordinates=tuple(map(placing.coordinate, right.places)),
            chunk_rank=right.chunk_rank,
            where=(*layout.where, *applications.where),
            domain=(*layout.domain, *applications.domain),
            applied=tuple(applications.indices),
        )
        return claims.EqualsLayout(replace(body, name=print_body(right), start=Constant(0)))
    if isinstance(right, ast.Foreign):
        read = replace(foreign(right, layout.axes, layout.copies), name=print_body(right))
        return claims.EqualsLayout(on_axes_of(layout, read, right.span))
    if isinstance(right, ast.Application):
        return claims.EqualsLayout(_applied(right, layout, scope, layouts))
    if isinstance(right, ast.Name) and right.text not in {**scope.axes, **scope.symbols}:
        right = ast.Reference(right, (), right.span)
    if isinstance(right, ast.Reference):
        return claims.EqualsLayout(layouts.on_axes(layout, right))
    return claims.EqualsFormula(scope.value(right))


def _applied(
    application: ast.Application, layout: Layout, scope: Scope, layouts: Layouts
) -> Layout:
    """The layout after ``==`` in ``prove R == A[e]``, over the axes of ``R``."""
    applications = _applications(layout, layouts)
    if applications.inner(application, scope) is None:
        frame = replace(layout, coordinates=(), applied=())
        bare = frame if layout.bit_of is None else replace(frame, axes=layout.axes[:-1])
        found = applications.body(application, bare, scope)
        if found.axes != layout.axes:
            message = f"one of `{layout.name}` and `{print_body(application)}` counts in bits"
            raise fault("L303", message, application.span)
        return replace(found, name=print_body(application))
    found = replace(applications.composed(application), name=print_body(application))
    return on_axes_of(layout, found, application.span)


def _applications(layout: Layout, layouts: Layouts) -> Applications:
    return Applications(layouts, "", {name: Extent(name) for name in layout.parameters})
