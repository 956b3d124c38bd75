/* Carried by the C of records: numbers of so many bytes, read and written wherever they lie. `bytes` is
   a number wherever these are called, and most of each is gone once it is inlined. */

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline, unused))
#else
#define INLINED static inline
#endif

/* ------------------------------------------------------------------------------------------------ */

/* Whether a number lies in memory with its lowest byte first, as it does in a buffer. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE 1
#else
#define LITTLE 0
#endif

/* The product of two sizes, or what is too large for any. */
#define TOO_LARGE (INT64_MAX / 1024)
INLINED int64_t times(int64_t one, int64_t other)
{
    return one > 0 && other > TOO_LARGE / one ? TOO_LARGE : one * other;
}

INLINED uint64_t load(const void *from, int64_t item, int bytes)
{
    const uint8_t *at = (const uint8_t *)from + item * bytes;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1: memcpy(&one, at, 1); return one;
    case 2: memcpy(&two, at, 2); return two;
    case 4: memcpy(&four, at, 4); return four;
    default: memcpy(&eight, at, 8); return eight;
    }
}

INLINED void store(void *to, int64_t item, int bytes, uint64_t value)
{
    uint8_t *at = (uint8_t *)to + item * bytes, one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    switch (bytes) {
    case 1: memcpy(at, &one, 1); break;
    case 2: memcpy(at, &two, 2); break;
    case 4: memcpy(at, &four, 4); break;
    default: memcpy(at, &value, 8);
    }
}

/* The lowest bits of a value, as a number with a sign. */
INLINED uint64_t with_sign(uint64_t value, int bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1);
    return ((value & (2 * half - 1)) ^ half) - half;
}
