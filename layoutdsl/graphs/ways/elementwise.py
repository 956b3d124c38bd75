"""What operators make of single numbers: an element alone, as ONNX's docs/Operators.md has it.

An operator that is not here makes nothing that is known, which is never wrong: a lane is then said
to depend on data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Attribute

Number: TypeAlias = int | float | bool
Attributes: TypeAlias = Mapping[str, Attribute | None]
_Function: TypeAlias = Callable[..., Any]


def evaluated(operator: str, attributes: Attributes, numbers: list[Any]) -> Any | None:
    """Return what an operator makes of numbers, or `None` where that is not known.

    Args:
        operator: of ONNX.
        attributes: by name, and operands without axes.
        numbers: scalars of numpy, of the operands' types; `None` for one that is absent.
    """
    with np.errstate(all="ignore"):
        try:
            return _evaluated(operator, attributes, numbers)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            return None


def _evaluated(operator: str, attributes: Attributes, numbers: list[Any]) -> Any | None:
    if operator in _PLAIN and len(numbers) == 1:
        return _PLAIN[operator](numbers[0])
    if operator in _CURVES and len(numbers) == 1:
        return _curve(operator, attributes, numbers[0])
    if operator in _MANY and numbers:
        total = numbers[0]
        for each in numbers[1:]:
            total = _MANY[operator](total, each)
        return total / len(numbers) if operator == "Mean" else total
    return _several(operator, attributes, numbers) if len(numbers) > 1 else _clip(operator, numbers)


def _clip(operator: str, numbers: list[Any]) -> Any | None:
    return numbers[0] if operator in ("Clip", "Dropout") else None


def _several(operator: str, attributes: Attributes, numbers: list[Any]) -> Any | None:
    match operator, numbers:
        case "Clip", [x, *bounds]:
            low, high = (*bounds, None)[:2]
            x = x if low is None else np.maximum(x, low)
            return x if high is None else np.minimum(x, high)
        case "Div", [x, y]:
            return _divided(x, y)
        case "Pow", [x, y]:
            return np.power(x, np.asarray(y).astype(x.dtype))
        case "PRelu", [x, slope]:
            return None if x == 0 and not np.isfinite(slope) else x if x >= 0 else x * slope
        case "Where", [condition, x, y]:
            return x if condition else y
        case "Dropout", [x, *_]:
            return x
        case "BatchNormalization", [x, scale, bias, mean, var]:
            epsilon = _float(attributes, "epsilon", 1e-5)
            return (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) * scale + bias
        case (("DequantizeLinear" | "QuantizeLinear"), [x, scale, *zero]):
            return _coded(operator, x, scale, zero[0] if zero else None)
    return None


def _divided(x: Any, y: Any) -> Any | None:
    """Integers are divided towards 0, and by 0 not at all."""
    if not np.issubdtype(np.asarray(x).dtype, np.integer):
        return x / y
    if y == 0:
        return None
    whole = abs(int(x)) // abs(int(y))
    return type(x)(whole if (x < 0) == (y < 0) else -whole)


def _coded(operator: str, x: Any, scale: Any, zero: Any | None) -> Any | None:
    if operator == "DequantizeLinear":
        return scale * (int(x) - (0 if zero is None else int(zero)))
    if zero is None:
        return None
    info = np.iinfo(zero.dtype)
    code = int(np.rint(x / scale)) + int(zero)
    return zero.dtype.type(min(max(code, info.min), info.max))


def _float(attributes: Attributes, name: str, default: float) -> float:
    found = attributes.get(name)
    return float(found) if isinstance(found, int | float) else default


def _curve(operator: str, attributes: Attributes, x: Any) -> Any:
    kind = np.asarray(x).dtype.type
    name, alpha, beta, gamma = _CURVES[operator]
    a, b = (
        kind(_float(attributes, "alpha", alpha)),
        kind(_float(attributes, "lambd" if name == "shrink" else "beta", beta)),
    )
    g = kind(_float(attributes, "gamma", gamma))
    one, zero = kind(1), kind(0)
    match name:
        case "leaky":
            return x if x >= 0 else a * x
        case "elu":
            return x if x >= 0 else a * (np.exp(x) - one)
        case "celu":
            return np.maximum(zero, x) + np.minimum(zero, a * (np.exp(x / a) - one))
        case "selu":
            return g * x if x > 0 else g * (a * np.exp(x) - a)
        case "hard":
            return np.maximum(zero, np.minimum(one, a * x + b))
        case "hardswish":
            return x * np.maximum(zero, np.minimum(one, x / kind(6) + kind(0.5)))
        case "thresholded":
            return x if x > a else zero
        case "gelu":
            if attributes.get("approximate") == "tanh":
                inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
                return kind(0.5 * x * (1 + math.tanh(inner)))
            return kind(0.5 * x * (1 + math.erf(x / math.sqrt(2))))
        case "swish":
            return x / (one + np.exp(-(a * x)))
    return None


_CURVES: Mapping[str, tuple[str, float, float, float]] = {
    "LeakyRelu": ("leaky", 0.01, 0, 0),
    "Elu": ("elu", 1.0, 0, 0),
    "Celu": ("celu", 1.0, 0, 0),
    "Selu": ("selu", 1.67326319217681884765625, 0, 1.05070102214813232421875),
    "HardSigmoid": ("hard", 0.2, 0.5, 0),
    "HardSwish": ("hardswish", 0, 0, 0),
    "ThresholdedRelu": ("thresholded", 1.0, 0, 0),
    "Gelu": ("gelu", 0, 0, 0),
    "com.microsoft::Gelu": ("gelu", 0, 0, 0),
    "Swish": ("swish", 1.0, 0, 0),
    "com.microsoft::QuickGelu": ("swish", 1.702, 0, 0),
}

_PLAIN: Mapping[str, _Function] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Erf": lambda x: type(x)(math.erf(x)),
    "Exp": np.exp,
    "Floor": np.floor,
    "Identity": lambda x: x,
    "IsInf": np.isinf,
    "IsNaN": np.isnan,
    "Log": np.log,
    "Mish": lambda x: x * np.tanh(np.logaddexp(type(x)(0), x)),
    "Neg": np.negative,
    "Not": np.logical_not,
    "Reciprocal": lambda x: type(x)(1) / x,
    "Relu": lambda x: np.maximum(x, type(x)(0)),
    "Round": np.rint,
    "Sigmoid": lambda x: type(x)(1) / (type(x)(1) + np.exp(-x)),
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Softplus": lambda x: np.logaddexp(type(x)(0), x),
    "Softsign": lambda x: x / (type(x)(1) + np.abs(x)),
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
}

_MANY: Mapping[str, _Function] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Sum": np.add,
    "Mean": np.add,
    "Max": np.maximum,
    "Min": np.minimum,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
}
