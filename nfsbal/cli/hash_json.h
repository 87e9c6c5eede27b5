/* JSON of `nfsbal hash`. All functions print to stdout and return 0, or -ENOMEM with nothing printed. */
#ifndef NFSBAL_CLI_HASH_JSON_H
#define NFSBAL_CLI_HASH_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_command;
struct hash_pair;

struct hash_pcap_link {
    uint64_t frames, bytes, flows;
};

struct hash_pcap_summary {
    const struct hash_command *command;
    const struct hash_pcap_link *links;
    unsigned n_links;
    uint64_t frames, bytes, flows, unknown;
    double imbalance; /* fullest link over the mean, in bytes; 0 without any */
    int fullest;      /* link, or -1 */
    struct {
        char text[160];
        uint64_t frames, bytes;
    } top[5]; /* heaviest flows of the fullest link */
    size_t n_top;
    bool complete; /* false: the capture is cut off or damaged after what was counted */
};

int hash_json_list(void);
int hash_json_pcap(const struct hash_pcap_summary *s);
/* n_links x sources x destinations answers, in that order. */
int hash_json_pairs(const struct hash_command *c, const struct hash_pair *pairs, size_t n_src, size_t n_dst);

#endif
