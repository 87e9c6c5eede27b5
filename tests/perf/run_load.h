/* Loads and runs a topology for benchmarks; ends the program with a message where that fails. */
#ifndef TESTS_PERF_RUN_LOAD_H
#define TESTS_PERF_RUN_LOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/model/diag.h"
#include "emu/model/result.h"
#include "emu/model/topology_file.h"
#include "emu/sim/run.h"

/* CPU seconds of the run in *seconds: what else the machine does must not count. */
static inline struct result *run_load(const char *name, const char *text, const char *case_name, enum sim_detail detail,
                                      double *seconds)
{
    struct diag d;
    char problem[256] = "";
    const struct sim_options o = {.detail = detail, .seed = 1};
    struct result *r = NULL;

    diag_init(&d, name);
    struct topo_file *file = text ? topo_file_parse(name, text, strlen(text), &d) : topo_file_open(name, &d);
    struct topo *t = file ? topo_load(file, case_name, &d) : NULL;
    topo_file_close(file);
    if (t) {
        clock_t start = clock();
        r = sim_run(t, &o, problem, sizeof(problem));
        *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    } else {
        diag_print_text(&d, stderr, true);
    }
    diag_free(&d);
    if (!r) {
        fprintf(stderr, "%s: %s\n", name, problem);
        exit(1);
    }
    return r;
}

#endif
