/* For Linux hosts, beside fstab and systemd: autofs, libvirt, Kubernetes. Sources: auto.master(5), autofs(5), libvirt's storage
 * pool XML format and its RELAX NG schema, Kubernetes' documentation of persistent volumes.
 */
#include <string.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

void emit_autofs(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    fputs("# A direct map: /etc/auto.nfsbal, with a line `/- /etc/auto.nfsbal` in /etc/auto.master.d/nfsbal.autofs\n",
          out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        quote_autofs_key(out, emit_target(e->t, m, text, sizeof text));
        fprintf(out, " -fstype=nfs,%s,hard ", emit_options(e->t, m, text, sizeof text));
        quote_autofs(out, emit_source(e->t, m, text, sizeof text));
        fputc('\n', out);
    }
}

/* The schema wants a whole number as the protocol's version, so that 4.1 and nconnect are mount options; those are a name space of
 * their own. */
static void libvirt_pool(const struct emit *e, const struct topo_mount *m, FILE *out)
{
    const struct topo_datastore *ds = &e->t->datastores[m->datastore];
    char text[EMIT_TEXT];
    fputs("<pool type='netfs' xmlns:fs='http://libvirt.org/schemas/storagepool/fs/1.0'>\n  <name>", out);
    quote_xml(out, ds->name);
    fputs("</name>\n  <source>\n    <host name='", out);
    quote_xml(out, m->n_vips > 1 ? e->t->vips[m->vips[0]].text : m->server);
    fputs("'/>\n    <dir path='", out);
    quote_xml(out, m->path);
    fputs("'/>\n    <format type='nfs'/>\n", out);
    if (ds->nfs == TOPO_NFS3)
        fputs("    <protocol ver='3'/>\n", out);
    fputs("  </source>\n  <target>\n    <path>", out);
    quote_xml(out, emit_target(e->t, m, text, sizeof text));
    fputs("</path>\n  </target>\n", out);
    if (ds->nfs != TOPO_NFS3 || m->asked > 1) {
        fputs("  <fs:mount_opts>\n", out);
        if (ds->nfs != TOPO_NFS3)
            fprintf(out, "    <fs:option name='vers=%s'/>\n", ds->nfs == TOPO_NFS41 ? "4.1" : "4.2");
        if (m->asked > 1)
            fprintf(out, "    <fs:option name='nconnect=%u'/>\n", m->asked);
        fputs("  </fs:mount_opts>\n", out);
    }
    fputs("</pool>\n", out);
}

void emit_libvirt(const struct emit *e, FILE *out)
{
    size_t at = 0;
    const char *gap = "";
    for (const struct topo_mount *m; (m = emit_next(e, &at)); gap = "\n") {
        fprintf(out, "%s<!-- a file of its own: virsh pool-define FILE; it refuses a name that is taken -->\n", gap);
        libvirt_pool(e, m, out);
    }
}

void emit_kubernetes(const struct emit *e, FILE *out)
{
    size_t at = 0;
    int last = -1;
    fputs("# kubectl create -f THIS_FILE refuses a name that is taken. Retain: what is in a volume stays when its "
          "claim goes.\n"
          "# capacity: NFS sets no limit; the number only has to be as large as the claim's.\n",
          out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        const struct topo_datastore *ds = &e->t->datastores[m->datastore];
        static const char *const versions[] = {[TOPO_NFS3] = "3", [TOPO_NFS41] = "4.1", [TOPO_NFS42] = "4.2"};
        if (m->datastore == last)
            continue;
        last = m->datastore;
        fputs("---\napiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: ", out);
        quote_yaml(out, ds->name);
        fputs("\nspec:\n"
              "  capacity:\n"
              "    storage: 1Ti\n"
              "  accessModes:\n"
              "    - ReadWriteMany\n"
              "  persistentVolumeReclaimPolicy: Retain\n"
              "  storageClassName: ''\n"
              "  mountOptions:\n",
              out);
        fprintf(out, "    - 'nfsvers=%s'\n    - 'hard'\n", versions[ds->nfs]);
        if (m->asked > 1)
            fprintf(out, "    - 'nconnect=%u'\n", m->asked);
        fputs("  nfs:\n    server: ", out);
        quote_yaml(out, m->n_vips > 1 ? e->t->vips[m->vips[0]].text : m->server);
        fputs("\n    path: ", out);
        quote_yaml(out, m->path);
        fputc('\n', out);
    }
}
