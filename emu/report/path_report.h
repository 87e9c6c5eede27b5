/* `emu path` in its forms: for people a summary of the site, each chosen mount in words, and the link directions; for programs
 * tab-separated rows and JSON ("emu-path/1").
 */
#ifndef EMU_REPORT_PATH_REPORT_H
#define EMU_REPORT_PATH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct path_site;

/* What of the site is shown: mounts in the topology's order, and one host only (box) or all (-1). */
struct path_choice {
    const int *mounts;
    size_t n_mounts;
    int host;
};

/* Each returns 0 or -ENOMEM; errors of writing stay in `out`. */
int path_text_summary(struct path_site *s, FILE *out);
int path_text_mounts(struct path_site *s, const struct path_choice *choice, FILE *out);
int path_text_links(struct path_site *s, const struct path_choice *choice, FILE *out);
/* One row per flow, direction and hop; or, with `links`, one per link direction and kind of flow. */
int path_tsv(struct path_site *s, const struct path_choice *choice, bool links, FILE *out);
int path_json(struct path_site *s, const struct path_choice *choice, FILE *out);

#endif
