#include "nfsbal/plan/names.h"

#include <stdio.h>
#include <string.h>

const char *plan_names_domain(const struct topo *t)
{
    for (size_t v = 0; v < t->n_vips; v++) {
        const char *dot = t->vips[v].name ? strchr(t->vips[v].name, '.') : NULL;
        if (dot && dot[1])
            return dot + 1;
    }
    return NULL;
}

static bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

static void plain_label(const char *name, char label[PLAN_LABEL_MAX + 1])
{
    size_t n = 0;
    for (; *name && n < PLAN_LABEL_MAX - 8; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name;
        if (is_plain(c))
            label[n++] = c;
        else if (n > 0 && label[n - 1] != '-')
            label[n++] = '-';
    }
    while (n > 0 && label[n - 1] == '-')
        n--;
    if (n == 0)
        label[n++] = 'd';
    label[n] = '\0';
}

void plan_names_label(const struct topo *t, int datastore, char label[PLAN_LABEL_MAX + 1])
{
    unsigned before = 0;
    plain_label(t->datastores[datastore].name, label);
    for (int d = 0; d < datastore; d++) {
        char other[PLAN_LABEL_MAX + 1];
        plain_label(t->datastores[d].name, other);
        before += !strcmp(label, other);
    }
    if (before > 0) {
        size_t n = strlen(label);
        snprintf(label + n, PLAN_LABEL_MAX + 1 - n, "-%u", before + 1);
    }
}
