/* A call from Python that is like one before: of arrays of the same shapes and type. What is the
   same is remembered as words: the function that moves, the type as numpy spells it, the shapes of
   what is read and written, the shape that is asked for (-1 where none is), and the job. What is
   not the same is left to Python, and nothing was written.

   Python's headers are not needed: the functions are of its stable ABI, and come by their places. */
typedef struct { /* Py_buffer */
    void *memory, *owner;
    intptr_t length, item;
    int readonly, rank;
    char *format;
    intptr_t *shape, *strides, *others;
    void *internal;
} view;

enum { WRITABLE = 1, FORMAT = 4, CONTIGUOUS = 8, FAST_CALL = 0x80, ALONE_BELOW = 1 << 16 };

static struct {
    char *(*bytes)(void *);
    int (*open)(void *, view *, int);
    void (*close)(view *);
    void *(*type)(void *);
    void (*drop)(void *);
    intptr_t (*size)(void *);
    void *(*at)(void *, intptr_t);
    long long (*integer)(void *);
    void (*forget)(void);
    void *(*leave)(void);
    void (*enter)(void *);
    void *(*truth)(long);
    void *array, *tuple, *whole;
} python;

static int is(void *object, const void *type)
{
    void *found = python.type(object);
    python.drop(found);
    return found == type;
}

/* Whether an array has a shape, and items of a type; then it is open. */
static int opened(void *array, int flags, const int64_t *shape, int64_t format, view *found)
{
    char spelled[8] = {0};
    int64_t word;
    if (!is(array, python.array)) return 0;
    if (python.open(array, found, flags)) {
        python.forget();
        return 0;
    }
    int same = found->rank == *shape && strlen(found->format) < sizeof spelled;
    for (int i = 0; same && i < found->rank; i++) same = found->shape[i] == shape[1 + i];
    if (same) memcpy(spelled, found->format, strlen(found->format));
    memcpy(&word, spelled, sizeof word);
    if (same && word == format) return 1;
    python.close(found);
    return 0;
}

/* Whether a tuple of integers, which are of no other type, is a shape. */
static int asked(void *tuple, const int64_t *shape)
{
    int same = is(tuple, python.tuple) && python.size(tuple) == *shape;
    for (int i = 0; same && i < *shape; i++) {
        void *each = python.at(tuple, i);
        same = is(each, python.whole) && python.integer(each) == shape[1 + i];
    }
    if (!same) python.forget(); /* an integer may have more bits */
    return same;
}

static void *again(void *self, void *const *given, intptr_t count)
{
    const int64_t *words = (const int64_t *)python.bytes(self);
    const int64_t *read = words + 2, *write = read + 1 + *read, *shape = write + 1 + *write;
    const int64_t *job = shape + 1 + (*shape < 0 ? 0 : *shape);
    int (*move)(const void *, void *, const int64_t *);
    view source, target;
    int done = 0;
    memcpy(&move, words, sizeof move);
    if (count != (*shape < 0 ? 2 : 3) || (count == 3 && !asked(given[2], shape))) return python.truth(0);
    if (!opened(given[0], CONTIGUOUS | FORMAT, read, words[1], &source)) return python.truth(0);
    if (opened(given[1], CONTIGUOUS | FORMAT | WRITABLE, write, words[1], &target)) {
        void *thread = job[0] + job[1] < ALONE_BELOW ? 0 : python.leave();
        done = !move(source.memory, target.memory, job);
        if (thread) python.enter(thread);
        python.close(&target);
    }
    python.close(&source);
    return python.truth(done);
}
