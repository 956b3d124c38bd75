"""What a text says of operators: rules, kernels and preferences, and the texts that come along."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell, shell
from small_models import written

from layoutdsl import Engine, LayoutError, UnknownNameError, load_engine, parse, propagate

__all__ = ["shell"]

ONNX = load_engine("").rules
"""The rules of ONNX's operators, which every engine has."""


def engine(text: str) -> Engine:
    found = parse(text).engine
    assert found is not None
    return found


def shown(rule: Any) -> list[str]:
    """Operands and results with the roles of their axes, in words of this test."""
    found = []
    for each in (*rule.operands, *rule.results):
        axes = None if each.axes is None else [(a.name, a.role, a.many) for a in each.axes]
        marks = ("?" if each.optional else "") + ("*" if each.many else "")
        said = (
            "as written"
            if axes is None
            else " ".join(f"{name}{'..' if many else ''}={role}" for name, role, many in axes)
        )
        found.append(f"{each.name}{marks} {said}".strip())
    return found


RULES = [
    (
        "rule Conv(x[n, c: sum, s..: window], w[o, c: sum, k..], b?[o]) -> [n, o, s..]",
        [
            "x n=through c=sum s..=window",
            "w o=through c=sum k..=through",
            "b? o=through",
            "n=through o=through s..=through",
        ],
    ),
    ("rule Sum(x[..]*) -> [..]", ["x* ..=through", "..=through"]),
    ("rule Clip(x[..], low?) -> [..]", ["x ..=through", "low? as written", "..=through"]),
    ("rule Q(x[..], s[]) -> [..], m", ["x ..=through", "s", "..=through", "m as written"]),
    ("rule T(x[..]) -> y[..], z[..]*", ["x ..=through", "y ..=through", "z* ..=through"]),
]


@pytest.mark.parametrize(("text", "expected"), RULES, ids=lambda each: str(each)[:20])
def test_a_rule_says_what_becomes_of_axes(text: str, expected: list[str]) -> None:
    (rule,) = engine(text).rules
    assert shown(rule) == expected
    assert rule.text == text


def test_attributes_have_roles_and_defaults() -> None:
    text = "rule A, com.acme-2::B(x[n, c]) -> [n, c] with axis = -1: whole, group = 1, axes: sum"
    (rule,) = engine(text).rules
    assert rule.operators == ("A", "com.acme-2::B")
    assert rule.attributes == {"axis": "whole", "axes": "sum"}
    assert rule.defaults == {"axis": -1, "group": 1}


WHERE = [
    ("group == 1", {"group": 1}, True),
    ("group == 1", {"group": 2}, False),
    ("group == C, C == O", {"group": 8, "C": 8, "O": 8}, True),
    ("C >= 16", {"C": 15}, False),
    ("C % (16*group) == 0", {"C": 64, "group": 4}, True),
    ("C % (16*group) == 0", {"C": 64, "group": 8}, False),
    ("axis in -2..-1", {"axis": -1}, True),
    ("axis in -2..-1", {"axis": 0}, False),
    ("C / group >= 4", {"C": 15, "group": 4}, False),
]


@pytest.mark.parametrize(("text", "values", "expected"), WHERE)
def test_conditions_speak_of_attributes_and_extents(
    text: str, values: dict[str, int], expected: bool
) -> None:
    (kernel,) = engine(f"op Conv(x: NHWC) -> NHWC where {text}").kernels
    assert all(each.holds(values) for each in kernel.where) is expected


def test_a_kernel_names_layouts_of_operands() -> None:
    text = "layout V(o) = [o/8, o%8]\nop Conv(x: NCHW, w: OIHW, b?: V) -> NHWC where C < 16"
    (kernel,) = engine(text).kernels
    assert {name: layout.name for name, layout in kernel.operands.items()} == {
        "x": "NCHW",
        "w": "OIHW",
        "b": "V",
    }
    assert [layout.name for layout in kernel.results] == ["NHWC"]
    assert kernel.optional == {"b"}
    assert kernel.place == "<text>:2"


def test_a_rule_of_the_text_is_known_to_its_kernels() -> None:
    found = engine(
        "prefer com.acme::Up = NHWC\nop com.acme::Up(image: NHWC) -> NHWC\n"
        "rule com.acme::Up(image[n, c, s..: window]) -> [n, c, s..]"
    )
    assert [each.operator for each in found.kernels] == ["com.acme::Up"]
    assert [each.layouts[0].name for each in found.preferences] == ["NHWC"]


def test_one_fault_of_a_rule_is_told_once() -> None:
    with pytest.raises(LayoutError) as told:
        parse("rule Up(x[c: som]) -> [c]\nop Up(x: NHWC) -> NHWC\nprefer Up = NHWC")
    assert [each.code for each in told.value.diagnostics] == ["L217"]


def test_texts_without_operators_have_no_engine() -> None:
    assert parse("layout A(c) = [c]").engine is None


def test_rules_of_a_text_come_before_those_of_onnx() -> None:
    found = load_engine("rule Relu(x[n, c]) -> [n, c]")
    first, second = (each for each in found.rules if "Relu" in each.operators)
    assert (first.place, re.sub(":.*", "", second.place)) == ("<text>:1", "onnx.layout")


UNLISTED = {"SimplifiedLayerNormalization"}
"""Operators that onnxruntime's exporters write without a domain."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rule", ONNX, ids=lambda rule: rule.text[5:35])
def test_rules_of_onnx_are_of_operators_as_onnx_has_them(rule: Any) -> None:
    onnx = pytest.importorskip("onnx")
    for name in rule.operators:
        if "::" in name or name in UNLISTED:
            continue
        newest = onnx.defs.get_schema(name)
        given = sum(not each.optional for each in rule.operands)
        many = any(each.many for each in rule.operands)
        assert many or newest.min_input <= len(rule.operands)
        assert given <= newest.max_input
        assert (newest.max_input if many else len(rule.operands)) <= newest.max_input
        older = [each for each in onnx.defs.get_all_schemas_with_history() if each.name == name]
        known = {word for each in older for word in each.attributes}
        known |= {each.name for schema in older for each in schema.inputs}
        assert {*rule.attributes, *rule.defaults} <= known
        for word, default in rule.defaults.items():
            stated = newest.attributes[word].default_value
            assert onnx.helper.get_attribute_value(stated) == default


def test_most_of_onnx_has_a_rule() -> None:
    named = {name for rule in ONNX for name in rule.operators}
    assert len({name for name in named if "::" not in name}) >= 100


@pytest.mark.parametrize(
    "name", ["blocked16", "nhwc", "onnxruntime", "onnxruntime8", "onnxruntime16"]
)
def test_engines_come_along(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("scipy")
    found = propagate(written(tmp_path), name, verify="off")
    assert [(each.operator, each.nodes) for each in found.figures.anchors] == [("Conv", 2)]
    assert not found.figures.gaps


def test_an_engine_that_does_not_exist(shell: Shell) -> None:
    with pytest.raises(UnknownNameError, match="did you mean `nhwc`"):
        propagate("model.onnx", "nhcw")
    ended = shell("propagate", "model.onnx", "--engine", "nhcw")
    assert (ended.code, "did you mean `nhwc`" in ended.err) == (2, True)
