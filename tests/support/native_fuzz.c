/* Calls kernels and compares every byte with what has to be there; what that is, a file says.

   Arguments: the file, and the number of the first case to try. A case is, in 64-bit integers: the
   number of the kernel, that of the case, the rank, the shape, how many elements are read and how
   many written, the first slot that is filled, or -1 where nothing is, how many elements are moved,
   and for each of them where it comes from and goes to. Arrays lie between pages out of bounds, at
   the end of their memory or at its start; under a sanitizer of addresses, in as many bytes as they
   need. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels.c"

enum { PAGE = 1 << 12, MOST_RANK = 16 };
static const uint8_t POISON[2] = {0xa5, 0x5a};

typedef int part(const void *, void *, const int64_t *, const void *, int64_t, int64_t);
typedef int64_t units(const int64_t *);

typedef struct {
    int64_t kernel, number, rank, read, written, start, count;
    const int64_t *shape, *from, *to;
} problem;

static const struct {
    size_t width;
    part *part;
    units *units;
} kernels[] = {KERNELS};

typedef struct {
    uint8_t *first, *array;
    size_t room, bytes;
} memory;

static memory room(size_t bytes, int at_end)
{
    memory made = {0, 0, (bytes / PAGE + 2) * PAGE, bytes};
#if defined(__SANITIZE_ADDRESS__)
    void *line = 0; /* what goes past the cache does so from the start of one */
    if (posix_memalign(&line, 64, bytes + (at_end ? 3 : 0))) abort();
    made.first = line;
    made.array = made.first + (at_end ? 3 : 0);
#else
    uint8_t *all = mmap(0, made.room + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    made.first = all + PAGE;
    if (all == MAP_FAILED || mprotect(made.first, made.room, PROT_READ | PROT_WRITE)) abort();
    made.array = made.first + (at_end ? made.room - bytes : 0);
#endif
    return made;
}

static void gone(memory made)
{
#if defined(__SANITIZE_ADDRESS__)
    free(made.first);
#else
    munmap(made.first - PAGE, made.room + 2 * PAGE);
#endif
}

static void poisoned(memory made, int which)
{
#if defined(__SANITIZE_ADDRESS__)
    memset(made.array, POISON[which], made.bytes);
#else
    memset(made.first, POISON[which], made.room);
#endif
}

/* Whether only the array was written. */
static int within(memory made)
{
#if !defined(__SANITIZE_ADDRESS__)
    for (uint8_t *at = made.first; at < made.first + made.room; at++)
        if ((at < made.array || at >= made.array + made.bytes) && *at != POISON[0]) return 0;
#endif
    (void)made;
    return 1;
}

static const uint8_t fill[8] = {9, 10, 11, 12, 13, 14, 15, 16};

static const char *whole(problem p, memory src, memory dst, int64_t cut, int64_t all)
{
    const size_t width = kernels[p.kernel].width;
    part *move = kernels[p.kernel].part;
    uint8_t *wanted = malloc(dst.bytes);
    const char *found = 0;
    memset(wanted, POISON[0], dst.bytes);
    for (int64_t k = p.start; k >= 0 && k < p.written; k++)
        memcpy(wanted + (size_t)k * width, fill, width);
    for (int64_t k = 0; k < p.count; k++)
        memcpy(wanted + (size_t)p.to[k] * width, src.array + (size_t)p.from[k] * width, width);
    poisoned(dst, 0);
    const int refused = move(src.array, dst.array, p.shape, fill, cut, all);
    if (refused) found = refused == 3 ? "too large" : "refused";
    for (size_t k = 0; k < dst.bytes && refused; k++)
        if (dst.array[k] != POISON[0]) found = "refused, and written";
    if (cut && move(src.array, dst.array, p.shape, fill, 0, cut)) found = "refused";
    for (size_t k = 0; k < dst.bytes && !found; k++)
        if (dst.array[k] != wanted[k]) found = "wrong";
    if (!within(dst)) found = "outside";
    free(wanted);
    return found;
}

/* Whether two parts of the work write a byte both; they may be done at the same time. */
static int both(problem p, memory src, memory dst, int64_t cut, int64_t all)
{
    uint8_t *seen[2] = {calloc(dst.bytes, 1), calloc(dst.bytes, 1)}, *before = malloc(dst.bytes);
    int found = 0;
    for (int half = 0; half < 2; half++)
        for (int which = 0; which < 2; which++) {
            const int64_t first = half ? cut : 0, past = half ? all : cut;
            poisoned(dst, which);
            kernels[p.kernel].part(src.array, dst.array, p.shape, fill, first, past);
            for (size_t k = 0; k < dst.bytes && which; k++)
                seen[half][k] = before[k] == dst.array[k];
            memcpy(before, dst.array, dst.bytes);
        }
    for (size_t k = 0; k < dst.bytes; k++) found |= seen[0][k] && seen[1][k];
    free(seen[0]), free(seen[1]), free(before);
    return found;
}

static const char *tried(problem p)
{
    const size_t width = kernels[p.kernel].width;
    const int64_t all = kernels[p.kernel].units(p.shape), cut = all * (p.number % 3) / 2;
    memory src = room((size_t)p.read * width, p.number % 2);
    memory dst = room((size_t)p.written * width, p.number / 2 % 2);
    for (size_t k = 0; k < src.bytes; k++) src.array[k] = (uint8_t)(k * 2654435761u % 241 + 1);
    const char *found = whole(p, src, dst, cut < all ? cut : 0, all);
    for (int64_t at = 1; at < all && at < 6 && !found; at++)
        if (both(p, src, dst, at, all)) found = "two parts write one byte";
    gone(src), gone(dst);
    return found;
}

int main(int given, char **arguments)
{
    FILE *file = fopen(arguments[1], "rb");
    const int64_t first = given > 2 ? atoll(arguments[2]) : 0;
    int64_t head[3], tail[4];
    setvbuf(stdout, 0, _IONBF, 0);
    while (file && fread(head, sizeof *head, 3, file) == 3) {
        int64_t shape[MOST_RANK];
        if (fread(shape, sizeof *shape, (size_t)head[2], file) != (size_t)head[2]) return 2;
        if (fread(tail, sizeof *tail, 4, file) != 4) return 2;
        int64_t *places = malloc(2 * sizeof *places * (size_t)tail[3]);
        const size_t all = 2 * (size_t)tail[3];
        if (fread(places, sizeof *places, all, file) != all) return 2;
        if (head[1] >= first) {
            const problem p = {head[0], head[1], head[2], tail[0], tail[1],
                               tail[2], tail[3], shape, places, places + tail[3]};
            printf("at %lld\n", (long long)p.number);
            const char *found = tried(p);
            if (found) printf("fault %lld %s\n", (long long)p.number, found);
        }
        free(places);
    }
    printf("done\n");
    return 0;
}
