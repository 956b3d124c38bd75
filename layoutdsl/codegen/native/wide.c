
/* Several vectors of 16 bytes side by side, which compilers take apart where they have to. */
#if !defined(__clang__) && defined(__GNUC__) && __GNUC__ < 12
#undef VECTORS
#define VECTORS 0
#endif

#if VECTORS
typedef uint8_t v32 __attribute__((vector_size(32)));
typedef uint8_t v64 __attribute__((vector_size(64)));

#define LANE(v, k)                                                                                 \
    SHUFFLE(v, v, 16 * k, 16 * k + 1, 16 * k + 2, 16 * k + 3, 16 * k + 4, 16 * k + 5, 16 * k + 6,  \
            16 * k + 7, 16 * k + 8, 16 * k + 9, 16 * k + 10, 16 * k + 11, 16 * k + 12,             \
            16 * k + 13, 16 * k + 14, 16 * k + 15)

INLINED v32 get32(const uint8_t *p)
{
    v32 v;
    memcpy(&v, p, 32);
    return v;
}

INLINED v64 get64(const uint8_t *p)
{
    v64 v;
    memcpy(&v, p, 64);
    return v;
}

INLINED v32 pair32(v16 a, v16 b)
{
    return SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                   21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}

INLINED v64 pair64(v32 x, v32 y)
{
    return SHUFFLE(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                   21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
                   41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
                   61, 62, 63);
}

INLINED v64 join64(v16 a, v16 b, v16 c, v16 d) { return pair64(pair32(a, b), pair32(c, d)); }

INLINED v32 all32(v16 rest) { return pair32(rest, rest); }

INLINED v64 all64(v16 rest) { return pair64(all32(rest), all32(rest)); }

INLINED v32 get32_part(const uint8_t *p, int64_t n, const uint8_t *end, v16 rest)
{
#if MASKS
    (void)end;
    return (v32)_mm256_mask_loadu_epi8((__m256i)all32(rest), (__mmask32)low_bits(n), p);
#else
    return pair32(get16_part(p, n, end, rest), get16_part(p + 16, n - 16, end, rest));
#endif
}

INLINED v64 get64_part(const uint8_t *p, int64_t n, const uint8_t *end, v16 rest)
{
#if MASKS
    (void)end;
    return (v64)_mm512_mask_loadu_epi8((__m512i)all64(rest), low_bits(n), p);
#else
    return pair64(get32_part(p, n, end, rest), get32_part(p + 32, n - 32, end, rest));
#endif
}

INLINED void put32(uint8_t *q, v32 v, int stream)
{
    if (stream) {
        put16(q, LANE(v, 0), 1);
        put16(q + 16, LANE(v, 1), 1);
        return;
    }
    memcpy(q, &v, 32);
}

INLINED void put64(uint8_t *q, v64 v, int stream)
{
#if defined(__AVX512F__)
    if (stream && (uintptr_t)q % 64 == 0) {
        __m512i wide;
        memcpy(&wide, &v, 64);
        _mm512_stream_si512((__m512i *)(void *)q, wide);
        return;
    }
#endif
    if (stream) {
        put16(q, LANE(v, 0), 1);
        put16(q + 16, LANE(v, 1), 1);
        put16(q + 32, LANE(v, 2), 1);
        put16(q + 48, LANE(v, 3), 1);
        return;
    }
    memcpy(q, &v, 64);
}

INLINED void put32_part(uint8_t *q, v32 v, int64_t n, int stream)
{
    if (n >= 32) {
        put32(q, v, stream);
        return;
    }
#if MASKS
    _mm256_mask_storeu_epi8(q, (__mmask32)low_bits(n), (__m256i)v);
#else
    put16_part(q, LANE(v, 0), n, stream);
    put16_part(q + 16, LANE(v, 1), n - 16, stream);
#endif
}

INLINED void put64_part(uint8_t *q, v64 v, int64_t n, int stream)
{
    if (n >= 64) {
        put64(q, v, stream);
        return;
    }
#if MASKS
    _mm512_mask_storeu_epi8(q, low_bits(n), (__m512i)v);
#else
    put16_part(q, LANE(v, 0), n, stream);
    put16_part(q + 16, LANE(v, 1), n - 16, stream);
    put16_part(q + 32, LANE(v, 2), n - 32, stream);
    put16_part(q + 48, LANE(v, 3), n - 48, stream);
#endif
}
#endif
