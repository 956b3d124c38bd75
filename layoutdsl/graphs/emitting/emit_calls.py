"""A node as a function on buffers: operands unpacked, the node as it was, results packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.emitting.moves import Moving, pack_form, unpack_form
from layoutdsl.graphs.emitting.naming import Named, form_by
from layoutdsl.graphs.emitting.physical import Call, Step
from layoutdsl.graphs.graph import Node
from layoutdsl.graphs.placings.forms import Form
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Held, Variant
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Port:
    """An operand or a result of a function.

    Attributes:
        value: of the graph.
        held: how it lies.
        form: the dimensions of its buffer.
    """

    value: str
    held: Held
    form: Form

    @property
    def is_written(self) -> bool:
        """Whether its buffer is the value as it was written."""
        digits = ((digit.axis, digit.divisor) for digit in self.form.digits)
        plain = ((axis, 1) for axis in range(len(self.held.placing.shape)))
        return list(digits) == list(plain) and self.form.extents == self.held.placing.shape


@dataclass(frozen=True, slots=True)
class Ports:
    """Operands and results of a function; `None` for one that is left out."""

    takes: tuple[Port | None, ...]
    makes: tuple[Port | None, ...]

    @property
    def are_written(self) -> bool:
        """Whether all are as they were written."""
        return all(each is None or each.is_written for each in (*self.takes, *self.makes))


def ports_of(out: Emitting, node: Node, variant: Variant, named: Named | None) -> Ports:
    """Return the buffers of a node, of dimensions that an engine names, or of the usual ones."""
    takes = named.takes if named else (None,) * len(node.inputs)
    makes = named.makes if named else (None,) * len(node.outputs)
    ends = (node.inputs, variant.takes, takes), (node.outputs, variant.makes, makes)
    one, other = (tuple(_ports(out, *each, named)) for each in ends)
    return Ports(one, other)


def _ports(
    out: Emitting,
    names: Iterable[str],
    held: Iterable[Held | None],
    layouts: Iterable[Layout | None],
    named: Named | None,
) -> Iterator[Port | None]:
    for name, own, layout in zip(names, held, layouts, strict=True):
        if not name:
            yield None
            continue
        lies = own or out.written(name)
        form = out.form(lies) if named is None else form_by(layout, lies, out.layouts)
        yield Port(name, lies, form)


def emit_call(out: Emitting, node: Node, bound: Bound | str, ports: Ports) -> None:
    """Add a call of a function, whose body says what it means."""
    words = list(_words(node, bound))
    operands = [
        None if each is None else _unpacked(each, word)
        for each, word in zip(ports.takes, words, strict=True)
    ]
    taken = [(each, word) for each, word in zip(ports.takes, words, strict=True) if each]
    results = [
        ("", []) if each is None else _packed(out, each, f"y{number or ''}")
        for number, each in enumerate(ports.makes)
    ]
    made = [(each, f"y{number or ''}") for number, each in enumerate(ports.makes) if each]
    inner = tuple("" if moving is None else moving.name for moving in operands)
    left = tuple(first for first, _ in results)
    center = Step(node.operator, inner, left, node.attributes, node.source)
    before = [step for moving in operands if moving is not None for step in moving.steps]
    after = [step for _, steps in results for step in steps]
    call = Call(
        name=f"{node.operator.replace('::', '_')}_{_name(ports)}",
        inputs=tuple(out.take(each.value, each.held, each.form.extents) for each, _ in taken),
        outputs=tuple(out.leave(each.value, each.held, each.form.extents) for each, _ in made),
        takes=tuple(word for _, word in taken),
        makes=tuple(word for _, word in made),
        body=(*before, center, *after),
    )
    out.work.append(call)


def _unpacked(port: Port, word: str) -> Moving:
    """The steps from an operand of a function to the value as it was written."""
    moving = Moving(word, port.form.extents, word)
    if not port.is_written:
        unpack_form(moving, port.form, port.held.placing)
    return moving


def _packed(out: Emitting, port: Port, word: str) -> tuple[str, list[Step]]:
    """What the node's own result is called, and the steps from there to that of the function."""
    if port.is_written:
        return word, []
    lane = port.held.lane
    fill = 0 if lane is None or lane.number is None else lane.number
    moving = Moving(f"{word}_plain", port.held.placing.shape, word)
    pack_form(moving, port.form, port.held.placing, fill, out.dtype(port.value))
    if not moving.steps:
        return word, []
    last = moving.steps[-1]
    moving.steps[-1] = Step(last.operator, last.inputs, (word,), last.attributes)
    return f"{word}_plain", moving.steps


def _words(node: Node, bound: Bound | str) -> Iterator[str]:
    """What a function calls its operands: as the rule does."""
    patterns = bound.rule.operands if isinstance(bound, Bound) else ()
    for number in range(len(node.inputs)):
        if number < len(patterns) and not patterns[number].many:
            yield patterns[number].name
        else:
            yield f"x{number}"


def _name(ports: Ports) -> str:
    """What a function is called besides its operator: how the first operand and result lie."""
    first = next((each.form.name for each in ports.takes if each), "")
    result = next((each.form.name for each in ports.makes if each), "")
    if first == result:
        return first or "written"
    if not first:
        return f"to_{result}"
    return f"{first}_to_{result}" if result else f"from_{first}"
