/* The memory of one topology or of one file's tree: taken in small pieces, freed as a whole.
 *
 * Reading makes hundreds of thousands of small strings and structs that all live as long as the topology. Lack of memory
 * ends the program: there is nothing useful that a reader could do about it, and no caller has to check.
 */
#ifndef EMU_MODEL_TOPOLOGY_ARENA_H
#define EMU_MODEL_TOPOLOGY_ARENA_H

#include <stddef.h>

struct topo_arena;

struct topo_arena *arena_new(void);
void arena_free(struct topo_arena *a); /* accepts NULL */

void *arena_alloc(struct topo_arena *a, size_t size); /* zeroed, aligned for every type */
char *arena_copy(struct topo_arena *a, const char *text, size_t length);
char *arena_printf(struct topo_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The one copy of this string in the arena: equal strings give the same pointer. NULL gives NULL. */
const char *arena_intern(struct topo_arena *a, const char *text);

/* For an array that grows at its end: returns room for one more element, moving the array when it is full. */
void *arena_grow(struct topo_arena *a, void *array, size_t count, size_t *capacity, size_t element);

/* A table from names to numbers. The names must live as long as the table; the table lives in an arena. */
struct name_table {
    struct topo_arena *arena;
    struct name_slot {
        const char *name;
        int value;
    } * slots;
    size_t count, size; /* size is a power of two, or 0 */
};

void name_table_init(struct name_table *t, struct topo_arena *a);
/* Adds name -> value and returns -1; when the name is there already, changes nothing and returns its value (>= 0). */
int name_table_add(struct name_table *t, const char *name, int value);
int name_table_find(const struct name_table *t, const char *name); /* -1 */

#endif
