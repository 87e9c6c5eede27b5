/* Any text as options of nfsbal mount. needs: full */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/client/mount_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mount_options o;
    char problem[200] = "", *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    mount_options_init(&o);
    if (mount_options_parse(&o, text, problem, sizeof problem)) {
        assert(o.n_source_ports <= MOUNT_PORTS_MAX);
        assert(o.ac_reg_min <= o.ac_reg_max && o.ac_dir_min <= o.ac_dir_max);
        assert(o.wsize == 0 || (o.wsize >= 4096 && o.wsize <= 1 << 20));
    } else {
        assert(*problem);
    }
    free(text);
    return 0;
}
