/* A plan with what its printers share: today's and the planned site with their predictions. Private to nfsbal/cli/plan*.c. */
#ifndef NFSBAL_CLI_PLAN_VIEW_H
#define NFSBAL_CLI_PLAN_VIEW_H

#include <stdio.h>

#include "emu/model/path_site.h"
#include "emu/report/plan_file.h"
#include "emu/report/table.h"
#include "nfsbal/plan/failure.h"
#include "nfsbal/plan/frontier.h"
#include "nfsbal/plan/layout.h"

/* Some layout, in force: topology and predictions. */
struct plan_scene {
    const struct plan_frontier_row *row;
    struct topo *t; /* owned unless it is the file's */
    struct path_site *site;
};

struct plan_view {
    const char *file;
    const struct topo *t; /* of the file */
    const struct plan_frontier *frontier;
    const struct plan_frontier_row *best, *chosen;
    const struct plan *plan; /* the chosen row's */
    struct plan_scene today,
        goal;      /* goal: the chosen row where something is proposed, else the best; today: none on a new site */
    bool proposed; /* the chosen row changes something, or there was nothing before */
    struct plan_failure worst; /* of the chosen row */
    struct plan_part *parts;   /* fingerprint */
    size_t n_parts;
    enum table_format format;                       /* TABLE_TEXT or TABLE_MARKDOWN */
    const struct plan_way_facts *const *ways;       /* what the layout rests on, the least supported first */
    const struct plan_way_facts *const *ways_today; /* of these what today's mounts rest on already */
    size_t n_ways, n_ways_today;
    const struct plan_warning *warnings;
    size_t n_warnings;
    bool more_levers; /* than VIPs were looked at */
};

/* A sentence about what to mind, by a name that stays. */
struct plan_warning {
    const char *id;
    char text[512];
};

/* Fills ways and warnings, in the memory of `arena`. */
struct topo_arena;
void plan_judge(struct plan_view *v, struct topo_arena *arena);

/* The scene of the chosen row: the goal where it is proposed, else today's. */
const struct plan_scene *plan_made(const struct plan_view *v);

/* What each host gets alone, all of its datastores busy, and what all get together: bytes/s. */
double plan_host_rate(const struct plan_scene *s, int host, enum flow_direction d);
double plan_all_rate(const struct plan_scene *s, enum flow_direction d);
/* What all get together by the way in which TCP shares (predict_tcp.h); *between: flows that meet two full links. */
double plan_tcp_rate(const struct plan_scene *s, enum flow_direction d, size_t *between);
double plan_slowest_rate(const struct plan_scene *s, enum flow_direction d);

/* Whether the least load that any layout of as many changes could have is known, and what it is. */
bool plan_bound(const struct plan_frontier_row *row, double *bound);

int plan_text(const struct plan_view *v, FILE *out); /* 0 or -ENOMEM */
/* Its parts: the layout by host (boxes), what moves in each row of the frontier; a number of flows as people write it. */
int plan_layout_text(const struct plan_view *v, const int *hosts, size_t n, FILE *out);
void plan_moves_text(const struct plan_view *v, FILE *out);
void plan_flows_words(double flows, char *out, size_t size);
int plan_explain(const struct plan_view *v, int datastore, FILE *out); /* -1: all */
/* Lines of a zone and a hosts file, a name per datastore in this domain (NULL: that of the VIPs' names). False: there is none. */
bool plan_names(const struct plan_view *v, const char *domain, FILE *out);
/* Other designs for a site, side by side. 0 or -ENOMEM. */
int plan_designs_text(const struct topo *t, enum table_format format, FILE *out);
void plan_designs_json(const struct topo *t, FILE *out);
int plan_tsv(const struct plan_view *v, FILE *out);
void plan_json(const struct plan_view *v, FILE *out);

#endif
