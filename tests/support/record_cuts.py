"""Records that hold the same fields cut otherwise, and what comes of comparing them."""

HALVES = (
    "q(r, (s: K/32, 0 : 2, i: 16)) = [r, s, i : 16, {0} : 2] of u4\n"
    " q(r, (s: K/32, 1 : 2, i: 16)) = [r, s, i : 16, {1} : 2]"
)
BLOCKS = "where K % 32 == 0"
WHOLE = f"{{ q(r, k) = [r, k/32, k%16, k%32/16] of u4 }} {BLOCKS}"

EQUAL: dict[str, tuple[str, str, str]] = {
    "bits": (
        "{ q(r, k) bits 0..3 = [r, k, 0 : 2] of u8\n q(r, k) bits 4..7 = [r, k, 1 : 2] }",
        "{ q(r, k) = [r, k] of u8 }",
        "proved",
    ),
    "bits the other way round": (
        "{ q(r, k) bits 0..3 = [r, k, 1 : 2] of u8\n q(r, k) bits 4..7 = [r, k, 0 : 2] }",
        "{ q(r, k) = [r, k] of u8 }",
        "refuted",
    ),
    "digits that are fixed": (f"{{ {HALVES.format(0, 1)} }} {BLOCKS}", WHOLE, "proved"),
    "halves exchanged": (f"{{ {HALVES.format(1, 0)} }} {BLOCKS}", WHOLE, "refuted"),
    "digits that are named": (
        f"{{ {HALVES.format(0, 1)} }} {BLOCKS}",
        f"{{ q(r, (s: K/32, t: 2, i: 16)) = [r, s, i, t] of u4 }} {BLOCKS}",
        "proved",
    ),
    "an index in digits": (
        f"{{ q(r, (s: K/32, t: 2, i: 16)) = [r, s, i, t] of u4 }} {BLOCKS}",
        WHOLE,
        "proved",
    ),
    "digits and bits": (
        "{ q(r, (s: K/32, 0 : 2, i: 16)) bits 0..1 = [r, s, i : 16, 0 : 2, bit : 4] of u4\n"
        " q(r, (s: K/32, 1 : 2, i: 16)) bits 0..1 = [r, s, i : 16, 1 : 2, bit : 4]\n"
        f" q(r, k) bits 2..3 = [r, k/32, k%16, k%32/16, 2 + bit : 4] }} {BLOCKS}",
        WHOLE,
        "proved",
    ),
    "a longer field": (
        "{ q(r, (0 : 2, i: K/2)) = [r, 0 : 2, i] of u8\n q(r, (1 : 2, i: K/2)) = [r, 1 : 2, i] }"
        " where K % 2 == 0",
        "{ q(r, k) = [r, k] of u8 } where K % 2 == 0",
        "proved",
    ),
    "cut across": (
        "{ q(r, k) bits 0..1 = [r, k, 0 : 2] of u4\n q(r, k) bits 2..3 = [r, k, 1 : 2] }",
        "{ q(r, k) bits 0..2 = [r, k, bit : 4] of u4\n q(r, k) bits 3..3 = [r, k, 3 : 4] }",
        "undecided",
    ),
}
"""The record A, the record B, and the verdict on ``A == B``, whichever of them comes first."""

ALIGNED = {
    "halves": "{ q(r, (s: K/32, 0 : 2, i: 16)) = [r, s, i : 32] of u8\n"
    f" q(r, (s: K/32, 1 : 2, i: 16)) = [r, s, 16 + i : 32] }} {BLOCKS}",
    "halves of low bits": "{ q(r, (s: K/32, 0 : 2, i: 16)) bits 0..3 = "
    "[r, s, i : 32, 0 : 2] of u8\n"
    " q(r, (s: K/32, 1 : 2, i: 16)) bits 0..3 = [r, s, 16 + i : 32, 0 : 2]\n"
    f" q(r, k) bits 4..7 = [r, k, 1 : 2] }} {BLOCKS}",
    "digits": f"{{ q(r, (s: K/32, t: 2, i: 16)) = [r, s, t, i] of u8 }} {BLOCKS}",
    "odd and even": "{ q(r, (i: K/2, 0 : 2)) = [r, i, 0 : 2] of u8\n"
    f" q(r, (i: K/2, 1 : 2)) = [r, i, 1 : 2] }} {BLOCKS}",
}
"""Records whose elements lie at ``r*K + k`` bytes, in parts that cut ``k``."""

RUNS = (
    *(("k%16", 16, "proved"), ("k%16", 32, "refuted"), ("k%32", 32, "proved")),
    *(("k%32", 64, "refuted"), ("k%8", 8, "proved"), ("k%64", 32, "proved"), ("k", 1, "proved")),
    *(("k%4", 4, "proved"), ("k%2", 2, "proved"), ("k%2", 4, "refuted"), ("k", 32, "proved")),
)
