"""Which inputs of a model leave only their first axis open, all the same one: the batch.

Source: onnx.proto of 1.23, TensorShapeProto.Dimension; onnx, docs/IR.md, "Static tensor shapes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from layoutdsl.graphs.emitting.at_any_batch import refuse_misfits
from layoutdsl.graphs.emitting.following import FixedBatchError
from layoutdsl.graphs.models.onnx_faults import UnfitModelError
from layoutdsl.graphs.models.onnx_read import Model, Source, model_at
from layoutdsl.graphs.models.onnx_shapes import Shapes


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """An extent that nobody gave a number.

    Attributes:
        name: as the model calls it; empty where it has no name for it.
        rest: the extents behind it, of each input that has it.
        given: shapes of other inputs.
    """

    name: str
    rest: Mapping[str, tuple[int, ...]]
    given: Shapes

    def at(self, batch: int) -> dict[str, tuple[int, ...]]:
        """Return shapes in which the batch is a number."""
        return {**self.given, **{name: (batch, *rest) for name, rest in self.rest.items()}}


APART = (1009, 1013)
"""Extents by which axes are told apart: primes that hardly any model has."""

MOST_NAMES = 4
"""Names of first axes that are held against each other, which takes a reading for each split."""


def open_batch(source: Source, shapes: Shapes) -> OpenBatch | None:
    """Return the batch that a model leaves open; `None` where it has none, or not only one.

    First axes that have different names, or several without any, are one batch where the model
    itself has no shapes when they are of different extents. Others are to be given.

    Args:
        source: the model.
        shapes: that were given. Who gives a shape to an input with an open batch gives the batch.
    """
    called, rest = dict[str, str](), dict[str, tuple[int, ...]]()
    for name, value in source.inputs.items():
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
            continue
        extents = list(tensor.shape.dim)
        if not extents or extents[0].HasField("dim_value"):
            continue
        if name in shapes or any(not each.dim_value for each in extents[1:]):
            return None
        called[name] = extents[0].dim_param
        rest[name] = tuple(each.dim_value for each in extents[1:])
    groups: dict[str, set[str]] = {}
    for name, word in called.items():  # what has no name is called as nothing else can be
        groups.setdefault(word or f" {name}", set()).add(name)
    found = OpenBatch(next((each for each in called.values() if each), ""), rest, dict(shapes))
    if not groups or (len(groups) > 1 and not _are_one(source, found, list(groups.values()))):
        return None
    return found


def _are_one(source: Source, batch: OpenBatch, groups: list[set[str]]) -> bool:
    """Whether a model can be read where first axes agree, and not where any of them do not."""
    if len(groups) > MOST_NAMES or not _is_read(source, batch.at(APART[0])):
        return False
    first, *others = groups
    for count in range(len(others)):
        for along in combinations(others, count):
            alike = first.union(*along)
            if _is_read(source, _apart(batch, alike)):
                return False
    return True


def _apart(batch: OpenBatch, alike: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Shapes in which some inputs have another batch than all the others."""
    one, other = (batch.at(each) for each in APART)
    return {**one, **{name: other[name] for name in alike}}


def _is_read(source: Source, shapes: Shapes) -> bool:
    try:
        refuse_misfits(model_at(source, shapes).graph)
    except (UnfitModelError, FixedBatchError):
        return False
    return True


def single(source: Source, batch: OpenBatch) -> Model:
    """Return a model at batch 1.

    Raises:
        UnfitModelError: it has none: the caller has to say which batch fits.
    """
    try:
        found = model_at(source, batch.at(1))
        refuse_misfits(found.graph)
    except (UnfitModelError, FixedBatchError) as unfit:
        name = next(iter(batch.rest))
        why = unfit.message if isinstance(unfit, UnfitModelError) else str(unfit)
        words = f"the shape of input `{name}` is open, and 1 does not fit: {why}"
        remedy = f"give one, as in `--shape {name}=1,3,224,224`"
        raise UnfitModelError(words, remedy, "option") from None
    return found
