"""What comes out of a plan: operators on buffers, alone or in functions. It knows no format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.laying import Constants
from layoutdsl.graphs.graph import Attribute
from layoutdsl.graphs.variants import Held


@dataclass(frozen=True, slots=True)
class Numbers:
    """An operand that is a list of whole numbers, known beforehand: a shape, axes, pads.

    Attributes:
        name: what a function calls it, whose caller gives the numbers.
        numbers: themselves.
    """

    name: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """An operand that is one constant: what padding is filled with.

    Attributes:
        number: itself.
        dtype: of the tensor.
    """

    number: int | float | bool
    dtype: np.dtype[Any]


Operand: TypeAlias = str | Numbers | Scalar


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of ONNX, or of another domain, on tensors.

    Attributes:
        operator: `Transpose`, or `com.acme::Upscale`.
        inputs: names of tensors, `""` for one left out, or constants.
        outputs: names of tensors.
        attributes: by their names.
        source: the node as the format had it, where it is that one unchanged.
        scales: it takes each channel by itself times a number, and adds one: its second operand has
            a number for each channel, and its third, if there is one; both are known beforehand.
    """

    operator: str
    inputs: tuple[Operand, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    source: object = field(default=None, compare=False, repr=False)
    scales: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function: an operator on buffers, whose body says what it means in operators of ONNX.

    Attributes:
        name: `Conv_NHWC`.
        inputs: of the caller; `""` for one left out.
        outputs: of the caller.
        takes: what the body calls its inputs; those left out are not among them.
        makes: what the body calls its outputs.
        body: the steps.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    takes: tuple[str, ...]
    makes: tuple[str, ...]
    body: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Emitted:
    """What one node of the graph, or one conversion, became.

    Attributes:
        of: the node's number, or the name of the value that is converted.
        work: in order; none for a node that only renames.
        more: nodes that are done along with it.
    """

    of: int | str
    work: tuple[Step | Call, ...]
    more: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Tensor:
    """A buffer with a shape.

    Attributes:
        name: once in what comes out.
        value: of the graph, whose elements it holds.
        held: how it holds them.
        extents: its shape.
    """

    name: str
    value: str
    held: Held
    extents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A node that became nothing: its result is the memory of its operand.

    Attributes:
        of: the node's number.
        source: the operand.
        lies: how that lies.
        value: the result.
        held: how it lies, in the same memory.
    """

    of: int
    source: str
    lies: Held
    value: str
    held: Held


@dataclass(frozen=True, slots=True)
class Times:
    """An extent that is so many times the batch."""

    factor: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is left open.

    Attributes:
        name: as the model calls it; empty where it has no name for it.
        planned: the number that stands for it in whatever else is said of tensors.
        extents: of each tensor, by their names.
    """

    name: str
    planned: int
    extents: Mapping[str, tuple[int | Times, ...]]


@dataclass(frozen=True, slots=True)
class Emission:
    """A graph as it is to be run.

    Attributes:
        parts: in order.
        tensors: by their names, constants too.
        constants: by their names, each laid as it has to be when it is asked for.
        inputs: names, in the order of the graph's.
        outputs: names, in the order of the graph's.
        views: nodes that became nothing.
        block: channels of a block, where operators are onnxruntime's.
        batch: that is left open; `None` where every extent is a number.
        inlined: whether functions are written in the places where they are called.
    """

    parts: tuple[Emitted, ...]
    tensors: Mapping[str, Tensor]
    constants: Constants
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    views: tuple[View, ...] = ()
    block: int = 0
    batch: Batch | None = None
    inlined: bool = False
