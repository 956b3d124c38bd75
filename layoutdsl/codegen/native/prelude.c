#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#if defined(__AVX512F__)
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif
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
#define STREAM_BYTES ((int64_t)16 << 20)
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

INLINED int64_t clamped(int64_t a, int64_t most) { return a < 0 ? 0 : a < most ? a : most; }

INLINED v16 get(const uint8_t *p)
{
    v16 v;
    memcpy(&v, p, 16);
    return v;
}

INLINED void put(uint8_t *q, v16 v, int stream)
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
    return get(all);
}

/* The first n bytes, 0 to 16, and the rest from `rest`; nothing is read at or after `end`. */
INLINED v16 get_part(const uint8_t *p, int64_t n, const uint8_t *end, v16 rest)
{
    static const uint8_t ramp[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255};
    uint8_t part[16], other[16], mask[16];
    if (n >= 16)
        return get(p);
    if (n <= 0)
        return rest;
    if (end - p < 16) {
        memcpy(part, &rest, 16);
        for (int64_t k = 0; k < n; k++)
            part[k] = p[k];
        return get(part);
    }
#if VECTORS
    (void)part, (void)other, (void)mask;
    v16 m = get(ramp + 16 - n);
    return (get(p) & m) | (rest & ~m);
#else
    memcpy(part, p, 16), memcpy(other, &rest, 16), memcpy(mask, ramp + 16 - n, 16);
    for (int k = 0; k < 16; k++)
        part[k] = (uint8_t)((part[k] & mask[k]) | (other[k] & ~mask[k]));
    return get(part);
#endif
}

/* The first n bytes, 0 to 16, are written, and no others. */
INLINED void put_part(uint8_t *q, v16 v, int64_t n, int stream)
{
    uint8_t part[16];
    if (n >= 16) {
        put(q, v, stream);
        return;
    }
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
}

/* n bytes are copied, and those up to `all` are filled; both are whole elements. */
INLINED void run(uint8_t *q, const uint8_t *p, int64_t n, int64_t all, const uint8_t *end, v16 rest,
                 int stream)
{
    int64_t k = 0;
    for (; k + 16 <= n; k += 16)
        put(q + k, get(p + k), stream);
    if (n == all && n >= 16) {
        if (k < n)
            put(q + (n - 16), get(p + (n - 16)), 0);
        return;
    }
    if (k < n) {
        put_part(q + k, get_part(p + k, n - k, end, rest), all - k, stream);
        k += 16;
    }
    for (; k < all; k += 16)
        put_part(q + k, rest, all - k, stream);
}
