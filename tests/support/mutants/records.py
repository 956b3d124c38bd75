"""Records of the library that are wrong in one place: what slips of the pen make of them.

Each names what it fails by. Those that fail by nothing of their own, for they are records too,
differ from the one that they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from record_bits import TEXTS

Fails = Literal["apart", "whole", "size", "after", "shape", "part", "differs"]
"""By what: a bit held twice, or not at all; buffers of two sizes, or one in the other; a part that
has no shape, or leaves its buffer; or by nothing, and it is another record."""


@dataclass(frozen=True)
class RecordMutant:
    """A record, and a text in it that became another.

    Attributes:
        base: the name of the record.
        kind: of the slip.
        old: stands in the record once.
        new: what stands there instead.
        fails: by what it is refuted.
    """

    base: str
    kind: str
    old: str
    new: str
    fails: Fails

    def __str__(self) -> str:
        return f"{self.base}, {self.kind}"

    @property
    def original(self) -> str:
        """The text of the record."""
        return TEXTS[self.base]

    @property
    def text(self) -> str:
        """The same with the slip."""
        assert self.original.count(self.old) == 1, f"{self.old} is not once in {self.base}"
        return self.original.replace(self.old, self.new)


MUTANTS = tuple(
    RecordMutant(*each)
    for each in (
        # Wrong by a byte, or by a bit.
        ("Q4_0", "a byte early", "2 + k%16 : 18", "1 + k%16 : 18", "apart"),
        ("Q4_0", "a byte late", "2 + k%16 : 18", "3 + k%16 : 18", "part"),
        ("Q8_0", "a byte early", "2 + k%32 : 34", "1 + k%32 : 34", "apart"),
        ("Q6_K", "scales a byte early", "192 + b%16", "191 + b%16", "apart"),
        ("Q6_K", "scales a byte late", "192 + b%16", "193 + b%16", "apart"),
        ("Q5_0", "fifth bits a bit early", "16 + k%32 : 176", "15 + k%32 : 176", "apart"),
        ("Q5_0", "fifth bits a bit late", "16 + k%32 : 176", "17 + k%32 : 176", "apart"),
        ("IQ4_XS", "scales a nibble early", "8 + b%8 : 272", "7 + b%8 : 272", "apart"),
        # A header forgotten, or of another length.
        ("Q4_1", "header forgotten", "4 + k%16 : 20", "k%16 : 20", "apart"),
        ("Q4_K", "header forgotten", "16 + (k%256/64", "(k%256/64", "apart"),
        ("MXFP4", "header of two bytes", "1 + k%16 : 17", "2 + k%16 : 17", "part"),
        ("NVFP4", "header of two scales", "4 + (k%64/16, k%8)", "2 + (k%64/16, k%8)", "apart"),
        # Fields one over the other, or one for the other.
        ("Q5_1", "both in one place", "[r, b, 1 : 12]", "[r, b, 0 : 12]", "apart"),
        ("Q4_1", "both in the second place", "d(r, b: K/32) = [r, b, 0 : 10]",
         "d(r, b: K/32) = [r, b, 1 : 10]", "apart"),
        ("Q2_K", "both in one nibble", "b%16 : 84, 1 : 2", "b%16 : 84, 0 : 2", "apart"),
        ("Q2_K", "one over the other", "[r, s, 41 : 42]", "[r, s, 39 : 42]", "apart"),
        ("TQ2_0", "where the numbers are", "[r, s, 32 : 33]", "[r, s, 31 : 33]", "apart"),
        ("YUY2", "both colours in one byte", "[h, j, 3 : 4]", "[h, j, 1 : 4]", "apart"),
        ("NV12", "both colours in one byte", "[i, j, 1 : 2]", "[i, j, 0 : 2]", "apart"),
        # High bits in the wrong place.
        ("Q4_K", "high bits one too low", "[r, s, 4 + i : 144, 6 + bit : 8]",
         "[r, s, 4 + i : 144, 5 + bit : 8]", "apart"),
        ("Q4_K", "high bits of the minima", "[r, s, 8 + i : 144, 6 + bit : 8]",
         "[r, s, 4 + i : 144, 6 + bit : 8]", "apart"),
        ("Q5_K", "low bits of the minima", "12 + i : 176, 4 + bit", "12 + i : 176, bit", "apart"),
        ("Q3_K", "third bits over the low ones", "k%32 : 110, k%256/32",
         "16 + k%32 : 110, k%256/32", "apart"),
        ("Q3_K", "high bits of scales before", "104 + b%4 : 110", "103 + b%4 : 110", "apart"),
        # Blocks of another size, and buffers that are not of one.
        ("Q4_0", "a block of 20 bytes", "2 + k%16 : 18", "2 + k%16 : 20", "size"),
        ("Q8_K", "a block of 288 bytes", "130 + b%16 : 146", "128 + b%16 : 144", "size"),
        ("Q6_K", "a header that is longer", "[r, s, 104 : 105]", "[r, s, 105 : 106]", "size"),
        ("Q4_0_4x4", "scales of eight rows", "[r/4, b, r%4 : 36]", "[r/4, b, r%4 : 72]", "size"),
        ("Q8_0", "a scale of 64 numbers", "d(r, b: K/32)", "d(r, b: K/64)", "shape"),
        # Bits nowhere, or in two parts.
        ("Q6_K", "bits 3 and 4", "bits 4..5", "bits 3..4", "whole"),
        ("Q5_1", "bits 1 to 4", "bits 0..3 =", "bits 1..4 =", "whole"),
        ("Q4_K", "one of two bits", "min(r, (s: K/256, 1 : 2, i: 4)) bits 4..5",
         "min(r, (s: K/256, 1 : 2, i: 4)) bits 4..4", "whole"),
        ("Q3_K", "a part forgotten", "    scale(r, b: K/16) bits 4..5 = "
         "[r, b/16, 104 + b%4 : 110, b%16/4]\n", "", "whole"),
        ("Q4_K", "the first twice", "scale(r, (s: K/256, 1 : 2, i: 4)) bits 4..5",
         "scale(r, (s: K/256, 0 : 2, i: 4)) bits 4..5", "whole"),
        ("Q3_K", "a bit too few", "q(r, k) bits 0..1", "q(r, k) bits 0..0", "whole"),
        # Regions one in the other.
        ("NV12", "colours in the first plane", "[i, j, 0 : 2] of u8 offset H*W",
         "[i, j, 0 : 2] of u8", "apart"),
        ("I420", "a quarter of the first plane", "offset H*W + (H/2)*(W/2)",
         "offset H*W/4", "after"),
        ("OIhw4i16o4iS8s8", "not rounded up", "ceil(I/16)", "(I/16)", "after"),
        ("SparseLtF16", "metadata too early", "offset R*(K/2)", "offset R*(K/4)", "after"),
        # Records too, and others.
        ("Q4_0", "neighbours in a byte", "2 + k%16 : 18, k%32/16",
         "2 + k%32/2 : 18, k%2", "differs"),
        ("NV12", "names exchanged", """    u(i: H/2, j: W/2) = [i, j, 0 : 2] of u8 offset H*W
    v(""", """    v(i: H/2, j: W/2) = [i, j, 0 : 2] of u8 offset H*W
    u(""", "differs"),
        ("NV21", "rows of colours", "[i, j, 1 : 2]", "[j, i, 1 : 2]", "differs"),
        ("Q8_0_4x4", "8 bytes at a time", "k%32/4, r%4, k%4", "k%32/8, r%4, k%8", "differs"),
    )
)  # fmt: skip


def edited(seed: int) -> Iterator[tuple[str, str]]:
    """Records without end with one number, operator or index exchanged, and their names."""
    random = Random(seed)
    names = sorted(TEXTS)
    while True:
        name = random.choice(names)
        text = TEXTS[name]
        places = [*re.finditer(r"(?<!\w)\d+|[/%+]|\b[a-z]\b", text[text.index("{") :])]
        place = random.choice(places)
        start, end = (text.index("{") + each for each in place.span())
        found = place[0]
        if found.isdecimal():
            number = int(found)
            others = [str(n) for n in (number + 1, number - 1, number // 2, 2 * number) if n >= 0]
        else:
            others = [*"/%+*"] if found in "/%+" else [*"rkbsijhw"]
        other = random.choice([each for each in others if each != found])
        yield name, text[:start] + other + text[end:]
