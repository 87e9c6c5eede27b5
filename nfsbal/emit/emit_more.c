/* For all hosts: an Ansible playbook, and the names of the NAS for a hosts file or a zone. */
#include <string.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

static void yaml_member(FILE *out, const char *key, const char *value, const char *behind)
{
    fprintf(out, "%s: ", key);
    quote_ansible(out, value);
    fputs(behind, out);
}

static bool any_of_kind(const struct emit *e, bool esxi)
{
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));)
        if (emit_is_esxi(e->t, m->host) == esxi)
            return true;
    return false;
}

static void ansible_linux(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    fputs("- name: NFS datastores of Linux hosts\n"
          "  hosts: all\n"
          "  become: true\n"
          "  vars:\n"
          "    nfs_mounts:\n",
          out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        if (emit_is_esxi(e->t, m->host))
            continue;
        fputs("      - {", out);
        yaml_member(out, "host", e->t->boxes[m->host].name, ", ");
        yaml_member(out, "source", emit_source(e->t, m, text, sizeof text), ", ");
        yaml_member(out, "target", emit_target(e->t, m, text, sizeof text), ", ");
        yaml_member(out, "options", emit_options(e->t, m, text, sizeof text), "}\n");
    }
    fputs("  tasks:\n"
          "    - name: Nothing else is mounted there\n"
          "      ansible.builtin.assert:\n"
          "        that: >-\n"
          "          ansible_facts.mounts | selectattr('mount', 'equalto', item.target)\n"
          "          | rejectattr('device', 'equalto', item.source) | list | length == 0\n"
          "      loop: \"{{ nfs_mounts }}\"\n"
          "      when: item.host == inventory_hostname\n"
          "    - name: Mount\n"
          "      ansible.posix.mount:\n"
          "        src: \"{{ item.source }}\"\n"
          "        path: \"{{ item.target }}\"\n"
          "        fstype: nfs\n"
          "        opts: \"{{ item.options }},hard,_netdev\"\n"
          "        state: mounted\n"
          "      loop: \"{{ nfs_mounts }}\"\n"
          "      when: item.host == inventory_hostname\n",
          out);
}

static void ansible_esxi(const struct emit *e, FILE *out)
{
    char text[EMIT_TEXT];
    size_t at = 0;
    fputs("- name: NFS datastores of ESXi hosts\n"
          "  hosts: localhost\n"
          "  gather_facts: false\n"
          "  vars:\n"
          "    nfs_datastores:\n",
          out);
    for (const struct topo_mount *m; (m = emit_next(e, &at));) {
        const struct topo_datastore *ds = &e->t->datastores[m->datastore];
        if (!emit_is_esxi(e->t, m->host))
            continue;
        fputs("      - {", out);
        yaml_member(out, "host", e->t->boxes[m->host].name, ", ");
        yaml_member(out, "name", ds->name, ", ");
        yaml_member(out, "server", emit_server(e->t, m, text, sizeof text), ", ");
        yaml_member(out, "path", m->path, ", ");
        yaml_member(out, "type", ds->nfs == TOPO_NFS3 ? "nfs" : "nfs41", "}\n");
    }
    fputs("  tasks:\n"
          "    - name: Mount # a name that is there already is left as it is\n"
          "      community.vmware.vmware_host_datastore:\n"
          "        hostname: \"{{ vcenter_hostname }}\"\n"
          "        username: \"{{ vcenter_username }}\"\n"
          "        password: \"{{ vcenter_password }}\"\n"
          "        esxi_hostname: \"{{ item.host }}\"\n"
          "        datastore_name: \"{{ item.name }}\"\n"
          "        datastore_type: \"{{ item.type }}\"\n"
          "        nfs_server: \"{{ item.server }}\"\n"
          "        nfs_path: \"{{ item.path }}\"\n"
          "        state: present\n"
          "      loop: \"{{ nfs_datastores }}\"\n",
          out);
}

void emit_ansible(const struct emit *e, FILE *out)
{
    fputs("---\n# Adds what is missing; removes nothing.\n", out);
    if (any_of_kind(e, true))
        ansible_esxi(e, out);
    if (any_of_kind(e, false))
        ansible_linux(e, out);
}

/* True when no mount before this one has its name. */
static bool first_of_name(const struct emit *e, const struct topo_mount *m)
{
    size_t at = 0;
    for (const struct topo_mount *other; (other = emit_next(e, &at)) && other != m;)
        if (!strcmp(other->server, m->server))
            return false;
    return true;
}

void emit_hosts(const struct emit *e, FILE *out)
{
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));)
        if (first_of_name(e, m))
            fprintf(out, "%s %s\n", e->t->vips[m->vip].text, m->server);
}

void emit_zone(const struct emit *e, FILE *out)
{
    size_t at = 0;
    for (const struct topo_mount *m; (m = emit_next(e, &at));)
        if (first_of_name(e, m)) {
            const struct topo_vip *vip = &e->t->vips[m->vip];
            fprintf(out, "%s%s IN %s %s\n", m->server, m->server[strlen(m->server) - 1] == '.' ? "" : ".",
                    vip->addr.version == 6 ? "AAAA" : "A", vip->text);
        }
}
