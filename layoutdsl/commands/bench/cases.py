"""The default cases: layouts with the shapes and element widths at which they are measured.

Only texts and numbers: it imports nothing of ours. No layout fills with anything but 0, so that
packages that know no other fill can take part.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BenchCase:
    """One layout at one shape.

    Attributes:
        name: in few words.
        text: the layout, in the language; the last one of the text is meant.
        shape: extents of the tensor.
        dtype: of its elements, as numpy calls it.
    """

    name: str
    text: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class BenchPair:
    """Two layouts of the same tensor, from one of which to the other is converted.

    Attributes:
        name: in few words.
        source: the layout that is read, in the language.
        target: the layout that is written.
        shape: extents of the tensor.
        dtype: of its elements, as numpy calls it.
    """

    name: str
    source: str
    target: str
    shape: tuple[int, ...]
    dtype: str


_NCHW16C = "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]"
_NHWC = "layout NHWC(n, c, h, w) = [n, h, w, c]"
_NCHW = "layout NCHW(n, h, w, c) = [n, c, h, w]"
_NCHW16C_RGB = "layout NCHW16c(n, c: 3, h, w) = [n, c/16, h, w, c%16]"
_NHWC_RGB = "layout NHWC(n, c: 3, h, w) = [n, h, w, c]"
_NCHW_RGB = "layout NCHW(n, h, w, c: 3) = [n, c, h, w]"
_CROUTON = "layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32]"
_DEPTH32 = "layout Depth32(b, h, w, d) = [b, h, d/32, w/4, w%4, d%32]"
_CROUTON4X1 = "layout Crouton4x1(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8/4, d%32, w%4]"
_CROUTON2X2 = "layout Crouton2x2(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2]"
_WEIGHTS = "layout HtpWeights(h, w, i, o) = [o/32, i/32, h, w, i%32/4, o%32, i%4]"
_OIHW = "layout OIhw4i16o4i(o, i, h: 3, w: 3) = [o/16, i/16, h, w, i%16/4, o%16, i%4]"
_TILE = "layout XlaTile8x128(y, x) = [y/8, x/128, y%8, x%128] fill any"
_TILE2 = "layout XlaTile8x128x2(y, x) = [y/8, x/128, y%8/2, x%128, y%2] fill any"
_PLANES = "layout Planes(h, w, c: 3) = [c, h, w]"
_TRIPLES = "layout Triples(c: 3, h, w) = [h, w, c]"
_VNNI = "layout OIhw16i16o4i(o, i, h: 1, w: 1) = [o/16, i/64, h, w, i%64/4, o%16, i%4]"
_AMX4 = "layout AmxInt8(k, n) = [k/64, n/16, k%64/4, n%16, k%4]"
_AMX2 = "layout AmxBf16(k, n) = [k/32, n/16, k%32/2, n%16, k%2]"
_TURNED = "layout Turned(y, x) = [x, y]"
_MACE = "layout MaceChannelMajor(n, h, w, c) = [(n, h), (c/4, w), c%4]"

IMAGES = ((1, 64, 56, 56), (8, 256, 56, 56), (32, 3, 224, 224), (8, 250, 28, 28))
TENSORS = ((1, 112, 112, 64), (1, 57, 57, 30), (4, 224, 224, 32))


def _last(shape: tuple[int, ...]) -> tuple[int, ...]:
    n, c, h, w = shape
    return n, h, w, c


CASES: tuple[BenchCase, ...] = (
    *(
        BenchCase("NCHW -> NCHW16c", _NCHW16C_RGB if shape[1] == 3 else _NCHW16C, shape, dtype)
        for dtype in ("float32", "float16", "uint8")
        for shape in IMAGES
    ),
    *(
        BenchCase("NCHW -> NHWC", _NHWC_RGB if shape[1] == 3 else _NHWC, shape, dtype)
        for dtype in ("float32", "float16", "uint8")
        for shape in IMAGES
    ),
    *(
        BenchCase("NHWC -> NCHW", _NCHW_RGB if shape[1] == 3 else _NCHW, _last(shape), dtype)
        for dtype in ("float32", "float16", "uint8")
        for shape in IMAGES
    ),
    *(
        BenchCase(f"NHWC -> {name}", text, shape, "uint8")
        for name, text in (
            ("Crouton", _CROUTON),
            ("Depth32", _DEPTH32),
            ("Crouton4x1", _CROUTON4X1),
            ("Crouton2x2", _CROUTON2X2),
        )
        for shape in TENSORS
    ),
    BenchCase("HTP weights", _WEIGHTS, (3, 3, 256, 512), "uint8"),
    BenchCase("HTP weights", _WEIGHTS, (3, 3, 32, 50), "uint8"),
    BenchCase("OIhw4i16o4i", _OIHW, (512, 512, 3, 3), "int8"),
    *(
        BenchCase(name, text, shape, dtype)
        for name, text, shape in (
            ("HWC -> CHW", _PLANES, (1080, 1920, 3)),
            ("CHW -> HWC", _TRIPLES, (3, 1080, 1920)),
        )
        for dtype in ("uint8", "float32")
    ),
    BenchCase("OIhw16i16o4i, 1x1", _VNNI, (512, 256, 1, 1), "int8"),
    BenchCase("AMX tiles", _AMX4, (1024, 1024), "int8"),
    BenchCase("AMX tiles", _AMX2, (1024, 1024), "uint16"),
    *(BenchCase("transposed", _TURNED, (1000, 1000), dtype) for dtype in ("uint8", "float32")),
    BenchCase("XLA T(8,128)", _TILE, (4096, 4096), "float32"),
    BenchCase("XLA T(8,128)(2,1)", _TILE2, (4096, 4096), "uint16"),
    BenchCase("MACE channel-major", _MACE, (1, 224, 224, 20), "float16"),
    BenchCase("NCHW -> NCHW16c", _NCHW16C, (1, 16, 8, 8), "float32"),
)
"""Each is measured packing and unpacking."""

PAIRS: tuple[BenchPair, ...] = (
    BenchPair(
        "Crouton -> NCHW16c",
        _CROUTON,
        "layout NCHW16c(n, h, w, c) = [n, c/16, h, w, c%16]",
        (1, 112, 112, 64),
        "uint8",
    ),
    BenchPair(
        "OIhw4i16o4i -> HTP weights",
        _OIHW,
        "layout HtpWeights(o, i, h: 3, w: 3) = [o/32, i/32, h, w, i%32/4, o%32, i%4]",
        (512, 512, 3, 3),
        "int8",
    ),
    BenchPair("T(8,128) -> rows", _TILE, "layout Rows(y, x) = [y, x]", (4096, 4096), "float32"),
    BenchPair("NCHW16c -> NHWC", _NCHW16C, _NHWC, (8, 256, 56, 56), "float32"),
    BenchPair(
        "NCHW16c -> NCHW8c",
        _NCHW16C,
        "layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]",
        (1, 64, 56, 56),
        "float32",
    ),
    BenchPair("Crouton2x2 -> Depth32", _CROUTON2X2, _DEPTH32, (1, 57, 57, 30), "uint8"),
)
"""Each is measured as one conversion."""
