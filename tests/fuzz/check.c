/* Any file that can be read can be checked: reads it, and checks the file as it stands and each of its cases. */
#include <stddef.h>
#include <stdint.h>

#include "emu/model/check.h"
#include "emu/model/diag.h"
#include "emu/model/topology_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 loses a buffer of its own when a long quoted scalar ends in an error; ours are still watched. */
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d;
    struct topo_file *f;
    struct check_proof proof;

    if (size > 16384) /* the time goes with the square of what a file names */
        return 0;
    diag_init(&d, "input");
    f = topo_file_parse("input", (const char *)data, size, &d);
    if (f)
        check_file(f, NULL, 0, &d, &proof);
    topo_file_close(f);
    diag_free(&d);
    return 0;
}
