"""The floats of element types: which numbers they have, and which of them is the nearest.

Sources: IEEE 754-2019, 3.4, for f16, f32 and f64; OCP 8-bit Floating Point Specification (OFP8),
revision 1.0, for f8e4m3 and f8e5m2. bf16 is f32 without its low 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import copysign, frexp, inf, isinf, isnan

from layoutdsl.language.meaning.elements import ElementType


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary float.

    Attributes:
        exponent: bits of the exponent.
        mantissa: bits of the mantissa, without the leading one.
        infinite: whether it has infinities; f8e4m3 uses their codes for numbers.
    """

    exponent: int
    mantissa: int
    infinite: bool = True

    @property
    def largest(self) -> float:
        """The largest number."""
        bias = (1 << self.exponent - 1) - 1
        if self.infinite:
            return float((2 - Fraction(1, 1 << self.mantissa)) * 2**bias)
        # The largest exponent has numbers too, except for the mantissa of NaN.
        return float((2 - Fraction(2, 1 << self.mantissa)) * 2 ** (bias + 1))


FLOATS = {
    "f8e4m3": FloatFormat(4, 3, infinite=False),
    "f8e5m2": FloatFormat(5, 2),
    "f16": FloatFormat(5, 10),
    "bf16": FloatFormat(8, 7),
    "f32": FloatFormat(8, 23),
    "f64": FloatFormat(11, 52),
    "c64": FloatFormat(8, 23),
}
"""By the name of the element type; both parts of ``c64`` are f32."""


def nearest(value: float, element: ElementType) -> float | None:
    """Return the number of a type that is nearest to ``value``, of two the one with even mantissa.

    ``None`` if the type has no such number: infinity in f8e4m3, or a number that would round to
    infinity. The type is one of `FLOATS`.
    """
    of = FLOATS[element.name]
    if isnan(value):
        return value
    if isinf(value):
        return value if of.infinite else None
    _, power = frexp(value)
    least = 2 - (1 << of.exponent - 1)  # the exponent of subnormal numbers
    step = Fraction(2) ** (max(power - 1, least) - of.mantissa)
    rounded = copysign(float(round(Fraction(abs(value)) / step) * step), value)
    return rounded if abs(rounded) <= of.largest < inf else None
