"""Layouts of Triton and Gluon drawn at random: Triton's object, a shape, and a text of ours.

The texts are written from what Triton documents of each layout (`TritonGPUAttrDefs.td`, "Linear
Layouts: Robust Code Generation of Efficient Tensor Computation Using F2"), PTX of its fragments and
AMD of theirs. All extents in Triton are powers of two. A distributed layout has three coordinates,
warp, lane and register, as here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

NAMES = "abc"


@dataclass(frozen=True)
class Drawn:
    """One layout: ``theirs`` is made of Gluon's classes, ``ours`` is a text without its head."""

    theirs: Any
    shape: tuple[int, ...]
    ours: str


def power(random: Random, low: int, high: int) -> int:
    return 1 << random.randint(low, high)


def named(rank: int, body: str, where: str = "") -> str:
    return f"({', '.join(NAMES[:rank])}) = [{body}]{where}"


def multiples(sizes: dict[str, int]) -> str:
    cut = [f"{name.upper()} % {size} == 0" for name, size in sizes.items() if size > 1]
    return f" where {', '.join(cut)}" if cut else ""


def swizzled(gluon: Any, random: Random) -> Drawn:
    """`SwizzledSharedLayout`: within a row, vectors are exclusive-ored with the row's phase."""
    rank = random.choice((2, 2, 2, 3))
    order = random.sample(range(rank), rank)
    if rank == 3:
        order = [2, 1, 0] if random.random() < 0.5 else [1, 2, 0]
    vec, per_phase, max_phase = (power(random, 0, 3) for _ in range(3))
    column, row = NAMES[order[0]], NAMES[order[1]]
    whole = vec * max_phase
    shape = [power(random, 0, 2) for _ in range(rank)]
    shape[order[0]] = whole * power(random, 0, 2)
    shape[order[1]] = power(random, 0, 6)
    outer = [NAMES[each] for each in order[:0:-1]]
    phase = f"{column}/{vec} ^ {row}/{per_phase}%{max_phase}"
    body = ", ".join([*outer, phase, f"{column}%{vec}"])
    theirs = gluon.SwizzledSharedLayout(vec, per_phase, max_phase, order)
    return Drawn(theirs, tuple(shape), named(rank, body, multiples({column: whole})))


def nvmma(gluon: Any, random: Random) -> Drawn:
    """`NVMMASharedLayout`: columns of so many bytes, in them the swizzles of TMA."""
    width, bits = random.choice((0, 32, 64, 128)), random.choice((8, 16, 32))
    transposed = random.random() < 0.5
    row, column = ("b", "a") if transposed else ("a", "b")
    vec = 128 // bits
    tile = max(8 * width // bits, vec)
    rows, columns = power(random, 3, 6), tile * power(random, 0, 2)
    phase = f" ^ {row}%8/{128 // width}" if width else ""
    body = f"{column}/{tile}, {row}, {column}%{tile}/{vec}{phase}, {column}%{vec}"
    if not width:
        body = f"{row}, {column}"
    shape = (columns, rows) if transposed else (rows, columns)
    theirs = gluon.NVMMASharedLayout(width, bits, 2, transposed)
    return Drawn(theirs, shape, named(2, body, multiples({row: 8, column: tile})))


def blocked(gluon: Any, random: Random) -> Drawn:
    """`BlockedLayout`: along each dimension a thread, then a warp's threads, then the warps."""
    rank = random.randint(1, 3)
    order = random.sample(range(rank), rank)
    own = [power(random, 0, 2) for _ in range(rank)]
    lanes, warps = split(32, rank, random), split(power(random, 0, 3), rank, random)
    again = [power(random, 0, 2) for _ in range(rank)]
    shape = [s * t * w * n for s, t, w, n in zip(own, lanes, warps, again, strict=True)]
    slowest_first = order[::-1]
    places = {
        "warp": [f"{NAMES[d]}/{own[d] * lanes[d]}%{warps[d]}" for d in slowest_first],
        "lane": [f"{NAMES[d]}/{own[d]}%{lanes[d]}" for d in slowest_first],
        "register": [
            *(f"{NAMES[d]}/{own[d] * lanes[d] * warps[d]}" for d in slowest_first),
            *(f"{NAMES[d]}%{own[d]}" for d in slowest_first),
        ],
    }
    body = ", ".join(f"({', '.join(digits)})" for digits in places.values())
    whole = {NAMES[d]: own[d] * lanes[d] * warps[d] for d in range(rank)}
    theirs = gluon.BlockedLayout(own, lanes, warps, order)
    return Drawn(theirs, tuple(shape), named(rank, body, multiples(whole)))


def too_small(gluon: Any, random: Random) -> Drawn:
    """`BlockedLayout` of a tensor of any size, or a slice of it: ours is the attribute itself."""
    rank = random.randint(1, 3)
    order = random.sample(range(rank), rank)
    own = [power(random, 0, 2) for _ in range(rank)]
    lanes, warps = split(32, rank, random), split(power(random, 0, 3), rank, random)
    shape = [power(random, 0, 5 if rank < 3 else 3) for _ in range(rank)]
    given, said = cluster(gluon, rank, random)
    theirs = gluon.BlockedLayout(own, lanes, warps, order, **given)
    sizes = f"sizePerThread = {own}, threadsPerWarp = {lanes}, warpsPerCTA = {warps}"
    text = f"#ttg.blocked<{{{sizes}, order = {order}{said}}}>"
    if rank > 1 and random.random() < 0.5:
        dim = random.randrange(rank)
        theirs = gluon.SliceLayout(dim, theirs)
        text = f"#ttg.slice<{{dim = {dim}, parent = {text}}}>"
        del shape[dim]
    axes = ", ".join(f"{name}: {size}" for name, size in zip(NAMES, shape, strict=False))
    return Drawn(theirs, tuple(shape), f'({axes}) = triton "{text}"')


def in_shared(gluon: Any, random: Random) -> Drawn:
    """`SwizzledSharedLayout` or `NVMMASharedLayout` of a tensor: ours is the attribute itself."""
    rank = random.choice((1, 2, 2, 2, 3))
    if rank == 1 or random.random() < 0.5:
        order = random.sample(range(rank), rank)
        numbers = [power(random, 0, 3) for _ in range(3)]
        shape = [power(random, 0, 6 if rank < 3 else 4) for _ in range(rank)]
        shape[0] *= 2 if max(shape) == 1 else 1  # Gluon has no layout of a single element
        given, more = cluster(gluon, rank, random, whole=False)
        shape = [extent * part for extent, part in zip(shape, splits(given, rank), strict=True)]
        theirs = gluon.SwizzledSharedLayout(*numbers, order, **given)
        said = "vec = {}, perPhase = {}, maxPhase = {}".format(*numbers)
        text = f"#ttg.swizzled_shared<{{{said}, order = {order}{more}}}>"
        return Drawn(theirs, tuple(shape), with_shape(shape, text))
    width, bits = random.choice((0, 32, 64, 128)), random.choice((8, 16, 32))
    turned = rank == 2 and random.random() < 0.5
    shape = [power(random, 3, 9 if rank == 2 else 4) for _ in range(rank)]
    fast = 0 if turned else rank - 1
    shape[fast] = max(8 * width // bits, 16) * power(random, 0, 2)
    given, more = cluster(gluon, rank, random, whole=False)
    shape = [extent * part for extent, part in zip(shape, splits(given, rank), strict=True)]
    theirs = gluon.NVMMASharedLayout(width, bits, rank, turned, **given)
    said = f"swizzlingByteWidth = {width}, transposed = {str(turned).lower()}"
    text = f"#ttg.nvmma_shared<{{{said}, elementBitWidth = {bits}{more}}}>"
    return Drawn(theirs, tuple(shape), with_shape(shape, text))


def cluster(
    gluon: Any, rank: int, random: Random, *, whole: bool = True
) -> tuple[dict[str, Any], str]:
    """Several blocks now and then: what Gluon is given of them, and how its text says it.

    Versions of Triton say numbers for each dimension, or bases. Unless they are ``whole`` no two
    blocks hold copies.
    """
    if random.random() < 0.5:
        return {}, ""
    order = random.sample(range(rank), rank)
    parts = [power(random, 0, 1) for _ in range(rank)]
    blocks = [each * (power(random, 0, 1) if whole else 1) for each in parts]
    if "cga_layout" in gluon.BlockedLayout.__dataclass_fields__:
        bases = [
            [1 << bit if at == dim and 1 << bit < parts[dim] else 0 for at in range(rank)]
            for dim in order
            for bit in range(blocks[dim].bit_length() - 1)
        ]
        return ({"cga_layout": bases}, f", CGALayout = {bases}") if bases else ({}, "")
    given = {"ctas_per_cga": blocks, "cta_split_num": parts, "cta_order": order}
    said = f", CTAsPerCGA = {blocks}, CTASplitNum = {parts}, CTAOrder = {order}"
    return given, said


def splits(given: dict[str, Any], rank: int) -> list[int]:
    """Into how many parts each dimension is split."""
    if "cga_layout" in given:
        return [
            1 << max(each[dim].bit_length() for each in given["cga_layout"]) for dim in range(rank)
        ]
    return list(given.get("cta_split_num", [1] * rank))


def with_shape(shape: Sequence[int], text: str) -> str:
    axes = ", ".join(f"{name}: {size}" for name, size in zip(NAMES, shape, strict=False))
    return f'({axes}) = triton "{text}"'


def padded(gluon: Any, random: Random) -> tuple[Drawn, list[tuple[int, int]]]:
    """`PaddedSharedLayout` in rows of any order, and its room: so much behind so many elements."""
    rank = random.randint(1, 3)
    shape, order = [power(random, 0, 4) for _ in range(rank)], random.sample(range(rank), rank)
    steps = random.sample(range(1, 8), random.choice((1, 1, 2)))
    rooms = [(1 << step, power(random, 0, 4)) for step in steps]
    theirs = gluon.PaddedSharedLayout.with_identity_for([list(r) for r in rooms], shape, order)
    said = ", ".join(f"{step}:+{more}" for step, more in rooms)
    bases = theirs.offset_bases
    if not bases or random.random() < 0.5:
        text = f"#ttg.padded_shared<[{said}] {{order = {order}, shape = {shape}}}>"
    else:
        text = f"#ttg.padded_shared<[{said}] {{offset = {bases}, block = []}}>"
    return Drawn(theirs, tuple(shape), with_shape(shape, text)), rooms


def split(count: int, rank: int, random: Random) -> list[int]:
    """Powers of two whose product is ``count``."""
    sizes = [1] * rank
    while count > 1:
        sizes[random.randrange(rank)] *= 2
        count //= 2
    return sizes


def ampere(gluon: Any, random: Random) -> Drawn:
    """`NVMMADistributedLayout` of version 2: PTX's m16n8 accumulators, warps, and repetitions."""
    m, n = power(random, 0, 2), power(random, 0, 2)
    shape = (16 * m * power(random, 0, 2), 8 * n * power(random, 0, 2))
    body = (
        f"(a/16%{m}, b/8%{n}), (a%8, b%8/2), (a/{16 * m}, b/{8 * n}, a%16/8, b%2)"
    )  # fmt: skip
    theirs = gluon.NVMMADistributedLayout([2, 0], [m, n], [16, 8])
    return Drawn(theirs, shape, named(2, body, multiples({"a": 16 * m, "b": 8 * n})))


def hopper(gluon: Any, random: Random) -> Drawn:
    """`NVMMADistributedLayout` of version 3: PTX's wgmma accumulators of four warps each."""
    groups, n = power(random, 0, 1), power(random, 3, 7)
    shape = (64 * groups * power(random, 0, 1), n * power(random, 0, 1))
    body = (
        f"a/16%{4 * groups}, (a%8, b%8/2), (a/{64 * groups}, b/{n}, b%{n}/8, a%16/8, b%2)"
    )  # fmt: skip
    theirs = gluon.NVMMADistributedLayout([3, 0], [4 * groups, 1], [16, n, 16])
    return Drawn(theirs, shape, named(2, body, multiples({"a": 64 * groups, "b": n})))


def operand(gluon: Any, random: Random) -> Drawn:
    """`DotOperandLayout` of one warp of version 2: PTX's fragments of A and B for any width.

    A thread holds ``width`` elements along K in a run, in each half of the instruction's K.
    """
    index, width = random.randint(0, 1), power(random, 0, 3)
    half = 4 * width
    parent = gluon.NVMMADistributedLayout([2, 0], [1, 1], [16, 8])
    along, across = 2 * half * power(random, 0, 2), power(random, 0, 2)
    if index == 0:
        shape, k, o, rows = (16 * across, along), "b", "a", 16
        kept = f"{k}/{half}%2, {o}%16/8"
        again = f"{o}/16, {k}/{2 * half}"
    else:
        shape, k, o, rows = (along, 8 * across), "a", "b", 8
        kept = f"{k}/{half}%2"
        again = f"{o}/8, {k}/{2 * half}"
    body = f"0, ({o}%8, {k}%{half}/{width}), ({again}, {kept}, {k}%{width})"
    theirs = gluon.DotOperandLayout(index, parent, width)
    return Drawn(theirs, shape, named(2, body, multiples({o: rows, k: 2 * half})))


def matrix_core(amd: Any, random: Random) -> Drawn:
    """`AMDMFMALayout`: accumulators of 32x32 and 16x16, whose lanes hold fours of a column."""
    size, transposed = random.choice((16, 32)), random.random() < 0.5
    m, n = power(random, 0, 1), power(random, 0, 1)
    shape = (size * m * power(random, 0, 1), size * n * power(random, 0, 1))
    i, j = ("b", "a") if transposed else ("a", "b")
    groups = 64 // size
    lane = f"{i}%{4 * groups}/4, {j}%{size}"
    register = f"a/{size * m}, b/{size * n}, {i}%{size}/{4 * groups}, {i}%4"
    body = f"(a/{size}%{m}, b/{size}%{n}), ({lane}), ({register})"
    depth = 8 if size == 32 else 16
    theirs = amd.AMDMFMALayout(3, [size, size, depth], transposed, [m, n])
    return Drawn(theirs, shape, named(2, body, multiples({"a": size * m, "b": size * n})))


def kinds(gluon: Any, amd: Any) -> dict[str, Callable[[Random], Drawn]]:
    """What can be drawn, by name."""
    found: dict[str, Callable[[Random], Drawn]] = {
        each.__name__: (lambda random, each=each: each(gluon, random))
        for each in (swizzled, nvmma, blocked, ampere, hopper, operand)
    }
    return found | {"matrix_core": lambda random: matrix_core(amd, random)}


def invertible(random: Random) -> tuple[list[list[int]], tuple[int, int]]:
    """Bases of any linear layout of shared memory, one for each bit of the offset, and a shape."""
    bits = random.randint(2, 9)
    rows = random.randint(1, bits - 1)
    columns = bits - rows
    while True:
        vectors = [random.randrange(1, 1 << bits) for _ in range(bits)]
        if random.random() < 0.5:  # nearly an order of bits, as layouts of the field are
            vectors = [1 << each for each in random.sample(range(bits), bits)]
            for _ in range(random.randint(0, 3)):
                at, other = random.sample(range(bits), 2)
                vectors[at] ^= vectors[other]
        if independent(vectors):
            low = (1 << columns) - 1
            return [[v >> columns, v & low] for v in vectors], (1 << rows, 1 << columns)


def independent(vectors: Sequence[int]) -> bool:
    """Whether no exclusive or of some of them is 0."""
    kept: list[int] = []
    for vector in vectors:
        rest = vector
        for each in kept:
            rest = min(rest, rest ^ each)
        if rest == 0:
            return False
        kept.append(rest)
    return True


def as_text(shape: tuple[int, int], images: dict[str, list[int]]) -> str:
    """A text for the offset bits to which each bit of an index goes."""
    count = sum(len(each) for each in images.values())
    coordinates = []
    for bit in reversed(range(count)):
        terms = [
            f"{name}/{1 << place}%2"
            for name, moved in images.items()
            for place, image in enumerate(moved)
            if image >> bit & 1
        ]
        coordinates.append(" ^ ".join(terms))
    axes = ", ".join(f"{n}: {extent}" for n, extent in zip("ab", shape, strict=True))
    return f"({axes}) = [{', '.join(coordinates)}]"
