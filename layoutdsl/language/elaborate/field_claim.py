"""Tree -> meaning for claims of one field of a record: which names its axes have, and what is said.

A formula or a run speaks of the axes of the field. Where every part has a plain digit along an axis
of one name, the axis is called so; where parts cut it into digits, the claim names it:
``Q4_K.scale(r, j)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutdsl.language.elaborate.claimed import run_of
from layoutdsl.language.elaborate.naming import with_names
from layoutdsl.language.elaborate.rules import twice
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.expr import Constant, Expr, Mod
from layoutdsl.language.meaning import claims
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.syntax import ast
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault


def no_fields(subject: ast.Name, kind: str, part: ast.FieldName) -> Fault:
    """Return what is wrong where a claim names a field of what is no record."""
    message = f"`{subject.text}` is a {kind}, and only a record has fields"
    return fault("L304", message, part.span)


def field_predicate(
    claim: ast.ClaimDecl, part: ast.FieldName, record: Record, scope: Scope
) -> claims.OfField:
    """Return what is claimed of a field.

    Args:
        claim: the claim.
        part: the field, as the claim writes it.
        record: that has it.
        scope: the extents and parameters of the record.

    Raises:
        Fault: there is no such field, its axes have no names, or it is nothing to say of a field.
    """
    found = _field(part, record)
    axes = _axes(found, part, record, scope)
    inside = _within(scope, dict(zip(axes, found.extents, strict=True)), record)
    match claim.predicate:
        case ast.Equals(right, names):
            if isinstance(right, ast.Reference | ast.Coordinates | ast.Foreign):
                message = f"the field `{found.name}` is compared with a formula only, in bits"
                hint = "two records are compared as a whole: `prove A == B`"
                raise fault("L304", message, right.span, help=hint)
            formula = with_names(inside, right, names).value(right)
            return claims.FieldFormula(found.name, axes, formula)
        case ast.Aligns(places, number, element):
            if element is not None:
                message = f"`{part.name.text}` is of {found.element.name} already"
                raise fault("L304", message, element.span, help="leave `of` out")
            if number.value < 1:
                raise fault("L301", "alignment is to 1 byte or more", number.span)
            return claims.FieldAligns(found.name, axes, run_of(inside, places), number.value)
    message = f"this claim is not available for `{part.name.text}`, a field of a record"
    hint = "claims about a field are `== FORMULA`, in bits, and `aligns RUN to N bytes`"
    raise fault("L304", message, claim.span, help=hint)


def _field(part: ast.FieldName, record: Record) -> Field:
    known = {each.name: each for each in record.fields}
    if part.name.text not in known:
        message = f"record `{record.name}` has no field `{part.name.text}`"
        hint = did_you_mean(part.name.text, known) or f"it has {', '.join(known)}"
        raise fault("L201", message, part.name.span, help=hint)
    return known[part.name.text]


def _axes(found: Field, part: ast.FieldName, record: Record, scope: Scope) -> tuple[str, ...]:
    """What the claim calls the axes of the field."""
    if not part.axes:
        names = tuple(_plain_names(found))
        if len(names) < len(found.extents) or len({*names}) < len(names):
            message = f"an axis of `{found.name}` has no name: parts cut it into digits"
            called = ", ".join("ijklmnop"[number % 8] for number in range(len(found.extents)))
            hint = f"name the axes: `{record.name}.{found.name}({called})`"
            raise fault("L204", message, part.span, help=hint)
        if {*names} & {*scope.symbols}:
            message = f"an axis of `{found.name}` is called as a parameter is"
            hint = f"name the axes: `{record.name}.{found.name}(i, j)`"
            raise fault("L203", message, part.span, help=hint)
        return names
    if len(part.axes) != len(found.extents):
        message = f"`{found.name}` has {len(found.extents)} axes, and {len(part.axes)} here"
        raise fault("L204", message, part.span)
    seen: dict[str, ast.Name] = {}
    for each in part.axes:
        if each.text in seen:
            raise twice("axis", each, seen[each.text])
        if each.text in scope.symbols:
            raise fault("L203", f"the name `{each.text}` is taken", each.span)
        if each.text != each.text.lower() or not each.text[0].isalpha():
            raise fault("L204", f"the axis `{each.text}` is not in lower case", each.span)
        seen[each.text] = each
    return tuple(seen)


def _plain_names(found: Field) -> Iterator[str]:
    """The name of each axis along which all parts have one digit of one name."""
    for axis in range(len(found.extents)):
        digits = {part.picks[axis] for part in found.parts}
        names = {tuple(digit.name for digit in each) for each in digits}
        match [*names]:
            case [(str(name),)] if name:
                yield name


def _within(scope: Scope, extents: dict[str, Expr], record: Record) -> Scope:
    """The names of a formula: axes, extents, and the extent of ``b`` as ``B``."""
    symbols = dict(scope.symbols)
    for name, extent in extents.items():
        symbols.setdefault(name.upper(), extent)
    multiples = frozenset(
        (each.left.left, each.left.right)
        for each in record.where
        if isinstance(each.left, Mod) and (each.operator, each.right) == ("==", Constant(0))
    )
    return replace(scope, axes=extents, symbols=symbols, multiples=multiples)
