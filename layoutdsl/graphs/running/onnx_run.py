"""Models run: by onnxruntime where it is installed, else by the reference of the package onnx.

Nothing is fused or folded when nodes are to be held against nodes, so that both are run by the same
kernels. Large weights are given as inputs are: whoever runs a model copies its initialisers, often
twice, and reads what it is fed where that lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_faults import line_of
from layoutdsl.graphs.models.onnx_items import is_plain
from layoutdsl.graphs.models.onnx_write import initialisers

Effort: TypeAlias = Literal["as it is", "optimised", "prepacked"]
"""How a model is run: without changes, with nodes fused, or with weights laid out beforehand, too.

Only weights in the model can be laid out; what is fed stays as it is.
"""

KERNELS = "com.microsoft.nchwc"
"""The domain of onnxruntime's operators on blocked channels."""

NONE: Mapping[str, Array] = MappingProxyType({})
"""No weights besides those that a model has in it."""

SMALL = 1024
"""Bytes of a weight that is put into the model, as scales and axes are."""

LARGE = 1 << 22
"""Bytes of a weight that is fed in any case: onnxruntime would hold it four times."""

FATAL = 4
"""Of onnxruntime's log: what it says besides is no news."""


class RunError(ValueError):
    """A model cannot be run; says why."""


class OriginalError(RunError):
    """The model that was read cannot be run on the inputs; says why."""


@dataclass(frozen=True, slots=True)
class Runner:
    """What runs models.

    Attributes:
        name: `onnxruntime` or `onnx.reference`.
        version: of it.
    """

    name: str
    version: str


def runner() -> Runner:
    """Return what runs models here."""
    try:
        import onnxruntime
    except ImportError:
        import onnx

        return Runner("onnx.reference", onnx.__version__)
    return Runner("onnxruntime", onnxruntime.__version__)


def run(
    model: Any,
    feeds: Mapping[str, Array],
    wanted: Sequence[str],
    effort: Effort = "as it is",
    weights: Mapping[str, Array] = NONE,
) -> dict[str, Any]:
    """Return what a model makes.

    Args:
        model: of ONNX.
        feeds: its inputs.
        wanted: names of its outputs.
        effort: whether the model is run as it is, or as fast as can be.
        weights: that it asks for and has not in it.

    Raises:
        RunError: it cannot be run.
    """
    least = LARGE if effort == "prepacked" else SMALL
    large = [name for name in weights if name not in wanted and is_fed(weights[name], least)]
    try:
        return _run(model, feeds, wanted, effort, weights, large)
    except RunError:
        if not large:
            raise
    return _run(model, feeds, wanted, effort, weights, [])  # a kernel may want to know its weights


def load(model: Any, weights: Mapping[str, Array] = NONE) -> None:
    """Check that there is a kernel for each node of a model; nothing is run.

    Raises:
        RunError: there is none for one.
    """
    whole = with_all_pieces(_with_weights(model, weights, {}))
    try:
        if runner().name == "onnxruntime":
            _session(whole, "as it is")
        else:
            from onnx.reference import ReferenceEvaluator

            ReferenceEvaluator(whole)
    except Exception as error:  # whatever a package throws: of C++, or of its own
        raise RunError(line_of(error)) from None


def is_fed(array: Array, least: int = SMALL) -> bool:
    """Return whether a weight is given like an input: it is large, and of a type of numpy's own."""
    return is_plain(array.dtype) and array.nbytes > least


def _run(
    model: Any,
    feeds: Mapping[str, Array],
    wanted: Sequence[str],
    effort: Effort,
    weights: Mapping[str, Array],
    large: Sequence[str],
) -> dict[str, Any]:
    fed = {name: np.asarray(weights[name], order="C") for name in large}
    whole = _with_weights(model, weights, fed) if weights else model
    whole = with_all_pieces(whole)
    try:
        found = _run_here(whole, {**feeds, **fed}, wanted, effort)
    except Exception as error:  # whatever a package throws: of C++, or of its own
        raise RunError(line_of(error)) from None
    return dict(zip(wanted, found, strict=True))


def _with_weights(model: Any, weights: Mapping[str, Array], fed: Mapping[str, Array]) -> Any:
    """A model that has its weights, but for those that it is fed, which are inputs of it."""
    from onnx import helper

    whole = type(model)()
    whole.CopyFrom(model)
    for name, array in fed.items():
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        whole.graph.input.append(helper.make_tensor_value_info(name, kind, array.shape))
    kept = {name: weights[name] for name in weights if name not in fed}
    whole.graph.initializer.extend(initialisers(kept))
    return whole


def with_all_pieces(model: Any) -> Any:
    """Return a model in which every piece of a `Split` has a name.

    onnxruntime 1.32 dies of one that has none, and takes the process with it.
    """
    bodies = (model.graph, *model.functions)
    if not any(
        node.op_type == "Split" and "" in node.output for each in bodies for node in each.node
    ):
        return model
    found = type(model)()
    found.CopyFrom(model)
    for body in (found.graph, *found.functions):
        taken = {name for node in body.node for name in node.output}
        for number, node in enumerate(body.node):
            for place, name in enumerate(node.output):
                if node.op_type == "Split" and not name:
                    node.output[place] = _new(f"piece{number}_{place}", taken)
    return found


def _new(name: str, taken: set[str]) -> str:
    """A name that nothing has, which is taken then."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _run_here(
    model: Any, feeds: Mapping[str, Array], wanted: Sequence[str], effort: Effort
) -> list[Any]:
    if runner().name == "onnxruntime":
        return _by_onnxruntime(model, feeds, wanted, effort)
    return _by_reference(model, feeds, wanted)


def _by_onnxruntime(
    model: Any, feeds: Mapping[str, Array], wanted: Sequence[str], effort: Effort
) -> list[Any]:
    return list(_session(model, effort).run(list(wanted), dict(feeds)))


def _session(model: Any, effort: Effort) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = FATAL
    options.enable_cpu_mem_arena = False  # which keeps what it once had
    levels = ort.GraphOptimizationLevel
    plain = effort == "as it is"
    options.graph_optimization_level = levels.ORT_DISABLE_ALL if plain else levels.ORT_ENABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def _by_reference(model: Any, feeds: Mapping[str, Array], wanted: Sequence[str]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        found = ReferenceEvaluator(model).run(list(wanted), dict(feeds))
    return list(found)


def block() -> int | None:
    """Return how many channels onnxruntime has in a block on this machine; `None` without it."""
    if runner().name != "onnxruntime":
        return None
    from onnx import TensorProto, helper

    node = helper.make_node("ReorderInput", ["x"], ["y"], domain=KERNELS)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 4, 1, 1]), ("y", None))
    ]
    graph = helper.make_graph([node], "block", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(KERNELS, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    try:
        found = run(model, {"x": np.zeros((1, 4, 1, 1), np.float32)}, ["y"])
    except RunError:
        return None
    return int(found["y"].shape[1])
