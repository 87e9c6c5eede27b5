/* Which port of a team carries a frame: the one place where path function and datapath ask `hashes`.
 *
 * A team_choice is a teaming with the state of its links: who is usable, who was promoted from standby, which buckets are
 * bound. The datapath keeps one per teaming (and one per chassis where a stack prefers local members) and tells it of
 * links that go and come; the path function makes one per hop. Nothing is allocated; picking costs one hash.
 *
 * Who is usable: the first N ports with a link in the order active, standby, where N is the number of active ports. So a
 * standby port comes in for each active port that is lost. With failback the active port takes its place back at once;
 * without, it waits until one in use fails. Under a rule with one port in use (explicit order, active-backup) N is one.
 * Unused ports never count.
 */
#ifndef EMU_MODEL_TEAM_CHOICE_H
#define EMU_MODEL_TEAM_CHOICE_H

#include "emu/model/topology.h"
#include "hashes/pick.h"

/* Negative answers of team_choose() and team_receive(). */
enum { TEAM_NO_PORT = -1 /* none is usable */, TEAM_NO_INDEX = -2 /* the rule is not known, or is history */ };

struct team_choice {
    const struct topo_teaming *teaming;
    uint64_t links;  /* bit i: port[i] has a link */
    uint64_t in_use; /* bit i: offered to the rule */
    uint8_t n;       /* ports: active, then standby */
    uint8_t n_active;
    bool one; /* the rule uses one port at a time */
    int port[HASH_MEMBERS_MAX];
    struct hash_members members; /* id i is port[i] */
};

/* Sets c up with every link up. `teaming` NULL: the team's own. `chassis` 0: all ports, else only those of this chassis. A
 * team without active and standby lists has all its ports active. Ports past HASH_MEMBERS_MAX are left out. */
void team_choice_init(struct team_choice *c, const struct topo *t, int team, const struct topo_teaming *teaming,
                      int chassis);

/* The link of `port` goes or comes; nothing when the port isn't in c or nothing changes. */
void team_choice_link(struct team_choice *c, int port, bool up);

/* The port that carries this frame, or a negative answer. The rule's key must be as this team sees it: team_key_vlan().
 * May bind a bucket (Open vSwitch); changes nothing else. */
static inline int team_choose(struct team_choice *c, const struct hash_key *key)
{
    int id;

    if (c->in_use == 0)
        return TEAM_NO_PORT;
    if (!c->teaming->policy.policy)
        return c->port[__builtin_ctzll(c->in_use)];
    id = hash_pick(&c->teaming->policy, key, &c->members);
    return id >= 0 ? c->port[id] : TEAM_NO_INDEX;
}

/* Where team_choose() has no index: one possible world, the same for the same seed and for flows that must share. */
int team_draw(const struct team_choice *c, const struct hash_key *key, uint64_t seed);

/* The answer of the real box for this flow (`observed:` of the file), which beats every rule, or NULL. */
const struct topo_observed *team_observed(const struct topo *t, int team, const struct hash_key *key);

/* The port where frames for the VIP of this ordinal arrive, under a switch-independent team: the NIC whose MAC the VIP's ARP
 * reply carries. Ordinal mod ports; when that NIC has no link, ordinal mod usable ports, and the other VIPs stay. */
int team_receive(const struct team_choice *c, unsigned ordinal);

/* True when frames leave with the sending NIC's own MAC (switch-independent balancing), not with one MAC for the team. */
bool team_sends_nic_mac(const struct topo *t, int team);

/* The MAC of an interface: what its frames carry as source (unless the sending NIC's own stands there) and its ARP replies
 * say (unless the VIP's NIC does). `vip` -1 on hosts and routers; a VIP may have a MAC of its own. */
void team_mac(const struct topo *t, int iface, int vip, uint8_t mac[6], enum topo_origin *origin);

/* Writes the VLAN into a key as the rule of this team sees it. A vSwitch chooses the uplink before it tags: no tag. Bonds
 * and NAS teams see the tag beside the frame (offloaded), and so do switches, which take it off on entry. */
void team_key_vlan(struct hash_key *key, const struct topo *t, int team, uint16_t vlan);

#endif
