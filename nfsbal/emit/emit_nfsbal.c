/* For Linux hosts that mount with `nfsbal mount` (mount -t nfsbal): the planned VIP as the source, those that can take over
 * from it in vips=.
 */
#include <string.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"
#include "nfsbal/plan/standby.h"

/* The file systems of user space are no network file systems to systemd and to init scripts unless _netdev says so. */
static void print_options(const struct topo *t, const struct topo_mount *m, FILE *out)
{
    const char *before = ",vips=";
    fputs("hard,nolock,_netdev", out);
    if (m->asked > 1)
        fprintf(out, ",nconnect=%u", m->asked);
    for (size_t i = 0; i < t->n_vips; i++)
        if (standby_serves(t, m, i)) {
            bool colons = strchr(t->vips[i].text, ':') != NULL;
            fprintf(out, colons ? "%s[%s]" : "%s%s", before, t->vips[i].text);
            before = "~"; /* a comma would end the option */
        }
}

void emit_nfsbal_fstab(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        quote_fstab(out, emit_source(e->t, m, text, sizeof text));
        fputc(' ', out);
        quote_fstab(out, emit_target(e->t, m, text, sizeof text));
        fputs(" nfsbal ", out);
        print_options(e->t, m, out);
        fputs(" 0 0\n", out);
    }
}

void emit_nfsbal_systemd(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    const char *gap = "";
    for (const struct topo_mount *m; (m = emit_next(e, &at)); gap = "\n") {
        const char *target = emit_target(e->t, m, text, sizeof text);
        fprintf(out, "%s# /etc/systemd/system/", gap);
        quote_unit_name(out, target);
        fputs(".mount\n[Unit]\nDescription=NFS datastore ", out);
        quote_unit(out, e->t->datastores[m->datastore].name);
        fputs(" through nfsbal\n\n[Mount]\nWhere=", out);
        quote_unit(out, target);
        fputs("\nWhat=", out);
        quote_unit(out, emit_source(e->t, m, text, sizeof text));
        fputs("\nType=nfsbal\nOptions=", out);
        print_options(e->t, m, out);
        fputs("\n\n[Install]\nWantedBy=remote-fs.target\n", out);
    }
}
