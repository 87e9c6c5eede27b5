/* Hops in words, for the text and tab-separated forms of `emu path`. */
#ifndef EMU_REPORT_PATH_WORDS_H
#define EMU_REPORT_PATH_WORDS_H

#include <stddef.h>

#include "emu/model/path.h"

/* "esx1 vSwitch1 -> vmnic4 -> stack1:gi2/0/1"; with "vmnic2 or vmnic3" where there is no index. */
void path_words_way(const struct topo *t, const struct path_hop *hop, char *out, size_t size);

/* The rule's name: "esxi-ip-hash", "linux-layer3+4 gen=g6", "one port", "learned". */
void path_words_policy(const struct topo *t, const struct path_hop *hop, char *out, size_t size);

/* Its arithmetic: "0x0A32000B xor ... mod 4 = 2". `draws`: connections of this mount that draw independently, for hops without
 * index: "4 connections on 2 members: both used 87.5 %, worst 4:0". Empty where there is nothing to say. */
void path_words_rule(const struct path_hop *hop, unsigned draws, char *out, size_t size);

/* "exact", "assumed" ...; "observed" where the real box has answered. */
const char *path_words_label(const struct path_hop *hop);

/* A count of flows that may be an expectation: "6", "1.5". */
void path_words_count(double count, char *out, size_t size);

/* The wire arithmetic of a flow over its host's link: "1 Gbit/s, MTU 9000, tagged, timestamps: 123.7 MB/s of TCP payload,
 * 123.5 of NFS data in operations of 64 KiB". */
void path_words_arithmetic(const struct topo *t, const struct flow *flow, char *out, size_t size);

const char *path_words_via(enum path_via via); /* one word, for programs */

#endif
