/* The options behind `-o` of `nfsbal mount`: those that mount(8) and nfs(5) have taught people, and our own. Each is honoured,
 * or has nothing to do here and is accepted for that reason (`_netdev`), or is refused with the reason.
 */
#ifndef NFSBAL_CLIENT_MOUNT_OPTIONS_H
#define NFSBAL_CLIENT_MOUNT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mount_cache {
    MOUNT_CACHE_NONE,         /* every read and write is answered by the server */
    MOUNT_CACHE_AUTO,         /* close-to-open: writes are gathered, close brings them to the server */
    MOUNT_CACHE_WRITE_BEHIND, /* ... close does not wait; one host at a time may use a file */
};

enum mount_spread { MOUNT_SPREAD_MOUNT, MOUNT_SPREAD_FILE, MOUNT_SPREAD_STRIPE };
enum mount_choice { MOUNT_CHOICE_ROUND_ROBIN, MOUNT_CHOICE_LEAST_BYTES, MOUNT_CHOICE_WEIGHTED };

enum { MOUNT_PORTS_MAX = 256, MOUNT_TEXT_MAX = 4096 };

struct mount_options {
    bool read_only, no_suid, no_dev, no_exec; /* for the kernel */
    int allow_other;                          /* -1: root's mounts, yes; others', no */
    bool permissions;                         /* the kernel checks mode bits, besides the server */
    bool no_atime;
    bool sync; /* every WRITE is FILE_SYNC */
    int64_t cache, spread, choice;
    int64_t rsize, wsize;                /* bytes; 0: what the server likes */
    bool soft;                           /* else hard */
    int64_t timeo, retrans;              /* ms; -1: the client's default */
    int64_t ac_reg_min, ac_reg_max;      /* ns */
    int64_t ac_dir_min, ac_dir_max;      /* ns */
    bool cto;                            /* ask the server for attributes at each open */
    bool no_lock;                        /* the user knows that locks are local */
    bool plus;                           /* READDIRPLUS */
    int64_t port, mount_port;            /* 0: 2049, the portmapper */
    int64_t bound, failback, quarantine; /* ms; -1: the client's default */
    int64_t resolve;                     /* ms between questions to DNS; 0: never again */
    int64_t nconnect;                    /* 0: 1 */
    int64_t uid, gid;                    /* call the server as; -1: as who calls */
    int64_t dirty, read_ahead;           /* bytes; -1: default */
    bool reserved;                       /* source ports below 1024 */
    bool plan_ports;                     /* source ports that use every member of the bond */
    uint16_t source_ports[MOUNT_PORTS_MAX];
    size_t n_source_ports;
    char source[64];           /* address to come from, "" */
    char congestion[16];       /* "" */
    char vips[MOUNT_TEXT_MAX]; /* servers besides those of the source; ranges not expanded */
};

void mount_options_init(struct mount_options *o);

/* Reads "ro,wsize=64k,..." into o; may be called several times, the last word counts. False: `problem` says what is wrong
 * with which option. */
bool mount_options_parse(struct mount_options *o, const char *text, char *problem, size_t size);

const char *mount_cache_name(enum mount_cache c);
const char *mount_spread_name(enum mount_spread s);

#endif
