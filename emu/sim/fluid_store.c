#include "emu/sim/fluid_store.h"

#include <math.h>
#include <stdlib.h>

#include "emu/model/storage.h"
#include "emu/model/storage_forms.h"
#include "emu/sim/san.h"

/* What is nothing, of bytes that were counted in doubles. */
static double nothing(const struct fluid_store *st) { return 1 + 1e-9 * (double)st->model->cache.dirty; }

bool fluid_store_init(struct fluid_store *st, size_t n_resources)
{
    st->owed = calloc(n_resources + 1, sizeof(*st->owed));
    return st->owed != NULL;
}

void fluid_store_free(struct fluid_store *st)
{
    san_free(st->san);
    free(st->owed);
}

void fluid_store_fill(struct fluid_store *st, const struct fluid_destage *d, double moved)
{
    st->dirty += moved * d->bytes;
    for (size_t i = 0; i < d->n; i++)
        st->owed[d->uses[i].resource] += moved * d->uses[i].share;
}

void fluid_store_empty(struct fluid_store *st, size_t n_resources, ps_t now,
                       void (*use)(void *context, size_t resource, double amount), void *context)
{
    double bytes = st->apart ? st->rate * (double)(now - st->since) / 1e12 : 0;
    st->since = now;
    if (st->dirty <= 0 || bytes <= 0)
        return;
    double part = fmin(1, bytes / st->dirty);
    if (st->dirty - bytes <= nothing(st))
        part = 1;
    for (size_t r = 0; r < n_resources; r++) {
        if (st->owed[r] > 0)
            use(context, r, part * st->owed[r]);
        st->owed[r] *= 1 - part;
    }
    st->dirty *= 1 - part;
}

size_t fluid_store_mixture(const struct fluid_store *st, size_t n_resources, const struct fluid_destage *writer,
                           struct maxmin_use *uses)
{
    size_t n = 0;
    if (st->dirty > nothing(st)) {
        for (size_t r = 0; r < n_resources; r++)
            if (st->owed[r] > 0)
                uses[n++] = (struct maxmin_use){(int)r, st->owed[r] / st->dirty};
        return n;
    }
    for (; writer && n < writer->n; n++)
        uses[n] = (struct maxmin_use){writer->uses[n].resource, writer->uses[n].share / writer->bytes};
    return n;
}

bool fluid_store_steady(const struct fluid_store *st, double in, double out)
{
    double most = (double)st->model->cache.dirty;
    bool full = most > 0 && st->dirty >= most - nothing(st), empty = st->dirty <= nothing(st);
    return (empty && in <= out * (1 + 1e-9)) || (full && in >= out * (1 - 1e-9));
}

double fluid_store_time(const struct fluid_store *st, double in, double out)
{
    double most = (double)st->model->cache.dirty;
    if (in < out)
        return st->dirty / (out - in);
    return most > 0 ? storage_fill_time(fmax(most - st->dirty, 0), in, out) : (double)INFINITY;
}
