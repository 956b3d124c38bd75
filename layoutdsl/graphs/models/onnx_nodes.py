"""Steps as nodes of ONNX, and calls as functions.

Numbers that a function needs of its caller, shapes and pads, are attributes of the call; so one
body serves all nodes of a kind.

Source: onnx.proto of 1.23, FunctionProto; onnx, docs/IR.md, "Functions".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from layoutdsl.graphs.emitting.physical import Call, Numbers, Operand, Scalar, Step
from layoutdsl.graphs.graph import Attribute

FUNCTIONS = "layoutdsl"
"""The domain of functions."""


def own_attributes(call: Call) -> dict[str, Attribute]:
    """Return the attributes of the node that a function is about, which its caller gives."""
    step = next((each for each in call.body if each.source is not None), None)
    return {} if step is None else dict(step.attributes)


def function_of(call: Call, numbers: list[str], own: list[str], opset: int) -> Any:
    """Return a function without its name."""
    from onnx import FunctionProto, helper

    nodes, imports = list[Any](), {"": opset}
    held = dict[Operand, str]()
    for step in call.body:
        inputs = list[str]()
        for each in step.inputs:
            if not isinstance(each, str) and each not in held:
                held[each] = f"c{len(held)}"
                nodes.append(_constant_node(each, held[each]))
            inputs.append(each if isinstance(each, str) else held[each])
        given = step.source is None
        node = node_of(step, inputs, step.attributes if given else {}, named=False)
        if not given:
            node.attribute.extend(_reference(name, step.attributes[name]) for name in own)
        domain, _ = _domain(step.operator)
        imports.setdefault(domain, 1)
        nodes.append(node)
    function = FunctionProto(domain=FUNCTIONS, input=call.takes, output=call.makes, node=nodes)
    function.attribute.extend([*numbers, *own])
    function.opset_import.extend(helper.make_opsetid(*each) for each in imports.items())
    return function


def _constant_node(operand: Operand, name: str) -> Any:
    from onnx import AttributeProto, helper, numpy_helper

    match operand:
        case Numbers(word, _):
            node = helper.make_node("Constant", [], [name])
            attribute = node.attribute.add()
            attribute.name, attribute.ref_attr_name = "value_ints", word
            attribute.type = AttributeProto.INTS
            return node
        case Scalar(number, dtype):
            tensor = numpy_helper.from_array(np.array(number).astype(dtype), "")
            return helper.make_node("Constant", [], [name], value=tensor)
        case _:
            raise AssertionError(operand)


def _reference(name: str, attribute: Attribute) -> Any:
    """An attribute that the caller gives."""
    from onnx import AttributeProto

    found = AttributeProto(name=name, ref_attr_name=name)
    found.type = attribute_of(name, attribute).type
    return found


def attribute_of(name: str, attribute: Attribute) -> Any:
    """Return an attribute of a node."""
    from onnx import helper, numpy_helper

    if isinstance(attribute, np.ndarray):
        return helper.make_attribute(name, numpy_helper.from_array(attribute))
    if isinstance(attribute, tuple) and not attribute:
        return helper.make_attribute(name, [], attr_type=7)
    return helper.make_attribute(name, attribute)


def _domain(operator: str) -> tuple[str, str]:
    domain, _, name = operator.rpartition("::")
    return domain, name


def node_of(
    step: Step, inputs: list[str], attributes: Mapping[str, Attribute], named: bool = True
) -> Any:
    """Return a node; one that is as it was written keeps all that it says."""
    from onnx import NodeProto

    node = NodeProto()
    if step.source is not None and attributes == step.attributes and named:
        node.CopyFrom(step.source)
        count = len(node.input)
        del node.input[:], node.output[:]
        node.input.extend(inputs[:count])
        node.output.extend(step.outputs)
        return node
    node.domain, node.op_type = _domain(step.operator)
    node.input.extend(inputs)
    node.output.extend(step.outputs)
    node.attribute.extend(attribute_of(name, each) for name, each in attributes.items())
    return node
