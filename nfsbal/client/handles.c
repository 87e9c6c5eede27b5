#include "nfsbal/client/handles.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BY_ID, BY_FH, BY_NAME, FIRST_SLOTS = 1024 };

/* FNV-1a, its upper bits folded in. */
static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001B3);
    return h ^ (h >> 32);
}

static const uint64_t basis = UINT64_C(0xCBF29CE484222325);

static uint64_t hash_id(uint64_t id) { return hash_bytes(basis, &id, sizeof id); }

static uint64_t hash_fh(const struct nfs3_fh *fh) { return hash_bytes(basis, fh->bytes, fh->size); }

static uint64_t hash_name(uint64_t parent, const char *name) { return hash_bytes(hash_id(parent), name, strlen(name)); }

static uint64_t hash_node(const struct node *n, int key)
{
    return key == BY_ID ? hash_id(n->id) : key == BY_FH ? hash_fh(&n->fh) : hash_name(n->parent, n->name);
}

static void chain(struct handles *h, int key, struct node *n)
{
    struct node **slot = &h->slots[key][hash_node(n, key) & (h->n_slots - 1)];

    n->next[key] = *slot;
    *slot = n;
}

static void unchain(struct handles *h, int key, struct node *n)
{
    struct node **at = &h->slots[key][hash_node(n, key) & (h->n_slots - 1)];

    while (*at != n)
        at = &(*at)->next[key];
    *at = n->next[key];
}

/* Twice the slots. Without memory the chains just get longer. */
static void grow(struct handles *h)
{
    struct node **slots[NODE_KEYS], **old[NODE_KEYS];
    size_t n_old = h->n_slots;
    int got = 0;

    while (got < NODE_KEYS && (slots[got] = calloc(2 * n_old, sizeof *slots[got])) != NULL)
        got++;
    if (got < NODE_KEYS) {
        while (got > 0)
            free(slots[--got]);
        return;
    }
    memcpy(old, h->slots, sizeof old);
    memcpy(h->slots, slots, sizeof slots);
    h->n_slots = 2 * n_old;
    for (int key = 0; key < NODE_KEYS; key++) {
        for (size_t i = 0; i < n_old; i++)
            for (struct node *n = old[key][i], *next; n; n = next) {
                next = n->next[key];
                chain(h, key, n);
            }
        free(old[key]);
    }
}

bool handles_init(struct handles *h)
{
    *h = (struct handles){.n_slots = FIRST_SLOTS};
    for (int key = 0; key < NODE_KEYS; key++)
        h->slots[key] = calloc(FIRST_SLOTS, sizeof *h->slots[key]);
    if (h->slots[BY_ID] && h->slots[BY_FH] && h->slots[BY_NAME])
        return true;
    handles_free(h);
    return false;
}

void handles_free(struct handles *h)
{
    for (size_t i = 0; h->slots[BY_ID] && i < h->n_slots; i++)
        for (struct node *n = h->slots[BY_ID][i], *next; n; n = next) {
            next = n->next[BY_ID];
            free(n->name);
            free(n);
        }
    for (int key = 0; key < NODE_KEYS; key++)
        free(h->slots[key]);
    *h = (struct handles){.n_slots = 0};
}

struct node *handles_find(const struct handles *h, uint64_t id)
{
    struct node *n = h->slots[BY_ID][hash_id(id) & (h->n_slots - 1)];

    while (n && n->id != id)
        n = n->next[BY_ID];
    return n;
}

struct node *handles_get(struct handles *h, const struct nfs3_fh *fh)
{
    struct node *n = h->slots[BY_FH][hash_fh(fh) & (h->n_slots - 1)];

    while (n && !nfs3_fh_equal(&n->fh, fh))
        n = n->next[BY_FH];
    if (n)
        return n;
    n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    if (++h->count > h->n_slots)
        grow(h);
    n->fs = h->fs;
    n->id = ++h->last_id;
    n->fh = *fh;
    chain(h, BY_ID, n);
    chain(h, BY_FH, n);
    return n;
}

bool handles_release(struct handles *h, struct node *n)
{
    if (n->lookups > 0 || n->holds > 0)
        return false;
    assert(n->opens == 0 && !n->wb.listed && !n->stable);
    handles_drop_name(h, n);
    unchain(h, BY_ID, n);
    unchain(h, BY_FH, n);
    h->count--;
    free(n);
    return true;
}

struct node *handles_named(const struct handles *h, uint64_t parent, const char *name)
{
    struct node *n = h->slots[BY_NAME][hash_name(parent, name) & (h->n_slots - 1)];

    while (n && (n->parent != parent || strcmp(n->name, name) != 0))
        n = n->next[BY_NAME];
    return n;
}

void handles_drop_name(struct handles *h, struct node *n)
{
    if (!n->name)
        return;
    unchain(h, BY_NAME, n);
    free(n->name);
    n->name = NULL;
}

void handles_set_name(struct handles *h, struct node *n, uint64_t parent, const char *name)
{
    struct node *other = handles_named(h, parent, name);

    if (other == n)
        return;
    if (other)
        handles_drop_name(h, other);
    handles_drop_name(h, n);
    n->name = strdup(name);
    n->parent = parent;
    if (n->name)
        chain(h, BY_NAME, n);
}

void handles_each(struct handles *h, void (*each)(void *context, struct node *n), void *context)
{
    for (size_t i = 0; i < h->n_slots; i++)
        for (struct node *n = h->slots[BY_ID][i]; n; n = n->next[BY_ID])
            each(context, n);
}
