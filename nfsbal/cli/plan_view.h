/* A plan with what its printers share: today's and the planned site with their predictions. Private to nfsbal/cli/plan*.c. */
#ifndef NFSBAL_CLI_PLAN_VIEW_H
#define NFSBAL_CLI_PLAN_VIEW_H

#include <stdio.h>

#include "emu/model/path_site.h"
#include "emu/report/plan_file.h"
#include "nfsbal/plan/failure.h"
#include "nfsbal/plan/layout.h"

/* Some layout, in force: topology and predictions. */
struct plan_scene {
    const struct plan_row *row;
    struct topo *t; /* owned unless it is the file's */
    struct path_site *site;
};

struct plan_view {
    const char *file;
    const struct topo *t; /* of the file */
    const struct plan *plan;
    const struct plan_row *best, *chosen;
    struct plan_scene today,
        goal;      /* goal: the chosen row where something is proposed, else the best; today: none on a new site */
    bool proposed; /* the chosen row changes something, or there was nothing before */
    struct plan_failure worst; /* of the chosen row */
    struct plan_part *parts;   /* fingerprint */
    size_t n_parts;
};

/* The scene of the chosen row: the goal where it is proposed, else today's. */
const struct plan_scene *plan_made(const struct plan_view *v);

/* What each host gets alone, all of its datastores busy, and what all get together: bytes/s. */
double plan_host_rate(const struct plan_scene *s, int host, enum flow_direction d);
double plan_all_rate(const struct plan_scene *s, enum flow_direction d);
double plan_slowest_rate(const struct plan_scene *s, enum flow_direction d);

/* The fullest of the links that a layout decides: its resource, or -1 when there is none. */
int plan_fullest(const struct plan_row *row);

/* "supported", ... of what the row does, and why. */
const char *plan_support(const struct plan_view *v, const char **why);

int plan_text(const struct plan_view *v, FILE *out);                   /* 0 or -ENOMEM */
int plan_explain(const struct plan_view *v, int datastore, FILE *out); /* -1: all */
int plan_tsv(const struct plan_view *v, FILE *out);
void plan_json(const struct plan_view *v, FILE *out);

#endif
