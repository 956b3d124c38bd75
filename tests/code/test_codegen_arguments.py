"""What generated functions accept and refuse; a refusal writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from codegen_cases import BY_NAME, layout_of, module_of, tensor_of

import layoutdsl

BLOCKED = "layout Blocked(n, c, w) = [n, c/4, w, c%4]"
XOR = "layout Xor(i, j) = [i, (j/8)^(i%8), j%8]"
SHAPE = (2, 6, 3)
PHYSICAL = (2, 2, 3, 4)


@pytest.fixture(scope="module")
def blocked() -> ModuleType:
    return module_of(BLOCKED)


DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "float16",
    "int32",
    "uint32",
    "float32",
    "int64",
    "uint64",
    "float64",
    "longdouble",
    "complex64",
    "complex128",
    ">i2",
    ">u4",
    ">f8",
    "<f4",
    ">c8",
    "M8[ns]",
    "m8[s]",
    "S3",
    "U2",
    "V5",
]


def filled(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Any bit pattern that numpy compares: random bytes but for floats, booleans and text."""
    size = int(np.prod(shape))
    if dtype.kind in "iumMV" and dtype.itemsize < 9:
        data = np.random.default_rng(0).bytes(size * dtype.itemsize)
        return np.frombuffer(data, dtype).reshape(shape)
    return (np.arange(size) % 97 + 1).astype(dtype).reshape(shape)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", [BLOCKED, XOR, "layout T(i, j) = [(j, i)/4, (j, i)%4]"])
@pytest.mark.parametrize("name", DTYPES)
def test_every_type_is_moved_bit_for_bit(text: str, name: str) -> None:
    layout, module, dtype = layout_of(text), module_of(text), np.dtype(name)
    tensor = filled(dtype, SHAPE if layout.rank == 3 else (5, 9))
    packed = module.pack(tensor)
    assert packed.dtype == dtype
    flat, padding = packed.reshape(-1), np.ones(packed.size, bool)
    for index in np.ndindex(tensor.shape):
        slot = layout.offset(index, tensor.shape)
        assert flat[slot].tobytes() == tensor[index].tobytes()
        padding[slot] = False
    assert flat[padding].tobytes() == bytes(int(padding.sum()) * dtype.itemsize)
    assert module.unpack(packed, tensor.shape).tobytes() == tensor.tobytes()


def test_structured_items_are_moved_whole() -> None:
    module = module_of(BLOCKED)
    dtype = np.dtype([("a", "u1"), ("b", "f4")])
    tensor = np.zeros(SHAPE, dtype)
    tensor["a"], tensor["b"] = 7, np.arange(36).reshape(SHAPE)
    assert np.array_equal(module.unpack(module.pack(tensor), SHAPE), tensor)


LARGE = (2, 70, 3, 67)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", ["uint8", "uint16", "float32", "complex128", "V3"])
@pytest.mark.parametrize(
    "text",
    [
        "layout A(n, c, h, w) = [n, c/4, h, w, c%4]",
        "layout A(n, c, h, w) = [n, h, w/8, c/32, w%8, c%32]",
        "layout A(n, c, h, w) = [n, c, h, w : 70]",
        "layout A(n, w, h, c) = [n, c/8, h, c%8/2, w%3, w/3, c%2]",
        "layout A(n, c, h, w) = [n, c, (h, w)/16, (h, w)%16]",
    ],
)
def test_regions_that_are_moved_as_wide_items_or_unrolled(text: str, name: str) -> None:
    """Large enough for every way in which a region is moved, against element-wise numpy."""
    layout, module, dtype = layout_of(text), module_of(text), np.dtype(name)
    size = int(np.prod(LARGE))
    data = np.random.default_rng(1).bytes(size * dtype.itemsize)
    tensor = np.frombuffer(data, np.dtype(f"V{dtype.itemsize}")).reshape(LARGE).view(dtype)
    packed = module.pack(tensor)
    values = layout.bind(LARGE)
    flat = packed.view(f"V{dtype.itemsize}").reshape(-1)
    axes = [axis.name for axis in layout.axes]
    seen = np.ones(flat.size, bool)
    for index in np.random.default_rng(2).integers(0, LARGE, (2000, 4)):
        place = tuple(int(each) for each in index)
        slot = layout.offset_at({**values, **dict(zip(axes, place, strict=True))})
        assert flat[slot].tobytes() == tensor[place].tobytes()
        seen[slot] = False
    assert module.unpack(packed, LARGE).tobytes() == tensor.tobytes()
    assert int((flat.view(f"S{dtype.itemsize}") != b"").sum()) <= size


SOURCES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fortran": np.asfortranarray,
    "reversed": lambda x: x[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=1), 3, axis=2)[:, ::2, ::3],
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "unaligned": lambda x: np.frombuffer(b"?" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "transposed": lambda x: np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0),
}
MOVES = (
    BLOCKED,
    "layout Joined(n, c, w) = [(n, w)/4, c, (n, w)%4]",
    "layout Gathered(n, c, w) = [n, w^(c%4), c]",
    "layout Lead(n, c, w) = [(n, w), c/4, c%4] offset 2",
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", MOVES)
@pytest.mark.parametrize("kind", SOURCES)
def test_sources_and_destinations_need_not_be_contiguous(text: str, kind: str) -> None:
    module, plain = module_of(text), tensor_of(SHAPE)
    source = SOURCES[kind](plain)
    want = module.pack(plain)
    assert np.array_equal(source, plain)
    assert np.array_equal(module.pack(source), want)
    apart = np.full((*want.shape, 3), 9, source.dtype)
    assert np.array_equal(module.pack(source, apart[..., 1])[want != 0], want[want != 0])
    assert (apart[..., ::2] == 9).all()
    spread = np.full((*SHAPE, 2), 9, source.dtype)
    backwards = spread[::-1, :, ::-1, 0]
    assert module.unpack(want.astype(source.dtype), SHAPE, backwards) is backwards
    assert np.array_equal(backwards, plain)
    assert (spread[..., 1] == 9).all()
    assert np.array_equal(module.unpack(apart[..., 1], SHAPE), plain)


def test_a_broadcast_source_is_packed(blocked: ModuleType) -> None:
    source = np.broadcast_to(np.arange(3, dtype="i4"), SHAPE)
    assert np.array_equal(blocked.pack(source), blocked.pack(source.copy()))


def test_a_mapped_file_is_source_and_destination(blocked: ModuleType, tmp_path) -> None:
    plain = tensor_of(SHAPE)
    out = np.memmap(tmp_path / "packed", plain.dtype, "w+", shape=PHYSICAL)
    assert blocked.pack(plain, out) is out
    again = np.memmap(tmp_path / "packed", plain.dtype, "r", shape=PHYSICAL)
    assert np.array_equal(blocked.unpack(again, SHAPE), plain)


def test_fills_and_casts_stay_in_the_given_buffer(blocked: ModuleType) -> None:
    plain = tensor_of(SHAPE)
    guarded = np.full(2 + 48 + 2, -7, plain.dtype)
    blocked.pack(plain, guarded[2:50].reshape(PHYSICAL), fill=-1)
    assert guarded[:2].tolist() == guarded[50:].tolist() == [-7, -7]


def test_empty_tensors_have_buffers_of_padding_only() -> None:
    for text, shape, physical in (
        (BLOCKED, (2, 0, 3), (2, 0, 3, 4)),
        (BLOCKED, (0, 6, 3), (0, 2, 3, 4)),
        ("layout P(h, w) = [h, w : 4] fill 7", (2, 0), (2, 4)),
        ("layout P(h, c, w) = [c/4, h : 2, w : 3, c%4] fill 7", (0, 6, 2), (2, 2, 3, 4)),
        ("layout P(h, w) = [(h, w) : 9] offset 2 fill 7", (0, 3), (11,)),
        ("layout P(h, w) = [(h, w)/8, (h, w)%8] fill 7", (0, 3), (0, 8)),
        ("layout X(i, j) = [i : 3, (i+j)%8] where J <= 8 fill 7", (0, 3), (3, 8)),
    ):
        module, tensor = module_of(text), np.empty(shape, "i4")
        assert module.physical_shape(shape) == physical
        packed = module.pack(tensor)
        assert packed.shape == physical
        assert (packed == 7).all()
        assert module.unpack(packed, shape).shape == shape


def test_fill_any_leaves_a_given_buffer_alone() -> None:
    module = module_of("layout Any(c) = [c/4, c%4] fill any")
    source = np.arange(1, 6, dtype="i2")
    assert module.pack(source).tolist() == [[1, 2, 3, 4], [5, 0, 0, 0]]
    out = np.full((2, 4), 9, "i2")
    assert module.pack(source, out).tolist() == [[1, 2, 3, 4], [5, 9, 9, 9]]
    assert module.pack(source, out, 3).tolist() == [[1, 2, 3, 4], [5, 3, 3, 3]]


def test_fill_zero_point_is_asked_for() -> None:
    module = module_of("layout Quantised(c) = [c/4, c%4] fill zero_point")
    source = np.arange(1, 6, dtype="u1")
    out = np.full((2, 4), 9, "u1")
    with pytest.raises(TypeError, match="`fill` is missing"):
        module.pack(source, out)
    assert (out == 9).all()
    assert module.pack(source, out, 128)[1].tolist() == [5, 128, 128, 128]


HELD = (
    ("uint8", 255, 255),
    ("uint8", 31.0, 31),
    ("int8", np.int64(-128), -128),
    ("int64", -(2**63), -(2**63)),
    ("uint64", 2**64 - 1, 2**64 - 1),
    ("bool", 1, True),
    ("float16", 31, 31.0),
    ("float32", 0.1, np.float32(0.1)),
    ("float32", float("inf"), np.inf),
    ("float64", np.float32(0.5), 0.5),
    ("complex64", 1 + 2j, 1 + 2j),
    (">f4", 3, 3.0),
)


@pytest.mark.parametrize(("dtype", "fill", "value"), HELD)
def test_fills_that_a_type_holds(
    blocked: ModuleType, dtype: str, fill: object, value: object
) -> None:
    packed = blocked.pack(np.zeros(SHAPE, dtype), fill=fill)
    assert packed[0, 1, 0, 3] == value


NOT_HELD = (
    ("uint8", 256),
    ("uint8", -1),
    ("int8", 128),
    ("uint8", 0.5),
    ("uint8", float("nan")),
    ("int32", float("inf")),
    ("int32", 1j),
    ("bool", 2),
    ("float16", 70000),
    ("float32", 1e39),
    ("float32", 2**24 + 1),
    ("float64", 10**400),
    ("float64", 1j),
    ("M8[s]", 1),
    ("S3", 1),
)


@pytest.mark.parametrize(("dtype", "fill"), NOT_HELD)
def test_fills_that_a_type_does_not_hold(blocked: ModuleType, dtype: str, fill: object) -> None:
    out = np.ones(PHYSICAL, dtype)
    with pytest.raises(ValueError, match="cannot hold"):
        blocked.pack(np.zeros(SHAPE, dtype), out, fill)
    assert (out == np.ones(PHYSICAL, dtype)).all()


def array(*shape: int, dtype: str = "i4") -> np.ndarray:
    return np.full(shape, 5, dtype)


def read_only(*shape: int) -> np.ndarray:
    out = array(*shape)
    out.flags.writeable = False
    return out


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    memory = array(84)
    return memory[47:83].reshape(SHAPE), memory[:48].reshape(PHYSICAL)


def stuttering() -> np.ndarray:
    return np.lib.stride_tricks.as_strided(array(6), PHYSICAL, (0, 0, 0, 4))


REFUSED_PACKS = {
    "a list": (lambda: ([1, 2], array(*PHYSICAL)), TypeError, "`src` is a list"),
    "objects": (lambda: (np.empty(SHAPE, object), None), TypeError, "no fixed number of bytes"),
    "rank": (lambda: (array(2, 6), array(*PHYSICAL)), ValueError, "2 extents, and 3 are"),
    "shape of out": (lambda: (array(*SHAPE), array(2, 2, 4, 3)), ValueError, "has shape"),
    "flat out": (lambda: (array(*SHAPE), array(48)), ValueError, "has shape"),
    "type of out": (lambda: (array(*SHAPE), array(*PHYSICAL, dtype="u4")), ValueError, "uint32"),
    "byte order": (lambda: (array(*SHAPE), array(*PHYSICAL, dtype=">i4")), ValueError, "holds"),
    "read-only": (lambda: (array(*SHAPE), read_only(*PHYSICAL)), ValueError, "read-only"),
    "out a list": (lambda: (array(*SHAPE), [1]), TypeError, "`out` is a list"),
    "overlap": (overlapping, ValueError, "overlaps"),
    "stutter": (lambda: (array(*SHAPE), stuttering()), ValueError, "several places"),
}


@pytest.mark.parametrize("case", REFUSED_PACKS)
def test_pack_refuses_before_it_writes(blocked: ModuleType, case: str) -> None:
    make, error, words = REFUSED_PACKS[case]
    src, out = make()
    before = bytes(out) if isinstance(out, list) else None if out is None else out.tobytes()
    with pytest.raises(error, match=words):
        blocked.pack(src, out)
    if isinstance(out, np.ndarray):
        assert out.tobytes() == before


def test_fill_is_a_number(blocked: ModuleType) -> None:
    for fill in ("0", None, [0], np.zeros(2)):
        with pytest.raises(TypeError, match="not a number"):
            blocked.pack(array(*SHAPE), fill=fill)


def test_interleaved_memory_does_not_overlap(blocked: ModuleType) -> None:
    memory = np.zeros((48, 2), "i4")
    src, out = memory[:36, 0].reshape(SHAPE), memory[:, 1].reshape(PHYSICAL)
    assert np.array_equal(blocked.pack(src, out), blocked.pack(src.copy()))


REFUSED_UNPACKS = {
    "shape": ((array(2, 2, 4, 3), SHAPE, None), ValueError, "has shape"),
    "size": ((array(47), SHAPE, None), ValueError, "has shape"),
    "rank": ((array(*PHYSICAL), (2, 6), None), ValueError, "2 extents, and 3 are"),
    "a number": ((array(*PHYSICAL), 7, None), TypeError, "not a tuple or a list"),
    "fractions": ((array(*PHYSICAL), (2, 6.0, 3), None), TypeError, "no integer"),
    "booleans": ((array(*PHYSICAL), (2, True, 3), None), TypeError, "no integer"),
    "negative": ((array(*PHYSICAL), (2, -6, 3), None), ValueError, "negative"),
    "out": ((array(*PHYSICAL), SHAPE, array(6, 2, 3)), ValueError, "has shape"),
    "read-only": ((array(*PHYSICAL), SHAPE, read_only(*SHAPE)), ValueError, "read-only"),
    "type": ((array(*PHYSICAL), SHAPE, array(*SHAPE, dtype="f4")), ValueError, "float32"),
}


@pytest.mark.parametrize("case", REFUSED_UNPACKS)
def test_unpack_refuses_before_it_writes(blocked: ModuleType, case: str) -> None:
    arguments, error, words = REFUSED_UNPACKS[case]
    with pytest.raises(error, match=words):
        blocked.unpack(*arguments)
    assert arguments[2] is None or (arguments[2] == 5).all()


REFUSED_SHAPES = (
    ("layout F(c, k: 4) = [c, k]", (2, 5), "axis `k` of layout `F` has 4 elements"),
    ("layout S(i, j: I) = [i, j]", (2, 5), "extent `I` of layout `S` is 2 and 5 at once"),
    ("layout W(c) = [c/4, c%4] where C % 4 == 0", (6,), "defined where C%4 == 0"),
    ("layout R(c) = [c/16%4, c%16] where C <= 64", (65,), "defined where C <= 64"),
    ("layout D(x, y) = [x : 5, y : 3] where X <= 5, Y <= 3", (6, 1), "X <= 5"),
    ("layout G(i, j) = [i, (i+j)%8] where J <= 8", (2, 9), "J <= 8"),
)


@pytest.mark.parametrize(("text", "shape", "words"), REFUSED_SHAPES)
def test_shapes_outside_the_layout_are_refused(
    text: str, shape: tuple[int, ...], words: str
) -> None:
    module = module_of(text)
    for call in (
        lambda: module.physical_shape(shape),
        lambda: module.offset((0,) * len(shape), shape),
        lambda: module.pack(np.zeros(shape)),
        lambda: module.unpack(np.zeros(4), shape),
    ):
        with pytest.raises(ValueError, match=words.replace("%", "%")):
            call()


def test_an_index_outside_the_shape_is_refused(blocked: ModuleType) -> None:
    assert blocked.offset([1, 5, 2], SHAPE) == 45
    for index, error in (
        ((0, 6, 0), ValueError),
        ((0, -1, 0), ValueError),
        ((0, 0.5, 0), TypeError),
    ):
        with pytest.raises(error, match="index"):
            blocked.offset(index, SHAPE)


def test_a_parameter_without_a_value_is_refused() -> None:
    layout = layout_of("layout Open<k>(c) = [c/k, c%k]")
    with pytest.raises(ValueError, match=r"give them one, as in Open<16>"):
        layoutdsl.generate(layout)


def test_lead_in_slots_of_a_given_buffer_are_untouched() -> None:
    module = module_of(BY_NAME["Lead"].text)
    out = np.full(7 + 12, 9, "i4")
    module.pack(np.ones((3, 3), "i4"), out)
    assert out[:7].tolist() == [9] * 7
    assert module.pack(np.ones((3, 3), "i4"))[:7].tolist() == [3] * 7
