#include "nfsbal/site/site.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emu/model/topology_file.h"

struct topo *site_load(const char *file, const char *case_name)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t = NULL;

    diag_init(&d, file);
    f = topo_file_open(file, &d);
    if (f)
        t = topo_load(f, case_name, &d);
    if (!t || diag_count(&d, DIAG_ERROR) > 0)
        diag_print_text(&d, stderr, true);
    topo_file_close(f);
    diag_free(&d);
    return t;
}

int site_node(const struct topo *t, const char *name, size_t length)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        if (strlen(t->nodes[i].name) == length && strncasecmp(t->nodes[i].name, name, length) == 0)
            return (int)i;
    for (size_t i = 0; i < t->n_boxes; i++)
        if (strlen(t->boxes[i].name) == length && strncasecmp(t->boxes[i].name, name, length) == 0)
            return t->boxes[i].node;
    return -1;
}

char *site_team_name(const struct topo *t, int team, char *out, size_t size)
{
    const char *part = t->boxes[t->teams[team].box].part;

    snprintf(out, size, "%s%s%s", part ? part : "", part ? "." : "", t->teams[team].name);
    return out;
}
