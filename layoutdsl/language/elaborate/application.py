"""Tree -> meaning for applications: ``A[e, f]`` in a coordinate, as a body, or in a claim.

`language.meaning.application` defines what an application is. This file finds the layout by its
name, the extents of its axes, and the errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.bounds import ZERO, reach
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    text,
)
from layoutdsl.language.meaning.application import (
    NotApplicable,
    applied,
    composes_by_index,
    digits_of,
    extents_of_slots,
    fill_of_both,
    offset_of,
)
from layoutdsl.language.meaning.elements import BIT_AXIS
from layoutdsl.language.meaning.model import Applied, Axis, Condition, Layout
from layoutdsl.language.meaning.offsets import size_expr
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_body, print_expression
from layoutdsl.language.texts.faults import Fault, fault
from layoutdsl.language.texts.source import Diagnostic, Label, Span

CODE = "L220"


class Known(Protocol):
    """The layouts that an application may name: `layout.Layouts`, which imports this file."""

    def declares(self, name: str, /) -> bool:
        """Return whether there is a layout of that name."""
        ...

    def applied_to(
        self, owner: str, reference: ast.Reference, parameters: Mapping[str, Expr], /
    ) -> Layout:
        """Return the layout that an application in `owner` names."""
        ...


@dataclass(slots=True)
class Applications:
    """The applications of one layout or claim.

    Attributes:
        layouts: the layouts that may be named.
        owner: the name of the layout that is being elaborated; empty in a claim.
        parameters: the parameters of that layout. One with the name of an extent of the applied
            layout is that extent.
        where: the ranges of the applied layouts, for the layout that uses them in a coordinate.
        domain: their domains.
        indices: their indices, which have to stay in their shapes.
    """

    layouts: Known
    owner: str
    parameters: Mapping[str, Expr]
    where: list[Condition] = field(default_factory=list)
    domain: list[Condition] = field(default_factory=list)
    indices: list[Applied] = field(default_factory=list)

    def offset(self, application: ast.Application, scope: Scope) -> Expr:
        """Return an application inside a coordinate: the offset, as a number below the size.

        Raises:
            Fault: it is not correct; or a silent one, whose cause is reported already.
        """
        outer = self._outer(application, scope)
        if outer.bit_of is not None:
            message = f"`{outer.name}` counts in bits, and a coordinate in elements"
            hint = "apply it as the whole body of a layout"
            raise fault(CODE, message, application.span, help=hint)
        axes = [
            Axis(name, extent)
            for name, extent in scope.axes.items()
            if isinstance(extent, Extent | Constant)
        ]
        found = self._at(application, outer, Layout("", tuple(axes), ()), scope)
        self.where += [each for each in found.where if each not in self.where]
        self.domain += [each for each in found.domain if each not in self.domain]
        self.indices += found.applied
        return offset_of(found)

    def body(self, application: ast.Application, frame: Layout, scope: Scope) -> Layout:
        """Return an application as a whole layout, with the coordinates of the applied one.

        Args:
            application: with an index for each axis of the applied layout.
            frame: has the axes, copies and parameters of the result.
            scope: the names of the frame.

        Raises:
            Fault: as for `offset`.
        """
        outer = self._outer(application, scope)
        inner = self.inner(application, scope)
        if inner is not None:
            message = f"the index of `{outer.name}` is a layout, which has axes of its own"
            hint = f"write `layout {self.owner or 'NAME'} = {print_body(application)}`"
            raise fault(CODE, message, application.span, help=hint)
        if outer.bit_of is not None:
            bit = Axis(BIT_AXIS, Constant(outer.bit_of.bits))
            frame = replace(frame, axes=(*frame.axes, bit))
        return self._at(application, outer, frame, scope)

    def inner(self, application: ast.Application, scope: Scope | None) -> ast.Reference | None:
        """Return the layout in place of an index, if an application is a composition.

        Args:
            application: ``A[B]``, ``A[B<8>]`` or with indices.
            scope: its names are indices and extents, and no layouts; `None` if there are none.
        """
        match application:
            case ast.Application(inner=ast.Reference() as inner):
                return inner
            case ast.Application(indices=(ast.Place(ast.Name() as name, None),)):
                known = {} if scope is None else {**scope.axes, **scope.symbols}
                # Axes are in lower case, so `A[Row]` without axes misspells a layout.
                means = self.layouts.declares(name.text) or (
                    scope is None and name.text != name.text.lower()
                )
                return (
                    ast.Reference(name, (), name.span) if means and name.text not in known else None
                )
        return None

    def composed(self, application: ast.Application) -> Layout:
        """Return ``A[B]``: the element that `B` puts into slot `s` lies where `A` puts element `s`.

        If `B` has as many coordinates as `A` has axes, each coordinate is the index along one axis.
        Otherwise the offset of `B` is the row-major number of an element of `A`.

        Raises:
            Fault: as for `offset`.
        """
        outer = self._outer(application)
        reference = self.inner(application, None)
        if reference is None:
            message = f"the layout `{self.owner}` names no axes"
            hint = f"write `layout {self.owner}(n, c, h, w) = {print_body(application)}`"
            raise fault("L208", message, application.span, help=hint)
        inner = self.layouts.applied_to(self.owner, reference, self.parameters)
        for each in (outer, inner):
            if each.bit_of is not None:
                message = f"`{each.name}` places single bits, and cannot be composed"
                hint = "compose layouts of whole elements"
                raise fault(CODE, message, application.span, help=hint)
        if composes_by_index(outer, inner):
            index = inner.coordinates
        else:
            index = self._by_slot(outer, inner, application.span)
        found = self._applied(outer, self._limited(outer, inner, index), application.span)
        element = outer.element or inner.element
        interface = outer.interface if outer.element else inner.interface
        fill = fill_of_both(outer, inner)
        return replace(found, fill=fill, element=element, interface=interface)

    def _by_slot(self, outer: Layout, inner: Layout, span: Span) -> tuple[Coordinate, ...]:
        """The slot of `inner` as row-major indices of `outer`, whose first extent may be open."""
        sizes = extents_of_slots(outer, size_expr(inner), self.parameters)
        if isinstance(sizes, Axis):
            message = (
                f"`{inner.name}` has {len(inner.coordinates)} coordinates, `{outer.name}` "
                f"{len(outer.axes)} axes, and the extent of `{sizes.name}` is unknown"
            )
            extent = text(sizes.extent)
            hint = f"make `{extent}` a parameter: `layout {self.owner}<{extent}> = ...`"
            raise fault(CODE, message, span, help=hint)
        return digits_of(offset_of(inner), sizes)

    def _limited(self, outer: Layout, inner: Layout, index: tuple[Coordinate, ...]) -> Layout:
        """The index map of a composition, with the extents that parameters give."""
        extents = (
            self.parameters.get(axis.extent.name, place.extent)
            if isinstance(axis.extent, Extent)
            else axis.extent
            for axis, place in zip(outer.axes, index, strict=True)
        )
        places = zip(index, extents, strict=True)
        opened = tuple(each.name for each in self.parameters.values() if isinstance(each, Extent))
        return replace(
            inner,
            coordinates=tuple(replace(place, extent=extent) for place, extent in places),
            chunk_rank=None,
            start=ZERO,
            parameters=tuple(dict.fromkeys(opened)),
        )

    def _outer(self, application: ast.Application, scope: Scope | None = None) -> Layout:
        name = application.layout.name
        numbers = {} if scope is None else {**scope.axes, **scope.symbols}
        if name.text in numbers and not self.layouts.declares(name.text):
            message = f"`{name.text}` is a number here, and brackets apply a layout"
            raise fault("L201", message, name.span, help="write a formula in the indices")
        outer = self.layouts.applied_to(self.owner, application.layout, self.parameters)
        return replace(outer, name=print_body(application.layout))

    def _at(
        self, application: ast.Application, outer: Layout, frame: Layout, scope: Scope
    ) -> Layout:
        """The layout at an index that is written out."""
        axes = outer.axes if outer.bit_of is None else outer.axes[:-1]
        if application.inner is not None:
            message = f"`{print_body(application.inner)}` is a layout, and an index is expected"
            raise fault(CODE, message, application.inner.span, help=self._indexed(outer))
        if len(application.indices) != len(axes):
            count, given = len(axes), len(application.indices)
            message = (
                f"`{outer.name}` takes {count} {'index' if count == 1 else 'indices'}, not {given}"
            )
            raise fault(CODE, message, application.span, help=self._indexed(outer))
        sizes: dict[str, Expr] = {}
        index = [
            self._index(outer, axis, place, sizes, scope)
            for axis, place in zip(axes, application.indices, strict=True)
        ]
        if outer.bit_of is not None:
            index.append(Coordinate(Index(BIT_AXIS), outer.axes[-1].extent))
        return self._applied(outer, replace(frame, coordinates=tuple(index)), application.span)

    def _index(
        self, outer: Layout, axis: Axis, place: ast.Place, sizes: dict[str, Expr], scope: Scope
    ) -> Coordinate:
        """An index with the extent that its axis has, which is found with the first of its axes."""
        value = scope.value(place.value)
        declared = None if place.extent is None else scope.extent(place.extent)
        extent = self._extent(axis, declared, sizes)
        if extent is None:
            bound = reach(value, scope.axes)
            if bound is None:
                written = print_expression(place.value)
                message = f"the extent of axis `{axis.name}` of `{outer.name}` is unknown"
                label = Label(place.span, "no extent follows from this index")
                hint = f"declare it: `{written} : EXTENT`"
                raise Fault(Diagnostic("L206", message, label, help=hint), needs_numbers=True)
            extent = bound.high
        if declared is not None and not same(declared, extent):
            message = f"axis `{axis.name}` of `{outer.name}` has the extent `{text(extent)}`"
            assert place.extent is not None
            raise fault(CODE, message, place.extent.span, help="leave out this extent")
        if isinstance(axis.extent, Extent):
            sizes.setdefault(axis.extent.name, extent)
        return Coordinate(value, extent, declared=True)

    def _extent(self, axis: Axis, declared: Expr | None, sizes: Mapping[str, Expr]) -> Expr | None:
        match axis.extent:
            case Constant():
                return axis.extent
            case Extent(name):
                return sizes.get(name) or declared or self.parameters.get(name)

    def _indexed(self, outer: Layout) -> str:
        axes = outer.axes if outer.bit_of is None else outer.axes[:-1]
        names = ", ".join(axis.name for axis in axes)
        return f"write `{outer.name}[{names}]`, with an expression for each axis"

    def _applied(self, outer: Layout, index_map: Layout, span: Span) -> Layout:
        try:
            return applied(outer, index_map)
        except NotApplicable as reason:
            message = f"`{outer.name}` cannot be applied here: {reason}"
            raise fault(CODE, message, span, help=reason.hint) from None
