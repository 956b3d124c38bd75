"""Where ncnn, MNN and MACE put elements, by the loops of their packers.

Each walk runs the index arithmetic of one function of the source, and yields an index of the tensor
with the offset that is written for it. Nothing here divides an index into digits by itself.
"""

# ruff: noqa: N806  extents have the letters of the sources

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, product

from field_formulas import Offset

Index = tuple[int, ...]
Walk = Callable[[Index], Iterator[tuple[Index, int]]]


def walked(walk: Walk) -> Offset:
    """A formula that looks its offsets up among those of a walk."""

    @cache
    def table(shape: Index) -> dict[Index, int]:
        found: dict[Index, int] = {}
        for index, offset in walk(shape):
            assert index not in found
            found[index] = offset
        return found

    return lambda index, shape: table(shape)[index]


def align(size: int, to: int) -> int:
    return (size + to - 1) & -to


def ncnn_mat(in_16_bytes: int) -> Offset:
    """`Mat::create` and `Mat::channel`."""
    elemsize = 16 // in_16_bytes

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        C, H, W = shape
        cstep = align(W * H * elemsize, 16) // elemsize
        for c, h, w in product(range(C), range(H), range(W)):
            yield (c, h, w), cstep * c + W * h + w

    return walked(walk)


def ncnn_pack(pack: int, lane: int = 4) -> Offset:
    """`Packing::forward` of three dimensions, from elempack 1, of elements of `lane` bytes."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        C, H, W = shape
        elemsize = lane * pack
        cstep = align(W * H * elemsize, 16) // elemsize
        for q, i, j in product(range((C + pack - 1) // pack), range(H), range(W)):
            for k in range(pack):
                if q * pack + k >= C:
                    break
                byte = cstep * q * elemsize + i * W * elemsize + j * elemsize + k * lane
                yield (q * pack + k, i, j), byte // lane

    return walked(walk)


def ncnn_kernel(pa: int, pb: int, inputs_last: bool = False) -> Offset:
    """`convolution_transform_kernel_packed_neon`, and of mips the one of int8."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        O, I, H, W = shape  # noqa: E741
        g = count()
        for q, p, k in product(range(0, O, pb), range(0, I, pa), range(H * W)):
            if inputs_last:
                turns = [(i, j) for j in range(pb) for i in range(pa)]
            else:
                turns = [(i, j) for i in range(pa) for j in range(pb)]
            for i, j in turns:
                yield (q + j, p + i, k // W, k % W), next(g)

    return walked(walk)


def ncnn_deformable(pa: int, pb: int) -> Offset:
    """`deformableconv2d_x86.cpp`, its index of six dimensions."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        O, I, H, W = shape  # noqa: E741
        for o, i, j, c in product(range(O), range(H), range(W), range(I)):
            at = 0
            dims = (O // pb, H, W, I // pa, pa, pb)
            for each, extent in zip((o // pb, i, j, c // pa, c % pa, o % pb), dims, strict=True):
                at = at * extent + each
            yield (o, c, i, j), at

    return walked(walk)


def ncnn_depthwise(shape: Index) -> Iterator[tuple[Index, int]]:
    """`Packing::forward` of two dimensions, of `weight_data.reshape(maxk, group)`."""
    G, H, W = shape
    maxk = H * W
    for i, j, k in product(range(G // 4), range(maxk), range(4)):
        yield (i * 4 + k, j // W, j % W), i * maxk * 4 + j * 4 + k


def ncnn_inner_product(shape: Index) -> Iterator[tuple[Index, int]]:
    """`InnerProduct_arm::create_pipeline`."""
    O, I = shape  # noqa: E741
    g = count()
    for q, p, j in product(range(0, O, 4), range(I), range(4)):
        yield (q + j, p), next(g)


def pack_c(pack: int, area: int, depth: int, stride: int) -> Iterator[tuple[int, int, int]]:
    """`MNNPackC4Common`, any pack: a channel, a place of the area, and the offset."""
    for z, x, y in product(range(-(-depth // pack)), range(area), range(pack)):
        if z * pack + y < depth:
            yield z * pack + y, x, z * stride * pack + x * pack + y


def mnn_channels(pack: int) -> Offset:
    """`CPUTensorConverter::convert`, from NCHW, batch after batch."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        N, C, H, W = shape
        area = H * W
        for v in range(N):
            for c, x, offset in pack_c(pack, area, C, N * area):
                yield (v, c, x // W, x % W), v * pack * area + offset

    return walked(walk)


def mnn_matrix_a(ep: int, lp: int) -> Offset:
    """`MNNPackForMatMul_A`."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        E, L = shape
        lU = -(-L // lp)
        for i in range(-(-E // ep)):
            for x, yy, z in product(range(min(ep, E - i * ep)), range(lU), range(lp)):
                if yy * lp + z < L:
                    at = i * lU * ep * lp + yy * ep * lp + x * lp + z
                    yield (i * ep + x, yy * lp + z), at

    return walked(walk)


def mnn_matrix_b(hp: int) -> Offset:
    """`MNNPackForMatMul_B` of a transposed matrix."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        h, L = shape
        for y, x, offset in pack_c(hp, L, h, L):
            yield (y, x), offset

    return walked(walk)


def mnn_conv_weights(hp: int) -> Offset:
    """`initWeight`: kernel and inputs change places, then `MNNPackForMatMul_B`."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        O, I, H, W = shape  # noqa: E741
        for o, x, offset in pack_c(hp, H * W * I, O, H * W * I):
            k, i = divmod(x, I)
            yield (o, i, k // W, k % W), offset

    return walked(walk)


def mnn_int8_blocks(group: int | None, unit: int, src_unit: int) -> Offset:
    """`ConvInt8TiledExecutor::reorderWeight`, its loops for any kernel; one group by default."""

    def walk(shape: Index) -> Iterator[tuple[Index, int]]:
        oc, ic, H, W = shape
        kernel_count, block_ic = H * W, group or ic
        block_num = ic // block_ic
        bkl = -(-block_ic // src_unit)
        stride2 = unit * src_unit
        stride1 = bkl * kernel_count * stride2
        stride0 = block_num * stride1
        loops = (-(-oc // unit), block_num, kernel_count, bkl, unit, src_unit)
        for hu, bk, k2, blu, inside, blp in product(*map(range, loops)):
            o, j = hu * unit + inside, blu * src_unit + blp
            if o < oc and j < block_ic:
                at = hu * stride0 + bk * stride1 + k2 * bkl * stride2 + blu * stride2
                source = bk * block_ic * kernel_count + k2 + j * kernel_count
                i, k = divmod(source, kernel_count)
                yield (o, i, k // W, k % W), at + inside * src_unit + blp

    return walked(walk)


def mnn_depthwise(shape: Index) -> Iterator[tuple[Index, int]]:
    """`CPUConvolutionDepthwise::FloatExecution`."""
    C, H, W = shape
    for c, x, offset in pack_c(4, H * W, C, H * W):
        yield (c, x // W, x % W), offset


def mace_weight_height(index: Index, shape: Index) -> tuple[int, int, int, int]:
    """`weight_height_buffer_to_image`."""
    (o, i, h, w), (_, I, H, W) = index, shape  # noqa: E741
    return (h * W + w) * I + i, o >> 2, o & 3, I * H * W


def mace_weight_width(index: Index, shape: Index) -> tuple[int, int, int, int]:
    """`weight_width_buffer_to_image`."""
    (o, i, h, w), (_, I, H, W) = index, shape  # noqa: E741
    blocks = (I + 3) >> 2
    return (h * W + w) * blocks + (i >> 2), o, i & 3, blocks * H * W


def mace_filter_buffer(shape: Index) -> Iterator[tuple[Index, int]]:
    """`transform_conv_filter`, with the work sizes of buffer_transform.cc."""
    O, I, H, W = shape  # noqa: E741
    blocks, rounded = (O + 3) >> 2, align(I, 4)
    for hw, block, i, lane in product(range(H * W), range(blocks), range(rounded), range(4)):
        if i < I and block * 4 + lane < O:
            at = ((hw * blocks + block) * rounded + i) << 2
            yield (block * 4 + lane, i, hw // W, hw % W), at + lane


def mace_d32(shape: Index) -> Iterator[tuple[Index, int]]:
    """`NHWCToD32Transformer` on CPUs."""
    N, H, W, C = shape
    slice_stride = W * 32
    height_stride = -(-C // 32) * slice_stride
    for b, h, w, c in product(range(N), range(H), range(W), range(C)):
        offset = b * H * height_stride + h * height_stride + w * 32
        yield (b, h, w, c), offset + c // 32 * slice_stride + c % 32


def mace_nchw32(shape: Index) -> Iterator[tuple[Index, int]]:
    """`transform_nhwc_to_nchw32`."""
    N, H, W, C = shape
    padded = align(W, 32)
    for bc, h, w in product(range(N * C), range(H), range(W)):
        yield (bc // C, h, w, bc % C), ((bc // C * C + bc % C) * H + h) * padded + w
