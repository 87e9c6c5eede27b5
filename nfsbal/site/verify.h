/* Where the counters of a site and the path function disagree, and what would explain it.
 *
 * Links are judged in groups: the members over which one team spreads what it sends; or, where the sender has no team there,
 * the links into one team of the receiver. In a group only shares count, not rates: how busy datastores were isn't known. A
 * member is idle when it carries less than VERIFY_IDLE of the group's bytes though flows must be there, and loaded when it
 * carries more than VERIFY_LOADED though none can be. Flows without a certain member (a drawn source port, an unknown rule)
 * may be anywhere and prove nothing. Acknowledgements take the same ways as data, so that either direction can be judged
 * while only the other one is busy.
 */
#ifndef NFSBAL_SITE_VERIFY_H
#define NFSBAL_SITE_VERIFY_H

#include "emu/model/path_site.h"
#include "nfsbal/site/counters.h"

#define VERIFY_IDLE          0.01
#define VERIFY_LOADED        0.05
#define VERIFY_BYTES_OF_FLOW 1e6 /* a group is judged from so many bytes for each of its flows on */

enum verify_finding { VERIFY_FINE, VERIFY_IDLE_LINK, VERIFY_LOADED_LINK };

enum verify_verdict {
    VERIFY_AGREES,
    VERIFY_DIFFERS,
    VERIFY_UNPLANNED,  /* no mount uses the group, and it carries as much as if some did */
    VERIFY_TOO_LITTLE, /* traffic to judge */
    VERIFY_UNUSED,     /* no mount uses it, and nothing is there */
    VERIFY_NOT_COUNTED /* counters of a member are missing */
};

struct verify_link {
    int linkdir;
    double planned; /* flows on average */
    double certain; /* flows that are there for certain */
    double bytes;
    enum counter_state state;
    enum verify_finding finding;
    int moved; /* linkdir of the member that seems to carry what this idle one should, or -1 */
};

enum verify_cause_kind {
    CAUSE_ORDER,     /* members in another order */
    CAUSE_DOWN,      /* members that are down */
    CAUSE_HASH,      /* another rule */
    CAUSE_VIP,       /* mounted from another VIP */
    CAUSE_ELSEWHERE, /* it leaves by another team of this host */
    CAUSE_LEARNED,   /* the receiver uses another port */
    CAUSE_QUIET,     /* these datastores may have been idle */
    CAUSE_NONE       /* none of these */
};

struct verify_cause {
    enum verify_cause_kind kind;
    unsigned subject; /* private: tells causes of one kind apart, across groups */
    double distance;  /* between the shares seen and those that it would give: half the sum of differences, 0 to 1 */
    char text[320];
};

enum { VERIFY_CAUSES = 12 };

struct verify_group {
    int box;            /* that sends over its first link */
    int team, receiver; /* who sends, who receives; -1: no team. team -1: the receiver's port is chosen elsewhere */
    struct verify_link *links;
    size_t n;
    double planned, bytes;
    enum verify_verdict verdict;
    struct verify_cause causes[VERIFY_CAUSES]; /* the likeliest first */
    size_t n_causes;
};

struct verify {
    const struct path_site *site;
    struct verify_group *groups;
    size_t n;
    size_t count[VERIFY_NOT_COUNTED + 1]; /* by verdict */
    size_t wrapped, reset;                /* counters */
    double
        wrap_seconds; /* 0, or: counters of 32 bits may have wrapped more than once; they have to be read within this time */
    struct verify_link *links; /* private: of all groups */
    int *group_of;             /* private: by link direction */
};

/* Compares. 0, -ENOMEM, or -EINVAL with the place in `problem`: a counter that no link can have come to. verify_free() in any
 * case. */
int verify_run(const struct path_site *site, const struct counters *before, const struct counters *after,
               struct verify *out, char *problem, size_t size);
void verify_free(struct verify *v);

/* Private to verify*.c: fills in the causes of a group that differs; 0 or -ENOMEM. Then, with all of them known: a rule that
 * explains all groups of one box, or a VIP that explains all groups there are, stands for the others. */
int verify_explain(const struct verify *v, struct verify_group *g);
void verify_settle(struct verify *v);

/* The member as people call it: "esx3 vmnic2", the host's or NAS's end of it. */
char *verify_member_name(const struct topo *t, int linkdir, char *out, size_t size);

#endif
