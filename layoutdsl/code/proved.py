"""Data move, and code is made, only by layouts that are proved.

An undecided layout may lose data: `[(i*i + j)%1000003, j]` does from about a thousand rows on.
`require_proved` refuses it. A caller who asks for `unproved=True` gets `check_shape` in place of
the proof: bounds and distinct slots are checked exactly, at the shape at hand, before anything is
written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from layoutdsl.language.meaning.claims import Claim, RecordClaim, Sound
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.texts.faults import VerdictError
from layoutdsl.proof.proving import prove

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Condition
    from layoutdsl.proof.prover.verdict import Checked

# A module is called with few shapes again and again; a check takes as long as a slow pack.
REMEMBERED_SHAPES = 256


class RefusedError(VerdictError):
    """A layout is refuted, so it moves no data and no code is made of it; shows why.

    Attributes:
        checked: the verdict, with a finding for each property.
        reason: the first line of the message.
    """

    def __init__(self, checked: Checked, reason: str = "") -> None:
        name = checked.claim.subject.name
        self.reason = reason or f"`{name}` is refuted, so no code is generated"
        super().__init__(self.reason)
        self.checked = checked

    def __str__(self) -> str:
        return f"{self.reason}\n{self.checked}"


class UnprovedError(VerdictError):
    """A layout is undecided, so it moves no data and no code is made of it.

    >>> try:
    ...     compile(parse("layout B(i, j: 2) = [(i*i + j)%1000003, j]")["B"])
    ... except UnprovedError as undecided:
    ...     print(undecided.checked.status)
    undecided

    Attributes:
        checked: the verdict, with a finding for each property.
        reason: the property that is not proved, why, and what is known.
    """

    def __init__(self, checked: Checked) -> None:
        super().__init__(checked)
        self.checked, self.reason = checked, _open_property(checked)

    def __str__(self) -> str:
        in_layout = "write `where {}` in the layout"
        allowed = f"or pass unproved=True, which {SHAPE_CHECK}"
        return "\n  = help: ".join([self.reason, *self.hints(in_layout), allowed])

    def hints(self, narrow: str) -> list[str]:
        """Return ways to a layout that is proved: a range of shapes, another spelling.

        Args:
            narrow: how to narrow the range; ``{}`` stands for it.
        """
        range_ = ", ".join(map(str, self.range))
        spelled = "spell the coordinates as digits of an axis, such as `c/16` and `c%16`"
        return [f"it is proved where {range_}: {narrow.format(range_)}"] * bool(range_) + [spelled]

    @cached_property
    def range(self) -> tuple[Condition, ...]:
        """Conditions under which the layout is proved; empty where none was found.

        The prover looks for them when they are first asked for.
        """
        from layoutdsl.proof.prover.ranges import proved_range

        subject = self.checked.claim.subject
        return proved_range(subject) if isinstance(subject, Layout) else ()


def _open_property(checked: Checked) -> str:
    from layoutdsl.proof.prover.verdict import UNCONFIRMED, Undecided, sentence_of

    open_ = [each for each in checked.findings if isinstance(each, Undecided)]
    first, total = open_[0], len(checked.findings)
    why = first.reason.removeprefix("no proof was found: ")
    reason = "" if first.reason == UNCONFIRMED else f": {why}"
    return (
        f"`{checked.claim.subject.name}` is undecided: no proof was found that "
        f"{sentence_of(first.property)}{reason}; {total - len(open_)} of {total} properties are "
        f"proved, and no counterexample was found"
    )


SHAPE_CHECK = "checks bounds and distinct slots at the shape at hand before anything is written"


def require_proved(subject: Layout | Record, *, unproved: bool = False) -> Checked:
    """Return the verdict on a layout or record that may move data.

    Args:
        subject: without open parameters.
        unproved: also return if it is undecided; the caller then checks each shape.

    Raises:
        RefusedError: it is refuted.
        UnprovedError: it is undecided.
    """
    checked = prove(subject).checked[0]
    if checked.status == "refuted":
        raise RefusedError(checked)
    if checked.status == "undecided" and not unproved:
        raise UnprovedError(checked)
    return checked


def check_shape(subject: Layout | Record, shape: Shape) -> None:
    """Check an undecided layout or record exactly, at one shape.

    Args:
        subject: without open parameters.
        shape: the extents, in axis order or by name; axes of copies and of bits may be left out.

    Raises:
        RefusedError: two elements share a slot, or one leaves the buffer; it shows which.
        ValueError: the shape does not fit the layout.
    """
    extents = shape.values() if isinstance(shape, Mapping) else shape
    if 0 in extents:
        return  # an empty tensor has no element that could be lost
    values = subject.bind(_with_bits(subject, shape))
    _check_values(subject, tuple(values.items()))


def _with_bits(subject: Layout | Record, shape: Shape) -> Shape:
    """Add the extent of the axis of bits, which tensors of elements do not have."""
    if isinstance(subject, Record) or isinstance(shape, Mapping) or subject.bit_of is None:
        return shape
    if len(shape) != len(subject.tensor_axes):
        return shape
    return (*shape, subject.bit_of.bits)


def check_undecided(subject: Layout | Record, shape: Shape) -> None:
    """Check a layout or record at one shape with `check_shape`, unless it is proved."""
    if _is_undecided(subject):
        check_shape(subject, shape)


@lru_cache(maxsize=REMEMBERED_SHAPES)
def _is_undecided(subject: Layout | Record) -> bool:
    return require_proved(subject, unproved=True).status == "undecided"


@lru_cache(maxsize=REMEMBERED_SHAPES)
def _check_values(subject: Layout | Record, items: tuple[tuple[str, int], ...]) -> None:
    from layoutdsl.proof.prover.verdict import Checked, Refuted
    from layoutdsl.proof.refute.at_shape import faults_at_shape

    values = dict(items)
    claim: Claim | RecordClaim
    if isinstance(subject, Layout):
        claim = Claim("prove", subject, Sound(), (), f"prove {subject.name}")
        try:
            faults = faults_at_shape(subject, values)
        except ZeroDivisionError:
            text = ", ".join(f"{name} = {value}" for name, value in items)
            raise ValueError(f"`{subject.name}` divides by 0 where {text}") from None
    else:
        from layoutdsl.proof.refute.record_refute import fails_at

        claim = RecordClaim("prove", subject, Sound(), (), f"prove {subject.name}")
        faults = fails_at(subject, values, _unproved_properties(subject))
    if faults:
        reason = f"`{subject.name}` is wrong at this shape, so nothing is written"
        found = Checked(claim, tuple(Refuted(*each) for each in faults.items()))
        raise RefusedError(found, reason)


@lru_cache(maxsize=REMEMBERED_SHAPES)
def _unproved_properties(record: Record) -> frozenset[str]:
    from layoutdsl.proof.prover.verdict import Proved

    findings = prove(record).checked[0].findings
    return frozenset(each.property for each in findings if not isinstance(each, Proved))


class CheckedModule:
    """A module of an undecided layout or record: each call first checks its shape.

    All other attributes are those of the module.

    Attributes:
        module: the moves.
    """

    def __init__(self, subject: Layout | Record, module: Any) -> None:
        self._subject, self.module = subject, module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def __repr__(self) -> str:
        return f"<checked at each shape: {self.module!r}>"

    @property
    def pack(self) -> Callable[..., Any]:
        """`pack` of the module, after a check of the shape of the tensor or fields."""
        return self._pack_fields if isinstance(self._subject, Record) else self._pack_tensor

    def _pack_tensor(self, src: Any, *args: Any, **options: Any) -> Any:
        self.check(getattr(src, "shape", None))
        return self.module.pack(src, *args, **options)

    def _pack_fields(self, *args: Any, **fields: Any) -> Any:
        shape = fields.get("shape")
        if shape is None:
            own = {"out", "threads", "shape"}
            given = {name: each for name, each in fields.items() if name not in own}
            shape = self.module.shape_of(**given)
        self.check(shape)
        return self.module.pack(*args, **fields)

    def unpack(self, src: Any, shape: Shape, *args: Any, **options: Any) -> Any:
        """`unpack` of the module, after a check of the shape."""
        self.check(shape)
        return self.module.unpack(src, shape, *args, **options)

    def check(self, shape: Shape | None) -> None:
        """Raise `RefusedError` if the layout is wrong at a shape; others the module refuses."""
        if shape is not None and fits(self._subject, shape):
            check_shape(self._subject, shape)


class CheckedConversion:
    """A conversion of which a layout is undecided: each call first checks both at its shape."""

    def __init__(self, layouts: Sequence[Layout], conversion: Any) -> None:
        self._layouts, self.conversion = layouts, conversion

    def __getattr__(self, name: str) -> Any:
        return getattr(self.conversion, name)

    def __call__(self, src: Any, shape: Shape, *args: Any, **options: Any) -> Any:
        """Return the buffer of the second layout, as the conversion does."""
        for each in self._layouts:
            if fits(each, shape):
                check_shape(each, shape)
        return self.conversion(src, shape, *args, **options)


def fits(subject: Layout | Record, shape: Shape) -> bool:
    """Return whether a shape fits; the module's own message explains a shape that does not."""
    try:
        if not isinstance(shape, Mapping):
            shape = [extent or 1 for extent in shape]
        subject.bind(_with_bits(subject, shape))
    except (ValueError, TypeError):
        return False
    return True
