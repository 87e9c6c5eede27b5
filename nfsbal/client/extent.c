#include "nfsbal/client/extent.h"

#include <assert.h>

/* A treap: ordered by offset, a heap by random priorities. Recursion is as deep as the tree, some 40 levels for the
 * 16,384 extents that fit into 64 MiB. */

static struct extent *rotate_right(struct extent *e)
{
    struct extent *l = e->left;

    e->left = l->right;
    l->right = e;
    return l;
}

static struct extent *rotate_left(struct extent *e)
{
    struct extent *r = e->right;

    e->right = r->left;
    r->left = e;
    return r;
}

static struct extent *insert(struct extent *root, struct extent *e)
{
    if (!root)
        return e;
    if (e->offset < root->offset) {
        root->left = insert(root->left, e);
        return root->left->priority > root->priority ? rotate_right(root) : root;
    }
    root->right = insert(root->right, e);
    return root->right->priority > root->priority ? rotate_left(root) : root;
}

static struct extent *merge(struct extent *a, struct extent *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->priority > b->priority) {
        a->right = merge(a->right, b);
        return a;
    }
    b->left = merge(a, b->left);
    return b;
}

void extent_tree_insert(struct extent_tree *t, struct extent *e)
{
    /* xorshift: no number of it repeats before 2^32 - 1 */
    uint32_t r = t->random ? t->random : 0x9e3779b9U;

    r ^= r << 13;
    r ^= r >> 17;
    r ^= r << 5;
    t->random = r;
    e->left = e->right = NULL;
    e->priority = r;
    t->root = insert(t->root, e);
}

void extent_tree_remove(struct extent_tree *t, struct extent *e)
{
    struct extent **at = &t->root;

    while (*at && *at != e)
        at = e->offset < (*at)->offset ? &(*at)->left : &(*at)->right;
    assert(*at == e);
    *at = merge(e->left, e->right);
    e->left = e->right = NULL;
}

struct extent *extent_tree_first(const struct extent_tree *t, uint64_t offset)
{
    struct extent *best = NULL;

    for (struct extent *e = t->root; e;) {
        if (extent_end(e) > offset) {
            best = e;
            e = e->left;
        } else {
            e = e->right;
        }
    }
    return best;
}

struct extent *extent_tree_ending(const struct extent_tree *t, uint64_t offset)
{
    struct extent *e = offset ? extent_tree_first(t, offset - 1) : NULL;

    return e && extent_end(e) == offset ? e : NULL;
}
