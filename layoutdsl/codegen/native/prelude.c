#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Functions that pass wide vectors are static here, and inlined where compilers do so: how a machine
   without such vectors would pass them concerns nobody else. */
#if defined(__clang__)
#if defined(__has_warning)
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#endif
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* What is said in full by a header that takes longer to read than a kernel does to compile. */
#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__BMI2__) && !defined(LAYOUT_PLAIN)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#if __has_builtin(__builtin_ia32_storedquqi512_mask) && __has_builtin(__builtin_ia32_bzhi_di) \
    && __has_builtin(__builtin_ia32_broadcasti32x4_512) && __has_builtin(__builtin_ia32_si512_si)
#define WIDE_BUILTINS
#endif
#endif
#endif
#if defined(__AVX512F__) && !defined(WIDE_BUILTINS)
#include <immintrin.h>
#endif

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline, unused))
#define APART static __attribute__((noinline, unused))
#else
#define INLINED static inline
#define APART static
#endif

#if defined(__clang__)
#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(clang loop unroll_count(n))
#elif defined(__GNUC__)
#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(GCC unroll n)
#else
#define UNROLL(n)
#endif

/* Outputs of at least so many bytes go past the cache. */
#ifndef STREAM_BYTES
#define STREAM_BYTES ((int64_t)8 << 20)
#endif

/* Compilers are made to hold a pointer, in place of working it out again. */
#if defined(__GNUC__)
#define HELD(p) __asm__("" : "+r"(p))
#else
#define HELD(p) (void)0
#endif

/* A line that is read soon. */
#if defined(__GNUC__)
#define ASK(p) __builtin_prefetch(p)
#else
#define ASK(p) (void)0
#endif

/* 16 bytes. Without vector extensions, or with LAYOUT_PLAIN, a tile is moved element by element. */
#if defined(LAYOUT_PLAIN)
#define VECTORS 0
typedef struct { uint8_t byte[16]; } v16;
#elif defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define VECTORS 1
typedef uint8_t v16 __attribute__((vector_size(16)));
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#elif defined(__GNUC__)
#define VECTORS 1
typedef uint8_t v16 __attribute__((vector_size(16)));
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (__typeof__(x)){__VA_ARGS__})
#else
#define VECTORS 0
typedef struct { uint8_t byte[16]; } v16;
#endif

/* Some items of two vectors, in order. */
#define MIX(made, items, x, y, ...) ((made)SHUFFLE((items)(x), (items)(y), __VA_ARGS__))
#if VECTORS
typedef v16 v16_1;
typedef uint16_t v16_2 __attribute__((vector_size(16)));
typedef uint32_t v16_4 __attribute__((vector_size(16)));
typedef uint64_t v16_8 __attribute__((vector_size(16)));
#endif

/* Elements that may lie anywhere. */
#if defined(__GNUC__)
#define ANYWHERE __attribute__((aligned(1), may_alias))
#else
#define ANYWHERE
#endif
typedef uint8_t element8;
typedef uint16_t ANYWHERE element16;
typedef uint32_t ANYWHERE element32;
typedef uint64_t ANYWHERE element64;

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED static __attribute__((noinline, unused, optimize("O3")))
#else
#define VECTORIZED APART
#endif

INLINED int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

INLINED int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

INLINED int64_t clamped(int64_t a, int64_t most) { return least(a > 0 ? a : 0, most); }

/* Into how many pieces each of few units is cut, for threads. */
INLINED int64_t pieces(int64_t units, int64_t turns)
{
    return units > 0 && units <= 32 && turns >= 8 ? least(64 / units, turns / 4) : 1;
}

/* At which turn a piece starts. The first two turns may overlap, and so may the last two: one piece
   has both. */
INLINED int64_t cut(int64_t turns, int64_t piece, int64_t all)
{
    if (piece <= 0)
        return 0;
    if (piece >= all || turns < 4 * all)
        return turns;
    return 1 + (turns - 2) * piece / all;
}

INLINED v16 get16(const uint8_t *p)
{
    v16 v;
    memcpy(&v, p, 16);
    return v;
}

INLINED void put16(uint8_t *q, v16 v, int stream)
{
#if defined(__SSE2__)
    if (stream) {
        __m128i wide;
        memcpy(&wide, &v, 16);
        _mm_stream_si128((__m128i *)(void *)q, wide);
        return;
    }
#endif
    (void)stream;
    memcpy(q, &v, 16);
}

/* Streaming stores are seen by other threads only after this. */
INLINED void streamed(int stream)
{
#if defined(__SSE2__)
    if (stream)
        _mm_sfence();
#endif
    (void)stream;
}

/* A vector that repeats one element. */
INLINED v16 splat(const void *element, int width)
{
    uint8_t all[16] = {0};
    for (int k = 0; element && k < 16; k += width)
        memcpy(all + k, element, (size_t)width);
    return get16(all);
}

INLINED v16 all16(v16 rest) { return rest; }

/* Where a machine loads and stores under a mask, edges cost little more than what is whole. A mask
   that is empty is no way to skip a place: where no memory is, it takes long. */
#if VECTORS && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__BMI2__)
#define MASKS 1
#define KNOWN(test) (__builtin_constant_p(test) && (test))
#define EDGE INLINED
#if defined(WIDE_BUILTINS)
typedef char c16 __attribute__((vector_size(16)));
typedef char c32 __attribute__((vector_size(32)));
typedef char c64 __attribute__((vector_size(64)));
typedef int i16 __attribute__((vector_size(16)));
typedef int i64 __attribute__((vector_size(64)));
typedef long long l16 __attribute__((vector_size(16)));
#define LOW_BITS(n) __builtin_ia32_bzhi_di(~0ull, n)
#define LOAD16(rest, mask, p) __builtin_ia32_loaddquqi128_mask((const void *)(p), (c16)(rest), mask)
#define LOAD32(rest, mask, p) __builtin_ia32_loaddquqi256_mask((const void *)(p), (c32)(rest), mask)
#define LOAD64(rest, mask, p) __builtin_ia32_loaddquqi512_mask((const void *)(p), (c64)(rest), mask)
#define STORE16(q, mask, v) __builtin_ia32_storedquqi128_mask((void *)(q), (c16)(v), mask)
#define STORE32(q, mask, v) __builtin_ia32_storedquqi256_mask((void *)(q), (c32)(v), mask)
#define STORE64(q, mask, v) __builtin_ia32_storedquqi512_mask((void *)(q), (c64)(v), mask)
#define SPREAD32(v) ((c32)__builtin_ia32_vbroadcastsi256((l16)(v)))
#define SPREAD64(v) ((c64)__builtin_ia32_broadcasti32x4_512((i16)(v), (i64){0}, 0xffff))
#else
typedef __m256i c32;
typedef __m512i c64;
#define LOW_BITS(n) _bzhi_u64(~0ull, n)
#define LOAD16(rest, mask, p) _mm_mask_loadu_epi8((__m128i)(rest), mask, p)
#define LOAD32(rest, mask, p) _mm256_mask_loadu_epi8((__m256i)(rest), mask, p)
#define LOAD64(rest, mask, p) _mm512_mask_loadu_epi8((__m512i)(rest), mask, p)
#define STORE16(q, mask, v) _mm_mask_storeu_epi8(q, mask, (__m128i)(v))
#define STORE32(q, mask, v) _mm256_mask_storeu_epi8(q, mask, (__m256i)(v))
#define STORE64(q, mask, v) _mm512_mask_storeu_epi8(q, mask, (__m512i)(v))
#define SPREAD32(v) _mm256_broadcastsi128_si256((__m128i)(v))
#define SPREAD64(v) _mm512_broadcast_i32x4((__m128i)(v))
#endif
INLINED uint64_t low_bits(int64_t n) { return LOW_BITS((unsigned)least(n, 64)); }
#else
#define MASKS 0
#define EDGE APART
#endif

/* The first n bytes, 0 to 16, and the rest from `rest`; nothing is read at or after `end`. */
INLINED v16 get16_part(const uint8_t *p, int64_t n, const uint8_t *end, v16 rest)
{
#if MASKS
    (void)end;
    return (v16)LOAD16(rest, (uint16_t)low_bits(n), p);
#else
    static const uint8_t ramp[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255};
    uint8_t part[16], other[16], mask[16];
    if (n >= 16)
        return get16(p);
    if (n <= 0)
        return rest;
    if (end - p < 16) {
        memcpy(part, &rest, 16);
        if (n & 8)
            memcpy(part, p, 8);
        if (n & 4)
            memcpy(part + (n & 8), p + (n & 8), 4);
        if (n & 2)
            memcpy(part + (n & 12), p + (n & 12), 2);
        if (n & 1)
            part[n & 14] = p[n & 14];
        return get16(part);
    }
#if VECTORS
    (void)part, (void)other, (void)mask;
    v16 m = get16(ramp + 16 - n);
    return (get16(p) & m) | (rest & ~m);
#else
    memcpy(part, p, 16), memcpy(other, &rest, 16), memcpy(mask, ramp + 16 - n, 16);
    for (int k = 0; k < 16; k++)
        part[k] = (uint8_t)((part[k] & mask[k]) | (other[k] & ~mask[k]));
    return get16(part);
#endif
#endif
}

/* The same where `p` is there; else the rest alone, and `near` is a place that is there. */
INLINED v16 get16_if(int there, const uint8_t *p, const uint8_t *near, int64_t n,
                     const uint8_t *end, v16 rest)
{
#if MASKS
    return get16_part(there ? p : near, there ? n : 0, end, rest);
#else
    (void)near;
    return there ? get16_part(p, n, end, rest) : rest;
#endif
}

/* The first n bytes, 0 to 16, are written, and no others. */
INLINED void put16_part(uint8_t *q, v16 v, int64_t n, int stream)
{
    if (n >= 16) {
        put16(q, v, stream);
        return;
    }
#if MASKS
    STORE16(q, (uint16_t)low_bits(n), v);
#else
    uint8_t part[16];
    memcpy(part, &v, 16);
    if (n >= 8) {
        memcpy(q, part, 8);
        memcpy(q + (n - 8), part + ((n - 8) & 7), 8);
    } else if (n >= 4) {
        memcpy(q, part, 4);
        memcpy(q + (n - 4), part + ((n - 4) & 3), 4);
    } else if (n >= 2) {
        memcpy(q, part, 2);
        memcpy(q + (n - 2), part + ((n - 2) & 1), 2);
    } else if (n == 1) {
        q[0] = part[0];
    }
#endif
}

/* So many bytes, whole elements, are filled. */
INLINED void filled(uint8_t *q, int64_t bytes, v16 rest, int stream)
{
    int64_t k = 0;
#if MASKS
    const c64 r = SPREAD64(rest);
    for (; k + 64 <= bytes && !stream; k += 64)
        memcpy(q + k, &r, 64);
    if (k + 32 == bytes && !stream) {
        memcpy(q + k, &r, 32);
        return;
    }
#endif
    for (; k < bytes; k += 16)
        put16_part(q + k, rest, bytes - k, stream);
}

/* n bytes are copied, and those up to `all` are filled; both are whole elements. */
INLINED void run(uint8_t *q, const uint8_t *p, int64_t n, int64_t all, const uint8_t *end, v16 rest,
                 int stream)
{
    int64_t k = 0;
    for (; k + 16 <= n; k += 16)
        put16(q + k, get16(p + k), stream);
    if (n == all && n >= 16) {
        if (k < n)
            put16(q + (n - 16), get16(p + (n - 16)), 0);
        return;
    }
    if (k < n) {
        put16_part(q + k, get16_part(p + k, n - k, end, rest), all - k, stream);
        k += 16;
    }
    filled(q + k, all - k, rest, stream);
}

#if MASKS
INLINED void short_of_16(uint8_t *q, const uint8_t *p, int64_t n, int64_t all, v16 rest)
{
    put16_part(q, get16_part(p, n, p, rest), all, 0);
}

INLINED void short_of_32(uint8_t *q, const uint8_t *p, int64_t n, int64_t all, v16 rest)
{
    c32 v = SPREAD32(rest);
    if (KNOWN(n >= 32))
        memcpy(&v, p, 32);
    else
        v = LOAD32(v, (uint32_t)low_bits(n), p);
    if (KNOWN(all >= 32))
        memcpy(q, &v, 32);
    else
        STORE32(q, (uint32_t)low_bits(all), v);
}

INLINED void short_of_64(uint8_t *q, const uint8_t *p, int64_t n, int64_t all, v16 rest)
{
    c64 v = SPREAD64(rest);
    if (KNOWN(n >= 64))
        memcpy(&v, p, 64);
    else if (n > 0)
        v = LOAD64(v, low_bits(n), p);
    if (KNOWN(all >= 64))
        memcpy(q, &v, 64);
    else if (all > 0)
        STORE64(q, low_bits(all), v);
}
#endif

/* The same for at most as many bytes as `most` says, which is a number; some are valid. */
INLINED void short_run(uint8_t *q, const uint8_t *p, int64_t n, int64_t all, const uint8_t *end,
                       v16 rest, int stream, int most)
{
#if MASKS
    (void)end, (void)stream;
    if (most <= 16)
        short_of_16(q, p, n, all, rest);
    else if (most <= 32)
        short_of_32(q, p, n, all, rest);
    else
        for (int k = 0; k < most; k += 64)
            short_of_64(q + k, p + k, n - k, all - k, rest);
#else
    (void)most;
    run(q, p, least(n, all), all, end, rest, stream);
#endif
}
