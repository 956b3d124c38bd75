/* A kernel does one thing: target[co[c] + r*e] = source[ro[r] + c*e] for all r < R and c < C, in
   units of e bytes, with offsets in bytes. None branches on data, or looks at them to find a place.
   Which one is called is a matter of speed alone. -DLAYOUT_VECTOR=16 or 32 keeps to vectors of so
   many bytes, -DLAYOUT_PLAIN to none. */
#include <stdint.h>
#include <string.h>
#if !defined(__GNUC__)
#define __attribute__(words)
#define __builtin_prefetch(place) (void)(place)
#endif
#define INLINED static inline __attribute__((always_inline, unused))
#define APART static __attribute__((noinline, unused))

/* V is the bytes of a vector, 0 where there are none. */
#ifndef LAYOUT_VECTOR
#define LAYOUT_VECTOR 64
#endif
#if defined(LAYOUT_PLAIN) || !defined(__GNUC__)
#define V 0
#elif LAYOUT_VECTOR >= 64 && defined(__AVX512BW__) && defined(__AVX512VL__)
#define V 64
#elif LAYOUT_VECTOR >= 32 && defined(__AVX2__)
#define V 32
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__VSX__) || defined(__VX__)
#define V 16
#else
#define V 0
#endif
#if V == 64
#include <immintrin.h> /* which takes compilers half a second: others do without */
#elif V && defined(__SSE2__)
#include <tmmintrin.h>
#elif V && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* Loops of which every turn is written out. */
#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#elif defined(__GNUC__) && defined(__OPTIMIZE__) /* else gcc says that it does not */
#define UNROLLED _Pragma("GCC unroll 32")
#else
#define UNROLLED
#endif

/* Outputs of at least so many bytes go past the cache; with a large one a sixteenth of it is better. */
#ifndef STREAM_BYTES
#define STREAM_BYTES ((int64_t)8 << 20)
#endif

INLINED int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
/* The lowest n bits. */
INLINED uint64_t bits(int64_t n) { return n <= 0 ? 0 : ~(uint64_t)0 >> (n < 64 ? 64 - n : 0); }

/* Stores past the cache, and what makes them be there before anything that is written later. */
#if defined(__SSE2__) && V
#define PAST16(q, v) _mm_stream_si128((__m128i *)(q), (__m128i)(v))
#define streamed(stream) _mm_sfence()
#else
#define PAST16(q, v) memcpy((void *)(q), &(v), 16)
#define streamed(stream) (void)(stream)
#endif
#if V == 64
#define PAST(q, v) _mm512_stream_si512((__m512i *)(q), (__m512i)(v))
#elif V == 32 && defined(__clang__)
#define PAST(q, v) __builtin_nontemporal_store(v, (v1 *)(q))
#elif V == 32
#define PAST(q, v) __builtin_ia32_movntdq256((w32 *)(q), (w32)(v))
#else
#define PAST PAST16
#endif

/* Vectors of V bytes, and of 16, of which there are several in one. */
#if V
#define IS_KNOWN(n) __builtin_constant_p(n)
typedef uint8_t v1 __attribute__((vector_size(V)));
typedef uint8_t w16 __attribute__((vector_size(16)));
#define LANES (V / 16)
#if V == 64
#define PAIR(a, b) _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)(a)), (__m128i)(b), 1)
#define JOINED(l) _mm512_inserti64x4(_mm512_castsi256_si512(PAIR(l[0], l[1])), PAIR(l[2], l[3]), 1)
#elif V == 32
typedef long long w32 __attribute__((vector_size(32)));
#if defined(__clang__)
#define JOINED(l) __builtin_shufflevector((__m128i)l[0], (__m128i)l[1], 0, 1, 2, 3)
#else
#define WIDER(a) (w32) __builtin_ia32_si256_si((int __attribute__((vector_size(16))))(a))
#define JOINED(l) __builtin_ia32_insert128i256(WIDER(l[0]), (__m128i)l[1], 1)
#endif
#else
#define JOINED(l) l[0]
#endif
#endif

/* Without masks: n bytes, fewer than 16, are numbers of 1, 2, 4 or 8, and a last one that overlaps. */
#if V && V < 64
typedef uint64_t w8 __attribute__((vector_size(16)));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define UP(d, bytes) ((d) >> 8 * (bytes))
#define DOWN(d, bytes) ((d) << 8 * (bytes))
#else
#define UP(d, bytes) ((d) << 8 * (bytes))
#define DOWN(d, bytes) ((d) >> 8 * (bytes))
#endif
INLINED uint64_t number(uintptr_t p, int size)
{
    uint64_t d = 0;
    memcpy(&d, (const void *)p, (size_t)size);
    return d;
}
INLINED void put_number(uintptr_t q, uint64_t d, int size) { memcpy((void *)q, &d, (size_t)size); }
INLINED uint64_t two(uintptr_t p, int n, int size)
{
    return number(p, size) | UP(number(p + (uintptr_t)(n - size), size), n - size);
}
INLINED void put_two(uintptr_t q, uint64_t d, int n, int size)
{
    put_number(q, d, size);
    put_number(q + (uintptr_t)(n - size), DOWN(d, n - size), size);
}
INLINED uint64_t first8(uintptr_t p, int n)
{
    return n >= 8   ? number(p, 8)
           : n >= 4 ? two(p, n, 4)
           : n >= 2 ? two(p, n, 2)
                    : number(p, 1);
}
INLINED void put_first8(uintptr_t q, uint64_t d, int n)
{
    n >= 8   ? put_number(q, d, 8)
    : n >= 4 ? put_two(q, d, n, 4)
    : n >= 2 ? put_two(q, d, n, 2)
             : put_number(q, d, 1);
}
INLINED w16 first16(uintptr_t p, int n, w16 fill)
{
    const w16 places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const w8 both = {first8(p, n), n > 8 ? DOWN(number(p + (uintptr_t)(n - 8), 8), 16 - n) : 0};
    return (w16)both | (fill & (w16)(places >= (w16){0} + (uint8_t)n));
}
INLINED void put_first16(uintptr_t q, w16 v, int n)
{
    const w8 both = (w8)v;
    put_first8(q, both[0], n);
    if (n > 8)
        put_number(q + (uintptr_t)(n - 8), DOWN(both[0], n - 8) | UP(both[1], 16 - n), 8);
}
APART w16 some16(uintptr_t p, int n, w16 fill) { return first16(p, n, fill); }
APART void put_some16(uintptr_t q, w16 v, int n) { put_first16(q, v, n); }
#endif

/* The first n bytes of a vector, which are all that is touched; the others are fill. */
#if V
#if V == 64
#define FILL(rest) \
    (rest ? _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)(rest))) \
          : _mm512_setzero_si512())
#define GET(p, n, rest) (v1) _mm512_mask_loadu_epi8(FILL(rest), bits(n), (const void *)(p))
#define GET16(p, n, rest) \
    (w16) _mm_mask_loadu_epi8(_mm512_castsi512_si128(FILL(rest)), (__mmask16)bits(n), \
                              (const void *)(p))
#define PUT(q, v, n) _mm512_mask_storeu_epi8((void *)(q), bits(n), (__m512i)(v))
#define PUT16(q, v, n) _mm_mask_storeu_epi8((void *)(q), (__mmask16)bits(n), (__m128i)(v))
#else
INLINED w16 GET16(uintptr_t p, int64_t n, const uint8_t *rest)
{
    w16 v = {0};
    if (n >= 16 || rest)
        memcpy(&v, n >= 16 ? (const void *)p : rest, 16);
    if (n > 0 && n < 16)
        v = IS_KNOWN(n) ? first16(p, (int)n, v) : some16(p, (int)n, v);
    return v;
}
INLINED void PUT16(uintptr_t q, w16 v, int64_t n)
{
    if (n >= 16)
        memcpy((void *)q, &v, 16);
    else if (n > 0)
        IS_KNOWN(n) ? put_first16(q, v, (int)n) : put_some16(q, v, (int)n);
}
#if V == 16
#define GET GET16
#define PUT PUT16
#else
INLINED v1 GET(uintptr_t p, int64_t n, const uint8_t *rest)
{
    const w16 lanes[LANES] = {GET16(p, n, rest), GET16(p + 16, n - 16, rest)};
    return (v1)JOINED(lanes);
}
INLINED void PUT(uintptr_t q, v1 v, int64_t n)
{
    w16 lanes[LANES];
    memcpy(lanes, &v, V);
    PUT16(q, lanes[0], n);
    PUT16(q + 16, lanes[1], n - 16);
}
#endif
#endif
#define IS_ALL(n, size) (IS_KNOWN((n) >= (size)) && (n) >= (size))
#define VECTORS(type, size, GET, get, PUT, put, PAST) \
    INLINED type get(uintptr_t p, int64_t n, const uint8_t *rest) \
    { \
        type v; \
        if (IS_ALL(n, size)) \
            return memcpy(&v, (const void *)p, size), v; \
        return GET(p, n, rest); \
    } \
    INLINED void put(uintptr_t q, type v, int64_t n, int stream) \
    { \
        if (!IS_ALL(n, size)) \
            PUT(q, v, n); \
        else if (stream && q % size == 0) \
            PAST(q, v); \
        else \
            memcpy((void *)q, &v, size); \
    }
VECTORS(v1, V, GET, get, PUT, put, PAST)
VECTORS(w16, 16, GET16, get16, PUT16, put16, PAST16)
#endif

/* n bytes that lie together on both sides, a few lines at most. */
INLINED void copied(uint8_t *d, const uint8_t *s, int64_t n)
{
#if V
    for (int64_t k = 0; k < n; k += V)
        put((uintptr_t)(d + k), get((uintptr_t)(s + k), n - k, 0), n - k, 0);
#else
    memcpy(d, s, (size_t)n);
#endif
}

/* n bytes that lie together on both sides. */
INLINED void run(uint8_t *d, const uint8_t *s, int64_t n, int stream)
{
#if V
    if (n >= V % 64 && n <= (stream ? 1024 : 2048) && !(IS_KNOWN(n) && n < 64)) { /* else a library's */
        int64_t k = 0;
        if (stream && n >= 6 * V) { /* and nothing else of a line that goes past the cache */
            k = (int64_t)(-(uintptr_t)d % V);
            memcpy(d, s, (size_t)k);
            for (v1 v; k + V <= n; k += V)
                memcpy(&v, s + k, V), PAST(d + k, v);
            memcpy(d + k, s + k, (size_t)(n - k));
            return;
        }
        for (; k + V <= n; k += V)
            memcpy(d + k, s + k, V);
        if (0 < n && n < V)
#if V == 64
            _mm512_mask_storeu_epi8(d, bits(n), _mm512_maskz_loadu_epi8(bits(n), s));
#else
            memcpy(d, s, (size_t)n);
#endif
        else if (k < n) /* they overlap what was done */
            memcpy(d + n - V, s + n - V, V);
        return;
    }
#endif
    (void)stream;
    memcpy(d, s, (size_t)(n < 0 ? 0 : n)); /* never less than 0, which compilers do not see */
}

/* n bytes of fill, some elements; `rest` holds 16 bytes of it. The last ones overlap those before. */
#define FILLED(size) (void)(memcpy(d, rest, size), memcpy(d + n - (size), rest, size))
INLINED void filled(uint8_t *d, const uint8_t *rest, int64_t n)
{
    for (int64_t k = 0; k + 16 <= n; k += 16)
        memcpy(d + k, rest, 16);
    n >= 16 ? FILLED(16) : n >= 8 ? FILLED(8) : n >= 4 ? FILLED(4) : n >= 2 ? FILLED(2)
                                                              : n > 0    ? FILLED(1) : (void)0;
}

/* Offsets of a digit more, in a table that has `below` of them. */
INLINED void steps(int64_t *table, int below, int radix, int64_t stride)
{
    for (int k = below; k < below * radix; k++)
        table[k] = table[k - below] + stride;
}

/* What a kernel is told. `all_in`, or `rows` rows are read, `read` bytes of each,
   and the others are the fill; `columns` columns are written, `written` bytes of each, and nothing
   else is touched. */
typedef struct {
    uintptr_t d, s;
    const int64_t *ro, *co;
    int stream, all_in, all_out, even;
    const uint8_t *rest;
    int64_t rows, read, columns, written;
} move;
INLINED move all_of(uint8_t *d, const uint8_t *s, const int64_t *ro, const int64_t *co, int stream)
{
    return (move){(uintptr_t)d, (uintptr_t)s, ro, co, stream, 1, 1, 0, 0, 0, 0, 0, 0};
}

/* Asks memory for what is read later, `on` bytes further on: n bytes of each row. */
INLINED void fetched(int large, const uint8_t *s, const int64_t *ro, int R, int64_t n, int64_t on)
{
    for (int r = 0; large && r < R; r++)
        for (int64_t k = 0; k < n; k += 64)
            __builtin_prefetch((const void *)((uintptr_t)s + (uintptr_t)ro[r] + (uintptr_t)(on + k)));
}

/* The kernel that any machine has; of parts byte by byte. */
INLINED void plain_of(int e, int R, int C, move m)
{
    const int all = m.all_in && m.all_out;
    for (int c = 0; c < (all ? C : m.columns); c++)
        for (int r = 0; r < R; r++)
            for (int b = 0, size = all ? e : 1; b < e; b += size) {
                uint8_t *d = (uint8_t *)(m.d + (uintptr_t)(m.co[c] + r * e + b));
                const uint8_t *s = (const uint8_t *)(m.s + (uintptr_t)(m.ro[r] + c * e + b));
                if (all)
                    memcpy(d, s, (size_t)e);
                else if (r * e + b < m.written)
                    *d = r < m.rows && c * e + b < m.read ? *s : m.rest[b % 16];
            }
}
#define TOGETHER_plain 2, 2
#define plain(e, R, C, d, s, ro, co, stream) plain_of(e, R, C, all_of(d, s, ro, co, stream))

/* Parts of moves, put `_here` or called. Where there are vectors, items that lie apart and are not there
   are read from a line of fill, or written to a line that is given up; of others the first bytes are
   masked; of items that lie together (1) the first ones are. All else (2) goes by way of a block. */
#define ARE_MASKED(together, is_all) (V && ((together) == 0 || ((together) == 1 && (is_all))))
INLINED void part_in(move *m, int together, uint8_t *block, int64_t *table, int R, int64_t size)
{
    const int masked = ARE_MASKED(together, m->read == size);
    if ((masked && together) || (m->rows == R && (masked || m->read == size)))
        return;
    if (masked)
        filled(block, m->rest, size);
    for (int r = 0; r < R; r++) {
        uintptr_t p = m->s + (uintptr_t)m->ro[r], line = (uintptr_t)(block + (masked ? 0 : r * size));
        if (!masked) {
            filled((uint8_t *)line, m->rest, size);
            copied((uint8_t *)line, (const uint8_t *)p, r < m->rows ? m->read : 0);
        }
        table[r] = (int64_t)(masked && r < m->rows ? p : line);
    }
    m->s = 0, m->ro = table, m->rows = R, m->read = masked ? m->read : size;
}
INLINED int part_out(move *m, int together, uint8_t *block, int64_t *table, int C, int64_t size)
{
    const int masked = ARE_MASKED(together, m->written == size);
    if ((masked && together) || (m->columns == C && (masked || m->written == size)))
        return 0;
    for (int c = 0; c < C; c++)
        table[c] = masked && c < m->columns ? (int64_t)m->d + m->co[c]
                                            : (int64_t)(uintptr_t)(block + (masked ? 0 : c * size));
    m->d = 0, m->co = table, m->columns = C, m->written = masked ? m->written : size;
    return !masked;
}
INLINED move told(move m, int in, int out) { return m.all_in = in, m.all_out = out, m; }
#define EDGE(kernel, e, R, C) EDGE_OF(kernel, e, R, C, TOGETHER_##kernel)
#define EDGE_OF(...) EDGE_AS(__VA_ARGS__)
#define PART uint8_t *d, const uint8_t *s, const int64_t *ro, const int64_t *co, const uint8_t *rest, \
             int64_t rows, int64_t read, int64_t columns, int64_t written
#define EDGE_AS(kernel, e, R, C, together_in, together_out) \
    INLINED void kernel##_##e##_##R##_##C##_here(PART) \
    { \
        uint8_t in[(R) * (C) * (e)], out[(R) * (C) * (e)]; \
        int64_t a[R], b[C]; \
        move m = {(uintptr_t)d, (uintptr_t)s, ro, co, 0, 0, 0, 0, rest, rows, read, columns, written}; \
        part_in(&m, together_in, in, a, R, (C) * (e)); \
        const int apart = part_out(&m, together_out, out, b, C, (R) * (e)); \
        const int all_in = !V || (m.rows == (R) && m.read == (C) * (e)); \
        const int all_out = !V || (m.columns == (C) && m.written == (R) * (e)); \
        if (all_in) \
            all_out ? kernel##_of(e, R, C, told(m, 1, 1)) : kernel##_of(e, R, C, told(m, 1, 0)); \
        else \
            all_out ? kernel##_of(e, R, C, told(m, 0, 1)) : kernel##_of(e, R, C, told(m, 0, 0)); \
        for (int c = 0; apart && c < columns; c++) \
            copied(d + co[c], out + c * (R) * (e), written); \
    } \
    APART void kernel##_##e##_##R##_##C##_edge(PART) \
    { kernel##_##e##_##R##_##C##_here(d, s, ro, co, rest, rows, read, columns, written); }

/* Where the next `step` of all begin: at the last of them, so as not to pass the end. */
INLINED int kept(int at, int step, int all)
{
    return at + step <= all ? at : all > step ? all - step : 0;
}

/* Places of units, pair by pair: of one vector from b on, and of another n units behind. */
#define P1(b, n) (b), (b) + (n)
#define P2(b, n) P1(b, n), P1((b) + 1, n)
#define P4(b, n) P2(b, n), P2((b) + 2, n)
#define P8(b, n) P4(b, n), P4((b) + 4, n)
#if defined(__clang__)
#define SHUFFLED(type, ...) __builtin_shufflevector((type)x, (type)y, __VA_ARGS__)
#else
#define SHUFFLED(type, ...) __builtin_shuffle((type)x, (type)y, (type){__VA_ARGS__})
#endif

/* tile: of 16/e rows 16 bytes each, transposed by a network of units that are zipped, lane by lane.
   Lanes are `by` several rows, written as whole lines, or of few rows by several columns (-1), read
   as such. What is left overlaps what was done, or is masked. grid: 16/e each lie evenly apart.
   zip: R rows, fewer and a power of two; `across` columns, 16 bytes, lie together in the target.
   unzip: C columns; `down` rows, 16 bytes, lie together in the source. */
#if V
typedef uint16_t v2 __attribute__((vector_size(V)));
typedef uint32_t v4 __attribute__((vector_size(V)));
typedef uint64_t v8 __attribute__((vector_size(V)));
#if V == 64
#define BY_LANE(P, b, of, n) P(b, n), P((b) + (of), n), P((b) + 2 * (of), n), P((b) + 3 * (of), n)
#elif V == 32
#define BY_LANE(P, b, of, n) P(b, n), P((b) + (of), n)
#else
#define BY_LANE(P, b, of, n) P(b, n)
#endif
#define ZIPPED(type, P, half) \
    (high ? (v1)SHUFFLED(type, BY_LANE(P, half, 2 * (half), 2 * (half) * LANES)) \
          : (v1)SHUFFLED(type, BY_LANE(P, 0, 2 * (half), 2 * (half) * LANES)))
INLINED v1 zipped(int e, int high, v1 x, v1 y)
{
    return e == 1   ? ZIPPED(v1, P8, 8)
           : e == 2 ? ZIPPED(v2, P4, 4)
           : e == 4 ? ZIPPED(v4, P2, 2)
                    : ZIPPED(v8, P1, 1);
}
INLINED move evenly(move m) { return m.even = 1, m; }
/* Compilers that see how steps add up keep every sum, and have not the registers for so many. */
#define STEP(at, table) if (m.even) { at += (uintptr_t)(table[1] - table[0]); __asm__("" : "+r"(at)); }
INLINED void block_of(int e, int R, int C, move m, int down, int across, int by, int row, int column)
{
    const int n = 16 / e, vectors = n / down / across, there = by > 0 && R < V / e ? R : V / e;
    const int out = R < n ? R * e : 16, in = by < 0 ? V : C < n ? C * e : 16;
    const int taken = R < n ? (R + down - 1) / down : vectors, lanes_in = by > 0 ? LANES : !by;
    const int given = C < vectors ? C : vectors, lanes_out = by < 0 ? LANES : !by;
    const int stream = m.stream && (V == 64 || n < 16); /* no more parts of lines are kept open */
    const int64_t read = m.all_in ? in : least(in, m.read - column * e);
    const int64_t written = least(by > 0 ? there * e : V, m.all_out ? V : m.written - row * e);
    const int64_t *ro = m.ro + row, *co = m.co + column;
    uintptr_t from = m.s + (uintptr_t)(column * e), to = m.d + (uintptr_t)(row * e);
    v1 v[16] = {{0}}, w[16];
    UNROLLED
    for (int k = 0; k < taken; k++) {
        w16 lanes[LANES] = {{0}};
        if (by > 0 && !stream && k < given) /* a store over two lines waits for both */
            __builtin_prefetch((const void *)(to + (uintptr_t)co[k] + V - 1), 1);
        UNROLLED
        for (int i = 0; i < lanes_in; i++) {
            const int at = i * n + (m.even ? 0 : k * down), rows = there - i * n - k * down;
            const int64_t left = least(rows, m.all_in ? rows : m.rows - row - at) * C * e;
            if (rows > 0)
                lanes[i] = get16(from + (uintptr_t)ro[at], down > 1 ? left : read, m.rest);
        }
        v[k] = by < 0 ? get(from + (uintptr_t)ro[m.even ? 0 : k], read, m.rest) : (v1)JOINED(lanes);
        STEP(from, m.ro)
    }
    UNROLLED
    for (int turns = n / across; turns > 1; turns /= 2) {
        UNROLLED
        for (int k = 0; k < vectors; k++)
            w[k] = v[k];
        UNROLLED
        for (int k = 0; k < vectors; k++)
            v[k] = zipped(e, k % 2, w[k / 2], w[k / 2 + vectors / 2]);
    }
    UNROLLED
    for (int k = 0; k < given; k++) {
        if (by > 0)
            put(to + (uintptr_t)co[m.even ? 0 : k], v[k], written, stream);
        UNROLLED
        for (int i = 0; i < lanes_out; i++) {
            const int at = i * n + (m.even ? 0 : k * across);
            const int64_t left = m.all_out ? 16 : (m.columns - column - at) * R * e;
            w16 lanes[LANES];
            memcpy(lanes, v + k, V);
            put16(to + (uintptr_t)co[at], lanes[i], across > 1 ? left : least(out, written), stream);
        }
        STEP(to, m.co)
    }
}
INLINED void network(int e, int R, int C, move m, int down, int across)
{
    const int n = 16 / e, wide = V / e, few = V < 64 ? wide - 1 : n < 16 || C < wide ? n : 2 * n;
    const int by = R > few ? 1 : C >= wide ? -1 : 0, left = V == 64 && by > 0 ? R % wide : 0;
    const int rows = by > 0 ? wide : n, columns = by < 0 ? wide : n, whole = R - left;
    const int64_t written = m.all_out ? R * e : m.written;
    for (int c = 0; c < C; c += columns) { /* so that lines are written as a whole */
        const int column = kept(c, columns, C);
        for (int r = 0; r < whole && r * e < written; r += rows)
            block_of(e, R, C, m, down, across, by, kept(r, rows, whole), column);
        if (left && whole * e < written) /* masks are as fast as whole lines */
            block_of(e, left, C, m, down, across, by, whole, column);
    }
}
#else
#define network(e, R, C, m, down, across) plain_of(e, R, C, m)
#define evenly(m) m
#endif
#define tile_of(e, R, C, m) network(e, R, C, m, 1, 1)
#define zip_of(e, R, C, m) network(e, R, C, m, 1, 16 / (e) / (R))
#define unzip_of(e, R, C, m) network(e, R, C, m, 16 / (e) / (C), 1)
#define grid_of tile_of /* of parts, whose items lie anywhere */
#define TOGETHER_zip 0, 1
#define zip(e, R, C, d, s, ro, co, stream) zip_of(e, R, C, all_of(d, s, ro, co, stream))
#define TOGETHER_unzip 1, 0
#define unzip(e, R, C, d, s, ro, co, stream) unzip_of(e, R, C, all_of(d, s, ro, co, stream))
#define TOGETHER_tile 0, 0
#define tile(e, R, C, d, s, ro, co, stream) tile_of(e, R, C, all_of(d, s, ro, co, stream))
#define TOGETHER_grid 0, 0
#define grid(e, R, C, d, s, ro, co, stream) grid_of(e, R, C, evenly(all_of(d, s, ro, co, stream)))

/* weave, unweave: a few rows, or columns, 32 at most, of which whole vectors lie together on the other
   side. As often as their number is even they are zipped, vector by vector, and units are picked from
   the odd number that is left. ANY is the bytes of a vector of which any are one instruction away. */
#if V == 64 && defined(__AVX512VBMI__)
#define ANY 64
#define get_any get
#define put_any put
#else
#define ANY 16
#define get_any get16
#define put_any put16
#endif
#if ANY == 64 || defined(__SSSE3__) || (defined(__aarch64__) && !defined(__AARCH64EB__)) || \
    ((defined(__ARM_NEON) || defined(__VSX__) || defined(__VX__)) && !defined(__clang__))
#define MAY_PICK V
#else
#define MAY_PICK 0
#endif
#if V
typedef uint8_t any __attribute__((vector_size(ANY)));
typedef uint16_t any2 __attribute__((vector_size(ANY)));
typedef uint32_t any4 __attribute__((vector_size(ANY)));
typedef uint64_t any8 __attribute__((vector_size(ANY)));
#else
typedef uint8_t any;
#endif
typedef any pick_of(const any *, int);

/* Byte b of pick j is byte at[b] of vector of[b], of an odd number k of them. Of the vectors 0 and 1
   any bytes are one instruction away, and bit 6 of `at` says of which; all others look below it. */
#if MAY_PICK
typedef struct {
    uint8_t of[ANY], at[ANY];
} picks;
#define WOVEN_OF(e, k, j, b) (ANY * (j) + (b)) / (e) % (k)
#define WOVEN_IN(e, k, j, b) (ANY * (j) + (b)) / (e) / (k) * (e) + (b) % (e)
#define UNWOVEN(e, k, j, b) (((b) / (e) * (k) + (j)) * (e) + (b) % (e))
#define UNWOVEN_OF(e, k, j, b) UNWOVEN(e, k, j, b) / ANY
#define UNWOVEN_IN(e, k, j, b) UNWOVEN(e, k, j, b) % ANY
#define SECOND(of) (ANY == 64 ? (of) % 2 * 64 : 0)
#define WOVEN_AT(e, k, j, b) WOVEN_IN(e, k, j, b) + SECOND(WOVEN_OF(e, k, j, b))
#define UNWOVEN_AT(e, k, j, b) UNWOVEN_IN(e, k, j, b) + SECOND(UNWOVEN_OF(e, k, j, b))
#define BY_4(f, e, k, j, b) f(e, k, j, b), f(e, k, j, b + 1), f(e, k, j, b + 2), f(e, k, j, b + 3)
#define BY_16(f, e, k, j, b) \
    BY_4(f, e, k, j, b), BY_4(f, e, k, j, b + 4), BY_4(f, e, k, j, b + 8), BY_4(f, e, k, j, b + 12)
#if ANY == 64
#define BY_64(f, e, k, j, b) \
    BY_16(f, e, k, j, b), BY_16(f, e, k, j, b + 16), BY_16(f, e, k, j, b + 32), BY_16(f, e, k, j, b + 48)
#define EACH(f, e, k, j) BY_64(f, e, k, j, 0)
#else
#define EACH(f, e, k, j) BY_16(f, e, k, j, 0)
#endif
#define PICKS(way, e, k, j) {{EACH(way##_OF, e, k, j)}, {EACH(way##_AT, e, k, j)}}
INLINED any picked(int k, const any *v, const picks *p)
{
    const any at = get_any((uintptr_t)p->at, ANY, 0), of = get_any((uintptr_t)p->of, ANY, 0);
#if ANY == 64
    __m512i w = _mm512_permutex2var_epi8((__m512i)v[0], (__m512i)at, (__m512i)v[k > 1]);
    UNROLLED
    for (int i = 2; i < k; i++)
        w = _mm512_mask_permutexvar_epi8(
            w, _mm512_cmpeq_epi8_mask((__m512i)of, _mm512_set1_epi8((char)i)), (__m512i)at,
            (__m512i)v[i]);
#else
    any w = {0};
    UNROLLED
    for (int i = 0; i < k; i++) { /* what is past a vector is picked as 0 */
        const any mine = (any)(of == (any){0} + (uint8_t)i);
#if defined(__SSSE3__)
        w |= (any)_mm_shuffle_epi8((__m128i)v[i], (__m128i)(at | ~mine));
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
        w |= vqtbl1q_u8(v[i], at | ~mine);
#else
        w |= __builtin_shuffle(v[i], at) & mine;
#endif
    }
#endif
    return (any)w;
}
#define PICK(name, k, ...) \
    static const picks name##_picks[k] = {__VA_ARGS__}; \
    INLINED any name(const any *v, int j) { return picked(k, v, name##_picks + j); }
#else
#define PICK(name, k, ...) INLINED any name(const any *v, int j) { return v[j]; }
#endif

/* Units of x and y by turns, the first half of them or the second; back, those at even places or
   at odd ones. */
#if V
/* Every second place from b on. */
#define Q2(b) (b), (b) + 2
#define Q4(b) Q2(b), Q2((b) + 4)
#define Q8(b) Q4(b), Q4((b) + 8)
#define Q16(b) Q8(b), Q8((b) + 16)
#if ANY == 64
#define P16(b, n) P8(b, n), P8((b) + 8, n)
#define P32(b, n) P16(b, n), P16((b) + 16, n)
#define Q32(b) Q16(b), Q16((b) + 32)
#define Q64(b) Q32(b), Q32((b) + 64)
#define TWO(b) (b), (b) + 1
#define P_TWO(b, n) TWO(b), TWO((b) + (n)), TWO((b) + 2), TWO((b) + (n) + 2)
#define Q_TWO(b) TWO(2 * (b)), TWO(2 * (b) + 4), TWO(2 * (b) + 8), TWO(2 * (b) + 12)
#endif
#define MIXED(type, P, Q, n) \
    (any)(back ? odd ? SHUFFLED(type, Q(1)) : SHUFFLED(type, Q(0)) \
          : odd ? SHUFFLED(type, P((n) / 2, n)) \
                : SHUFFLED(type, P(0, n)))
INLINED any mixed(int e, int back, int odd, any x, any y)
{
#if ANY == 64
    return e == 1   ? MIXED(any, P32, Q64, 64)
           : e == 2 ? MIXED(any2, P16, Q32, 32)
           : e == 4 ? MIXED(any4, P8, Q16, 16)
           : e == 8 ? MIXED(any8, P4, Q8, 8)
                    : MIXED(any8, P_TWO, Q_TWO, 8);
#else
    return e == 1   ? MIXED(any, P8, Q16, 16)
           : e == 2 ? MIXED(any2, P4, Q8, 8)
           : e == 4 ? MIXED(any4, P2, Q4, 4)
           : e == 8 ? MIXED(any8, P1, Q2, 2)
           : odd    ? y
                    : x;
#endif
}
/* n vectors, a power of two, are zipped until their units go by turns through them all; and back. */
INLINED void wound(int e, int n, int back, any *v)
{
    any w[32];
    UNROLLED
    for (int turns = 1; turns < n; turns *= 2) {
        UNROLLED
        for (int k = 0; k < n; k++)
            w[k] = v[k];
        UNROLLED
        for (int k = 0; k < n; k++)
            if (back)
                v[k] = mixed(e, 1, k >= n / 2, w[2 * k % n], w[2 * k % n + 1]);
            else
                v[k] = mixed(e, 0, k % 2, w[k / 2], w[k / 2 + n / 2]);
    }
}
#endif

#if V
INLINED void weaving(int e, int R, int C, move m, pick_of *pick)
{
    const int zips = R & -R, left = R / zips, span = e * zips < ANY ? 1 : e * zips / ANY;
    const int is_picked = left > 1 && e * zips < ANY;
    const int columns = (int)least(C, ANY / e), all = columns * R * e;
    const int is_full = m.all_out && columns * e == ANY; /* compilers see no further in a loop */
    if (is_picked && !MAY_PICK) {
        plain_of(e, R, C, m);
        return;
    }
    for (int c = 0; c < C; c += columns) {
        const int column = kept(c, columns, C);
        const int64_t read = m.all_in ? columns * e : least(columns * e, m.read - column * e);
        const int64_t written = m.all_out ? all : least(all, (m.columns - column) * R * e);
        any v[32], w[32];
        UNROLLED
        for (int k = 0; k < R; k++)
            v[k] = get_any(m.s + (uintptr_t)(m.ro[k] + column * e), read, m.rest);
        UNROLLED
        for (int i = 0; i < left; i++)
            wound(e, zips, 0, v + i * zips);
        UNROLLED
        for (int k = 0; k < R; k++)
            w[k] = v[k / span % left * zips + k / span / left * span + k % span];
        UNROLLED
        for (int k = 0; k < R; k++)
            put_any(m.d + (uintptr_t)(m.co[column] + ANY * k),
                    is_picked ? pick(w + k / left * left, k % left) : w[k],
                    is_full ? ANY : written - ANY * k, m.stream);
    }
}
#define weave_of(e, R, C, m) weaving(e, R, C, m, weave_##e##_##R)
#else
#define weave_of plain_of
#endif
#define TOGETHER_weave 0, 1
#define weave(e, R, C, d, s, ro, co, stream) weave_of(e, R, C, all_of(d, s, ro, co, stream))

#if V
INLINED void unweaving(int e, int R, int C, move m, pick_of *pick)
{
    const int zips = C & -C, left = C / zips, span = e * zips < ANY ? 1 : e * zips / ANY;
    const int is_picked = left > 1 && e * zips < ANY;
    const int rows = (int)least(R, ANY / e), all = rows * C * e;
    const int is_full = m.all_in && rows * e == ANY; /* compilers see no further in a loop */
    const int stream = m.stream && ANY == 64; /* C lines are open, of which less would be a part */
    if (is_picked && !MAY_PICK) {
        plain_of(e, R, C, m);
        return;
    }
    for (int r = 0; r < R; r += rows) {
        const int row = kept(r, rows, R);
        const int64_t read = m.all_in ? all : least(all, (m.rows - row) * C * e);
        const int64_t written = m.all_out ? rows * e : least(rows * e, m.written - row * e);
        any v[32], w[32];
        UNROLLED
        for (int k = 0; k < C; k++)
            v[k] = get_any(m.s + (uintptr_t)(m.ro[row] + ANY * k),
                           is_full ? ANY : read - ANY * k, m.rest);
        UNROLLED
        for (int k = 0; k < C; k++)
            w[k / span % left * zips + k / span / left * span + k % span] =
                is_picked ? pick(v + k / left * left, k % left) : v[k];
        UNROLLED
        for (int i = 0; i < left; i++)
            wound(e, zips, 1, w + i * zips);
        UNROLLED
        for (int k = 0; k < C; k++)
            put_any(m.d + (uintptr_t)(m.co[k] + row * e), w[k], written, stream);
    }
}
#define unweave_of(e, R, C, m) unweaving(e, R, C, m, unweave_##e##_##C)
#else
#define unweave_of plain_of
#endif
#define TOGETHER_unweave 1, 0
#define unweave(e, R, C, d, s, ro, co, stream) unweave_of(e, R, C, all_of(d, s, ro, co, stream))

/* gather: units of 3 to 63 bytes, which are no vectors. What is moved is the power of two from e on, as
   the next row overwrites what is too much of it, but at the ends of both sides. */
INLINED void unit_by_unit(int e, int R, int C, move m)
{
    const int wide = e <= 4 ? 4 : e <= 8 ? 8 : e <= 16 ? 16 : e <= 32 ? 32 : 64;
    const int is_all = m.all_in && m.all_out;
    for (int c = 0; c < C && is_all; c++) {
        uint8_t *d = (uint8_t *)(m.d + (uintptr_t)m.co[c]);
        const uint8_t *s = (const uint8_t *)(m.s + (uintptr_t)(c * e));
        int r = 0;
        for (; c + 1 < C && r + 1 < R; r++, d += e)
            memcpy(d, s + m.ro[r], (size_t)wide);
        for (; r < R; r++, d += e)
            memcpy(d, s + m.ro[r], (size_t)e);
    }
#if V
    for (int c = 0; c < C && !is_all; c++)
        for (int r = 0; r < R; r++)
            for (int k = 0, at = r * e; k < e; k += V, at += V) {
                const int64_t read = m.all_in ? e : least(e, m.read - c * e);
                const int64_t written = m.all_out ? e : least(e, m.written - r * e);
                const uintptr_t from = m.s + (uintptr_t)(m.ro[r] + c * e + k);
                put(m.d + (uintptr_t)(m.co[c] + at), get(from, read - k, m.rest), written - k, 0);
            }
#else
    if (!is_all)
        plain_of(e, R, C, m);
#endif
}

/* Where any bytes of two vectors are one instruction away, each unit of up to 32 bytes has a lane, and
   so many rows as there are lanes are zipped. The first turn takes units from where they lie together,
   and the last puts them there; of two lanes these are one. */
#if ANY == 64
#define LANE(e) ((e) <= 4 ? 4 : (e) <= 8 ? 8 : (e) <= 16 ? 16 : 32)
#define FIRST(e, l, j, b) (b) / (l) % 2 * 64 + (32 / (l) * (j) + (b) / (l) / 2) * (e) + (b) % (l)
#define APART_BY(e, l) ((l) == 32 ? (e) : (l))
#define LAST(e, l, j, b) \
    (b) / (e) % 2 * 64 + (32 / (l) * (j) + (b) / (e) / 2 % (32 / (l))) * APART_BY(e, l) + (b) % (e)
#define BOTH(f, e) {EACH(f, e, LANE(e), 0)}, {EACH(f, e, LANE(e), 1)}
#define SPREAD(e) static const uint8_t gather_##e[4][64] = {BOTH(FIRST, e), BOTH(LAST, e)};
INLINED void gathering(int e, int R, int C, move m, const uint8_t (*places)[64])
{
    const int lane = LANE(e), n = 64 / lane, rows = R < n ? R : n, columns = C < n ? C : n;
    if (e > 32 || R < 2 || C < 2) {
        unit_by_unit(e, R, C, m);
        return;
    }
    for (int c = 0; c < C; c += columns)
        for (int r = 0; r < R; r += rows) {
            const int row = kept(r, rows, R), column = kept(c, columns, C);
            const int64_t read = m.all_in ? columns * e : least(columns * e, m.read - column * e);
            const int64_t written = m.all_out ? rows * e : least(rows * e, m.written - row * e);
            any v[16] = {{0}}, w[16];
            UNROLLED
            for (int k = 0; k < rows; k++)
                v[k] = get_any(m.s + (uintptr_t)(m.ro[row + k] + column * e), read, m.rest);
            UNROLLED
            for (int turns = 1; turns < n; turns *= 2) {
                UNROLLED
                for (int k = 0; k < n; k++)
                    w[k] = v[k];
                UNROLLED
                for (int k = 0; k < n; k++) {
                    const any x = w[k / 2], y = w[k / 2 + n / 2];
                    const int at = k % 2 + (2 * turns == n ? 2 : 0);
                    if (turns > 1 && 2 * turns < n)
                        v[k] = mixed(lane, 0, k % 2, x, y);
                    else
                        v[k] = (any)_mm512_permutex2var_epi8(
                            (__m512i)x, _mm512_loadu_si512(places[at]), (__m512i)y);
                }
            }
            UNROLLED
            for (int k = 0; k < columns; k++)
                put_any(m.d + (uintptr_t)(m.co[column + k] + row * e), v[k], written, 0);
        }
}
#define gather_of(e, R, C, m) gathering(e, R, C, m, gather_##e)
#else
#define gather_of unit_by_unit
#define SPREAD(e)
#endif
#define TOGETHER_gather 0, 0
#define gather(e, R, C, d, s, ro, co, stream) gather_of(e, R, C, all_of(d, s, ro, co, stream))

/* shuffle: rows and columns that lie together on both sides, of 256 bytes at most: each line of the
   target is made of all lines of the source. Bit 7 of a place says of which two. */
#if ANY == 64
#define FROM(e, R, C, b) (((b) % ((R) * (e)) / (e) * (C) + (b) / ((R) * (e))) * (e) + (b) % (e)) % 256
#define FROM_64(e, R, C, b) {BY_64(FROM, e, R, C, b)}
#define SHUFFLE(e, R, C) \
    static const uint8_t shuffle_##e##_##R##_##C[4][64] = { \
        FROM_64(e, R, C, 0), FROM_64(e, R, C, 64), FROM_64(e, R, C, 128), FROM_64(e, R, C, 192)};
INLINED void shuffling(int e, int R, int C, move m, const uint8_t (*places)[64])
{
    const int size = R * C * e, n = (size + 63) / 64;
    any v[4] = {{0}};
    UNROLLED
    for (int k = 0; k < n; k++)
        v[k] = get_any(m.s + (uintptr_t)(m.ro[0] + 64 * k), least(64, size - 64 * k), 0);
    UNROLLED
    for (int k = 0; k < n; k++) {
        const __m512i at = _mm512_loadu_si512(places[k]);
        __m512i w = _mm512_permutex2var_epi8((__m512i)v[0], at, (__m512i)v[1]);
        if (n > 2)
            w = _mm512_mask_mov_epi8(w, _mm512_movepi8_mask(at),
                                     _mm512_permutex2var_epi8((__m512i)v[2], at, (__m512i)v[3]));
        put_any(m.d + (uintptr_t)(m.co[0] + 64 * k), (any)w, least(64, size - 64 * k), m.stream);
    }
}
#define shuffle_of(e, R, C, m) shuffling(e, R, C, m, shuffle_##e##_##R##_##C)
#else
#define shuffle_of tile_of
#define SHUFFLE(e, R, C)
#endif
#define TOGETHER_shuffle 2, 2
#define shuffle(e, R, C, d, s, ro, co, stream) shuffle_of(e, R, C, all_of(d, s, ro, co, stream))
