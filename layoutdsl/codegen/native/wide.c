
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

INLINED v32 join32(v16 a, v16 b)
{
    return SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                   21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}

INLINED v64 join64(v16 a, v16 b, v16 c, v16 d)
{
    v32 x = join32(a, b), y = join32(c, d);
    return SHUFFLE(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                   21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
                   41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
                   61, 62, 63);
}

INLINED void put32(uint8_t *q, v32 v, int stream)
{
    if (stream) {
        put(q, LANE(v, 0), 1);
        put(q + 16, LANE(v, 1), 1);
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
        put(q, LANE(v, 0), 1);
        put(q + 16, LANE(v, 1), 1);
        put(q + 32, LANE(v, 2), 1);
        put(q + 48, LANE(v, 3), 1);
        return;
    }
    memcpy(q, &v, 64);
}
#endif
