/* For the NAS: its VIPs, where they are missing. Sources: ONTAP command reference (network interface create), ip-address(8),
 * TrueNAS' documentation of interface aliases.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/quote.h"

enum nas_kind { NAS_ONTAP, NAS_TRUENAS, NAS_LINUX, NAS_OTHER };

static enum nas_kind kind_of(const struct topo_node *node)
{
    const char *model = node->model;
    if (model && (strncasecmp(model, "netapp", 6) == 0 || strncasecmp(model, "ontap", 5) == 0))
        return NAS_ONTAP;
    if (model && strncasecmp(model, "truenas", 7) == 0)
        return NAS_TRUENAS;
    return !model || node->version || strncasecmp(model, "linux", 5) == 0 ? NAS_LINUX : NAS_OTHER;
}

/* Whether somebody mounts it; of one host, where that was asked for. */
static bool is_wanted(const struct emit *e, int vip)
{
    for (size_t m = 0; m < e->t->n_mounts; m++) {
        const struct topo_mount *mount = &e->t->mounts[m];
        bool has = mount->vip == vip;
        for (size_t i = 0; i < mount->n_vips; i++)
            has = has || mount->vips[i] == vip;
        if (has && (e->host < 0 || mount->host == e->host))
            return true;
    }
    return false;
}

static bool any_wanted(const struct emit *e, int node)
{
    for (size_t v = 0; v < e->t->n_vips; v++)
        if (e->t->vips[v].node == node && is_wanted(e, (int)v))
            return true;
    return false;
}

bool emit_nas_possible(const struct emit *e, char *problem, size_t size)
{
    bool any = false;
    for (size_t v = 0; v < e->t->n_vips; v++) {
        const struct topo_vip *vip = &e->t->vips[v];
        if (!is_wanted(e, (int)v))
            continue;
        any = true;
        if (vip->iface < 0 || vip->home < 0) {
            snprintf(problem, size, "nas: VIP %s has no place on %s", vip->text, e->t->nodes[vip->node].name);
            return false;
        }
        if (kind_of(&e->t->nodes[vip->node]) == NAS_ONTAP && !vip->svm_name) {
            snprintf(problem, size, "nas: ONTAP has its addresses in an SVM, and VIP %s of %s stands in none (`svms:`)",
                     vip->text, e->t->nodes[vip->node].name);
            return false;
        }
        if (!quote_possible(e->t->nodes[vip->node].name) || (vip->svm_name && !quote_possible(vip->svm_name))) {
            snprintf(problem, size, "nas: a name with a control character");
            return false;
        }
    }
    if (!any)
        snprintf(problem, size, "nas: there is no mount that needs a VIP%s%s", e->host < 0 ? "" : " on ",
                 e->host < 0 ? "" : e->t->boxes[e->host].name);
    return any;
}

/* "a0a-50" or "bond0.50": the port with its VLAN. */
static void print_port(const struct topo *t, const struct topo_vip *vip, char dot, FILE *out)
{
    const struct topo_iface *f = &t->ifaces[vip->iface];
    fputs(t->teams[f->team].name, out);
    if (f->vlan)
        fprintf(out, "%c%u", dot, f->vlan);
}

static void ontap(const struct emit *e, int node, FILE *out)
{
    fputs("# ONTAP refuses an address that is there already, and leaves it as it is. The broadcast domain of the port "
          "has to exist.\n",
          out);
    for (size_t v = 0; v < e->t->n_vips; v++) {
        const struct topo_vip *vip = &e->t->vips[v];
        if (vip->node != node || !is_wanted(e, (int)v))
            continue;
        fprintf(out, "network interface show -address %s\n", vip->text);
        fprintf(out, "network interface create -vserver %s -lif nfs_", vip->svm_name);
        for (const char *c = vip->text; *c; c++)
            fputc(*c == '.' || *c == ':' ? '_' : *c, out);
        fprintf(out, " -service-policy default-data-files -home-node %s -home-port ", e->t->boxes[vip->home].part);
        print_port(e->t, vip, '-', out);
        fprintf(out, " -address %s -netmask-length %u -status-admin up\n", vip->text, vip->addr.prefix);
    }
    fputs("# then: vserver export-policy rule show, which has to allow all hosts on these addresses\n"
          "# way back: network interface modify -status-admin down, once no host mounts it\n",
          out);
}

static void truenas(const struct emit *e, int node, FILE *out)
{
    fputs("# In the web interface: Network > Interfaces > the port > Add under Aliases; Test Changes, then Save "
          "Changes. The call\n"
          "# interface.update would replace all aliases of the port: it isn't printed.\n",
          out);
    for (size_t v = 0; v < e->t->n_vips; v++) {
        const struct topo_vip *vip = &e->t->vips[v];
        if (vip->node != node || !is_wanted(e, (int)v))
            continue;
        fputs("# ", out);
        print_port(e->t, vip, '.', out);
        fprintf(out, ": alias %s/%u\n", vip->text, vip->addr.prefix);
    }
    fputs("# then: System > Services > NFS, whose bind addresses have to be none or to have these\n"
          "# way back: the same page, once no host mounts it\n",
          out);
}

static const char linux_head[] =
    "# sh: adds the addresses that are missing, until the next boot; run it on the controller that is the home.\n"
    "add() { # ADDRESS/PREFIX INTERFACE\n"
    "    if ip -o addr show to \"${1%/*}\" | grep -q .; then\n"
    "        printf '%s: there already\\n' \"$1\"\n"
    "    else\n"
    "        ip addr add \"$1\" dev \"$2\" || exit 1\n"
    "        printf '%s: added\\n' \"$1\"\n"
    "    fi\n"
    "}\n";

static void linux_box(const struct emit *e, int node, FILE *out)
{
    fputs(linux_head, out);
    for (int box = e->t->nodes[node].first_box; box < e->t->nodes[node].first_box + e->t->nodes[node].n_boxes; box++) {
        if (e->t->nodes[node].n_boxes > 1)
            fprintf(out, "# on %s:\n", e->t->boxes[box].part);
        for (size_t v = 0; v < e->t->n_vips; v++) {
            const struct topo_vip *vip = &e->t->vips[v];
            if (vip->home != box || !is_wanted(e, (int)v))
                continue;
            fprintf(out, "add %s/%u ", vip->text, vip->addr.prefix);
            print_port(e->t, vip, '.', out);
            fputc('\n', out);
        }
    }
    fputs("# to keep them: a further `address ADDRESS/PREFIX` line in the interface's stanza of "
          "/etc/network/interfaces (ifupdown2),\n"
          "# or Address= in its .network file. way back: ip addr del, once no host mounts it\n",
          out);
}

static void other(const struct emit *e, int node, FILE *out)
{
    fprintf(out, "# how a %s makes addresses isn't known here; it needs\n", e->t->nodes[node].model);
    for (size_t v = 0; v < e->t->n_vips; v++) {
        const struct topo_vip *vip = &e->t->vips[v];
        if (vip->node != node || !is_wanted(e, (int)v))
            continue;
        fprintf(out, "#   %s/%u on ", vip->text, vip->addr.prefix);
        print_port(e->t, vip, '.', out);
        fprintf(out, " of %s\n", e->t->boxes[vip->home].part);
    }
}

void emit_nas(const struct emit *e, FILE *out)
{
    const char *gap = "";
    for (size_t node = 0; node < e->t->n_nodes; node++) {
        if (e->t->nodes[node].kind != TOPO_NAS || !any_wanted(e, (int)node))
            continue;
        fprintf(out, "%s# ---- %s ----\n", gap, e->t->nodes[node].name);
        gap = "\n";
        switch (kind_of(&e->t->nodes[node])) {
        case NAS_ONTAP:
            ontap(e, (int)node, out);
            break;
        case NAS_TRUENAS:
            truenas(e, (int)node, out);
            break;
        case NAS_LINUX:
            linux_box(e, (int)node, out);
            break;
        case NAS_OTHER:
            other(e, (int)node, out);
            break;
        }
    }
}
