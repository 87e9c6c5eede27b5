/* */
#include "nfsbal/nfs/mount_site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/model/diag.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/report/plan_file.h"
#include "nfsbal/plan/standby.h"

static bool load(struct mount_site *s, const struct mount_site_config *c, struct diag *d)
{
    char problem[400];

    s->file = topo_file_open(c->file, d);
    if (!s->file)
        return false;
    if (!c->plan) {
        s->topo = topo_load(s->file, c->case_name, d);
        return s->topo && diag_count(d, DIAG_ERROR) == 0;
    }
    s->plan = plan_file_load(c->plan, problem, sizeof problem);
    if (!s->plan) {
        cli_error(CLI_USAGE, c->command, "%s", problem);
        return false;
    }
    s->topo =
        plan_file_topo(s->plan, s->file, c->case_name ? c->case_name : ((struct plan_file *)s->plan)->case_name, d);
    return s->topo && diag_count(d, DIAG_ERROR) == 0;
}

/* The box that this machine is, or -1 after an error was printed. */
static int find_host(const struct topo *t, const struct mount_site_config *c)
{
    char name[256] = "";
    int only = -1, box = -1;

    if (c->host)
        snprintf(name, sizeof name, "%s", c->host);
    else if (gethostname(name, sizeof name - 1) == 0)
        name[strcspn(name, ".")] = '\0';
    for (size_t i = 0; i < t->n_mounts; i++) {
        if (strcmp(t->boxes[t->mounts[i].host].name, name) == 0)
            box = t->mounts[i].host;
        if (only == -1 || only == t->mounts[i].host)
            only = t->mounts[i].host;
        else
            only = -2;
    }
    if (box >= 0)
        return box;
    if (c->host)
        cli_error(CLI_USAGE, c->command, "--host %s: no host of this name mounts anything in %s", c->host, c->file);
    else if (only >= 0)
        return only;
    else
        cli_error(CLI_USAGE, c->command, "%s has several hosts and none is called %s: say --host", c->file, name);
    return -1;
}

static bool wanted(const struct mount_site_config *c, const char *datastore)
{
    for (size_t i = 0; i < c->n_datastores; i++)
        if (strcmp(c->datastores[i], datastore) == 0)
            return true;
    return c->n_datastores == 0;
}

static void append(char *to, size_t size, const char *address)
{
    size_t n = strlen(to);

    snprintf(to + n, size - n, "%s%s%s%s", n ? "," : "", strchr(address, ':') ? "[" : "", address,
             strchr(address, ':') ? "]" : "");
}

/* The planned VIP, then the others of the same NAS and group that serve the export without a detour. */
static char *servers_of(const struct topo *t, const struct topo_mount *m)
{
    size_t size = t->n_vips * 64 + 64;
    char *text = calloc(1, size);

    if (!text)
        return NULL;
    append(text, size, t->vips[m->vip].text);
    for (size_t i = 0; i < t->n_vips; i++)
        if (standby_serves(t, m, i))
            append(text, size, t->vips[i].text);
    return text;
}

static char *target_of(struct mount_site *s, const struct mount_site_config *c, const char *datastore)
{
    size_t size = strlen(c->at) + strlen(datastore) + 2;
    char *path = malloc(size), *real;

    if (!path)
        return NULL;
    snprintf(path, size, "%s/%s", c->at, datastore);
    if (!c->make_directories)
        return path;
    if (mkdir(path, 0755) == 0)
        s->made[s->n] = true;
    real = realpath(path, NULL);
    if (!real)
        cli_error(CLI_FAILED, c->command, "%s: %s", path, strerror(errno));
    free(path);
    return real;
}

static int add(struct mount_site *s, const struct mount_site_config *c, const struct mount_options *options,
               const struct topo_mount *m)
{
    const struct topo *t = s->topo;
    const struct topo_datastore *d = &t->datastores[m->datastore];
    struct mount_wish *w = &s->wishes[s->n];

    if (d->iscsi)
        return cli_error(CLI_USAGE, c->command, "datastore %s is a volume over iSCSI: this mounts NFS", d->name);
    if (m->vip < 0)
        return cli_error(CLI_USAGE, c->command, "datastore %s: its server %s is no VIP of the file", d->name,
                         m->server);
    if (m->n_vips > 0)
        return cli_error(CLI_USAGE, c->command, "datastore %s: NFS 4.1 with session trunking; this client speaks NFS 3",
                         d->name);
    s->texts[2 * s->n] = servers_of(t, m);
    s->texts[2 * s->n + 1] = target_of(s, c, d->name);
    *w = (struct mount_wish){.servers = s->texts[2 * s->n], .export = m->path, .target = s->texts[2 * s->n + 1]};
    w->options = *options;
    if (w->options.nconnect == 0 && m->asked > 1)
        w->options.nconnect = m->asked;
    s->n++;
    return w->servers && w->target ? CLI_OK : CLI_FAILED;
}

static int add_all(struct mount_site *s, const struct mount_site_config *c, const struct mount_options *options)
{
    const struct topo *t = s->topo;
    int host = find_host(t, c), rc = host < 0 ? CLI_USAGE : CLI_OK;

    s->wishes = calloc(t->n_mounts + 1, sizeof *s->wishes);
    s->texts = calloc(t->n_mounts + 1, 2 * sizeof *s->texts);
    s->made = calloc(t->n_mounts + 1, sizeof *s->made);
    if (!s->wishes || !s->texts || !s->made)
        return cli_error(CLI_FAILED, c->command, "no memory");
    for (size_t i = 0; rc == CLI_OK && i < t->n_mounts; i++)
        if (t->mounts[i].host == host && wanted(c, t->datastores[t->mounts[i].datastore].name))
            rc = add(s, c, options, &t->mounts[i]);
    for (size_t i = 0; rc == CLI_OK && i < c->n_datastores; i++) {
        bool found = false;

        for (size_t k = 0; k < t->n_mounts; k++)
            found |=
                t->mounts[k].host == host && strcmp(t->datastores[t->mounts[k].datastore].name, c->datastores[i]) == 0;
        if (!found)
            rc = cli_error(CLI_USAGE, c->command, "--datastore %s: %s mounts no such datastore", c->datastores[i],
                           t->boxes[host].name);
    }
    if (rc == CLI_OK && s->n == 0)
        rc = cli_error(CLI_USAGE, c->command, "%s: nothing to mount", c->file);
    return rc;
}

int mount_site_open(struct mount_site *s, const struct mount_site_config *c, const struct mount_options *options)
{
    struct diag d;
    int rc = CLI_USAGE;

    *s = (struct mount_site){.n = 0};
    diag_init(&d, c->file);
    if (load(s, c, &d))
        rc = add_all(s, c, options);
    else
        diag_print_text(&d, stderr, true);
    diag_free(&d);
    if (rc != CLI_OK)
        mount_site_close(s, true);
    return rc;
}

void mount_site_close(struct mount_site *s, bool failed)
{
    for (size_t i = 0; i < s->n; i++) {
        if (failed && s->made[i] && s->texts[2 * i + 1])
            rmdir(s->texts[2 * i + 1]);
        free(s->texts[2 * i]);
        free(s->texts[2 * i + 1]);
    }
    free(s->wishes);
    free(s->texts);
    free(s->made);
    topo_free(s->topo);
    plan_file_free(s->plan);
    topo_file_close(s->file);
    *s = (struct mount_site){.n = 0};
}
