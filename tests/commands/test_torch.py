"""`layoutdsl.torch`: tensors where they lie, as an operator, with a gradient, under a compiler."""

from __future__ import annotations

import itertools
import timeit
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of
from random_layouts import drawn, shape_in

import layoutdsl
from layoutdsl import Layout, RefusedError, UnprovedError, UnvalidatedError

torch = pytest.importorskip("torch")
lt = pytest.importorskip("layoutdsl.torch")

SHAPE = (2, 20, 3, 4)
DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("float4_e2m1fn_x2", "uint4", "int4", "bits8", "bits16"),
)
KNOWN = [name for name in DTYPES if hasattr(torch, name)]
STRIDED: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "channels last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "transposed": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "every second": lambda x: torch.stack((x, x), -1).flatten(-2)[..., ::2],
    "the same": lambda x: x[:, :1].expand(*x.shape),
}
CARRIERS = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
NUMBER = itertools.count()


def bits(tensor: Any) -> Any:
    """The bytes of a tensor, an element in the last dimension."""
    flat = tensor.reshape(-1).view(torch.uint8).numpy()
    return flat.reshape(*tensor.shape, tensor.itemsize)


def random_bytes(dtype: Any, shape: tuple[int, ...]) -> Any:
    most = 2 if dtype is torch.bool else 256
    held = np.random.default_rng(3).integers(0, most, (*shape[:-1], shape[-1] * dtype.itemsize))
    return torch.from_numpy(held.astype("u1")).view(dtype)


def meant(layout: Layout, tensor: Any, fill: bytes) -> Any:
    """The bytes of a packed tensor, from plain integers alone."""
    shape = tuple(tensor.shape)
    found = np.zeros((layout.size(shape), tensor.itemsize), "u1")
    found[:] = np.frombuffer(fill, "u1")
    items = bits(tensor)
    for index in np.ndindex(*shape):
        found[layout.offset(index, shape)] = items[index]
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_every_type_from_any_memory(name: str) -> None:
    """The bytes are those of the meaning, and no tensor changes its place."""
    dtype, layout = getattr(torch, name), layoutdsl.library("NCHW16c")
    tensor = random_bytes(dtype, SHAPE)
    box = layout.physical_shape(SHAPE)
    for made in STRIDED.values():
        plain = made(tensor.view(CARRIERS.get(tensor.itemsize, dtype)))
        source, held = plain.view(dtype), plain.contiguous().view(dtype)
        place, want = source.data_ptr(), meant(layout, held, bytes(dtype.itemsize))
        out = random_bytes(dtype, box)
        where = out.data_ptr()
        assert lt.pack("NCHW16c", source, out) is out
        packed = lt.pack(layout, source)
        assert (packed.dtype, tuple(packed.shape)) == (dtype, box)
        assert (source.data_ptr(), out.data_ptr()) == (place, where)
        for each in (packed, out):
            assert np.array_equal(bits(each).reshape(want.shape), want)
        back = random_bytes(dtype, SHAPE)
        assert lt.unpack("NCHW16c", packed, SHAPE, back) is back
        for each in (lt.unpack(layout, packed, source.shape), back):
            assert each.dtype == dtype
            assert np.array_equal(bits(each), bits(held))
        turned = lt.convert("NCHW16c", "NHWC", packed, SHAPE)
        assert turned.dtype == dtype
        assert np.array_equal(bits(turned), bits(held).transpose(0, 2, 3, 1, 4))
        assert lt.convert("NCHW16c", "NHWC", packed, SHAPE, turned) is turned


def test_memory_is_shared() -> None:
    """What is handed to numpy is what the tensor holds."""
    for name in KNOWN:
        tensor = random_bytes(getattr(torch, name), SHAPE)
        array = lt._items(tensor, "tensor")
        assert array.__array_interface__["data"][0] == tensor.data_ptr()
        assert array.strides == tuple(each * tensor.itemsize for each in tensor.stride())


def test_random_layouts() -> None:
    """Of any order, padding, offset and range, against plain integers."""
    random, found = Random(1), 0
    while found < 12:
        layout = drawn(random)
        shape = shape_in(layout, random)
        if shape is None or layout.parameters or layout.domain or layout.element is not None:
            continue
        try:
            moves = lt.compiled(layout, "numpy")
        except (RefusedError, UnprovedError, UnvalidatedError):
            continue
        tensor = random_bytes(torch.bfloat16, (*shape, 1)).reshape(shape)
        two = torch.tensor([2.0], dtype=torch.bfloat16)
        packed = moves.pack(tensor, fill=2.0)
        want = meant(layout, tensor, bits(two).tobytes())
        assert np.array_equal(bits(packed).reshape(want.shape), want), layout
        assert np.array_equal(bits(moves.unpack(packed, shape)), bits(tensor)), layout
        assert moves.physical_shape(shape) == tuple(packed.shape)
        found += 1


def test_what_has_a_view_of_its_own() -> None:
    """Conjugates and negatives are so only when they are read."""
    tensor = torch.randn(SHAPE, dtype=torch.complex64)
    for each in (tensor.conj(), tensor.conj().imag):
        assert each.is_conj() or each.is_neg()
        back = lt.unpack("NCHW16c", lt.pack("NCHW16c", each), SHAPE)
        assert torch.equal(back, each.resolve_conj().resolve_neg())
        with pytest.raises(ValueError, match="`out` is conjugated or negated"):
            lt.unpack("NCHW16c", lt.pack("NCHW16c", each), SHAPE, each)


@pytest.mark.parametrize(
    ("name", "held", "refused"),
    [
        ("bfloat16", (1, 1.5, -300, float("inf"), float("nan"), 0), (257, 0.1, 1j)),
        ("float8_e4m3fn", (1, 1.5, 448, float("nan")), (300, float("inf"), 1e9)),
        ("float8_e5m2", (1, -1.5, float("inf")), (300, 0.1)),
        ("float32", (0.1, 3, float("nan")), (2**24 + 1, 1j)),
        ("uint8", (3, 255), (256, -1, 0.5)),
        ("float4_e2m1fn_x2", (0,), (1,)),
    ],
)
def test_a_fill_is_a_number_of_the_type(name: str, held: Any, refused: Any) -> None:
    if name not in KNOWN:
        pytest.skip(f"this torch has no {name}")
    dtype = getattr(torch, name)
    tensor = random_bytes(dtype, SHAPE)
    for fill in held:
        padding = lt.pack("NCHW16c", tensor, fill=fill)[:, 1, ..., 4:]
        item = torch.tensor(fill, dtype=dtype) if fill else torch.zeros((), dtype=torch.uint8)
        assert (bits(padding.contiguous()) == bits(item)).all()
        turned = lt.convert("NHWC", "NCHW16c", lt.pack("NHWC", tensor), SHAPE, fill=fill)
        assert np.array_equal(bits(turned[:, 1, ..., 4:].contiguous()), bits(padding.contiguous()))
    for fill in refused:
        with pytest.raises(ValueError, match="cannot hold"):
            lt.pack("NCHW16c", tensor, fill=fill)
    if name == "bfloat16":
        three = layout_of("layout A(n, c, h, w) = [n, c/16, h, w, c%16] fill 3")
        packed = lt.pack("NCHW16c", tensor, fill=3)
        for found in (lt.pack(three, tensor), lt.convert("NCHW16c", three, packed, SHAPE)):
            assert np.array_equal(bits(found), bits(packed))


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("bf16", "bfloat16"), ("f8e4m3", "float8_e4m3fn"), ("f16", "float16"), ("u4", "uint8")],
)
def test_layouts_of_a_type(element: str, dtype: str) -> None:
    layout = layout_of(f"layout A(n, c) = [n, c/4, c%4] of {element}")
    tensor = torch.arange(12).reshape(2, 6).to(getattr(torch, dtype))
    packed = lt.pack(layout, tensor)
    assert torch.equal(lt.unpack(layout, packed, (2, 6)).float(), tensor.float())
    with pytest.raises(TypeError, match="has to be of dtype"):
        lt.pack(layout, tensor.double())


def test_words_and_bits_are_integers() -> None:
    weights = torch.randint(0, 16, (256, 512), dtype=torch.uint8)
    for storage, dtype in (("i32", torch.int32), ("u32", torch.uint32), ("bytes", torch.uint8)):
        moves = lt.compiled("AwqWeights", storage=storage)
        packed = moves.pack(weights)
        want = layoutdsl.compile(moves.layout, storage=storage).pack(weights.numpy())
        assert packed.dtype == dtype == moves.packed_type(weights.dtype)
        assert np.array_equal(packed.numpy(), want)
        assert tuple(packed.shape) == moves.physical_shape(weights.shape)
        assert torch.equal(moves.unpack(packed, weights.shape), weights)
    planes = layout_of("layout A(r, k) = [r, bit, k] of bf16")
    tensor = random_bytes(torch.bfloat16, (3, 8))
    packed = lt.pack(planes, tensor)
    assert (packed.dtype, tuple(packed.shape)) == (torch.uint8, (3, 16, 8))
    back = lt.unpack(planes, packed, (3, 8))
    assert np.array_equal(bits(back.view(torch.bfloat16)), bits(tensor))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an array": (
        lambda: np.zeros(SHAPE),
        "`tensor` is a ndarray, and has to be a tensor of torch; "
        "`layoutdsl.compile(layout)` takes arrays",
    ),
    "elsewhere": (
        lambda: torch.zeros(SHAPE, device="meta"),
        "`tensor` is on meta, and tensors are moved on the CPU: give `tensor.cpu()`, or print the "
        "index function of a kernel, `layoutdsl formula LAYOUT --as triton`",
    ),
    "sparse": (
        lambda: torch.zeros(SHAPE).to_sparse(),
        "`tensor` is sparse: give `tensor.to_dense()`",
    ),
    "nested": (
        lambda: torch.nested.nested_tensor([torch.zeros(2, 3), torch.zeros(4, 3)]),
        "`tensor` is nested: give its tensors, one by one",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told_what_to_do(case: str) -> None:
    made, said = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = made()
    for call in (lambda: lt.pack("NCHW16c", given), lambda: lt.compiled("NCHW16c").packer(given)):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert str(caught.value) == said
    with pytest.raises((TypeError, ValueError), match=r"^`packed` is "):
        lt.unpack("NCHW16c", given, SHAPE)
    with pytest.raises((TypeError, ValueError), match=r"^`out` is "):
        lt.unpack("NCHW16c", torch.zeros(768), SHAPE, given)


def test_other_arguments_are_refused() -> None:
    tensor = torch.zeros(SHAPE)
    with pytest.raises(ValueError, match="`out` has a gradient"):
        lt.pack("NHWC", tensor, torch.zeros(2, 3, 4, 20, requires_grad=True))
    with pytest.raises(ValueError, match="`out` holds float64, not float32"):
        lt.pack("NHWC", tensor, torch.zeros(2, 3, 4, 20, dtype=torch.float64))
    with pytest.raises(ValueError, match="`out` overlaps `src`"):
        lt.pack("NCHW", tensor, tensor)
    with pytest.raises(TypeError, match="`layout` is a list, and has to be a layout, or the name"):
        lt.pack([1], tensor)
    with pytest.raises(ValueError, match="no layout `Nothing` in the library"):
        lt.pack("Nothing", tensor)


@pytest.mark.parametrize("name", ["pack", "", "mylib::", "a::b::c", "1::x", "a b::c", "a::b\n"])
def test_an_operator_has_a_namespace_and_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="names no operator: write a namespace and a name, as in"):
        lt.custom_op(name, "NCHW16c")
    with pytest.raises(TypeError, match="`name` is a list"):
        lt.custom_op([name], "NCHW16c")


def test_a_module_of_arrays_says_what_to_do() -> None:
    module = layoutdsl.compile(layoutdsl.library("NCHW16c"))
    said = (
        "`src` is a Tensor, not a numpy array: give `tensor.numpy()`, of bfloat16 "
        "`tensor.view(torch.uint16).numpy()` and of float8 that of uint8, or call "
        "`layoutdsl.torch.pack`"
    )
    for tensor in (torch.zeros(SHAPE), torch.nn.Parameter(torch.zeros(SHAPE))):
        with pytest.raises(TypeError) as caught:
            module.pack(tensor)
        assert str(caught.value).replace("Parameter", "Tensor") == said


def operator(layout: Any, **given: Any) -> Any:
    return lt.custom_op(f"layoutdsl_tests::pack_{next(NUMBER)}", layout, **given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16"])
def test_the_operator_passes_the_checks_of_torch(dtype: str) -> None:
    op = operator("NCHW16c")
    tensor = torch.arange(480).reshape(SHAPE).to(getattr(torch, dtype))
    for given in (tensor, tensor.transpose(2, 3)):
        for fill in ((), (3,)):
            torch.library.opcheck(op, (given, *fill))
    if tensor.is_floating_point():
        torch.library.opcheck(op, (tensor.clone().requires_grad_(),))
    back = getattr(torch.ops.layoutdsl_tests, f"{op._name}_unpack")
    torch.library.opcheck(back, (op(tensor), SHAPE))
    torch.library.opcheck(operator("AwqWeights", storage="i32"), (torch.ones(256, 512).byte(),))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamic", [False, True])
def test_it_is_compiled_with_what_surrounds_it(dynamic: bool) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    op, backend = operator("NCHW16c"), CompileCounterWithBackend("aot_eager")
    torch._dynamo.reset()

    def surrounded(x: Any) -> Any:
        return op(x * 2) + 1

    run = torch.compile(surrounded, fullgraph=True, backend=backend, dynamic=dynamic)
    shapes = (SHAPE, (3, 17, 5, 6), (4, 33, 7, 5))
    for shape in shapes:
        tensor = torch.randn(shape, requires_grad=True)
        found = run(tensor)
        assert torch.equal(found, lt.pack("NCHW16c", tensor * 2) + 1)
        found.sum().backward()
        assert torch.equal(tensor.grad, torch.full(shape, 2.0))
    assert backend.frame_count == (1 if dynamic else len(shapes))


TRIANGLE = "layout A(n, c) = [n, c] where c <= n"


@pytest.mark.parametrize(
    "text",
    [
        "layout A(n, c) = [n, c/4, c%4]",
        "layout A(n, c) = [c, n : N + 1] fill 3",
        "layout A(n, c) = [n, c/4, c%4] offset 5",
        TRIANGLE,
        "layout A(n, c, k: 3 broadcast) = [c/4, n, k, c%4]",
        "layout A(n, c, k: N broadcast, m: 2 broadcast) = [m, n, c, k]",
    ],
)
def test_the_gradient_is_unpacked(text: str) -> None:
    """Against differences, twice; padding has none, and those of copies are added."""
    op = operator(layout_of(text))
    tensor = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(op, (tensor,))
    assert torch.autograd.gradgradcheck(op, (tensor,))
    packed = op(tensor)
    weights = torch.randn_like(packed)
    (packed * weights).sum().backward()
    want = torch.zeros(3, 6, dtype=torch.float64)
    layout = layout_of(text)
    for n, c in itertools.product(range(3), range(6)):
        if c <= n or text != TRIANGLE:
            want[n, c] = weights.reshape(-1)[[*layout.slots((n, c), (3, 6))]].sum()
    assert torch.allclose(tensor.grad, want)
    assert not lt.pack(layout_of(text), tensor).requires_grad


def test_a_call_costs_little_more_than_that_of_an_array() -> None:
    """10 microseconds, of the best of many; views that are kept cost next to nothing."""
    tensor = torch.zeros(1, 16, 8, 16, dtype=torch.bfloat16)
    try:
        module = layoutdsl.compile("NCHW16c", "native")
    except layoutdsl.CompilerError as reason:
        pytest.skip(str(reason))
    moves = lt.compiled("NCHW16c", "native")
    array = tensor.view(torch.uint16).numpy()
    out = moves.pack(tensor)
    into, packs = out.view(torch.uint16).numpy(), moves.packer(tensor, out)

    def least(call: Callable[[], object]) -> float:
        return min(timeit.repeat(call, number=200, repeat=30)) / 200 * 1e6

    plain = least(lambda: module.pack(array, into))
    assert least(lambda: moves.pack(tensor, out)) - plain < 10
    assert least(packs) - plain < 2


def test_what_packs_again_sees_what_is_there() -> None:
    tensor = torch.zeros(SHAPE)
    out = torch.empty(2, 2, 3, 4, 16)
    packs = lt.compiled("NCHW16c").packer(tensor, out)
    for number in (1, 2):
        tensor.fill_(number)
        assert packs() is out
        assert torch.equal(out, lt.pack("NCHW16c", tensor))
