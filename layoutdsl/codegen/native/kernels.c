/* == head ==
   A kernel does one thing: target[co[c] + r*e] = source[ro[r] + c*e] for all r < R and c < C, in units
   of e bytes, with offsets in bytes. None branches on data, or looks at them to find a place. Which
   one is called is a matter of speed alone.

   -DLAYOUT_VECTOR=16 or 32 keeps to vectors of so many bytes, -DLAYOUT_PLAIN to none. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* V is the bytes of a vector, 0 where there are none, and ANY those of a vector of which any bytes are
   one instruction away. Vectors of 64 bytes are read and written by masks too. */
#if defined(LAYOUT_PLAIN) || !defined(__GNUC__)
#define MACHINE 0
#elif defined(__AVX512BW__) && defined(__AVX512VL__)
#define MACHINE 64
#elif defined(__AVX2__)
#define MACHINE 32
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__VSX__) || defined(__VX__)
#define MACHINE 16
#else
#define MACHINE 0
#endif
#if !defined(LAYOUT_VECTOR) || LAYOUT_VECTOR > MACHINE
#define V MACHINE
#else
#define V LAYOUT_VECTOR
#endif
#if V == 64 && defined(__AVX512VBMI__)
#define ANY 64
#elif V && (defined(__SSSE3__) || defined(__ARM_NEON) || defined(__VSX__) || defined(__VX__))
#define ANY 16
#else
#define ANY 0
#endif
#if V && defined(__SSE2__)
#include <immintrin.h>
#elif V && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* Outputs of at least so many bytes go past the cache. */
#ifndef STREAM_BYTES
#define STREAM_BYTES ((int64_t)8 << 20)
#endif

#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#define UNROLLED_WIDE UNROLLED
#elif defined(__GNUC__) && defined(__OPTIMIZE__) /* else gcc says that it does not */
#define UNROLLED _Pragma("GCC unroll 16")
#define UNROLLED_WIDE _Pragma("GCC unroll 32")
#else
#define UNROLLED
#define UNROLLED_WIDE
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline, unused))
#define APART static __attribute__((noinline, unused))
#define PICKS static const __attribute__((unused)) picks
#else
#define INLINED static inline
#define APART static
#define PICKS static const picks
#endif

INLINED int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The lowest n bits. */
INLINED uint64_t bits(int64_t n)
{
    return n <= 0 ? 0 : n >= 64 ? ~(uint64_t)0 : ~(uint64_t)0 >> (64 - n);
}

#if V
typedef uint8_t w16 __attribute__((vector_size(16)));
typedef uint8_t v1 __attribute__((vector_size(V)));
typedef uint16_t v2 __attribute__((vector_size(V)));
typedef uint32_t v4 __attribute__((vector_size(V)));
typedef uint64_t v8 __attribute__((vector_size(V)));

INLINED w16 get16(uintptr_t p)
{
    w16 v;
    memcpy(&v, (const void *)p, 16);
    return v;
}

INLINED v1 get(uintptr_t p)
{
    v1 v;
    memcpy(&v, (const void *)p, V);
    return v;
}

INLINED void put16(uintptr_t q, w16 v, int stream)
{
#if defined(__SSE2__)
    if (stream && q % 16 == 0) {
        _mm_stream_si128((__m128i *)q, (__m128i)v);
        return;
    }
#endif
    (void)stream;
    memcpy((void *)q, &v, 16);
}

INLINED void put(uintptr_t q, v1 v, int stream)
{
#if V == 64
    if (stream && q % 64 == 0) {
        _mm512_stream_si512((__m512i *)q, (__m512i)v);
        return;
    }
#elif V == 32
    if (stream && q % 32 == 0) {
        _mm256_stream_si256((__m256i *)q, (__m256i)v);
        return;
    }
#else
    put16(q, v, stream);
    return;
#endif
    (void)stream;
    memcpy((void *)q, &v, V);
}
#endif

/* What was written past the cache is there before anything that is written later. */
INLINED void streamed(int stream)
{
#if V && defined(__SSE2__)
    if (stream)
        _mm_sfence();
#endif
    (void)stream;
}

/* == runs ==
   Bytes that lie together on both sides, and fill. */

/* n bytes, a few lines at most. */
INLINED void copied(uint8_t *d, const uint8_t *s, int64_t n)
{
#if V == 64
    for (int64_t k = 0; k < n; k += 64)
        _mm512_mask_storeu_epi8(d + k, bits(n - k), _mm512_maskz_loadu_epi8(bits(n - k), s + k));
#else
    memcpy(d, s, (size_t)n);
#endif
}

INLINED void run(uint8_t *d, const uint8_t *s, int64_t n, int stream)
{
    int64_t k = 0;
#if defined(__GNUC__)
    if (__builtin_constant_p(n) && n < 64) { /* a few stores, if it is known how many */
        memcpy(d, s, (size_t)n);
        return;
    }
#endif
#if V
    if (stream && n >= 4 * V) {
        k = (int64_t)(-(uintptr_t)d % V);
        memcpy(d, s, V);
    }
    if (stream || n <= 1024)
        for (; k + V <= n; k += V)
            put((uintptr_t)(d + k), get((uintptr_t)(s + k)), stream);
    if (n - k < V) {
        copied(d + k, s + k, n - k);
        return;
    }
#endif
    (void)stream;
    memcpy(d + k, s + k, (size_t)(n - k));
}

/* n bytes of fill, which `rest` holds 16 bytes of. */
INLINED void filled(uint8_t *d, const uint8_t *rest, int64_t n)
{
    int64_t k = 0;
#if V == 64
    const __m512i v = _mm512_broadcast_i32x4((__m128i)get16((uintptr_t)rest));
    for (; k + 64 <= n; k += 64)
        _mm512_storeu_si512(d + k, v);
    if (k < n)
        _mm512_mask_storeu_epi8(d + k, bits(n - k), v);
#else
    for (; k + 16 <= n; k += 16)
        memcpy(d + k, rest, 16);
    for (; k < n; k++)
        d[k] = rest[k % 16];
#endif
}

/* == moves ==
   What a kernel is told, and the kernel that any machine has. */

/* `whole`, or a part of it is there: `rows` rows are read, `read` bytes of each, the others are the
   fill; `columns` columns are written, `written` bytes of each, and nothing else is touched. `reads`
   and `writes` are the bits of the bytes that are there where such items lie together. */
typedef struct {
    uintptr_t d, s;
    const int64_t *ro, *co;
    int stream, whole;
    const uint8_t *rest;
    int64_t rows, read, columns, written;
    uint64_t reads, writes;
} move;

INLINED move all_of(uint8_t *d, const uint8_t *s, const int64_t *ro, const int64_t *co, int stream)
{
    const move m = {(uintptr_t)d, (uintptr_t)s, ro, co, stream, 1, 0, 0, 0, 0, 0, 0, 0};
    return m;
}

/* Offsets of a digit more, in a table that has `below` of them. */
INLINED void steps(int64_t *table, int below, int radix, int64_t stride)
{
    for (int k = below; k < below * radix; k++)
        table[k] = table[k - below] + stride;
}

/* The address of a byte of a row or column, by its offset. */
INLINED uintptr_t place_of(uintptr_t p, int64_t offset, int byte)
{
    return p + (uintptr_t)(offset + byte);
}

/* A part of a unit: n bytes of it are read, `all` are written. */
INLINED void piece(uintptr_t q, uintptr_t p, uintptr_t rest, int64_t n, int64_t all)
{
    for (int64_t k = 0; k < all; k++)
        ((uint8_t *)q)[k] = ((const uint8_t *)(k < n ? p : rest))[k];
}

INLINED void plain_of(int e, int R, int C, move m)
{
    for (int c = 0; c < C && (m.whole || c < m.columns); c++)
        UNROLLED
        for (int r = 0; r < R; r++) {
            const uintptr_t q = place_of(m.d, m.co[c], r * e), p = place_of(m.s, m.ro[r], c * e);
            const int64_t n = r < m.rows ? least(m.read - c * e, e) : 0;
            const int64_t all = least(m.written - r * e, e);
            if (m.whole || (n == e && all == e))
                memcpy((void *)q, (const void *)p, (size_t)e);
            else
                piece(q, p, (uintptr_t)m.rest, n, all);
        }
}

#define plain(e, R, C, d, s, ro, co, stream) plain_of(e, R, C, all_of(d, s, ro, co, stream))

/* Of items of `size` bytes that lie together the first `bytes` bytes each, as bits. */
INLINED uint64_t items(int64_t bytes, int size)
{
    uint64_t all = bits(bytes);
    for (int by = size; by < 64; by *= 2)
        all |= all << by;
    return all;
}

/* == edges ==
   Parts of moves. No byte is touched that is not there: rows that are not are read from a line of
   fill, columns that are not are written to one that is given up. What else is not there is masked. */

/* Whether rows lie together in the source, and columns in the target, and are moved together. */
#define TOGETHER_plain 0, 0
#define TOGETHER_tile 0, 0
#define TOGETHER_zip 0, 1
#define TOGETHER_unzip 1, 0
#define TOGETHER_weave 0, 1
#define TOGETHER_unweave 1, 0

#if V == 64
#define MASKED_OF(kernel) kernel##_of
#else
#define MASKED_OF(kernel) plain_of
#endif

/* Addresses of what is there, and for the rest that of a line. */
INLINED void settled(int64_t *table, int all, uintptr_t p, const int64_t *offsets, int64_t count,
                     const uint8_t *line)
{
    UNROLLED
    for (int k = 0; k < all; k++)
        table[k] = (int64_t)(k < count ? place_of(p, offsets[k], 0) : (uintptr_t)line);
}

INLINED int all_there(int together, int64_t count, int64_t most, int64_t bytes, int64_t size)
{
    return bytes == size && (!together || count == most);
}

#define EDGE(kernel, e, R, C) EDGE_OF(kernel, e, R, C, TOGETHER_##kernel)
#define EDGE_OF(...) EDGE_AS(__VA_ARGS__)
#define EDGE_AS(kernel, e, R, C, together_in, together_out) \
    APART void kernel##_##e##_##R##_##C##_edge( \
        uint8_t *d, const uint8_t *s, const int64_t *ro, const int64_t *co, const uint8_t *rest, \
        int64_t rows, int64_t read, int64_t columns, int64_t written) \
    { \
        uint8_t line[(C) * (e) + 64], away[(R) * (e) + 64]; \
        int64_t a[R], b[C]; \
        move m = all_of(d, s, ro, co, 0); \
        if (!together_in && rows < (R)) { \
            for (int k = 0; k < (C) * (e); k += 16) \
                memcpy(line + k, rest, 16); \
            settled(a, R, m.s, ro, rows, line); \
            m.s = 0, m.ro = a; \
        } \
        if (!together_out && columns < (C)) { \
            settled(b, C, m.d, co, columns, away); \
            m.d = 0, m.co = b; \
        } \
        if (all_there(together_in, rows, R, read, (C) * (e)) && \
            all_there(together_out, columns, C, written, (R) * (e))) { \
            kernel##_of(e, R, C, m); \
            return; \
        } \
        m.whole = 0, m.rest = rest, m.read = read, m.written = written; \
        m.rows = together_in ? rows : (R); \
        m.columns = together_out ? columns : (C); \
        m.reads = items(read, (C) * (e)), m.writes = items(written, (R) * (e)); \
        MASKED_OF(kernel)(e, R, C, m); \
    }

/* == network ==
   tile, zip, unzip: one network, of units that are zipped lane by lane. */
#if V
#define LANES (V / 16)

INLINED v1 joined(const w16 *lanes)
{
#if V == 16
    return lanes[0];
#else
    const __m256i a = _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)lanes[0]),
                                              (__m128i)lanes[1], 1);
#if V == 32
    return (v1)a;
#else
    const __m256i b = _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)lanes[2]),
                                              (__m128i)lanes[3], 1);
    return (v1)_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
#endif
#endif
}

INLINED w16 lane(v1 v, int k)
{
#if V == 64
    return k == 0   ? (w16)_mm512_castsi512_si128((__m512i)v)
           : k == 1 ? (w16)_mm512_extracti32x4_epi32((__m512i)v, 1)
           : k == 2 ? (w16)_mm512_extracti32x4_epi32((__m512i)v, 2)
                    : (w16)_mm512_extracti32x4_epi32((__m512i)v, 3);
#elif V == 32
    return k == 0 ? (w16)_mm256_castsi256_si128((__m256i)v)
                  : (w16)_mm256_extracti128_si256((__m256i)v, 1);
#else
    return k == 0 ? v : (w16){0};
#endif
}

/* Which of the n <= 64 bytes from byte `at` of an item on are there, as bits: of `count` items
   `bytes` bytes each. Where n is more than is left of it, items of `size` bytes lie together; `all`
   are the bits of those. */
INLINED uint64_t there(int64_t count, int64_t bytes, uint64_t all, int size, int item, int at, int n)
{
    item += at / size;
    at %= size;
    if (at + n <= size)
        return item < count ? bits(least(n, bytes - at)) : 0;
    if (at > 0)
        all = bits(bytes - at) | all << (size - at);
    return all & bits(least(n, (count - item) * size - at));
}

INLINED uint64_t read_of(move m, int size, int row, int at, int n)
{
    return m.whole ? bits(n) : there(m.rows, m.read, m.reads, size, row, at, n);
}

INLINED uint64_t written_of(move m, int size, int column, int at, int n)
{
    return m.whole ? bits(n) : there(m.columns, m.written, m.writes, size, column, at, n);
}

/* Of a row from byte `at` on the bytes of a mask, of n; to a column. All, where there are no masks. */
INLINED w16 taken16(move m, int row, int at, int n, uint64_t mask)
{
    const uintptr_t p = place_of(m.s, m.ro[row], at);
#if V == 64
    if (!m.whole || n < 16)
        return (w16)_mm_mask_loadu_epi8((__m128i)(m.whole ? (w16){0} : get16((uintptr_t)m.rest)),
                                        (__mmask16)mask, (const void *)p);
#endif
    (void)n, (void)mask;
    return get16(p);
}

INLINED v1 taken(move m, int row, int at, int n, uint64_t mask)
{
    const uintptr_t p = place_of(m.s, m.ro[row], at);
#if V == 64
    if (!m.whole || n < 64)
        return (v1)_mm512_mask_loadu_epi8(
            _mm512_broadcast_i32x4((__m128i)(m.whole ? (w16){0} : get16((uintptr_t)m.rest))), mask,
            (const void *)p);
#endif
    (void)n, (void)mask;
    return get(p);
}

INLINED void given16(move m, int column, int at, w16 v, int n, uint64_t mask)
{
    const uintptr_t q = place_of(m.d, m.co[column], at);
#if V == 64
    if (!m.whole || n < 16) {
        _mm_mask_storeu_epi8((void *)q, (__mmask16)mask, (__m128i)v);
        return;
    }
#endif
    (void)mask;
    if (n < 16)
        memcpy((void *)q, &v, (size_t)n);
    else
        put16(q, v, m.stream);
}

INLINED void given(move m, int column, int at, v1 v, int n, uint64_t mask)
{
    const uintptr_t q = place_of(m.d, m.co[column], at);
#if V == 64
    if (!m.whole || n < 64) {
        _mm512_mask_storeu_epi8((void *)q, mask, (__m512i)v);
        return;
    }
#endif
    (void)n, (void)mask;
    put(q, v, m.stream);
}

/* Units of x and y by turns: pairs of one vector and another, from b on; n items lie between. */
#define P1(b, n) (b), (b) + (n)
#define P2(b, n) P1(b, n), P1((b) + 1, n)
#define P4(b, n) P2(b, n), P2((b) + 2, n)
#define P8(b, n) P4(b, n), P4((b) + 4, n)
#if V == 64
#define BY_LANE(pairs, b, lane, n) \
    pairs(b, n), pairs((b) + (lane), n), pairs((b) + 2 * (lane), n), pairs((b) + 3 * (lane), n)
#elif V == 32
#define BY_LANE(pairs, b, lane, n) pairs(b, n), pairs((b) + (lane), n)
#else
#define BY_LANE(pairs, b, lane, n) pairs(b, n)
#endif
#if defined(__clang__)
#define SHUFFLED(type, ...) (v1)__builtin_shufflevector((type)x, (type)y, __VA_ARGS__)
#else
#define SHUFFLED(type, ...) (v1)__builtin_shuffle((type)x, (type)y, (type){__VA_ARGS__})
#endif
#define ZIPPED(type, pairs, half, high) \
    SHUFFLED(type, BY_LANE(pairs, (high) ? (half) : 0, 2 * (half), 2 * (half) * LANES))

INLINED v1 zipped_low(int e, v1 x, v1 y)
{
    switch (e) {
    case 1: return ZIPPED(v1, P8, 8, 0);
    case 2: return ZIPPED(v2, P4, 4, 0);
    case 4: return ZIPPED(v4, P2, 2, 0);
    default: return ZIPPED(v8, P1, 1, 0);
    }
}

INLINED v1 zipped_high(int e, v1 x, v1 y)
{
    switch (e) {
    case 1: return ZIPPED(v1, P8, 8, 1);
    case 2: return ZIPPED(v2, P4, 4, 1);
    case 4: return ZIPPED(v4, P2, 2, 1);
    default: return ZIPPED(v8, P1, 1, 1);
    }
}

/* Of n vectors the number of a unit, its vector before its place in the lane, is a word of bits. Each
   stage turns that word by one bit to the left, lane by lane; `turns` is 2 to the number of stages. */
INLINED void turned(int e, int n, int turns, v1 *v)
{
    v1 w[16];
    UNROLLED
    for (int done = 1; done < turns; done *= 2) {
        UNROLLED
        for (int k = 0; k < n; k++)
            w[k] = v[k];
        UNROLLED
        for (int k = 0; k < n / 2; k++) {
            v[2 * k] = zipped_low(e, w[k], w[k + n / 2]);
            v[2 * k + 1] = zipped_high(e, w[k], w[k + n / 2]);
        }
    }
}

/* Where the next `step` of all begin: at the last of them, so as not to pass the end. */
INLINED int kept(int at, int step, int all)
{
    return at + step <= all ? at : all > step ? all - step : 0;
}

/* So many vectors: number k begins at row k*down, or in it, and goes to column k*across. Wide ones
   hold lanes of several rows, or of several columns. What is left of either overlaps what was done;
   of rows that are shorter than a lane `in` bytes are read, of such columns `out` are written. */
INLINED void network(int e, int R, int C, move m, int vectors, int down, int across, int turns)
{
    const int n = 16 / e, wide = n * LANES;
    const int by_rows = R >= wide && (R % wide == 0 || C < wide);
    const int by_columns = !by_rows && C >= wide;
    const int rows = by_rows ? wide : n, columns = by_columns ? wide : n;
    const int apart = down == 1 && across == 1;
    const int in = by_columns ? V : apart && C < n ? C * e : 16;
    const int out = by_rows ? V : apart && R < n ? R * e : 16;
    for (int r = 0; r < R; r += rows)
        for (int c = 0; c < C; c += columns) {
            const int row = kept(r, rows, R), column = kept(c, columns, C);
            const uint64_t reads = read_of(m, C * e, row, column * e, in);
            const uint64_t writes = written_of(m, R * e, column, row * e, out);
            v1 v[16];
            UNROLLED
            for (int k = 0; k < vectors; k++) {
                w16 lanes[LANES] = {{0}};
                UNROLLED
                for (int i = 0; i < LANES; i++) {
                    const int from = row + k * down + i * n;
                    if (k * down < R && !by_columns && (by_rows || i == 0))
                        lanes[i] = taken16(m, from, column * e, in,
                                           down == 1 ? reads : read_of(m, C * e, from, 0, in));
                }
                v[k] = by_columns && k < R ? taken(m, row + k, column * e, V, reads) : joined(lanes);
            }
            turned(e, vectors, turns, v);
            UNROLLED
            for (int k = 0; k < vectors; k++)
                UNROLLED
                for (int i = 0; i < LANES; i++) {
                    const int to = column + k * across + i * n;
                    if (k * across < C && !by_rows && (by_columns || i == 0))
                        given16(m, to, row * e, lane(v[k], i), out,
                                across == 1 ? writes : written_of(m, R * e, to, 0, out));
                    else if (k < C && by_rows && i == 0)
                        given(m, to, row * e, v[k], V, writes);
                }
        }
}

/* Where there are no masks, rows shorter than a lane are read unit by unit. */
INLINED void tile_of(int e, int R, int C, move m)
{
    if (V == 64 || C * e >= 16)
        network(e, R, C, m, 16 / e, 1, 1, 16 / e);
    else
        plain_of(e, R, C, m);
}

/* R*e is less than 16, and R a power of two; 16/(R*e) columns lie together in the target. */
#define zip_of(e, R, C, m) network(e, R, C, m, R, 1, 16 / (e) / (R), R)
/* C*e is less than 16, and C a power of two; 16/(C*e) rows lie together in the source. */
#define unzip_of(e, R, C, m) network(e, R, C, m, C, 16 / (e) / (C), 1, 16 / (e))
#else
#define tile_of plain_of
#define zip_of plain_of
#define unzip_of plain_of
#endif
#define tile(e, R, C, d, s, ro, co, stream) tile_of(e, R, C, all_of(d, s, ro, co, stream))
#define zip(e, R, C, d, s, ro, co, stream) zip_of(e, R, C, all_of(d, s, ro, co, stream))
#define unzip(e, R, C, d, s, ro, co, stream) unzip_of(e, R, C, all_of(d, s, ro, co, stream))

/* == weave ==
   weave, unweave: a few rows, or columns, any number of them, where any bytes are one instruction
   away. Where any bytes of two vectors are, p*q rows with p a power of two are zipped by p first, and
   q of what comes of it are picked from. Byte b of a result is byte at[b] of vector of[b]. */
#if ANY
typedef struct {
    uint8_t of[ANY], at[ANY];
} picks;
#else
typedef uint8_t picks;
#endif

/* The greatest power of two in k, where it is done by zips, and what of k is left to picks. */
#if ANY == 64
#define ZIPS(k) ((k) & -(k))
#else
#define ZIPS(k) 1
#endif
#define LEFT(k) ((k) / ZIPS(k))
/* Up to so many are picked from where all are; beyond, tiles are sooner done. */
#define FEW(e) ((e) == 1 ? 8 : (e) == 2 ? 5 : 3)

/* Byte b of result j: of k rows that are woven, of k columns. Of the vectors 0 and 1 any bytes are one
   instruction away, and bit 6 of `at` says of which; all others look at the bits below it alone. */
#define WOVEN_OF(e, k, j, b) (ANY * (j) + (b)) / (e) % (k)
#define WOVEN_IN(e, k, j, b) (ANY * (j) + (b)) / (e) / (k) * (e) + (b) % (e)
#define UNWOVEN(e, k, j, b) (((b) / (e) * (k) + (j)) * (e) + (b) % (e))
#define UNWOVEN_OF(e, k, j, b) UNWOVEN(e, k, j, b) / ANY
#define UNWOVEN_IN(e, k, j, b) UNWOVEN(e, k, j, b) % ANY
#define SECOND(of) (ANY == 64 ? (of) % 2 * 64 : 0)
#define WOVEN_AT(e, k, j, b) WOVEN_IN(e, k, j, b) + SECOND(WOVEN_OF(e, k, j, b))
#define UNWOVEN_AT(e, k, j, b) UNWOVEN_IN(e, k, j, b) + SECOND(UNWOVEN_OF(e, k, j, b))
#define EACH_4(f, e, k, j, b) f(e, k, j, b), f(e, k, j, b + 1), f(e, k, j, b + 2), f(e, k, j, b + 3)
#define EACH_16(f, e, k, j, b) \
    EACH_4(f, e, k, j, b), EACH_4(f, e, k, j, b + 4), EACH_4(f, e, k, j, b + 8), \
        EACH_4(f, e, k, j, b + 12)
#define EACH_64(f, e, k, j, b) \
    EACH_16(f, e, k, j, b), EACH_16(f, e, k, j, b + 16), EACH_16(f, e, k, j, b + 32), \
        EACH_16(f, e, k, j, b + 48)
#if ANY == 64
#define EACH(f, e, k, j) EACH_64(f, e * ZIPS(k), LEFT(k), j % LEFT(k), 0)
#else
#define EACH(f, e, k, j) EACH_16(f, e, k, j, 0)
#endif
#if ANY
#define WOVEN(e, k, j) {{EACH(WOVEN_OF, e, k, j)}, {EACH(WOVEN_AT, e, k, j)}}
#define UNWOVE(e, k, j) {{EACH(UNWOVEN_OF, e, k, j)}, {EACH(UNWOVEN_AT, e, k, j)}}
#else
#define WOVEN(e, k, j) 0
#define UNWOVE(e, k, j) 0
#endif

#if ANY
#if ANY == 64
typedef v1 any;
#else
typedef w16 any;
#endif

INLINED any picked(int k, const any *v, const picks *p)
{
#if ANY == 64
    const __m512i at = (__m512i)get((uintptr_t)p->at), of = (__m512i)get((uintptr_t)p->of);
    __m512i w = _mm512_permutex2var_epi8((__m512i)v[0], at, (__m512i)v[k > 1]);
    UNROLLED
    for (int i = 2; i < k; i++)
        w = _mm512_mask_permutexvar_epi8(w, _mm512_cmpeq_epi8_mask(of, _mm512_set1_epi8((char)i)), at,
                                         (__m512i)v[i]);
    return (v1)w;
#else
    const w16 at = get16((uintptr_t)p->at), of = get16((uintptr_t)p->of);
    w16 w = {0};
    UNROLLED
    for (int i = 0; i < k; i++) {
        const w16 mine = (w16)(of == (w16){0} + (uint8_t)i);
#if defined(__SSSE3__)
        w |= (w16)_mm_shuffle_epi8((__m128i)v[i], (__m128i)(at | ~mine));
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
        w |= vqtbl1q_u8(v[i], at | ~mine);
#else
        w |= __builtin_shuffle(v[i], at) & mine;
#endif
    }
    return w;
#endif
}

#if ANY == 64
/* Units of x and y by turns, the first half of them or the second; those at even places, or at odd. */
#define P16(b, n) P8(b, n), P8((b) + 8, n)
#define P32(b, n) P16(b, n), P16((b) + 16, n)
#define Q4(b) (b), (b) + 2, (b) + 4, (b) + 6
#define Q8(b) Q4(b), Q4((b) + 8)
#define Q16(b) Q8(b), Q8((b) + 16)
#define Q32(b) Q16(b), Q16((b) + 32)
#define Q64(b) Q32(b), Q32((b) + 64)
#define X4(a, b, c, d) (a), (a) + 1, (b), (b) + 1, (c), (c) + 1, (d), (d) + 1
#define LOW 0
#define HIGH 1
#define EVEN 2
#define ODD 3
#define MIXED(type, low, high, even, odd) \
    return way == LOW    ? SHUFFLED(type, low) \
           : way == HIGH ? SHUFFLED(type, high) \
           : way == EVEN ? SHUFFLED(type, even) \
                         : SHUFFLED(type, odd)

INLINED any mixed(int e, int way, any x, any y)
{
    switch (e) {
    case 1: MIXED(v1, P32(0, 64), P32(32, 64), Q64(0), Q64(1));
    case 2: MIXED(v2, P16(0, 32), P16(16, 32), Q32(0), Q32(1));
    case 4: MIXED(v4, P8(0, 16), P8(8, 16), Q16(0), Q16(1));
    case 8: MIXED(v8, P4(0, 8), P4(4, 8), Q8(0), Q8(1));
    default: MIXED(v8, X4(0, 8, 2, 10), X4(4, 12, 6, 14), X4(0, 4, 8, 12), X4(2, 6, 10, 14));
    }
}

/* n vectors, a power of two of them, unit by unit; the number of a unit, its vector before its place,
   is a word of bits, and each stage turns it by one bit to the left. And back. */
INLINED void wound(int e, int n, any *v)
{
    any w[32];
    UNROLLED_WIDE
    for (int done = 1; done < n; done *= 2) {
        UNROLLED_WIDE
        for (int k = 0; k < n; k++)
            w[k] = v[k];
        UNROLLED_WIDE
        for (int k = 0; k < n / 2; k++) {
            v[2 * k] = mixed(e, LOW, w[k], w[k + n / 2]);
            v[2 * k + 1] = mixed(e, HIGH, w[k], w[k + n / 2]);
        }
    }
}

INLINED void unwound(int e, int n, any *v)
{
    any w[32];
    UNROLLED_WIDE
    for (int done = 1; done < n; done *= 2) {
        UNROLLED_WIDE
        for (int k = 0; k < n; k++)
            w[k] = v[k];
        UNROLLED_WIDE
        for (int k = 0; k < n / 2; k++) {
            v[k] = mixed(e, EVEN, w[2 * k], w[2 * k + 1]);
            v[k + n / 2] = mixed(e, ODD, w[2 * k], w[2 * k + 1]);
        }
    }
}
#else
#define wound(e, n, v) (void)(v)
#define unwound(e, n, v) (void)(v)
#endif

/* Of a vector the bytes up to `most`. */
INLINED any taken_any(move m, int size, int row, int at, int most)
{
    const int n = most < ANY ? most : ANY;
#if ANY == 64
    return n > 0 ? taken(m, row, at, n, read_of(m, size, row, at, n)) : (any){0};
#else
    return taken16(m, row, at, n, read_of(m, size, row, at, n));
#endif
}

INLINED void given_any(move m, int size, int column, int at, any v, int most)
{
    const int n = most < ANY ? most : ANY;
#if ANY == 64
    if (n > 0)
        given(m, column, at, v, n, written_of(m, size, column, at, n));
#else
    given16(m, column, at, v, n, written_of(m, size, column, at, n));
#endif
}
#endif

/* R rows, 32 at most; 64/e columns lie together in the target, or all where they are fewer. */
INLINED void weaving(int e, int R, int C, move m, const picks *p)
{
#if V
    if (ANY != 64 && R * e <= 16 && (R & (R - 1)) == 0 && C * e >= 16) {
        zip_of(e, R, C, m);
        return;
    }
    if (ANY != 64 && R > FEW(e)) { /* a tile does not look at which of them are there */
        if (m.whole)
            tile_of(e, R, C, m);
        else
            plain_of(e, R, C, m);
        return;
    }
#endif
#if ANY
    const int n = ANY / e, columns = C < n ? C : n, all = columns * R * e;
    const int zips = ZIPS(R), left = LEFT(R);
    if (ANY == 64 || C >= n) {
        for (int c = 0; c < C; c += columns) {
            const int column = kept(c, columns, C);
            any v[32], w[32];
            UNROLLED_WIDE
            for (int k = 0; k < R; k++)
                v[k] = taken_any(m, C * e, k, column * e, columns * e);
            UNROLLED_WIDE
            for (int i = 0; i < left; i++)
                wound(e, zips, v + i * zips);
            UNROLLED_WIDE
            for (int k = 0; k < R; k++)
                w[k] = v[k % left * zips + k / left];
            UNROLLED_WIDE
            for (int k = 0; k < R; k++)
                given_any(m, R * e, column, ANY * k,
                          left > 1 ? picked(left, w + k / left * left, p + k % left) : w[k],
                          all - ANY * k);
        }
        return;
    }
#endif
    (void)p;
    plain_of(e, R, C, m);
}

/* C columns, 32 at most; 64/e rows lie together in the source, or all where they are fewer. */
INLINED void unweaving(int e, int R, int C, move m, const picks *p)
{
#if V
    if (ANY != 64 && C * e <= 16 && (C & (C - 1)) == 0 && R * e >= 16) {
        unzip_of(e, R, C, m);
        return;
    }
    if (ANY != 64 && C > FEW(e)) { /* a tile does not look at which of them are there */
        if (m.whole)
            tile_of(e, R, C, m);
        else
            plain_of(e, R, C, m);
        return;
    }
#endif
#if ANY
    const int n = ANY / e, rows = R < n ? R : n, all = rows * C * e, lines = (all + ANY - 1) / ANY;
    const int zips = ZIPS(C), left = LEFT(C);
    if (ANY == 64 || R >= n) {
        for (int r = 0; r < R; r += rows) {
            const int row = kept(r, rows, R);
            any v[32] = {{0}}, w[32];
            UNROLLED_WIDE
            for (int k = 0; k < lines; k++)
                v[k] = taken_any(m, C * e, row, ANY * k, all - ANY * k);
            UNROLLED_WIDE
            for (int k = 0; k < C; k++)
                w[k % left * zips + k / left] =
                    left > 1 ? picked(left, v + k / left * left, p + k % left) : v[k];
            UNROLLED_WIDE
            for (int i = 0; i < left; i++)
                unwound(e, zips, w + i * zips);
            UNROLLED_WIDE
            for (int k = 0; k < C; k++)
                given_any(m, R * e, k, row * e, w[k], rows * e);
        }
        return;
    }
#endif
    (void)p;
    plain_of(e, R, C, m);
}

#define weave_of(e, R, C, m) weaving(e, R, C, m, weave_##e##_##R)
#define unweave_of(e, R, C, m) unweaving(e, R, C, m, unweave_##e##_##C)
#define weave(e, R, C, d, s, ro, co, stream) weave_of(e, R, C, all_of(d, s, ro, co, stream))
#define unweave(e, R, C, d, s, ro, co, stream) unweave_of(e, R, C, all_of(d, s, ro, co, stream))
