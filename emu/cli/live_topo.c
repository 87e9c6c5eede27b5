#include "emu/cli/live_topo.h"

#include <string.h>

#include "emu/cli/cli.h"
#include "emu/model/diag.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/model/units.h"

enum { SCALE_MAX = 1000 };

static bool has_case(const struct topo_file *f, const char *name)
{
    for (size_t i = 0; i < topo_file_cases(f); i++)
        if (strcmp(topo_file_case(f, i), name) == 0)
            return true;
    return false;
}

struct topo *live_topo_load(const char *command, const char *file, const char *case_name)
{
    struct topo *t = NULL;
    struct topo_file *f;
    struct diag d;

    diag_init(&d, file);
    f = topo_file_open(file, &d);
    if (f && case_name && !has_case(f, case_name)) {
        cli_error(CLI_USAGE, command, "%s has no case `%s`", file, case_name);
    } else {
        if (f)
            t = topo_load(f, case_name, &d);
        if (!t || diag_count(&d, DIAG_ERROR) > 0) {
            diag_print_text(&d, stderr, true);
            topo_free(t);
            t = NULL;
        }
    }
    topo_file_close(f);
    diag_free(&d);
    return t;
}

const char *live_parse_scale(const char *text, void *member)
{
    double value;
    const char *wrong = unit_parse_count(text, &value);

    if (wrong || !(value > 0) || value > SCALE_MAX)
        return "a factor above 0 and at most 1000, such as 0.25";
    *(double *)member = value;
    return NULL;
}
