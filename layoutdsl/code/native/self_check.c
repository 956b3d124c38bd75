
/* Each kernel is tried on bytes that say where they lie, low and high, between bytes that have to stay.
   Rows and columns lie apart, in another order; only those that have to lie together do. What has to
   come out is worked out in plain integers. */
typedef void tried(uint8_t *, const uint8_t *, const int64_t *, const int64_t *, const uint8_t *,
                   int64_t, int64_t, int64_t, int64_t);

typedef struct {
    tried *move;
    int e, rows, columns, rows_together, columns_together, apart, edged;
} sample;

/* How much is there: as an edge says it, in the same order. */
typedef struct {
    int rows, read, columns, written;
} extent;

/* Where number k lies: groups of `together` items of `size` bytes, from both ends by turns. Items of a
   group lie `apart` by a gap, as groups do, or one behind the other. */
static int64_t place(int k, int all, int together, int apart, int size, int gap, int align)
{
    const int item = apart ? (size + gap + align - 1) / align * align : size;
    const int group = k / together, groups = (all + together - 1) / together;
    const int turned = group % 2 ? groups - 1 - group / 2 : group / 2;
    const int pitch = (together * item + gap + align - 1) / align * align;
    return align + (int64_t)turned * pitch + k % together * item;
}

/* Whether one move does what it has to; `high` is the byte of the position that is moved, `stream`
   whether it goes past the cache: 1 where lines begin, 2 where they do not. */
static int moves_right(const sample *k, const extent *x, int high, int stream)
{
    static const uint8_t marks[2] = {0xa5, 0x5a};
    const int align = stream == 2 ? 16 : stream ? 64 : 3;
    int64_t ro[MOST_ITEMS], co[MOST_ITEMS];
    uint8_t source[MOST_BYTES], wanted[MOST_BYTES], rest[16];
    _Alignas(64) uint8_t target[MOST_BYTES];
    for (int p = 0; p < MOST_BYTES; p++)
        source[p] = (uint8_t)(high ? p >> 8 : p);
    for (int b = 0; b < 16; b++)
        rest[b] = (uint8_t)(0xf0 + b % (k->e & -k->e));
    for (int r = 0; r < k->rows; r++)
        ro[r] = place(r, k->rows, k->rows_together, k->apart, k->columns * k->e, 5, 1);
    for (int c = 0; c < k->columns; c++)
        co[c] = place(c, k->columns, k->columns_together, k->apart, k->rows * k->e, 7, align);
    memset(target, marks[high], MOST_BYTES);
    memset(wanted, marks[high], MOST_BYTES);
    for (int c = 0; c < x->columns; c++)
        for (int b = 0; b < x->written; b++) {
            const int r = b / k->e, from = c * k->e + b % k->e;
            const int there = r < x->rows && from < x->read;
            wanted[co[c] + b] = there ? source[ro[r] + from] : rest[b % k->e % 16];
        }
    if (k->edged)
        k->move(target, source, ro, co, rest, x->rows, x->read, x->columns, x->written);
    else
        k->move(target, source, ro, co, rest, stream > 0, 0, 0, 0);
    return memcmp(target, wanted, MOST_BYTES) == 0;
}

/* Whether both are tried together, of two counts: any with all or half of the other, the small ones
   above all, as what is masked is never more than 64 bytes. */
static int is_tried(int one, int most, int other, int most_other)
{
#ifdef LAYOUT_CHECK_ALL
    return (void)one, (void)most, (void)other, (void)most_other, 1;
#else
    const int rare = (one > 66 && one < most - 2 && one % 61) ||
                     (other > 66 && other < most_other - 2 && other % 61);
    const int chosen = one == most || one == most / 2 || other == most_other || other == most_other / 2;
    return chosen && !rare;
#endif
}

static int is_right(const sample *k)
{
    const extent all = {k->rows, k->columns * k->e, k->columns, k->rows * k->e};
    extent x = all;
    int right = 1;
    for (int high = 0; high < 2 && right; high++) {
        for (int stream = 0; stream < (k->edged ? 1 : 3); stream++)
            right = right && moves_right(k, &all, high, stream);
        for (x.rows = 0; k->edged && x.rows <= all.rows; x.rows++)
            for (x.read = 0; right && x.read <= all.read; x.read++)
                if (is_tried(x.rows, all.rows, x.read, all.read))
                    right = moves_right(k, &x, high, 0);
        x = all;
        for (x.columns = 0; k->edged && x.columns <= all.columns; x.columns++)
            for (x.written = 0; right && x.written <= all.written; x.written++)
                if (is_tried(x.columns, all.columns, x.written, all.written))
                    right = moves_right(k, &x, high, 0);
        x = all;
    }
    return right;
}
