#include "emu/model/topology_arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

struct topo_arena {
    struct block *blocks; /* the newest first; only it has room */
    size_t next_size;
    struct name_table strings; /* interned */
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

struct topo_arena *arena_new(void)
{
    struct topo_arena *a = must(calloc(1, sizeof(*a)));
    a->next_size = FIRST_BLOCK;
    name_table_init(&a->strings, a);
    return a;
}

void arena_free(struct topo_arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->blocks; b;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

void *arena_alloc(struct topo_arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        must(NULL);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct block *b = a->blocks;
    if (!b || b->size - b->used < size) {
        size_t room = size > a->next_size ? size : a->next_size;
        b = must(calloc(1, sizeof(*b) + room));
        b->size = room;
        if (a->blocks && size > a->next_size) {
            /* A large piece of its own: the block in use keeps its room. */
            b->next = a->blocks->next;
            a->blocks->next = b;
        } else {
            b->next = a->blocks;
            a->blocks = b;
        }
        if (a->next_size < LARGEST_BLOCK)
            a->next_size *= 2;
    }
    void *memory = b->bytes + b->used;
    b->used += size;
    return memory;
}

char *arena_copy(struct topo_arena *a, const char *text, size_t length)
{
    char *copy = arena_alloc(a, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct topo_arena *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        must(NULL);
    char *text = arena_alloc(a, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

/* FNV-1a, then mixed, since slots are taken from the low bits. */
static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

/* The slot that holds the name, or the free one where it belongs. The table has at least one free slot. */
static struct name_slot *slot(const struct name_table *t, const char *name)
{
    size_t i = hash(name) & (t->size - 1);
    while (t->slots[i].name && strcmp(t->slots[i].name, name) != 0)
        i = (i + 1) & (t->size - 1);
    return &t->slots[i];
}

void name_table_init(struct name_table *t, struct topo_arena *a) { *t = (struct name_table){.arena = a}; }

int name_table_find(const struct name_table *t, const char *name)
{
    if (!t->size)
        return -1;
    const struct name_slot *s = slot(t, name);
    return s->name ? s->value : -1;
}

int name_table_add(struct name_table *t, const char *name, int value)
{
    if (t->count * 3 >= t->size * 2) {
        struct name_table larger = *t;
        larger.size = t->size ? 2 * t->size : 16;
        larger.slots = arena_alloc(t->arena, larger.size * sizeof(*larger.slots));
        for (size_t i = 0; i < t->size; i++)
            if (t->slots[i].name)
                *slot(&larger, t->slots[i].name) = t->slots[i];
        *t = larger;
    }
    struct name_slot *s = slot(t, name);
    if (s->name)
        return s->value;
    *s = (struct name_slot){name, value};
    t->count++;
    return -1;
}

const char *arena_intern(struct topo_arena *a, const char *text)
{
    if (!text)
        return NULL;
    if (a->strings.size) {
        const struct name_slot *s = slot(&a->strings, text);
        if (s->name)
            return s->name;
    }
    const char *copy = arena_copy(a, text, strlen(text));
    name_table_add(&a->strings, copy, 0);
    return copy;
}

void *arena_grow(struct topo_arena *a, void *array, size_t count, size_t *capacity, size_t element)
{
    if (count < *capacity)
        return array;
    size_t larger = *capacity ? 2 * *capacity : 8;
    void *moved = arena_alloc(a, larger * element);
    if (count)
        memcpy(moved, array, count * element);
    *capacity = larger;
    return moved;
}
