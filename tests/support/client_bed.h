/* A client of several paths before a scripted server (fake_nfs.h), for tests. Failures fail the running cmocka test. */
#ifndef TESTS_SUPPORT_CLIENT_BED_H
#define TESTS_SUPPORT_CLIENT_BED_H

#include "nfsbal/client/path.h"
#include "tests/support/fake_nfs.h"

struct bed {
    struct loop *loop;
    struct fake_nfs *fake;
    struct paths_server servers[FAKE_VIPS_MAX];
    struct paths_config config;
    struct paths *paths;
    bool ready;
    char problem[200], reports[2000];
    /* What to do with the next call of one procedure. */
    uint32_t procedure;
    enum fake_action action;
    int64_t after_ms;
    int times;
    int vip; /* only there; -1: anywhere */
    void (*mutate)(struct fake_call *call);
};

struct answer {
    struct bed *bed;
    struct request request;
    bool done;
    enum nfs3_status status;
    struct nfs3_fh fh;
    struct nfs3_attr attr;
    uint32_t count;
    size_t n_entries;
    uint64_t verifier;
    char text[256];
};

/* The next call of a procedure gets this; where, and how often, may then be changed in the bed. */
void bed_next_is(struct bed *b, uint32_t procedure, enum fake_action action, int64_t after_ms);
/* Runs the loop until somebody stops it; 20 s without that fail the test. */
void bed_run(struct bed *b);
void bed_run_for(struct bed *b, int64_t ms);
/* A server with so many addresses; the configuration may be changed before bed_mount(). */
void bed_new(struct bed *b, unsigned n_vips);
void bed_mount(struct bed *b);
void bed_free(struct bed *b);
/* Sends a call; *a must stay until it is answered. */
void bed_start(struct bed *b, struct answer *a, struct nfs3_call call);
void bed_await(struct answer *a);
/* Both. */
enum nfs3_status bed_call(struct bed *b, struct answer *a, struct nfs3_call call);
struct nfs3_fh bed_root(const struct bed *b);
struct nfs3_call bed_named(const struct bed *b, enum nfs3_procedure procedure, const char *name);
struct nfs3_fh bed_make_file(struct bed *b, const char *name);

#endif
