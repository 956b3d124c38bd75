"""The library's records: against gguf-py, C's structs, numpy's planes and libdnnl, and proved.

Fields are read by the meaning, bit by bit; what they are worth is computed here from the published
formulas, in the order in which gguf-py computes it, so that single precision comes out the same.
"""

# ruff: noqa: N802  names are those of the sources

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from onednn_library import S8, Library, RefusedError, shared_library
from record_bits import TEXTS, Array, codes, f16, i8, places, random_codes, written

import layoutdsl
from layoutdsl import Record, library_record, library_record_names

NAMES = library_record_names()
BLOCKS = 64

MX = {
    "MXFP8_E4M3": ("float8_e4m3fn",),
    "MXFP8_E5M2": ("float8_e5m2",),
    "MXFP6": ("float6_e3m2fn", "float6_e2m3fn"),
    "MXINT8": ("int8",),
}
"""Types of ml_dtypes that numbers of OCP's records are."""

SMALL = {
    **dict.fromkeys(("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1"), (2, 64)),
    **dict.fromkeys(("MXFP4", "IQ4_NL", "FbgemmMx4"), (2, 64)),
    **{f"{kind}{last}": (2, 64) for kind in MX for last in ("", "_last")},
    **dict.fromkeys(("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K", "TQ2_0", "IQ4_XS"), (2, 512)),
    "Q1_0": (2, 256),
    **dict.fromkeys(("NVFP4", "Q2_0"), (2, 128)),
    **dict.fromkeys(("Q4_0_4x4", "Q4_0_4x8", "Q8_0_4x1", "Q8_0_4x4", "Q8_0_4x8"), (8, 64)),
    **dict.fromkeys(("IQ4_NL_4x4", "MXFP4_4x4"), (8, 64)),
    **dict.fromkeys(("Q4_0_8x8", "IQ4_NL_8x8", "MXFP4_8x8"), (16, 64)),
    **dict.fromkeys(("Q4_0_16x1", "Q8_0_16x1", "IQ4_NL_16x1"), (32, 64)),
    **dict.fromkeys(("Q2_K_8x8", "Q4_K_8x4", "Q4_K_8x8", "Q5_K_8x4", "Q5_K_8x8"), (8, 512)),
    **dict.fromkeys(("Q6_K_8x4", "Q6_K_8x8", "Q8_K_4x1", "Q8_K_4x4", "Q8_K_4x8"), (8, 512)),
    **dict.fromkeys(("Q2_K_16x1", "Q4_K_16x1"), (16, 512)),
    "OIhw4i16o4iS8s8": (20, 18, 2, 3),
    "SparseLtF16": (16, 32),
    "SparseLtInt8": (32, 64),
    **dict.fromkeys(("NV12", "NV21", "I420", "YV12", "YUY2", "UYVY", "P010"), (4, 6)),
    **dict.fromkeys(("RAW10", "RAW12", "R10G10B10A2", "BGR24"), (3, 8)),
    "V210": (2, 54),
}
"""Extents of a few blocks, for each record."""
PADDED = {"OIhw4i16o4iS8s8", "P010", "V210"}
"""Records of which not every bit holds something."""


def record(name: str) -> Record:
    return library_record(name)


def test_every_record_has_a_shape_here() -> None:
    assert set(SMALL) == set(NAMES) == set(TEXTS)


@pytest.mark.parametrize("name", ["Q6_K", "NV12", "OIhw4i16o4iS8s8"])
def test_formulas_of_parts_say_where_their_bits_lie(name: str) -> None:
    """Extents of the record are none of the part's own: no shape of it gives them."""
    found, random = record(name), Random(1)
    values = found.bind(SMALL[name])
    for part, laid in zip(found.parts, found.laid, strict=True):
        formula = layoutdsl.formula(laid)
        if {*map(str, formula.offset.free_symbols)} & {*values} - {*laid.symbols}:
            assert "which no shape of it gives" in formula.inverse.reason
        inside = part.in_bits.shape_of(part.shape(values))
        for _ in range(5):
            *own, bit = map(random.randrange, inside)
            names = [axis.name for axis in laid.axes]
            at = {**values, **dict(zip(names, (*own, bit), strict=True))}
            numbers = {each: at[str(each)] for each in formula.offset.free_symbols}
            assert formula.offset.subs(numbers) == part.in_bits.offset_at(
                {**part.shape(values), **dict(zip(names, (*own, bit), strict=True))}
            )


SAMPLED = [
    n if i % 4 == 0 else pytest.param(n, marks=pytest.mark.slow) for i, n in enumerate(NAMES)
]
"""One in four by default, all of them where there is time."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", SAMPLED)
def test_the_record_is_proved(name: str) -> None:
    report = layoutdsl.prove(record(name))
    assert [each.status for each in report.checked] == ["proved"]


@pytest.mark.parametrize("name", NAMES)
def test_no_bit_is_free_and_none_is_held_twice(name: str) -> None:
    found, shape = record(name), SMALL[name]
    held = np.concatenate([each.reshape(-1) for each in places(found, shape).values()])
    assert len(np.unique(held)) == len(held)
    assert held.min() >= 0
    assert held.max() < found.size_bits(shape)
    assert (len(held) == found.size_bits(shape)) == (name not in PADDED)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", SAMPLED)
def test_what_is_read_at_once_is_the_definition(name: str) -> None:
    """Bit by bit: `every_bit`, `bit_address` and `holders` say the same of a sample."""
    found, shape = record(name), SMALL[name]
    where, values = places(found, shape), found.bind(shape)
    every = list(found.every_bit(values))
    assert len(every) == sum(map(np.size, where.values()))
    for _, held, address in every[:: max(1, len(every) // 200)]:
        assert where[held.field][(*held.index, held.bit)] == address
        assert found.bit_address(held.field, held.index, held.bit, shape) == address
        assert list(found.holders(address, shape)) == [held]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_back(name: str) -> None:
    found, shape = record(name), SMALL[name]
    where, random = places(found, shape), np.random.default_rng(1)
    fields = random_codes(found, shape, random)
    buffer = written(where, fields, found.size_bits(shape) // 8)
    back = codes(buffer, where)
    assert all(np.array_equal(back[each], fields[each]) for each in fields)


def equalities() -> list[Any]:
    """The claims of the library that compare two records."""
    return [
        each
        for each in layoutdsl.library_module().record_claims
        if hasattr(each.predicate, "other")
    ]


@pytest.mark.parametrize("claim", equalities(), ids=lambda claim: claim.text)
def test_a_claim_is_counted_out(claim: Any) -> None:
    shape = SMALL[claim.record.name]
    one, other = (places(each, shape) for each in (claim.record, claim.predicate.other))
    same = all(np.array_equal(one[name], other[name]) for name in one)
    assert same == (claim.polarity == "prove")


@pytest.mark.parametrize(
    ("name", "field", "layout"),
    [
        ("Q4_0", "q", "GgufQ4_0"),
        ("Q4_1", "q", "GgufQ4_1"),
        ("Q8_0", "q", "GgufQ8_0"),
        ("MXFP4", "q", "GgufMxfp4"),
        ("Q2_K", "q", "GgufQ2_K"),
        ("Q4_K", "q", "GgufQ4_K"),
        ("Q4_0_4x4", "q", "Q4_0x4by4"),
        ("Q4_0_4x8", "q", "Q4_0x4by8"),
        ("OIhw4i16o4iS8s8", "weight", "OIhw4i16o4i"),
    ],
)
def test_numbers_lie_where_the_layout_of_the_library_says(
    name: str, field: str, layout: str
) -> None:
    found, shape, plain = record(name), SMALL[name], layoutdsl.library(layout)
    at = places(found, shape)[field]
    width = at.shape[-1]
    offsets = plain.offset_at(
        {
            **plain.bind(shape),
            **dict(zip((a.name for a in plain.axes), np.indices(shape), strict=True)),
        }
    )
    assert np.array_equal(at, width * offsets[..., None] + np.arange(width))


# GGUF, against gguf-py.


def spread(scale: Array, count: int) -> Array:
    """Each scale as often as it has numbers."""
    return np.repeat(scale, count, axis=-1)


def signed(code: Array, less: int) -> Array:
    return (code.astype(np.int32) - less).astype(np.float32)


def plain(code: Array) -> Array:
    return code.astype(np.float32)


Fields = dict[str, Array]


def e8m0_half(code: Array) -> Array:
    """Half of a power of two: 2**(e - 128), of which the lowest two are subnormal."""
    return np.ldexp(np.float32(1), code.astype(np.int32) - 128).astype(np.float32)


def ue4m3_half(code: Array) -> Array:
    """Half of e4m3 without a sign: bias 7, three bits behind the point; 0x7F is no number."""
    high, low = code >> 3 & 15, plain(code & 7)
    small = low * np.float32(2.0**-9)
    large = (1 + low / 8) * np.exp2(plain(high) - 7)
    return np.where((code == 0) | (code == 0x7F), 0, np.where(high == 0, small, large) / 2).astype(
        np.float32
    )


E2M1 = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.float32)
"""Twice what the codes are."""
NON_LINEAR = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)


def of_Q4_K(f: Fields) -> Array:
    d, least = spread(f16(f["d"]), 8), spread(f16(f["dmin"]), 8)
    return spread(d * plain(f["scale"]), 32) * plain(f["q"]) - spread(least * plain(f["min"]), 32)


def of_Q2_K(f: Fields) -> Array:
    d, least = spread(f16(f["d"]), 16), spread(f16(f["dmin"]), 16)
    return spread(d * plain(f["scale"]), 16) * plain(f["q"]) - spread(least * plain(f["min"]), 16)


VALUES: dict[str, Callable[[Fields], Array]] = {
    "Q4_0": lambda f: spread(f16(f["d"]), 32) * signed(f["q"], 8),
    "Q4_1": lambda f: spread(f16(f["d"]), 32) * plain(f["q"]) + spread(f16(f["m"]), 32),
    "Q5_0": lambda f: spread(f16(f["d"]), 32) * signed(f["q"], 16),
    "Q5_1": lambda f: spread(f16(f["d"]), 32) * plain(f["q"]) + spread(f16(f["m"]), 32),
    "Q8_0": lambda f: i8(f["q"]).astype(np.float32) * spread(f16(f["d"]), 32),
    "Q2_K": of_Q2_K,
    "Q3_K": lambda f: (
        spread(spread(f16(f["d"]), 16) * signed(f["scale"], 32), 16) * signed(f["q"], 4)
    ),
    "Q4_K": of_Q4_K,
    "Q5_K": of_Q4_K,
    "Q6_K": lambda f: (
        spread(spread(f16(f["d"]), 16) * i8(f["scale"]).astype(np.float32), 16) * signed(f["q"], 32)
    ),
    "TQ2_0": lambda f: spread(f16(f["d"]), 256) * signed(f["q"], 1),
    "MXFP4": lambda f: spread(e8m0_half(f["e"]), 32) * E2M1[f["q"]],
    "NVFP4": lambda f: spread(ue4m3_half(f["d"]), 16) * E2M1[f["q"]],
    "IQ4_NL": lambda f: spread(f16(f["d"]), 32) * NON_LINEAR[f["q"]],
    "IQ4_XS": lambda f: (
        spread(spread(f16(f["d"]), 8) * signed(f["scale"], 32), 32) * NON_LINEAR[f["q"]]
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_gguf(name: str) -> None:
    """Of 64 blocks of any bytes at all, in two rows and in 16; every value, exactly."""
    gguf = pytest.importorskip("gguf")
    kind = gguf.GGMLQuantizationType[name]
    block, size = gguf.GGML_QUANT_SIZES[kind]
    found, random = record(name), np.random.default_rng(7)
    for rows in (2, 16):
        shape = (rows, BLOCKS // rows * block)
        assert found.size_bits(shape) == 8 * BLOCKS * size
        buffer = random.integers(0, 256, (rows, BLOCKS // rows * size), dtype=np.uint8)
        with np.errstate(all="ignore"):
            meant = gguf.dequantize(buffer, kind)
            values = VALUES[name](codes(buffer, places(found, shape)))
        assert values.shape == shape
        assert values.dtype == np.float32
        assert np.isfinite(values).mean() > 0.8
        assert np.array_equal(values, meant, equal_nan=True)


@pytest.mark.parametrize("name", [each for each in NAMES if each in (*VALUES, "Q1_0", "Q8_K")])
def test_sizes_are_those_of_gguf(name: str) -> None:
    gguf = pytest.importorskip("gguf")
    block, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    assert record(name).size_bits((3, 2 * block)) == 3 * 2 * 8 * size


def test_every_type_of_gguf_is_here_or_left_out_on_purpose() -> None:
    gguf = pytest.importorskip("gguf")
    of_blocks = {kind.name for kind, (block, _) in gguf.GGML_QUANT_SIZES.items() if block > 1}
    tables = {"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"}
    assert of_blocks - set(NAMES) == {*tables, "TQ1_0"}
    for name in of_blocks - set(NAMES):
        with pytest.raises(ValueError, match="no element has bits of its own"):
            layoutdsl.library_record(name)


# llama.cpp, against its structs as numpy has them, and its functions transcribed.


def structs(count: int, *fields: Any) -> Array:
    """So many structs of any bytes."""
    kind = np.dtype(list(fields))
    random = np.random.default_rng(3)
    return random.integers(0, 256, count * kind.itemsize, dtype=np.uint8).view(kind)


def bits_of(values: Array) -> Array:
    """Numbers of any type as numbers without sign."""
    plain_values = np.ascontiguousarray(values)
    return plain_values.view(f"u{plain_values.dtype.itemsize}").astype(np.uint32)


@pytest.mark.parametrize(
    ("name", "block", "fields"),
    [
        ("Q8_0", 32, [("d", "<f2"), ("q", "i1", 32)]),
        ("Q8_1", 32, [("d", "<f2"), ("s", "<f2"), ("q", "i1", 32)]),
        ("Q8_K", 256, [("d", "<f4"), ("q", "i1", 256), ("bsum", "<i2", 16)]),
    ],
)
def test_fields_are_members_of_a_struct(name: str, block: int, fields: list[Any]) -> None:
    blocks = structs(12, *fields)
    found = codes(blocks.view(np.uint8), places(record(name), (3, 4 * block)))
    for member, *_ in fields:
        assert np.array_equal(found[member], bits_of(blocks[member]).reshape(3, -1))


def test_bits_of_Q1_0_are_signs() -> None:
    """`dequantize_row_q1_0`: bit j%8 of byte j/8."""
    blocks = structs(6, ("d", "<f2"), ("qs", "u1", 16))
    found = codes(blocks.view(np.uint8), places(record("Q1_0"), (2, 3 * 128)))
    signs = [[row[j // 8] >> j % 8 & 1 for j in range(128)] for row in blocks["qs"].tolist()]
    assert np.array_equal(found["q"], np.reshape(signs, (2, 384)))
    assert np.array_equal(found["d"], bits_of(blocks["d"]).reshape(2, 3))


def test_numbers_of_Q2_0_are_two_bits() -> None:
    """`dequantize_row_q2_0`: bits 2*(j%4) of byte j/4."""
    blocks = structs(6, ("d", "<f2"), ("qs", "u1", 16))
    found = codes(blocks.view(np.uint8), places(record("Q2_0"), (2, 3 * 64)))
    numbers = [[row[j // 4] >> j % 4 * 2 & 3 for j in range(64)] for row in blocks["qs"].tolist()]
    assert np.array_equal(found["q"], np.reshape(numbers, (2, 192)))
    assert np.array_equal(found["d"], bits_of(blocks["d"]).reshape(2, 3))


def interleaved(rows: Array, piece: int) -> Array:
    """Bytes of some rows of one block, so many of the first, as many of the next, and so on."""
    return rows.reshape(len(rows), -1, piece).transpose(1, 0, 2).reshape(-1)


def grouped(blocks: Array, rows: int) -> Array:
    """The blocks of so many rows with one number, group after group, as `repack` walks them."""
    return blocks.reshape(-1, rows, blocks.shape[1]).transpose(0, 2, 1).reshape(-1, rows)


def repacked(blocks: Array, rows: int, piece: int, flip: int) -> Array:
    """`make_block_q4_0x4` and its like: scales of the rows, then pieces of each by turns."""
    found = []
    for group in grouped(blocks, rows):
        scales = np.ascontiguousarray(group["d"])
        found += [scales.view(np.uint8), interleaved(group["qs"], piece) ^ flip]
    return np.concatenate(found)


@pytest.mark.parametrize("blocks_in_a_row", [1, 3])
@pytest.mark.parametrize(
    ("name", "of", "rows", "piece"),
    [
        ("Q4_0_4x4", "Q4_0", 4, 4),
        ("Q4_0_4x8", "Q4_0", 4, 8),
        ("Q4_0_8x8", "Q4_0", 8, 8),
        ("Q4_0_16x1", "Q4_0", 16, 1),
        ("Q8_0_4x1", "Q8_0", 4, 1),
        ("Q8_0_4x4", "Q8_0", 4, 4),
        ("Q8_0_4x8", "Q8_0", 4, 8),
        ("Q8_0_16x1", "Q8_0", 16, 1),
        ("IQ4_NL_4x4", "IQ4_NL", 4, 4),
        ("IQ4_NL_8x8", "IQ4_NL", 8, 8),
        ("IQ4_NL_16x1", "IQ4_NL", 16, 1),
        ("MXFP4_4x4", "MXFP4", 4, 4),
        ("MXFP4_8x8", "MXFP4", 8, 8),
    ],
)
def test_repacked_blocks_hold_the_same(
    name: str, of: str, rows: int, piece: int, blocks_in_a_row: int
) -> None:
    """Bytes of Q4_0 are stored exclusive or 0x88: the high bit of each number is flipped."""
    flip, scale = 0x88 if of == "Q4_0" else 0, "e" if of == "MXFP4" else "d"
    members = (("d", "u1" if of == "MXFP4" else "<f2"), ("qs", "u1", 32 if of == "Q8_0" else 16))
    shape = (32, 32 * blocks_in_a_row)
    blocks = structs(32 * blocks_in_a_row, *members).reshape(32, -1)
    plain_fields = codes(blocks.view(np.uint8), places(record(of), shape))
    found = codes(repacked(blocks, rows, piece, flip), places(record(name), shape))
    assert np.array_equal(found[scale], plain_fields[scale])
    assert np.array_equal(found["q"], plain_fields["q"] ^ (flip & 15))


def repacked_scales(group: Array) -> list[int]:
    """`make_block_q4_Kx8`: scales and minima of eight rows, a block of 32 after the other."""
    scales, found = group["scales"].tolist(), [0] * 96
    for half, i in product(range(2), range(4)):
        if half:
            s = [(each[i] & 192) >> 2 | each[i + 8] & 15 for each in scales]
            m = [(each[i + 4] & 192) >> 2 | (each[i + 8] & 240) >> 4 for each in scales]
        else:
            s, m = [each[i] & 63 for each in scales], [each[i + 4] & 63 for each in scales]
        at = i * 12 + 48 * half
        for j in range(4):
            found[at + j] = (s[j] & 63) + ((s[j + 4] & 48) << 2)
            found[at + 4 + j] = (m[j] & 63) + ((m[j + 4] & 48) << 2)
            found[at + 8 + j] = (s[j + 4] & 15) + ((m[j + 4] & 15) << 4)
    return found


def scales_of_sixteen(group: Array) -> list[int]:
    """`make_block_q4_Kx16`: low bits of scale and minimum in a byte, then all high bits."""
    s, m = [0] * 128, [0] * 128
    for i, j in product(range(4), range(16)):
        b = group["scales"][j].tolist()
        s[i * 16 + j], m[i * 16 + j] = b[i] & 63, b[i + 4] & 63
        s[64 + i * 16 + j] = (b[i] & 192) >> 2 | b[i + 8] & 15
        m[64 + i * 16 + j] = (b[i + 4] & 192) >> 2 | (b[i + 8] & 240) >> 4
    low = [s[i] & 15 | (m[i] & 15) << 4 for i in range(128)]
    high = [
        (s[i] & 48) >> 4 | (m[i] & 48) >> 2 | s[64 + i] & 48 | (m[64 + i] & 48) << 2
        for i in range(64)
    ]
    return low + high


def scales_of_q2(group: Array) -> list[int]:
    """`make_block_q2_Kx8`: two bytes of a row, then two of the next."""
    return [group["scales"][i % 16 // 2][i // 16 * 2 + i % 2] for i in range(128)]


def scales_of_sixteen_q2(group: Array) -> list[int]:
    """`make_block_q2_Kx16`: a byte of each row, even blocks before odd ones."""
    order = (0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15)
    return [group["scales"][row][block] for block in order for row in range(16)]


def scales_of_q6(group: Array) -> list[int]:
    """`make_block_q6_Kx8`: a byte of each row."""
    return [group["scales"][i % 8][i // 8] for i in range(128)]


Members = tuple[tuple[Any, ...], ...]
SUPER: dict[str, Members] = {
    "Q2_K": (("scales", "u1", 16), ("qs", "u1", 64), ("d", "<f2"), ("dmin", "<f2")),
    "Q4_K": (("d", "<f2"), ("dmin", "<f2"), ("scales", "u1", 12), ("qs", "u1", 128)),
    "Q5_K": (
        *(("d", "<f2"), ("dmin", "<f2"), ("scales", "u1", 12)),
        *(("qh", "u1", 32), ("qs", "u1", 128)),
    ),
    "Q6_K": (("qs", "u1", 128), ("qh", "u1", 64), ("scales", "u1", 16), ("d", "<f2")),
}
"""Structs of ggml-common.h, in order of their members; `qs` of block_q6_K is called `ql` there."""


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shape", [(16, 512), (32, 256)])
@pytest.mark.parametrize(
    ("name", "scales", "order"),
    [
        ("Q2_K_8x8", scales_of_q2, "d dmin scales qs"),
        ("Q2_K_16x1", scales_of_sixteen_q2, "d dmin scales qs"),
        ("Q4_K_8x4", repacked_scales, "d dmin scales qs"),
        ("Q4_K_8x8", repacked_scales, "d dmin scales qs"),
        ("Q4_K_16x1", scales_of_sixteen, "d dmin scales qs"),
        ("Q5_K_8x4", repacked_scales, "d dmin scales qh qs"),
        ("Q5_K_8x8", repacked_scales, "d dmin scales qh qs"),
        ("Q6_K_8x4", scales_of_q6, "d scales qs qh"),
        ("Q6_K_8x8", scales_of_q6, "d scales qs qh"),
    ],
)
def test_repacked_super_blocks_hold_the_same(
    name: str, scales: Callable[[Array], list[int]], order: str, shape: tuple[int, int]
) -> None:
    """Members lie in this order; numbers and their high bits in pieces of each row by turns."""
    of, _, turns = name.rpartition("_")
    rows, piece = map(int, turns.split("x"))
    blocks = structs(shape[0] * shape[1] // 256, *SUPER[of]).reshape(shape[0], -1)
    buffer = []
    for group in grouped(blocks, rows):
        for member in order.split():
            if member == "scales":
                buffer.append(np.array(scales(group), np.uint8))
            elif member.startswith("q"):
                buffer.append(interleaved(group[member], piece))
            else:
                buffer.append(np.ascontiguousarray(group[member]).view(np.uint8))
    meant = codes(blocks.view(np.uint8), places(record(of), shape))
    found = codes(np.concatenate(buffer), places(record(name), shape))
    for field, values in meant.items():
        assert np.array_equal(found[field], values), field


@pytest.mark.parametrize("piece", [1, 4, 8])
def test_numbers_at_work_lie_by_turns_of_four_rows(piece: int) -> None:
    """`ggml_quantize_mat_q8_K_4x4_generic`, with the shifts by which it finds a sum."""
    random = np.random.default_rng(4)
    numbers = random.integers(-127, 128, (8, 512), np.int8)
    scales = random.integers(0, 1 << 32, (8, 2), np.uint32)
    buffer = []
    for group, block in product(range(2), range(2)):
        rows = numbers[4 * group :][:4, 256 * block :][:, :256]
        qs, sums = np.zeros(1024, np.int8), np.zeros(64, np.int16)
        for j in range(1024):
            offset = j // (4 * piece) * piece + j % piece
            at = {
                1: (j >> 6) * 4 + (j & 3),
                4: ((j & 15) >> 2) * 4 + (j >> 8) * 16 + (j >> 6 & 3),
                8: ((j & 31) >> 3) * 4 + (j >> 8) * 16 + (j >> 6 & 3),
            }[piece]
            qs[j] = rows[j % (4 * piece) // piece, offset]
            sums[at] += qs[j]
        d = np.ascontiguousarray(scales[4 * group :][:4, block])
        buffer += [each.view(np.uint8) for each in (d, qs, sums)]
    found = codes(np.concatenate(buffer), places(record(f"Q8_K_4x{piece}"), (8, 512)))
    assert np.array_equal(found["d"], scales)
    assert np.array_equal(i8(found["q"]), numbers)
    sums = numbers.reshape(8, 32, 16).sum(-1, dtype=np.int16)
    assert np.array_equal(found["bsum"].astype(np.uint16).view(np.int16), sums)


# FBGEMM, cuSPARSELt, pictures.


def test_mx4_of_fbgemm() -> None:
    """`py_dequantize_mx4`: 16 bytes of two numbers, the low one first, and the exponent."""
    groups = np.random.default_rng(5).integers(0, 256, (6, 17), dtype=np.uint8)
    found = codes(groups, places(record("FbgemmMx4"), (2, 96)))
    numbers = np.stack([groups[:, :-1] & 15, groups[:, :-1] >> 4], axis=-1)
    assert np.array_equal(found["q"], numbers.reshape(2, 96))
    assert np.array_equal(found["e"], groups[:, -1].reshape(2, 3))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, kinds in MX.items() for k in kinds])
def test_mx_blocks(name: str, kind: str, last: bool) -> None:
    """OCP MX v1.0, section 5: a block is worth 2**(e - 127) times its numbers, by ml_dtypes.

    Bytes are put together here as one large integer for each block.
    """
    ml_dtypes = pytest.importorskip("ml_dtypes")
    random, bits = np.random.default_rng(8), 6 if name == "MXFP6" else 8
    dtype = np.dtype(np.int8) if kind == "int8" else np.dtype(getattr(ml_dtypes, kind))
    numbers = random.integers(0, 1 << bits, (2, 96), np.uint8)
    exponents = random.integers(100, 150, (2, 3), np.uint8)
    blocks = bytearray()
    for codes_, exponent in zip(numbers.reshape(6, 32), exponents.reshape(6), strict=True):
        whole = sum(int(code) << bits * place for place, code in enumerate(codes_))
        parts = [bytes([exponent]), whole.to_bytes(4 * bits, "little")]
        blocks += b"".join(parts[::-1] if last else parts)
    module = layoutdsl.compile(record(f"{name}{'_last' * last}"), "numpy")
    fields: Any = module.unpack(np.frombuffer(bytes(blocks), np.uint8), (2, 96))
    scale = fields.e.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    with np.errstate(all="ignore"):
        found = fields.q.view(dtype).astype(np.float32) * spread(scale, 32)
        want = numbers.view(dtype).astype(np.float32) * spread(np.exp2(exponents - 127.0), 32)
    assert np.array_equal(found, want.astype(np.float32), equal_nan=True)
    assert module.pack(q=fields.q, e=fields.e).tobytes() == bytes(blocks)


@pytest.mark.parametrize(("name", "item"), [("SparseLtF16", "u2"), ("SparseLtInt8", "u1")])
def test_metadata_are_behind_the_values(name: str, item: str) -> None:
    """PyTorch's `values` and `indices` cut the one tensor in two, and show both as rows."""
    r, k = 64, 128
    packed = np.random.default_rng(6).integers(0, 256, r * k * 9 // 8).astype(item)
    kept = r * k // 2
    size = r * k * (9 if item == "u2" else 10) // 16
    found = codes(packed[:size].view("u1"), places(record(name), (r, k)))
    assert np.array_equal(found["value"], packed[:kept].reshape(r, -1))
    assert np.array_equal(found["meta"], packed[kept:size].reshape(r, -1))
    assert record(name).size_bits((r, k)) == 8 * size * packed.itemsize


def planar(y: Array, *colours: Array) -> Array:
    return np.concatenate([y.reshape(-1), *(each.reshape(-1) for each in colours)])


def woven(*colours: Array) -> Array:
    return np.stack(colours, axis=-1)


PICTURES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "NV12": lambda y, u, v: planar(y, woven(u, v)),
    "NV21": lambda y, u, v: planar(y, woven(v, u)),
    "I420": planar,
    "YV12": lambda y, u, v: planar(y, v, u),
    "YUY2": lambda y, u, v: woven(y[:, ::2], u, y[:, 1::2], v).reshape(-1),
    "UYVY": lambda y, u, v: woven(u, y[:, ::2], v, y[:, 1::2]).reshape(-1),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("shape", [(2, 2), (4, 6), (10, 4)])
def test_planes_of_a_picture(name: str, shape: tuple[int, int]) -> None:
    found = record(name)
    fields = random_codes(found, shape, np.random.default_rng(8))
    buffer = written(places(found, shape), fields, found.size_bits(shape) // 8)
    y, u, v = (fields[each].astype(np.uint8) for each in "yuv")
    assert np.array_equal(buffer, PICTURES[name](y, u, v))


def test_an_address_of_NV12() -> None:
    """Plainly: both colours of the pixels (2, 4) to (3, 5) of a picture of 6 rows of 8."""
    found = record("NV12")
    assert found.bit_address("y", (2, 4), 0, (6, 8)) == 8 * (2 * 8 + 4)
    assert found.bit_address("u", (1, 2), 0, (6, 8)) == 8 * (48 + 1 * 8 + 2 * 2)
    assert found.bit_address("v", (1, 2), 7, (6, 8)) == 8 * (48 + 1 * 8 + 2 * 2 + 1) + 7
    assert [str(each) for each in found.holders(8 * 60, (6, 8))] == ["bit 0 of u[1, 2]"]


# oneDNN.


@pytest.mark.parametrize(
    "shape", [(16, 4, 2, 2), (20, 3, 3, 3), (5, 3, 3, 2), (33, 1, 1, 3), (64, 4, 7, 7)]
)
def test_compensation_of_onednn(shape: tuple[int, int, int, int]) -> None:
    """Weights that libdnnl wants for s8 inputs, and what it writes where it is given some."""
    path = shared_library()
    if path is None:
        pytest.skip("libdnnl is not installed")
    onednn = Library(path)
    try:
        wanted = onednn.convolution_weights(shape)
    except RefusedError as reason:
        pytest.skip(f"no convolution of bytes: {reason}")
    if onednn.blocks(wanted) != [(1, 4), (0, 16), (1, 4)]:
        pytest.skip("this machine wants weights of another layout")
    weights = np.random.default_rng(9).integers(-128, 128, shape).astype(np.int8)
    buffer = onednn.reordered(weights, S8, wanted)
    found, where = record("OIhw4i16o4iS8s8"), places(record("OIhw4i16o4iS8s8"), shape)
    size = found.size_bits(shape) // 8
    if len(buffer) < size:
        pytest.skip("this machine adds nothing up")
    sums = -128 * weights.astype(np.int32).sum((1, 2, 3), dtype=np.int32)
    fields = {"weight": weights.view(np.uint8), "comp": sums.view(np.uint32)}
    assert np.array_equal(buffer[:size], written(where, fields, size))


# Regions.


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("of", "offset", "status"),
    [
        ("u8", "H*W", "proved"),
        ("u8", "H*W + 64", "proved"),
        ("u8", "H*W + 3*H", "proved"),
        ("u8", "roundup(H*W, 64)", "proved"),
        ("u8", "ceil(H*W/64)*64", "proved"),
        ("f32", "ceil(H*W/4)", "proved"),
        ("u1", "8*(H*W)", "proved"),
        ("u8", "H*W - 1", "refuted"),
        ("u8", "H*W/64*64", "refuted"),
        ("f32", "H*W/4", "refuted"),
    ],
)
def test_regions_may_leave_room_between_them(of: str, offset: str, status: str) -> None:
    """Up to the next multiple of a number, or more; but not less than nothing."""
    text = (
        f"record R(h, w) = {{ y(h, w) = [h, w] of u8\n x(h, w) = [h, w] of {of} offset {offset} }}"
    )
    (found,) = layoutdsl.prove(layoutdsl.parse(text).records["R"]).checked
    assert found.status == status


def test_a_mask_is_rounded_up_to_bytes() -> None:
    text = "record M(n) = { m(n) = [n] of u1\n v(n) = [n] of i8 offset ceil(N/8) }"
    found = layoutdsl.parse(text).records["M"]
    assert layoutdsl.prove(found).passed
    assert [found.bit_address("v", (0,), 0, (n,)) for n in (1, 8, 9)] == [8, 8, 16]


# Layouts that a record is made of, given to verbs by themselves.


@pytest.mark.parametrize("name", ["Q4_0", "NV12"])
def test_what_a_record_is_made_of_is_no_layout_of_its_own(name: str) -> None:
    record = layoutdsl.library_record(name)
    assert layoutdsl.cost(record.parts[0].layout).ratio
    part = next(each for each in record.laid if layout_extents(each) - {*each.symbols})
    for verb in (layoutdsl.cost, layoutdsl.prove, layoutdsl.compile, layoutdsl.generate):
        with pytest.raises(ValueError, match=r"speaks of `[HK]`, .*: it is a part of a record"):
            verb(part)
    for verb in (layoutdsl.cost, layoutdsl.formula, layoutdsl.compile, layoutdsl.prove):
        with pytest.raises((TypeError, ValueError), match=r"no coordinates.*: take the record"):
            verb(record.frame)


def layout_extents(layout: layoutdsl.Layout) -> set[str]:
    """The extents that the size of its buffer depends on."""
    return {str(each) for each in layoutdsl.formula(layout).size.free_symbols}
