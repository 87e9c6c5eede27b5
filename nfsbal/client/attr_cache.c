#include "nfsbal/client/attr_cache.h"

int nfs3_time_compare(const struct nfs3_time *a, const struct nfs3_time *b)
{
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    if (a->nanoseconds != b->nanoseconds)
        return a->nanoseconds < b->nanoseconds ? -1 : 1;
    return 0;
}

/* Answers on several connections overtake each other. One that was asked for after the last answer came is newer whatever it
 * says. Else the change time decides; where a server's clock ticks too slowly for that, files only grow by overlapping calls
 * (a shrinking SETATTR is never out together with another). */
static bool overtaken(const struct attr_cache *c, const struct nfs3_attr *a, int64_t sent)
{
    int order;

    if (!c->known || sent >= c->updated)
        return false;
    order = nfs3_time_compare(&a->ctime, &c->attr.ctime);
    return order < 0 || (order == 0 && a->size < c->attr.size);
}

bool attr_cache_take(struct attr_cache *c, const struct nfs3_attr *a, const struct attr_limits *limits, int64_t sent,
                     int64_t now)
{
    bool changed;

    if (overtaken(c, a, sent))
        return false;
    changed = !c->known || a->size != c->attr.size || nfs3_time_compare(&a->mtime, &c->attr.mtime) != 0 ||
              nfs3_time_compare(&a->ctime, &c->attr.ctime) != 0;
    if (changed) {
        c->trust = limits->min;
    } else if (now - c->updated >= c->trust) {
        c->trust *= 2;
        if (c->trust > limits->max)
            c->trust = limits->max;
    }
    c->known = true;
    c->attr = *a;
    c->updated = now;
    return changed;
}

int64_t attr_cache_left(const struct attr_cache *c, int64_t now)
{
    int64_t left = c->known ? c->updated + c->trust - now : 0;

    return left > 0 ? left : 0;
}

void attr_cache_expire(struct attr_cache *c) { c->trust = 0; }
