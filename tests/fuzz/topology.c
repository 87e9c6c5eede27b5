/* Any bytes as a topology file: never a crash, no NULL without an error, and what reads is the same after `--expand`. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "tests/support/topo_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 leaks a buffer of its own in fy_token_get_text() when a scalar has some thousand escapes. */
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so"; }

static char *dump(const struct topo *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert(out);
    topo_dump(t, out);
    fclose(out);
    return text;
}

/* The expanded text of a case reads back to the same topology, and its expansion is itself. */
static void round_trip(const struct topo_file *f, const char *name, const struct topo *t)
{
    char *first = NULL, *second = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&first, &size);
    assert(out && topo_file_print_expanded(f, name, out) == 0);
    fclose(out);
    struct diag d;
    diag_init(&d, "fuzz.yaml");
    struct topo_file *again = topo_file_parse("fuzz.yaml", first, size, &d);
    if (!again)
        diag_print_text(&d, stderr, true);
    assert(again);
    out = open_memstream(&second, &size);
    assert(out && topo_file_print_expanded(again, NULL, out) == 0);
    fclose(out);
    assert(strcmp(first, second) == 0);
    struct topo *t2 = topo_load(again, NULL, &d);
    if (!t2)
        diag_print_text(&d, stderr, true);
    assert(t2);
    if (!name) { /* a case loses what compares cases */
        char *a = dump(t), *b = dump(t2);
        assert(strcmp(a, b) == 0);
        free(a);
        free(b);
    }
    topo_free(t2);
    topo_file_close(again);
    diag_free(&d);
    free(first);
    free(second);
}

static void load(const struct topo_file *f, const char *name, struct diag *d)
{
    struct topo *t = topo_load(f, name, d);
    assert(t || diag_count(d, DIAG_ERROR) > 0);
    if (t && t->n_mounts < 10000)
        round_trip(f, name, t);
    topo_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CASES_MAX = 4 };
    struct diag d;
    diag_init(&d, "fuzz.yaml");
    struct topo_file *f = topo_file_parse("fuzz.yaml", (const char *)data, size, &d);
    assert(f || diag_count(&d, DIAG_ERROR) > 0);
    if (f)
        load(f, NULL, &d);
    for (size_t i = 0; f && i < topo_file_cases(f) && i < CASES_MAX; i++)
        load(f, topo_file_case(f, i), &d);
    topo_file_close(f);
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    assert(out);
    diag_print_text(&d, out, true);
    fclose(out);
    free(text);
    diag_free(&d);
    return 0;
}
