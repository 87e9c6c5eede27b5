#include "emu/live/frame_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/live/flows.h"

/* Memory comes in pieces that the kernel can back by one huge page each. */
enum { PIECE = 2 << 20, SMALL = 2048, LARGE = 68 << 10 };
_Static_assert(sizeof(struct frame) + SUPERFRAME_VNET + SUPERFRAME_MAX <= LARGE, "the largest frame fits");

struct frame_pool {
    struct frame *small, *large; /* free ones */
    void **pieces;
    size_t n_pieces, size_pieces;
    size_t used;
};

struct frame_pool *frame_pool_new(void) { return calloc(1, sizeof(struct frame_pool)); }

void frame_pool_free(struct frame_pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_pieces; i++)
        munmap(p->pieces[i], PIECE);
    free(p->pieces);
    free(p);
}

/* A mapping of PIECE bytes that starts at a multiple of PIECE; NULL when there is none. */
static char *map_piece(void)
{
    char *at = mmap(NULL, 2 * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *start;

    if (at == MAP_FAILED)
        return NULL;
    start = at + (PIECE - (uintptr_t)at % PIECE) % PIECE;
    if (start > at)
        munmap(at, (size_t)(start - at));
    munmap(start + PIECE, (size_t)(at + PIECE - start));
    madvise(start, PIECE, MADV_HUGEPAGE); /* a wish: without, the first use of each page is slower */
    return start;
}

static void grow(struct frame_pool *p, struct frame **list, uint32_t size)
{
    char *piece;

    if (p->n_pieces == p->size_pieces) {
        size_t n = p->size_pieces ? 2 * p->size_pieces : 16;
        void **more = realloc(p->pieces, n * sizeof(void *));

        if (!more)
            return;
        p->pieces = more;
        p->size_pieces = n;
    }
    piece = map_piece();
    if (!piece)
        return;
    p->pieces[p->n_pieces++] = piece;
    for (size_t at = PIECE / size * size; at > 0; at -= size) {
        struct frame *f = (struct frame *)(void *)(piece + at - size);

        f->capacity = size - (uint32_t)offsetof(struct frame, bytes);
        f->next = *list;
        *list = f;
    }
}

static struct frame *take(struct frame_pool *p, struct frame **list, uint32_t size)
{
    struct frame *f;

    if (!*list)
        grow(p, list, size);
    f = *list;
    if (!f)
        return NULL;
    *list = f->next;
    f->refs = 1;
    p->used++;
    return f;
}

struct frame *frame_take(struct frame_pool *p) { return take(p, &p->large, LARGE); }

struct frame *frame_fit(struct frame_pool *p, struct frame *f, size_t bytes)
{
    struct frame *small;

    if (bytes > SMALL - offsetof(struct frame, bytes))
        return f;
    small = take(p, &p->small, SMALL);
    if (!small)
        return f;
    small->info = f->info;
    memcpy(small->bytes, f->bytes, bytes);
    frame_release(p, f);
    return small;
}

void frame_release(struct frame_pool *p, struct frame *f)
{
    struct frame **list = f->capacity > SMALL ? &p->large : &p->small;

    if (--f->refs > 0)
        return;
    f->next = *list;
    *list = f;
    p->used--;
}

size_t frame_pool_used(const struct frame_pool *p) { return p->used; }

/* ---- trains ---- */

static struct live_flow *flow_of(const struct train *t) { return t->flow->owner; }

static void train_gone(void *context, struct train *t)
{
    if (t->kind != TRAIN_DATA)
        return;
    flow_of(t)->refs--;
    frame_release(context, t->u.raw.buffer);
}

static void train_copied(void *context, const struct train *t, struct train *copy)
{
    struct frame *f = copy->u.raw.buffer;

    (void)context;
    if (t->kind != TRAIN_DATA)
        return;
    flow_of(t)->refs++;
    f->refs++;
}

static void train_cut(void *context, struct train *t, struct train *rest)
{
    train_copied(context, t, rest);
    if (t->kind == TRAIN_DATA)
        rest->u.raw.first += t->frames;
}

void frame_pool_hooks(struct frame_pool *p, struct train_hooks *hooks)
{
    *hooks = (struct train_hooks){.release = train_gone, .copy = train_copied, .split = train_cut, .context = p};
}
