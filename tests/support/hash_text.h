/* Flows and selectors as text, for the data files and programs that test hashes/.
 *
 * A flow is words separated by spaces: src=10.0.0.10 dst=2001:db8::1 proto=6 sport=800 dport=2049
 * smac=00:50:56:6a:11:01 dmac=... ethertype=0x0806 vlan=0x6064 (tag=inline|offloaded, default offloaded)
 * fragment=first|later id=beef payload=01020304 icmp=8/0/0x1234 esp=0x01020304 flowlabel=0x12345 portid=7 ingress=3
 * module=1, and for an ARP packet arp=1 sha=MAC spa=IP tha=MAC tpa=IP beside smac and dmac. A word @NAME stands for
 * the line NAME of tests/vectors/hash-packets.tsv.
 */
#ifndef TESTS_SUPPORT_HASH_TEXT_H
#define TESTS_SUPPORT_HASH_TEXT_H

#include <stdbool.h>

struct hash_key;
struct hash_flow;
struct hash_selector;

/* Both print what is wrong to stderr and return false. */
bool hash_text_key(const char *text, struct hash_key *key);
bool hash_text_flow(const char *text, struct hash_flow *flow);

/* "POLICY" and "K=V K=V" or "-". */
bool hash_text_selector(const char *policy, const char *params, struct hash_selector *sel);

#endif
