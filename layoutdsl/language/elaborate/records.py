"""The records that a text may name, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from layoutdsl.language.elaborate.field_claim import field_predicate
from layoutdsl.language.elaborate.layout import Layouts
from layoutdsl.language.elaborate.record import record_of
from layoutdsl.language.elaborate.rules import arguments_of, scope_of, silent
from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.meaning import claims
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.unplaced import unknown_name_help
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_declaration
from layoutdsl.language.texts.faults import Fault, fault


class Records:
    """The records that a text may name.

    Args:
        declared: those of the text; they come first.
        known: those of the library, which come after every layout and table.
        others: the names of all else.
        layouts: that parts may name.
    """

    def __init__(
        self,
        declared: Mapping[str, ast.RecordDecl],
        known: Mapping[str, Record],
        others: tuple[Container[str], ...],
        layouts: Layouts,
    ) -> None:
        self._declared, self._known, self._others = declared, known, others
        self._layouts = layouts
        self._plain: dict[str, Record] = {}

    def __contains__(self, name: str) -> bool:
        if name in self._declared or any(name in each for each in self._others):
            return name in self._declared
        return name in self._known

    def is_known(self, reference: ast.Reference) -> bool:
        """Return whether a record is that of the library which a reference names."""
        return reference.name.text in self and reference.name.text not in self._declared

    def plain(self) -> tuple[dict[str, Record], list[Fault]]:
        """Return the records of the text, their parameters left open, and the faults of others."""
        faults: list[Fault] = []
        for name, declaration in self._declared.items():
            try:
                self._plain[name] = record_of(declaration, self._layouts)
            except Fault as found:
                faults.append(found)
        return dict(self._plain), faults

    def referred(self, reference: ast.Reference) -> Record:
        """Return the record that a reference names.

        Raises:
            Fault: there is none, or the arguments do not fit; or a silent one, whose cause is
                reported already.
        """
        name = reference.name.text
        if name not in self:
            known = [*self._declared, *self._known]
            hint = unknown_name_help(name, known)
            raise fault("L201", f"there is no record `{name}`", reference.span, help=hint)
        if name in self._declared:
            if name not in self._plain:
                raise silent(reference.span)
            record = self._plain[name]
        else:
            record = self._known[name]
        values = arguments_of(reference, record.parameters, {}, "record")
        given = {n: each.value for n, each in values.items() if isinstance(each, Constant)}
        return record.with_parameters(**given)


def record_claim_of(claim: ast.ClaimDecl, records: Records) -> claims.RecordClaim:
    """Return what is claimed of a record.

    Raises:
        Fault: the claim says nothing of a record.
    """
    record = replace(records.referred(claim.subject), name=print_body(claim.subject))
    parameters = {name: Extent(name) for name in record.parameters}
    scope = scope_of(record.axes, parameters)
    where, text = scope.conditions(claim.where), print_declaration(claim)
    if claim.part is not None:
        said = field_predicate(claim, claim.part, record, scope)
        return claims.RecordClaim(claim.polarity, record, said, where, text)
    predicate: claims.Sound | claims.EqualsRecord
    match claim.predicate:
        case ast.Sound():
            predicate = claims.Sound()
        case ast.Equals(ast.Reference() | ast.Name() as right, ()):
            named = ast.Reference(right, (), right.span) if isinstance(right, ast.Name) else right
            other = replace(records.referred(named), name=print_body(named))
            predicate = claims.EqualsRecord(_at_shapes_of(record, other, named))
        case _:
            message = f"this claim is not available for `{record.name}`, a record"
            raise fault("L304", message, claim.span, help=_of_a_field(claim, record))
    return claims.RecordClaim(claim.polarity, record, predicate, where, text)


def _of_a_field(claim: ast.ClaimDecl, record: Record) -> str:
    """How to say of a field what is not said of a record."""
    name = f"{claim.polarity} {record.name}"
    known = [each.name for each in record.fields]
    match claim.predicate:
        case ast.Equals():
            return f"say it of a field: `{name}.{known[0]} == FORMULA`"
        case ast.Aligns((ast.Place(ast.Name(field)), *_), number):
            named = field if field in known else known[0]
            return f"say which run of a field: `{name}.{named} aligns RUN to {number.value} bytes`"
        case _:
            return f"write `{name}`, or `== OTHER` with another record"


def _at_shapes_of(record: Record, other: Record, place: ast.Reference) -> Record:
    """The other record, which has to have the same shapes; fields are compared by their bits."""
    if record.frame.symbols != other.frame.symbols:
        message = f"`{record.name}` and `{other.name}` have different shapes"
        has = ", ".join(record.frame.symbols) or "no extents"
        hint = f"`{record.name}` has {has}: name the axes of both records alike, in one order"
        raise fault("L303", message, place.span, help=hint)
    return other
