/* Carried by the C of records: items side by side in bytes, and back. What they are of, nothing here
   knows. `bits` is a number wherever these are called, and most of each is gone once it is inlined. */

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

/* Items of `bits`, in bytes `first` and on of every block; those are 0, or hold other bits. */
INLINED void put(const uint8_t *restrict items, uint8_t *restrict out, int64_t blocks,
    int64_t block, int64_t first, int64_t count, int bits)
{
    const unsigned mask = (1u << (bits & 7)) - 1;
    const int64_t many = count * 8 / bits;
    for (int64_t b = 0; b < blocks; b++) {
        uint8_t *restrict to = out + b * block + first;
        const uint8_t *restrict from = items + b * many * (bits < 8 ? 1 : bits / 8);
        if (bits == 4) {
            for (int64_t j = 0; j < count; j++)
                to[j] |= (uint8_t)((from[2 * j] & 15) | from[2 * j + 1] << 4);
        } else if (bits == 2) {
            for (int64_t j = 0; j < count; j++)
                to[j] |= (uint8_t)((from[4 * j] & 3) | (from[4 * j + 1] & 3) << 2
                    | (from[4 * j + 2] & 3) << 4 | from[4 * j + 3] << 6);
        } else if (bits < 8) {
            unsigned held = 0;
            int have = 0;
            int64_t j = 0;
            for (int64_t i = 0; i < many; i++) {
                held |= (from[i] & mask) << have;
                have += bits;
                if (have >= 8) {
                    to[j++] |= (uint8_t)held;
                    held >>= 8;
                    have -= 8;
                }
            }
            if (have) to[j] |= (uint8_t)held;
        } else if (LITTLE) {
            for (int64_t j = 0; j < count; j++) to[j] |= from[j];
        } else {
            for (int64_t i = 0; i < many; i++) {
                const uint64_t item = load(from, i, bits / 8);
                for (int k = 0; k < bits / 8; k++)
                    to[i * (bits / 8) + k] |= (uint8_t)(item >> 8 * k);
            }
        }
    }
}

/* Items of `bits` out of bytes `first` and on of every block. */
INLINED void take(const uint8_t *restrict in, uint8_t *restrict items, int64_t blocks,
    int64_t block, int64_t first, int64_t count, int bits)
{
    const unsigned mask = (1u << (bits & 7)) - 1;
    const int64_t many = count * 8 / bits;
    for (int64_t b = 0; b < blocks; b++) {
        const uint8_t *restrict from = in + b * block + first;
        uint8_t *restrict to = items + b * many * (bits < 8 ? 1 : bits / 8);
        /* two and four items at once: one by one, compilers make rows of 16 bytes forty times slower */
        if (bits == 4 && LITTLE) {
            for (int64_t j = 0; j < count; j++)
                store(to, j, 2, (from[j] | (unsigned)from[j] << 4) & 0x0F0F);
        } else if (bits == 2 && LITTLE) {
            for (int64_t j = 0; j < count; j++) {
                const unsigned two = (from[j] | (unsigned)from[j] << 12) & 0x000F000F;
                store(to, j, 4, (two | two << 6) & 0x03030303);
            }
        } else if (bits < 8) {
            unsigned held = 0;
            int have = 0;
            int64_t j = 0;
            for (int64_t i = 0; i < many; i++) {
                if (have < bits) {
                    held |= (unsigned)from[j++] << have;
                    have += 8;
                }
                to[i] = (uint8_t)(held & mask);
                held >>= bits;
                have -= bits;
            }
        } else if (LITTLE) {
            memcpy(to, from, (size_t)count);
        } else {
            for (int64_t i = 0; i < many; i++) {
                uint64_t item = 0;
                for (int k = 0; k < bits / 8; k++)
                    item |= (uint64_t)from[i * (bits / 8) + k] << 8 * k;
                store(to, i, bits / 8, item);
            }
        }
    }
}
