"""A comb as C: rows side by side, in one plain loop over typed elements.

Compilers know this pattern, and turn it into the shuffles that suit the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from layoutdsl.codegen.native.chains import Chains, Digit
from layoutdsl.codegen.native.lanes import radix_of
from layoutdsl.codegen.native.loop_text import Ends
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.tiles import Comb
from layoutdsl.integers.expr import Constant


@dataclass(frozen=True, slots=True)
class CombText:
    """The spelling of one comb.

    Attributes:
        prefix: of the name of its function.
        chains: what is moved.
        comb: the leaf.
        width: bytes of an element.
        words: how extents are spelled.
        ragged: the axes around it that may have ended: there it is filled.
    """

    prefix: str
    chains: Chains
    comb: Comb
    width: int
    words: Spelling
    ragged: tuple[int, ...] = ()

    @property
    def lanes(self) -> tuple[int, ...]:
        """None: nothing is moved in part."""
        return ()

    def cut(self, ends: Ends) -> list[str]:  # noqa: ARG002
        """Return the call: it is moved as a whole, or not at all."""
        return self.whole()

    def edge(self, ends: Ends) -> list[str]:
        """Return the lines that move it where there is something to move, and fill it elsewhere."""
        tests = [f"{valid} > 0" for valid, _ in ends.values()]
        if not tests:
            return self.whole()
        moved, filled = self.whole()[0], self.rest(ends)[0]
        return [f"if ({' && '.join(tests)}) {moved}", f"else {filled}"]

    def rest(self, ends: Ends) -> list[str]:  # noqa: ARG002
        """Return the call that fills it."""
        strides = [self.words.text(digit.target) for digit in self._digits()]
        words = [self._starts()[1], "upto - from", *strides, "rest"]
        return [f"{self.prefix}_comb_rest({', '.join(words)});"]

    def whole(self) -> list[str]:
        """Return the call, where `p` and `q` are at the first elements."""
        strides = [self.words.text(e) for d in self._digits() for e in (d.source, d.target)]
        words = [*self._starts(), "upto - from", *strides]
        return [f"{self.prefix}_comb({', '.join(words)});"]

    def _starts(self) -> list[str]:
        """Where the indices that are wanted start."""
        digit = self._digits()[0]
        steps = zip("pq", (digit.source, digit.target), strict=True)
        return [f"{name} + from*{self.words.text(each)}*{self.width}" for name, each in steps]

    def functions(self) -> list[str]:
        """Return the function `_comb`, and the one that fills where an axis around it ends."""
        names = [f"{letter}{number}" for number in range(len(self._digits())) for letter in "st"]
        strides = [f"int64_t {name}" for name in names]
        parameters = ["const uint8_t *restrict p", "uint8_t *restrict q", "int64_t n", *strides]
        kind = f"element{8 * self.width}"
        axes = [self.chains.axes[number] for number in self.comb.teeth]
        places = list(product(*(range(radix_of(each, each.digits[0]) or 1) for each in axes)))
        return [
            "",
            f"VECTORIZED void {self.prefix}_comb({', '.join(parameters)})",
            "{",
            f"    const {kind} *restrict x = (const void *)p;",
            f"    {kind} *restrict y = (void *)q;",
            "    for (int64_t k = 0; k < n; k++) {",
            *(f"        y[{self._at('t', each)}] = x[{self._at('s', each)}];" for each in places),
            "    }",
            *(f"    (void){name};" for name in names),
            "}",
            *(self._filling(places) if self.ragged else ()),
        ]

    def _filling(self, places: list[tuple[int, ...]]) -> list[str]:
        names = [f"t{number}" for number in range(len(self._digits()))]
        parameters = ["uint8_t *restrict q", "int64_t n", *(f"int64_t {name}" for name in names)]
        kind = f"element{8 * self.width}"
        return [
            "",
            f"APART void {self.prefix}_comb_rest({', '.join([*parameters, 'v16 rest'])})",
            "{",
            f"    {kind} *restrict y = (void *)q, one;",
            f"    memcpy(&one, &rest, {self.width});",
            "    for (int64_t k = 0; k < n; k++) {",
            *(f"        y[{self._at('t', each)}] = one;" for each in places),
            "    }",
            *(f"    (void){name};" for name in names),
            "}",
        ]

    def _digits(self) -> list[Digit]:
        return [self.chains.axes[n].digits[0] for n in (self.comb.axis, *self.comb.teeth)]

    def _at(self, letter: str, place: tuple[int, ...]) -> str:
        """Where an element lies; strides that are numbers are written as such."""
        terms = list[str]()
        for number, (turn, digit) in enumerate(zip(("k", *place), self._digits(), strict=True)):
            stride = digit.source if letter == "s" else digit.target
            known = isinstance(stride, Constant)
            word = str(stride.value) if isinstance(stride, Constant) else f"{letter}{number}"
            if turn != 0:
                terms.append(f"{turn}*{word}" if known or turn != 1 else word)
        return " + ".join(terms) or "0"
