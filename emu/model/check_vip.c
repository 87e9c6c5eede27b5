/* VIPs: idle, down, homeless. Which VLAN a takeover leads into is in check_vlan.c. */
#include "emu/model/check_rules.h"

/* VIPs that are up and carry nothing, of a NAS that carries something: one finding for each group of VIPs (SVM). */
static void vip_unused(struct check *c)
{
    const struct topo *t = c->t;
    bool *busy = check_alloc(c, t->n_nodes, sizeof *busy);

    for (size_t i = 0; i < t->n_vips; i++)
        busy[t->vips[i].node] = busy[t->vips[i].node] || c->vip_mounts[i];
    for (size_t i = 0; i < t->n_vips; i++) {
        const struct topo_vip *first = &t->vips[i];
        struct check_names idle = {0};
        size_t all = 0, marked = 0;
        const struct topo_san *san = t->nodes[first->node].san;
        if (san && san->svm == first->svm)
            continue; /* addresses towards the arrays carry no datastores */
        if (!busy[first->node] || (i > 0 && first[-1].node == first->node && first[-1].svm == first->svm))
            continue; /* VIPs of a group stand together */
        for (size_t k = i; k < t->n_vips && t->vips[k].node == first->node && t->vips[k].svm == first->svm; k++) {
            all++;
            if (c->vip_mounts[k] || !t->vips[k].up)
                continue;
            if (!idle.n)
                marked = k;
            check_names_add(c, &idle, t->vips[k].text);
        }
        if (idle.n)
            check_add(c, t->vips[marked].mark, NULL, "under IP hash every VIP is one more pair of addresses to spread",
                      "%s %s up on %s and carr%s nothing (%zu of its %zu VIPs)", check_names_text(c, &idle),
                      idle.n == 1 ? "is" : "are", t->nodes[first->node].name, idle.n == 1 ? "ies" : "y", idle.n, all);
    }
}

static void vip_down_but_used(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        if (m->vip >= 0 && !t->vips[m->vip].up)
            check_add(c, t->vips[m->vip].mark, t->vips[m->vip].text, "bring it up, or mount over another VIP",
                      "down, and %s is mounted over it", t->datastores[m->datastore].name);
    }
}

/* No port beneath this interface has a link that is up. */
static bool cut_off(const struct topo *t, int iface)
{
    const struct topo_team *tm = t->ifaces[iface].team < 0 ? NULL : &t->teams[t->ifaces[iface].team];

    for (size_t i = 0; tm && i < tm->n_ports; i++) {
        int link = t->ports[tm->ports[i]].link;
        if (link >= 0 && !t->links[link].down)
            return false;
    }
    return true;
}

static void vip_home_down(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_vips; i++) {
        const struct topo_vip *v = &t->vips[i];
        if (c->vip_mounts[i] && v->up && v->iface >= 0 && cut_off(t, v->iface))
            check_add(c, v->mark, v->text, "cable the controller, or give the VIP another home",
                      "its home %s has no link that is up", t->boxes[v->home].name);
    }
}

// clang-format off
const struct check_rule check_vip_rules[] = {
    {"vip-unused", DIAG_WARNING, "a VIP is up and carries no datastore",
     "Each VIP is a pair of addresses with every host, the only thing that an address hash can spread. A\n"
     "VIP without a datastore is an uplink or a NAS port that may stand idle; or it is a leftover that can\n"
     "go.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli storage nfs list                      # on every host: which servers are in use\n"
     "    network interface show ; vserver nfs connected-clients show   # ONTAP\n",
     vip_unused},
    {"vip-down-but-used", DIAG_ERROR, "a VIP that is down has datastores",
     "The file says `state: down` of a VIP over which datastores are mounted: they are inaccessible.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    vmkping -I vmk1 10.50.0.104\n"
     "    network interface show -status-oper down     # ONTAP\n",
     vip_down_but_used},
    {"vip-home-down", DIAG_ERROR, "the controller that is a VIP's home has no link",
     "Every cable of the home controller is missing or down. Where the NAS took the VIP over, say so in\n"
     "the file: give it the home on which it lives now.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    network interface show -fields home-node,curr-node,is-home   # ONTAP\n"
     "    network port show -link down\n",
     vip_home_down},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
