"""Where the stretches of a tile lie, as C: few pointers, each of them a step from another.

To add a number once, twice or four times costs a machine nothing. More has to be worked out, and
compilers do so for every stretch anew; so four stretches in a row share a pointer, which they are
made to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.network import Bit

Place = Mapping[Bit, int]


@dataclass(slots=True)
class Places:
    """The pointers of one side of a tile, each made when it is first needed.

    Attributes:
        chains: what is moved.
        pointer: ``p`` or ``q``, at the first stretch.
        kind: its type.
        letter: ``s`` or ``t``, with which the names of strides start.
        rows: the bits that number stretches, the fastest last.
    """

    chains: Chains
    pointer: str
    kind: str
    letter: str
    rows: tuple[Bit, ...]
    _held: dict[tuple[Bit, ...], str] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)

    def near(self) -> tuple[Bit, ...]:
        """Return the bits of the stretches that share a pointer: two where they are neighbours."""
        if not self.rows:
            return ()
        axis, bit = self.rows[-1]
        one_digit = self._step((axis, bit))[0] == self._step((axis, bit + 1))[0]
        both = (axis, bit + 1) in self.rows and one_digit
        return ((axis, bit), (axis, bit + 1)) if both else ((axis, bit),)

    def steps(self) -> Iterator[str]:
        """Return the lines that say how far the stretches that share a pointer are apart."""
        near = self.near()
        if near:
            name, count = self._step(near[0])
            yield f"const ptrdiff_t {self.letter}1 = {count}*{name};"
        if len(near) > 1:
            yield f"ptrdiff_t {self.letter}3 = 3*{self.letter}1;"
            yield f"HELD({self.letter}3);"

    def at(self, place: Place) -> str:
        """Return where a stretch lies; `lines` then says what has to come before."""
        near = self.near()
        times = sum(place.get(bit, 0) << number for number, bit in enumerate(near))
        base = self._base(tuple(bit for bit in self.rows if place.get(bit) and bit not in near))
        step = ("", f" + {self.letter}1", f" + 2*{self.letter}1", f" + {self.letter}3")[times]
        return base + step

    def lines(self) -> list[str]:
        """Return the lines that make the pointers asked for since the last call."""
        made, self._lines = self._lines, []
        return made

    def _base(self, bits: tuple[Bit, ...]) -> str:
        if not bits:
            return self.pointer
        if bits not in self._held:
            name, count = self._step(bits[-1])
            before = self._base(bits[:-1])
            self._held[bits] = f"{self.pointer}{len(self._held)}"
            self._lines += [
                f"{self.kind}{self._held[bits]} = {before} + {count}*{name};",
                f"HELD({self._held[bits]});",
            ]
        return self._held[bits]

    def _step(self, bit: Bit) -> tuple[str, int]:
        """The name of a bit's stride, and how often it is taken."""
        digits = self.chains.axes[bit[0]].digits
        digit = [each for each in digits if each.divisor <= 1 << bit[1]][-1]
        return f"{self.letter}_{bit[0]}_{digit.divisor}", (1 << bit[1]) // digit.divisor
