/* `nfsbal hash`: what its parts share.
 *
 * The command has four forms: the table of policies (hash_list.c), pairs of addresses (hash_pairs.c), a stream of flows
 * (hash_flows.c) and a capture (hash_pcap.c). hash.c reads the options into struct hash_command, which all of them get.
 */
#ifndef NFSBAL_CLI_HASH_H
#define NFSBAL_CLI_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashes/key.h"
#include "hashes/pick.h"

enum { HASH_LIST_MAX = 64 };

struct hash_command {
    const char *label; /* "nfsbal hash", for messages */
    struct hash_selector selector;
    unsigned links[HASH_LIST_MAX]; /* -n, one or several */
    size_t n_links;
    const char *members[HASH_MEMBERS_MAX]; /* --members, or NULL: the index is the name */
    bool down[HASH_MEMBERS_MAX];           /* --down */
    bool why, json;
    struct hash_flow base; /* what --src-mac, --vlan ... say for every pair */
    uint32_t given;        /* enum hash_field: inputs that the options gave */
};

/* "2001:db8::1", "10.0.0.1:800", "[2001:db8::1]:800". *port is -1 where none is written. Returns NULL, or what was
 * expected. `version` 4 or 6. */
const char *hash_parse_endpoint(const char *text, uint8_t address[HASH_IP_BYTES], uint8_t *version, int *port);
const char *hash_parse_mac(const char *text, uint8_t mac[HASH_MAC_BYTES]);
/* tcp, udp, icmp, or a number */
const char *hash_parse_proto(const char *text, uint8_t *proto);

/* The members of this command with `n` links, those of --down already down. False with a message when a --down member is
 * not among them. */
bool hash_command_members(const struct hash_command *c, unsigned n, struct hash_members *members);

/* "vmnic4", or the index as text in `buf`. */
const char *hash_member_name(const struct hash_command *c, int member, char *buf, size_t size);

/* Inputs that the policy reads and nobody gave: the fields of `reads` without `given`, VLAN and the like left out, whose
 * absence is a value of its own. */
uint32_t hash_missing_inputs(const struct hash_command *c, uint32_t given);

/* Prints "POLICY reads src-mac, dst-mac: HOW". Returns CLI_USAGE. */
int hash_report_missing(const struct hash_command *c, uint32_t missing, const char *how);

int hash_list(bool json);
int hash_pairs(const struct hash_command *c, const char *src, const char *dst);
int hash_flows(const struct hash_command *c, const char *path);
int hash_pcap(const struct hash_command *c, const char *path);

#endif
