/* Moves tensors between two orders, and says whether every element arrived: `@NAME@`.

   Buffers have exactly the bytes that they need, at each alignment in turn, so that sanitizers see
   one byte too many. The first argument plants a fault, which must not go unseen:
   read, write: a buffer lacks its last byte; value, padding: a byte is another; shape: one that
   no memory holds. */
#define _DEFAULT_SOURCE
@INCLUDE@
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = @RANK@, FILL = 9, POISON = 77 };

@DECLARED@
typedef int part(const void *, void *, const int64_t *, const void *, int64_t, int64_t);
typedef int64_t units(const int64_t *);

typedef struct {
    int64_t (*size)(const int64_t *), (*start)(const int64_t *);
    int64_t (*offset)(const int64_t *, const int64_t *);
} side;

static const int64_t shapes[][RANK] = {@SHAPES@};

static int64_t tensor_size(const int64_t *shape)
{
    int64_t all = 1;
    for (int k = 0; k < RANK; k++) all *= shape[k];
    return all;
}

static int64_t tensor_start(const int64_t *shape)
{
    (void)shape;
    return 0;
}

static int64_t tensor_offset(const int64_t *shape, const int64_t *index)
{
    int64_t at = 0;
    for (int k = 0; k < RANK; k++) at = at * shape[k] + index[k];
    return at;
}

@FUNCTIONS@
static const side sides[] = {
    {tensor_size, tensor_start, tensor_offset},
@SIDES@};

static const struct {
    const char *name;
    size_t width;
    int from, to;
    part *part;
    units *units;
} moves[] = {
@MOVES@};

static int one(int number, const int64_t *shape, size_t shift, char plant)
{
    const size_t width = moves[number].width;
    const side from = sides[moves[number].from], to = sides[moves[number].to];
    const size_t read = (size_t)from.size(shape) * width, written = (size_t)to.size(shape) * width;
    char *a = malloc(read + shift - (plant == 'r'));
    void *b = 0; /* what goes past the cache does so from the start of a line */
    if (posix_memalign(&b, 64, written + shift - (plant == 'w'))) abort();
    char *src = a + shift, *dst = (char *)b + shift, *taken = calloc((size_t)to.size(shape), 1);
    const unsigned char fill[8] = {FILL, FILL + 1, FILL + 2, FILL + 3, FILL, FILL, FILL, FILL};
    int64_t index[RANK] = {0}, huge[RANK], all = moves[number].units(shape);
    int found = 0;
    for (size_t k = 0; k < read - (plant == 'r'); k++) src[k] = (char)(k * 2654435761u % 251);
    memset(dst, POISON, written - (plant == 'w'));
    if (plant == 's') {
        for (int k = 0; k < RANK; k++) huge[k] = (int64_t)1 << 40;
        moves[number].part(src, dst, huge, fill, 0, moves[number].units(huge) > 0);
        return 0;
    }
    if (moves[number].part(src, dst, shape, fill, all / 2, all)) return 1;
    if (moves[number].part(src, dst, shape, fill, 0, all / 2)) return 1;
    if (plant == 'v') dst[(size_t)to.offset(shape, index) * width] ^= 1;
    if (plant == 'p') dst[written - 1] ^= 1;
    for (int64_t k = 0; k < tensor_size(shape); k++) {
        int64_t rest = k;
        for (int j = RANK - 1; j >= 0; j--) index[j] = rest % shape[j], rest /= shape[j];
        const int64_t x = from.offset(shape, index), y = to.offset(shape, index);
        if (memcmp(dst + (size_t)y * width, src + (size_t)x * width, width)) found = 2;
        taken[y] = 1;
    }
    for (int64_t slot = 0; slot < to.size(shape); slot++) {
        const char *at = dst + (size_t)slot * width;
        const int lead = slot < to.start(shape);
        for (size_t k = 0; k < width && !taken[slot]; k++)
            if (at[k] != (lead ? POISON : (char)fill[k])) found = 3;
    }
    free(a), free(b), free(taken);
    return found;
}

int main(int given, char **arguments)
{
    const char plant = given > 1 ? arguments[1][0] : 0;
    const int last = (int)(sizeof moves / sizeof *moves);
    for (int number = 0; number < last; number++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            int found = one(number, shapes[k], k % 5, plant);
            if (found) {
                printf("%s: fault %d at shape number %d\n", moves[number].name, found, (int)k);
                return 1;
            }
        }
    printf("%d moves of %d shapes\n", last, (int)(sizeof shapes / sizeof *shapes));
    return 0;
}
