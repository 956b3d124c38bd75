"""Records whose elements have one bit, named by `bit`: an axis of extent 1, which is always 0."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

import layoutdsl

# a field of the record; the same places without `bit`; a shape
RECORDS = [
    ("(n, r, k)", "n, r/4, k/24, (r%4, k%24{bit}) : 192", (2, 5, 30)),
    ("(n, r, k)", "n, (r/4, k/24), (r%4, k%24{bit}) : 96", (2, 8, 48)),
    ("(r, k)", "r, k/8, (k%8{bit}) : 8", (3, 17)),
    ("(r, k)", "r/2, k/8, (k%8, r%2{bit}) : 64", (3, 17)),
    ("(r, k)", "k/8, r/2, (k%2, r%2, k/2%4{bit})", (4, 16)),
    ("(r, k)", "r, k/8, k%8{bit}", (3, 16)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("axes", "body", "shape"), RECORDS)
def test_record_of_single_bits_is_generated_and_packs_each_bit_in_its_place(
    axes: str, body: str, shape: tuple[int, ...]
) -> None:
    line = f"q{axes} = [{body.format(bit=', bit')}] of u1"
    record = layoutdsl.parse(f"record R{axes} = {{ {line} }}").records["R"]
    plain = layoutdsl.parse(f"layout P{axes} = [{body.format(bit='')}]")["P"]
    assert layoutdsl.generate_record(record)
    bits = (np.arange(prod(shape)) * 7 % 5 % 2).astype("u1").reshape(shape)
    meant = np.zeros(plain.size(shape), "u1")
    for index in product(*map(range, shape)):
        meant[plain.offset(index, shape)] = bits[index]
    module = layoutdsl.compile(record, "numpy")
    packed = module.pack(q=bits, shape=shape)
    assert packed.tobytes() == np.packbits(meant, bitorder="little").tobytes()
    assert np.array_equal(module.unpack(packed, shape).q, bits)
