"""What the source of every layout of the library says, in plain Python, and shapes to count it out.

A formula takes an index and a shape, as numbers, and gives the offset, or `None` where there is no
slot. A shape ends with the parameters, where the layout has any.
"""

# ruff: noqa: E741, N806  indices and extents have the letters of the sources

from __future__ import annotations

from collections.abc import Callable

from field_formulas import (
    Offset,
    aiter_scales,
    amx_b,
    amx_bf16,
    amx_int8,
    arm,
    atom,
    awq,
    cd,
    channels,
    fractal,
    gguf,
    gptq,
    htp,
    image,
    ldmatrix,
    mace_channels,
    mace_heights,
    mace_widths,
    marlin,
    marlin_scales,
    marlin_zeros,
    mma_a,
    mma_b,
    mma_c,
    pack,
    repacked,
    scales,
    shuffled,
    swizzle,
    tpu,
    vnni,
)
from mobile_formulas import (
    mace_d32,
    mace_filter_buffer,
    mace_nchw32,
    mace_weight_height,
    mace_weight_width,
    mnn_channels,
    mnn_conv_weights,
    mnn_depthwise,
    mnn_int8_blocks,
    mnn_matrix_a,
    mnn_matrix_b,
    ncnn_deformable,
    ncnn_depthwise,
    ncnn_inner_product,
    ncnn_kernel,
    ncnn_mat,
    ncnn_pack,
    walked,
)

Index = tuple[int, ...]
Partial = Callable[[Index, Index], int | None]


def rows(*order: int) -> Offset:
    """Row-major after the axes are put in this order."""

    def offset(index: Index, shape: Index) -> int:
        total = 0
        for axis in order:
            total = total * shape[axis] + index[axis]
        return total

    return offset


def padded(by: int, *order: int) -> Offset:
    """The same, with the last of them rounded up."""

    def offset(index: Index, shape: Index) -> int:
        last = order[-1]
        room = [*shape]
        room[last] = cd(shape[last], by) * by
        return rows(*order)(index, tuple(room))

    return offset


def blocks(*cuts: tuple[int, int]) -> Offset:
    """oneDNN's rule: of each axis what its blocks leave, then the blocks, (axis, size)."""

    def offset(index: Index, shape: Index) -> int:
        rest, room, inside, stride = [*index], [*shape], 0, 1
        for axis, size in reversed(cuts):
            inside += rest[axis] % size * stride
            rest[axis] //= size
            room[axis] = cd(room[axis], size)
            stride *= size
        return rows(*range(len(shape)))(tuple(rest), tuple(room)) * stride + inside

    return offset


def opened(of: Callable[..., Offset], parameters: int = 1) -> Offset:
    """A formula of a layout with parameters, which are the end of the shape."""
    return lambda index, shape: of(*shape[-parameters:])(index, shape[:-parameters])


def lanes(lane: Callable[..., int], register: Callable[..., int], registers: int) -> Offset:
    return lambda index, _: lane(*index) * registers + register(*index)


def wgmma(index: Index, shape: Index) -> int:
    """PTX: thread t of 128, register i; row and column of each are printed there."""
    r, c = index
    thread = (r // 16) * 32 + (r % 8) * 4 + c % 8 // 2
    return thread * (shape[1] // 2) + c // 8 * 4 + r % 16 // 8 * 2 + c % 2


def col4(index: Index, shape: Index) -> int:
    """FasterTransformer's index of CUBLASLT_ORDER_COL4_4R2_8C, by hand."""
    row, col = index
    inner = ((row >> 3) * 8 + (row & 1) * 4 + ((col & 31) >> 3)) * 32
    inner += ((4 if col & 7 >= 4 else 0) + ((row & 7) >> 1)) * 4 + (col & 3)
    return (col >> 5) * 32 * cd(shape[0], 8) * 8 + inner


def col32(index: Index, shape: Index) -> int:
    row, col = index
    tile = col // 32 * cd(shape[0], 32) + row // 32
    row, col = row % 32, col % 32
    return tile * 1024 + (((row % 8) // 2 * 4 + row // 8) * 2 + row % 2) * 32 + col


def superblocks(pitch: int, header: int, bits: int, group: int) -> Offset:
    """GGUF: blocks of 256 in groups that share their bytes, the first in the low bits."""

    def offset(index: Index, shape: Index) -> int:
        (r, k), (_, K) = index, shape
        each = 8 // bits
        width = group // each
        byte = pitch * (r * (K // 256) + k // 256) + header + k % 256 // group * width + k % width
        return each * byte + k % group // width

    return offset


def fractal_z(index: Index, shape: Index) -> int:
    (n, c, h, w), (N, _, H, W) = index, shape
    return ((((c // 16) * H + h) * W + w) * cd(N, 16) + n // 16) * 256 + n % 16 * 16 + c % 16


def upper(index: Index, _: Index) -> int | None:
    """LAPACK, AP(i + j*(j - 1)/2) with indices from 1."""
    i, j = index[0] + 1, index[1] + 1
    return i + j * (j - 1) // 2 - 1 if i <= j else None


def lower(index: Index, shape: Index) -> int | None:
    """LAPACK, AP(i + (2*n - j)*(j - 1)/2) with indices from 1."""
    i, j = index[0] + 1, index[1] + 1
    return i + (2 * shape[0] - j) * (j - 1) // 2 - 1 if j <= i else None


def band(index: Index, shape: Index) -> int | None:
    """LAPACK, AB(ku + 1 + i - j, j), of kl + ku + 1 rows, columns one after the other."""
    (i, j), (m, _, ku, kl) = (index[0] + 1, index[1] + 1), shape
    inside = max(1, j - ku) <= i <= min(m, j + kl)
    return (j - 1) * (kl + ku + 1) + ku + i - j if inside else None


def filters(index: Index, shape: Index) -> int:
    (o, i, h, w), (_, I, H, W) = index, shape
    return ((o // 4 * H * W + h * W + w) * I + i) * 4 + o % 4


def depthwise(index: Index, shape: Index) -> int:
    (_, i, h, w), (_, _, H, W) = index, shape
    return (i // 4 * (H * W) + h * W + w) * 4 + i % 4


ALL = ((0, 0), (1, 0), (2, 0), (3, 0))
PICTURES = [(2, 20, 3, 2), (1, 33, 2, 3), (3, 1, 1, 1), (1, 16, 2, 2)]
WEIGHTS = [(17, 33, 1, 2), (40, 5, 1, 1), (16, 16, 2, 1)]
VOLUMES = [(2, 17, 2, 1, 3), (1, 33, 1, 2, 2)]
IMAGES = [(2, 7, 5, 6), (1, 4, 4, 4), (3, 1, 2, 9)]
KERNELS = [(5, 3, 2, 3), (8, 1, 3, 3), (6, 17, 1, 2)]
CHANNELS = [(9, 3, 5), (17, 1, 3), (4, 2, 2)]
ACTIVATIONS = [(1, 9, 10, 33), (2, 3, 5, 30)]
MATRICES = [(64, 64), (65, 70), (130, 3), (1, 129)]
TILES = [(9, 129), (16, 300), (1, 1)]
QUANTISED = [(16, 64), (32, 192), (48, 128)]
BLOCKED_ROWS = [(4, 32), (8, 96)]
SUPERBLOCKS = [(1, 256), (2, 512)]

FORMULAS: dict[str, tuple[Partial, list[tuple[int, ...]]]] = {
    # blocked, flat
    "NCHWc": (opened(channels), [(2, 5, 3, 2, 4), (1, 9, 2, 2, 3)]),
    "NCHW4c": (channels(4), PICTURES),
    "NCHW16c": (channels(16), PICTURES),
    "NCHW": (rows(0, 1, 2, 3), PICTURES),
    "NHWC": (rows(0, 2, 3, 1), PICTURES),
    "OIHW": (rows(0, 1, 2, 3), WEIGHTS),
    "HWIO": (rows(2, 3, 1, 0), WEIGHTS),
    # cpu
    "nChw8c": (channels(8), PICTURES),
    "nChw16c": (channels(16), PICTURES),
    "nCdhw16c": (blocks((1, 16)), VOLUMES),
    "OIhw16i16o": (blocks((1, 16), (0, 16)), WEIGHTS),
    "OIhw8i16o2i": (blocks((1, 8), (0, 16), (1, 2)), WEIGHTS),
    "OIhw4i16o4i": (vnni, WEIGHTS),
    "gOIhw16i16o": (blocks((2, 16), (1, 16)), [(2, 17, 5, 1, 2), (3, 4, 18, 1, 1)]),
    "Goihw16g": (blocks((0, 16)), [(17, 1, 1, 3, 3), (32, 2, 3, 1, 2)]),
    "BA16a64b4a": (amx_b, MATRICES),
    "AmxInt8": (amx_int8, [(64, 16)]),
    "AmxBf16": (amx_bf16, [(32, 16)]),
    "OHWIoi": (opened(arm, 2), [(9, 2, 1, 5, 4, 2), (3, 1, 2, 4, 2, 3)]),
    "OHWIo8": (arm(8, 1), [(9, 2, 3, 5), (17, 1, 2, 8)]),
    "OHWIo8i4": (arm(8, 4), [(9, 2, 3, 5), (17, 1, 2, 8), (3, 3, 1, 1)]),
    # nvidia
    "TrtCHW2": (channels(2), PICTURES),
    "TrtCHW4": (channels(4), PICTURES),
    "TrtCHW16": (channels(16), PICTURES),
    "TrtCHW32": (channels(32), PICTURES),
    "TrtCDHW32": (blocks((1, 32)), VOLUMES),
    "TrtHWC8": (padded(8, 0, 2, 3, 1), PICTURES),
    "TrtDlaLinearFp16": (padded(32, 0, 1, 2, 3), [(2, 3, 2, 33), (1, 2, 3, 5)]),
    "CudnnVectC4": (channels(4), [(2, 20, 3, 2), (1, 4, 1, 1)]),
    "CudnnVectC32": (channels(32), [(2, 32, 3, 2), (1, 96, 2, 1)]),
    "CublasCol32": (lambda i, s: i[1] // 32 * 32 * s[0] + i[0] * 32 + i[1] % 32, MATRICES),
    "CublasCol4_4R2_8C": (col4, MATRICES),
    "CublasCol32_2R_4R4": (col32, MATRICES),
    # compilers
    "MlirPack8x32": (pack(8, 32), [(9, 33), (8, 32), (17, 5)]),
    "MlirPackOuterPermuted": (
        lambda i, s: (i[1] // 32 * cd(s[0], 8) + i[0] // 8) * 256 + i[0] % 8 * 32 + i[1] % 32,
        [(9, 33), (8, 32), (17, 5)],
    ),
    "TvmN11c1024c": (padded(1024, 0, 1, 2, 3), [(2, 1, 1, 1000), (1, 1, 2, 1025)]),
    "TvmNhwc8h2w32c2w": (htp(*ALL, (1, 8), (2, 2), (3, 32), (2, 2)), ACTIVATIONS),
    # gpu_weights
    "AwqWeights": (awq, QUANTISED),
    "GptqWeights": (gptq, QUANTISED),
    "GptqZeros": (rows(0, 1), QUANTISED),
    "MarlinWeights": (marlin, QUANTISED),
    "MarlinScales": (marlin_scales, QUANTISED),
    "MarlinZeros": (marlin_zeros, QUANTISED),
    "ShuffledFp8": (shuffled(16), [(16, 32), (48, 96)]),
    "ShuffledBf16": (shuffled(8), [(16, 32), (48, 96)]),
    "Scales128x4": (scales, [(129, 5), (300, 9), (1, 1)]),
    "AiterScales": (aiter_scales, [(40, 9), (257, 8), (31, 17)]),
    # fragments
    "MmaA": (mma_a, [(16, 16)]),
    "MmaB": (mma_b, [(16, 8)]),
    "MmaC": (mma_c, [(16, 8)]),
    "MmaTf32A": (
        lanes(lambda r, c: r % 8 * 4 + c % 4, lambda r, c: r // 8 + c // 4 * 2, 4),
        [(16, 8)],
    ),
    "MmaTf32B": (lanes(lambda k, n: n * 4 + k % 4, lambda k, _: k // 4, 2), [(8, 8)]),
    "MmaInt8A": (
        lanes(
            lambda r, c: r % 8 * 4 + c % 16 // 4, lambda r, c: c % 4 + r // 8 * 4 + c // 16 * 8, 16
        ),
        [(16, 32)],
    ),
    "MmaInt8B": (
        lanes(lambda k, n: n * 4 + k % 16 // 4, lambda k, _: k % 4 + k // 16 * 4, 8),
        [(32, 8)],
    ),
    "WgmmaD": (wgmma, [(64, 8), (64, 40), (64, 256)]),
    "Ldmatrix": (lanes(lambda r, c: 4 * r + c // 2, lambda _, c: c % 2, 2), [(8, 8)]),
    "LdmatrixTrans": (lanes(lambda r, c: 4 * c + r // 2, lambda r, _: r % 2, 2), [(8, 8)]),
    "Ldmatrix32x16": (ldmatrix, [(32, 16)]),
    "MfmaA32x8": (lanes(lambda i, k: k // 4 * 32 + i, lambda _, k: k % 4, 4), [(32, 8)]),
    "MfmaD32x32": (
        lanes(lambda i, j: i // 4 % 2 * 32 + j, lambda i, _: i // 8 * 4 + i % 4, 16),
        [(32, 32)],
    ),
    # swizzles
    "Swizzle128": (swizzle(3), [(1024,), (1,), (3000,)]),
    "Swizzle64": (swizzle(2), [(1024,), (1,), (3000,)]),
    "Swizzle32": (swizzle(1), [(1024,), (1,), (3000,)]),
    "GmmaKSw128": (atom(3, 64), [(8, 64)]),
    "GmmaKSw64": (atom(2, 32), [(8, 32)]),
    "GmmaKSw32": (atom(1, 16), [(8, 16)]),
    # gguf
    "GgufQ4_0": (gguf(18, 2, 2), BLOCKED_ROWS),
    "GgufQ4_1": (gguf(20, 4, 2), BLOCKED_ROWS),
    "GgufQ5_0": (gguf(22, 6, 2), BLOCKED_ROWS),
    "GgufQ8_0": (gguf(34, 2, 1), BLOCKED_ROWS),
    "GgufMxfp4": (gguf(17, 1, 2), BLOCKED_ROWS),
    "GgufQ2_K": (superblocks(84, 16, 2, 128), SUPERBLOCKS),
    "GgufQ4_K": (superblocks(144, 16, 4, 64), SUPERBLOCKS),
    "GgufQ6_K": (superblocks(210, 0, 4, 128), SUPERBLOCKS),
    "Q4_0x4by4": (repacked(4), BLOCKED_ROWS),
    "Q4_0x4by8": (repacked(8), BLOCKED_ROWS),
    # ascend
    "FractalNz": (opened(fractal), [(2, 17, 5, 4), (1, 3, 9, 8)]),
    "FractalNzFp16": (fractal(16), [(2, 33, 20), (1, 1, 1)]),
    "FractalNzInt8": (fractal(32), [(2, 33, 20), (3, 16, 65)]),
    "NC1HWC0": (opened(channels), [(2, 5, 3, 2, 4), (1, 17, 1, 2, 16)]),
    "FractalZFp16": (fractal_z, [(17, 20, 2, 1), (3, 33, 1, 2)]),
    "FractalZz": (pack(16, 16), [(33, 20), (16, 16), (1, 1)]),
    "FractalZn": (
        lambda i, s: (i[0] // 16 * cd(s[1], 16) + i[1] // 16) * 256 + i[1] % 16 * 16 + i[0] % 16,
        [(33, 20), (16, 16), (1, 1)],
    ),
    # htp
    "R4FlatMemoryLayout": (htp(*ALL), ACTIVATIONS),
    "R4NCHWMemoryLayout": (htp((0, 0), (3, 0), (2, 0), (1, 0)), ACTIVATIONS),
    "HtpNCHW": (htp((0, 0), (3, 0), (1, 0), (2, 0)), ACTIVATIONS),
    "R4Depth32MemoryLayout": (
        htp((0, 0), (1, 0), (3, 0), (2, 0), (2, 4), (3, 32)),
        ACTIVATIONS,
    ),
    "R4CroutonLayout": (htp(*ALL, (1, 8), (2, 8), (3, 32)), ACTIVATIONS),
    "R4Crouton4x1Layout": (htp(*ALL, (1, 8), (2, 2), (3, 32), (2, 4)), ACTIVATIONS),
    "R4Crouton2x2Layout": (htp(*ALL, (1, 4), (2, 4), (3, 32), (1, 2), (2, 2)), ACTIVATIONS),
    "R4Crouton2Layout": (htp(*ALL, (1, 8), (2, 2), (3, 32), (2, 2)), ACTIVATIONS),
    "ChannelMajorCrouton": (htp(*ALL, (1, 8), (2, 8), (3, 32)), ACTIVATIONS),
    "SpatialXYMajor": (htp(*ALL, (1, 4), (2, 4), (3, 32), (1, 2), (2, 2)), ACTIVATIONS),
    "SpatialXMajor": (htp(*ALL, (1, 4), (2, 2), (3, 32), (2, 4)), ACTIVATIONS),
    "HtpConvWeights": (
        htp((3, 0), (2, 0), (0, 0), (1, 0), (2, 8), (3, 32), (2, 4)),
        [(1, 2, 33, 40), (2, 1, 5, 3)],
    ),
    "HtpPlainFloat16Flat": (htp(*ALL), ACTIVATIONS),
    "HtpPlainInt32Flat": (htp(*ALL), ACTIVATIONS),
    "HtpPlainFloat16Crouton": (htp(*ALL, (1, 8), (2, 2), (3, 32), (2, 2)), ACTIVATIONS),
    "HtpScaleOffsetUint8Flat": (htp(*ALL), ACTIVATIONS),
    "HtpScaleOffsetInt32Flat": (htp(*ALL), ACTIVATIONS),
    "HtpScaleOffsetUint8Crouton": (htp(*ALL, (1, 8), (2, 8), (3, 32)), ACTIVATIONS),
    "HtpScaleOffsetUint8CroutonZero": (htp(*ALL, (1, 8), (2, 8), (3, 32)), ACTIVATIONS),
    "HtpScaleOffsetUint16Crouton": (htp(*ALL, (1, 8), (2, 2), (3, 32), (2, 2)), ACTIVATIONS),
    # mace
    "MaceChannelMajor": (image(mace_channels), IMAGES),
    "MaceHeightMajor": (image(mace_heights), IMAGES),
    "MaceWidthMajor": (image(mace_widths), IMAGES),
    "MaceConvolutionFilter": (filters, [(5, 3, 2, 3), (8, 1, 3, 3)]),
    "MaceDepthwiseFilter": (depthwise, [(1, 6, 3, 3), (1, 4, 1, 2)]),
    "MaceArgument": (rows(0), [(7,), (1,)]),
    "MaceWeightHeight": (image(mace_weight_height), KERNELS),
    "MaceWeightWidth": (image(mace_weight_width), KERNELS),
    "MaceFilterBuffer": (walked(mace_filter_buffer), KERNELS),
    "MaceDepthwiseBuffer": (depthwise, [(1, 6, 3, 3), (1, 4, 1, 2)]),
    "MaceNCHW32": (walked(mace_nchw32), ACTIVATIONS),
    "MaceD32": (walked(mace_d32), ACTIVATIONS),
    # ncnn
    "NcnnMat": (opened(ncnn_mat), [(3, 3, 5, 4), (2, 1, 7, 8), (2, 3, 3, 16)]),
    "NcnnMatF32": (ncnn_mat(4), CHANNELS),
    "NcnnMatF16": (ncnn_mat(8), CHANNELS),
    "NcnnMatInt8": (ncnn_mat(16), CHANNELS),
    "NcnnPack": (opened(ncnn_pack), [(9, 3, 5, 4), (17, 1, 3, 16)]),
    "NcnnPack4": (ncnn_pack(4), CHANNELS),
    "NcnnPack8": (ncnn_pack(8), CHANNELS),
    "NcnnPack16": (ncnn_pack(16), CHANNELS),
    "NcnnPack4F16": (ncnn_pack(4, lane=2), CHANNELS),
    "NcnnPack8Int8": (ncnn_pack(8, lane=1), CHANNELS),
    "NcnnKernel": (opened(ncnn_kernel, 2), [(6, 4, 3, 2, 2, 3), (8, 8, 1, 3, 8, 4)]),
    "NcnnKernel4to4": (ncnn_kernel(4, 4), [(8, 4, 3, 3), (4, 12, 1, 2)]),
    "NcnnKernel1to4": (ncnn_kernel(1, 4), [(8, 3, 3, 3), (4, 1, 1, 2)]),
    "NcnnKernel4to1": (ncnn_kernel(4, 1), [(3, 8, 3, 3), (1, 4, 1, 2)]),
    "NcnnKernel8to8": (ncnn_kernel(8, 8), [(16, 8, 3, 2), (8, 24, 1, 1)]),
    "NcnnKernel16to16": (ncnn_kernel(16, 16), [(16, 32, 1, 2), (32, 16, 2, 1)]),
    "NcnnKernelInt8": (ncnn_kernel(8, 4, inputs_last=True), [(8, 16, 3, 2), (4, 8, 1, 1)]),
    "NcnnDeformableKernel": (
        opened(ncnn_deformable, 2),
        [(6, 4, 3, 2, 2, 3), (8, 8, 1, 3, 8, 4)],
    ),
    "NcnnDepthwise4": (walked(ncnn_depthwise), [(8, 3, 3), (4, 1, 5)]),
    "NcnnInnerProduct4": (walked(ncnn_inner_product), [(8, 5), (4, 1)]),
    # mnn
    "MnnChannels": (opened(mnn_channels), [(2, 5, 3, 2, 4), (3, 9, 2, 2, 3)]),
    "MnnNC4HW4": (mnn_channels(4), PICTURES),
    "MnnNC8HW8": (mnn_channels(8), PICTURES),
    "MnnNC16HW16": (mnn_channels(16), PICTURES),
    "MnnMatrixA": (opened(mnn_matrix_a, 2), [(17, 5, 16, 1), (13, 9, 12, 4), (3, 3, 4, 2)]),
    "MnnMatrixB": (opened(mnn_matrix_b), [(9, 5, 4), (16, 3, 16), (1, 7, 8)]),
    "MnnConvWeights": (opened(mnn_conv_weights), [(9, 3, 2, 3, 4), (5, 1, 1, 2, 8)]),
    "MnnConvWeights4": (mnn_conv_weights(4), KERNELS),
    "MnnInt8Blocks": (
        opened(mnn_int8_blocks, 3),
        [(5, 12, 2, 3, 6, 4, 4), (9, 32, 1, 1, 16, 4, 16), (3, 10, 3, 1, 5, 2, 3)],
    ),
    "MnnInt8Weights": (
        opened(lambda u, s: mnn_int8_blocks(None, u, s), 2),
        [(5, 12, 2, 3, 4, 5), (9, 33, 1, 1, 8, 16)],
    ),
    "MnnInt8Weights4x16": (mnn_int8_blocks(None, 4, 16), KERNELS),
    "MnnDepthwise4": (walked(mnn_depthwise), CHANNELS),
    "MnnImage": (image(mace_channels), IMAGES),
    "MnnConvImage": (filters, KERNELS),
    "MnnDepthwiseImage": (depthwise, [(1, 6, 3, 3), (1, 4, 1, 2)]),
    # packed
    "LapackPackedUpper": (upper, [(1, 1), (5, 5)]),
    "LapackPackedLower": (lower, [(1, 1), (5, 5)]),
    "LapackBand": (band, [(5, 5, 1, 2), (4, 7, 2, 1), (7, 3, 1, 1)]),
    # replicated: an index of the copies is one of the axes
    "RepeatKv": (
        lambda i, s: (((i[0] * s[1] + i[1]) * s[4] + i[4]) * s[2] + i[2]) * s[3] + i[3],
        [(2, 3, 2, 4, 2, 2), (1, 2, 3, 2, 5, 5)],
    ),
    "UpsampleNearest2x": (
        lambda i, s: (
            ((i[0] * s[1] + i[1]) * 2 * s[2] + 2 * i[2] + i[4]) * 2 * s[3] + 2 * i[3] + i[5]
        ),
        [(1, 2, 3, 4, 2, 2), (2, 1, 1, 5, 2, 2)],
    ),
    "MmaRow": (lambda i, _: (i[0] % 8 * 4 + i[1]) * 2 + i[0] // 8, [(16, 4)]),
    "MmaColumn": (lambda i, _: (i[1] * 4 + i[0] // 2) * 2 + i[0] % 2, [(8, 8)]),
    "WgmmaRow": (
        lambda i, _: (i[0] // 16 * 32 + i[0] % 8 * 4 + i[1]) * 2 + i[0] % 16 // 8,
        [(64, 4)],
    ),
    "MmaA2x2Warps": (
        lambda i, _: (i[0] // 16 * 2 + i[2]) * 256 + mma_a((i[0] % 16, i[1]), (16, 16)),
        [(32, 16, 2)],
    ),
    "MmaB2x2Warps": (
        lambda i, _: (i[2] * 2 + i[1] // 8) * 128 + mma_b((i[0], i[1] % 8), (16, 8)),
        [(16, 16, 2)],
    ),
    # xla
    "XlaColumnMajor": (rows(1, 0), [(2, 3), (5, 1)]),
    "XlaRowMajor": (rows(0, 1), [(2, 3), (5, 1)]),
    "XlaPaddedColumnMajor": (lambda i, s: i[1] * s[2] + i[0], [(2, 3, 3, 5), (4, 1, 4, 2)]),
    "XlaPaddedRowMajor": (lambda i, s: i[0] * s[3] + i[1], [(2, 3, 3, 5), (4, 1, 4, 2)]),
    "XlaPaddedExample": (lambda i, _: i[1] * 3 + i[0], [(2, 3), (3, 5)]),
    "XlaTile8x128": (tpu(8, 1), TILES),
    "XlaTile8x128x2": (tpu(8, 2), TILES),
    "XlaTile8x128x4": (tpu(8, 4), TILES),
    "XlaTile2x128": (tpu(2, 1), [(2, 300), (1, 128)]),
    "XlaTile4x128": (tpu(4, 1), [(3, 300), (4, 128)]),
    "XlaTile2x2": (pack(2, 2), [(3, 5), (4, 4), (1, 1)]),
    "XlaTile2x4x2": (
        lambda i, s: (i[0] // 2 * cd(s[1], 4) + i[1] // 4) * 8 + i[1] % 4 * 2 + i[0] % 2,
        [(4, 8), (3, 5)],
    ),
}

WORKED: list[tuple[str, Index, Index, int]] = [
    # numbers that the sources print
    ("XlaTile8x128x2", (16, 256), (9, 129), 3075),
    ("XlaTile2x2", (3, 5), (2, 3), 17),
    ("XlaTile2x4x2", (4, 8), (3, 6), 29),
    ("HtpConvWeights", (3, 3, 64, 96), (0, 0, 0, 32), 18432),
    ("HtpConvWeights", (3, 3, 64, 96), (0, 0, 32, 0), 9216),
    ("R4CroutonLayout", (2, 9, 20, 50), (1, 8, 19, 49), 47217),
    ("nChw16c", (2, 20, 3, 4), (1, 17, 2, 3), 753),
    ("NCHW16c", (1, 20, 3, 4), (0, 16, 0, 0), 192),
    ("AiterScales", (256, 9), (8, 8), 288),
    ("MaceChannelMajor", (1, 1, 5, 6), (0, 0, 4, 5), 37),
]

BOXES: list[tuple[str, Index, Index]] = [
    # padded shapes that the sources print
    ("FractalNzFp16", (8, 100, 30), (8, 2, 7, 16, 16)),
    ("MlirPack8x32", (128, 256), (16, 8, 8, 32)),
    ("MlirPackOuterPermuted", (128, 256), (8, 16, 8, 32)),
    ("R4CroutonLayout", (1, 3, 5, 30), (1, 1, 1, 1, 8, 8, 32)),
    ("TrtHWC8", (1, 3, 4, 5), (1, 4, 5, 8)),
]
