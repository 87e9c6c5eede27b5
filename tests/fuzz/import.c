/* Whatever devices print can be read, joined and written. Lines "@ NAME" begin what another device printed, which is an input as
 * a collector writes it. What comes out is read again: that may find faults, but ends well. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/diag.h"
#include "emu/model/topology_file.h"
#include "nfsbal/site/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 loses a buffer of its own when a long quoted scalar ends in an error; ours are still watched. */
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

static void read_back(const char *text, size_t n)
{
    struct diag d;
    struct topo_file *f;

    diag_init(&d, "made");
    f = topo_file_parse("made", text, n, &d);
    if (f)
        topo_free(topo_load(f, NULL, &d));
    topo_file_close(f);
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import *m;
    struct diag d;
    char *text = NULL, device[32] = "esx1";
    const char *in = (const char *)data, *end = in + size;
    size_t n = 0, gaps;
    FILE *out;

    if (size > 16384)
        return 0;
    m = import_new();
    diag_init(&d, "input");
    while (in < end) {
        const char *next = in;

        while (next < end && !(next[0] == '@' && (next == in || next[-1] == '\n') && next > in))
            next++;
        if (*in == '@') {
            size_t line = 1;

            while (in + line < next && in[line] != '\n')
                line++;
            snprintf(device, sizeof device, "d%.*s", (int)(line > 20 ? 20 : line - 1), in + 1);
            in += line;
        }
        import_text(m, device, "collected.txt", in, (size_t)(next - in), &d);
        in = next;
    }
    out = open_memstream(&text, &n);
    if (!out)
        abort();
    import_write(m, "made", out, NULL, &gaps);
    if (fclose(out) != 0)
        abort();
    if (n)
        read_back(text, n);
    free(text);
    import_free(m);
    diag_free(&d);
    return 0;
}
