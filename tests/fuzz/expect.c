/* Any bytes as an expectation's value: never a crash, and an error lies within the text. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "tests/support/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct result *r;
    if (!r) {
        r = result_new(site_new("ip-hash", TOPO_WRITE), "train", 1, 0, 0);
        r->window_end = PS_PER_S;
        r->complete = true;
        result_operation(r, 0, 0, 2, true, 65536, PS_PER_MS);
        result_finish(r);
    }
    const struct expect_case cases[] = {{"ip-hash", r->topo, r}, {"ip", r->topo, NULL}};
    struct expect_outcome out;
    size_t at = 0;
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = 0;
    if (expect_evaluate(text, cases, 2, &out, &at))
        assert((out.verdict == EXPECT_PASS) == (isfinite(out.value) != 0));
    else
        assert(at <= strlen(text) && *out.problem);
    free(text);
    return 0;
}
