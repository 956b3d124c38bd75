
/* Several vectors of 16 bytes side by side, which compilers take apart where they have to. */
#if !defined(__clang__) && defined(__GNUC__) && __GNUC__ < 12
#undef VECTORS
#define VECTORS 0
#endif

#if VECTORS
typedef uint8_t v32 __attribute__((vector_size(32)));
typedef uint8_t v64 __attribute__((vector_size(64)));

typedef v32 v32_1;
typedef uint16_t v32_2 __attribute__((vector_size(32)));
typedef uint32_t v32_4 __attribute__((vector_size(32)));
typedef uint64_t v32_8 __attribute__((vector_size(32)));
typedef v64 v64_1;
typedef uint16_t v64_2 __attribute__((vector_size(64)));
typedef uint32_t v64_4 __attribute__((vector_size(64)));
typedef uint64_t v64_8 __attribute__((vector_size(64)));

#define LANE32(v, k) MIX(v16, v32_8, v, v, 2 * k, 2 * k + 1)
#define LANE64(v, k) MIX(v16, v64_8, v, v, 2 * k, 2 * k + 1)

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

#if defined(WIDE_BUILTINS)
typedef int i32 __attribute__((vector_size(32)));
typedef long long l32 __attribute__((vector_size(32)));
typedef long long l64 __attribute__((vector_size(64)));
#endif

INLINED v32 pair32(v16 a, v16 b)
{
#if defined(WIDE_BUILTINS)
    return (v32)__builtin_ia32_vinsertf128_si256(__builtin_ia32_si256_si((i16)a), (i16)b, 1);
#elif defined(__AVX512F__)
    return (v32)_mm256_insertf128_si256(_mm256_castsi128_si256((__m128i)a), (__m128i)b, 1);
#else
    return MIX(v32, v16_8, a, b, 0, 1, 2, 3);
#endif
}

INLINED v64 pair64(v32 a, v32 b)
{
#if defined(WIDE_BUILTINS)
    const l64 low = (l64)__builtin_ia32_si512_256si((i32)a);
    return (v64)__builtin_ia32_inserti64x4_mask(low, (l32)b, 1, low, 0xff);
#elif defined(__AVX512F__)
    return (v64)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)a), (__m256i)b, 1);
#else
    return MIX(v64, v32_8, a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

INLINED v64 join64(v16 a, v16 b, v16 c, v16 d)
{
#if defined(WIDE_BUILTINS)
    i64 all = __builtin_ia32_si512_si((i16)a);
    all = __builtin_ia32_broadcasti32x4_512((i16)b, all, 0x00f0);
    all = __builtin_ia32_broadcasti32x4_512((i16)c, all, 0x0f00);
    return (v64)__builtin_ia32_broadcasti32x4_512((i16)d, all, 0xf000);
#elif defined(__AVX512F__)
    __m512i all = _mm512_castsi128_si512((__m128i)a);
    all = _mm512_mask_broadcast_i32x4(all, 0x00f0, (__m128i)b);
    all = _mm512_mask_broadcast_i32x4(all, 0x0f00, (__m128i)c);
    return (v64)_mm512_mask_broadcast_i32x4(all, 0xf000, (__m128i)d);
#else
    return pair64(pair32(a, b), pair32(c, d));
#endif
}

INLINED v32 all32(v16 rest) { return pair32(rest, rest); }

INLINED v64 all64(v16 rest) { return pair64(all32(rest), all32(rest)); }

INLINED v32 get32_part(const uint8_t *p, int64_t n, const uint8_t *end, v16 rest)
{
#if MASKS
    (void)end;
    return (v32)LOAD32(all32(rest), (uint32_t)low_bits(n), p);
#else
    return pair32(get16_part(p, n, end, rest), get16_part(p + 16, n - 16, end, rest));
#endif
}

INLINED v64 get64_part(const uint8_t *p, int64_t n, const uint8_t *end, v16 rest)
{
#if MASKS
    (void)end;
    return (v64)LOAD64(all64(rest), low_bits(n), p);
#else
    return pair64(get32_part(p, n, end, rest), get32_part(p + 32, n - 32, end, rest));
#endif
}

INLINED v32 get32_if(int there, const uint8_t *p, const uint8_t *near, int64_t n,
                     const uint8_t *end, v16 rest)
{
#if MASKS
    return get32_part(there ? p : near, there ? n : 0, end, rest);
#else
    (void)near;
    return there ? get32_part(p, n, end, rest) : all32(rest);
#endif
}

INLINED void put32(uint8_t *q, v32 v, int stream)
{
    if (stream) {
        put16(q, LANE32(v, 0), 1);
        put16(q + 16, LANE32(v, 1), 1);
        return;
    }
    memcpy(q, &v, 32);
}

INLINED v64 get64_if(int there, const uint8_t *p, const uint8_t *near, int64_t n,
                     const uint8_t *end, v16 rest)
{
#if MASKS
    return get64_part(there ? p : near, there ? n : 0, end, rest);
#else
    (void)near;
    return there ? get64_part(p, n, end, rest) : all64(rest);
#endif
}

INLINED void put64(uint8_t *q, v64 v, int stream)
{
#if defined(__AVX512F__)
    if (stream && (uintptr_t)q % 64 == 0) {
#if defined(WIDE_BUILTINS)
        __builtin_ia32_movntdq512((l64 *)(void *)q, (l64)v);
#else
        __m512i wide;
        memcpy(&wide, &v, 64);
        _mm512_stream_si512((__m512i *)(void *)q, wide);
#endif
        return;
    }
#endif
    if (stream) {
        put16(q, LANE64(v, 0), 1);
        put16(q + 16, LANE64(v, 1), 1);
        put16(q + 32, LANE64(v, 2), 1);
        put16(q + 48, LANE64(v, 3), 1);
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
    STORE32(q, (uint32_t)low_bits(n), v);
#else
    put16_part(q, LANE32(v, 0), n, stream);
    put16_part(q + 16, LANE32(v, 1), n - 16, stream);
#endif
}

INLINED void put64_part(uint8_t *q, v64 v, int64_t n, int stream)
{
    if (n >= 64) {
        put64(q, v, stream);
        return;
    }
#if MASKS
    STORE64(q, low_bits(n), v);
#else
    put16_part(q, LANE64(v, 0), n, stream);
    put16_part(q + 16, LANE64(v, 1), n - 16, stream);
    put16_part(q + 32, LANE64(v, 2), n - 32, stream);
    put16_part(q + 48, LANE64(v, 3), n - 48, stream);
#endif
}
#endif
