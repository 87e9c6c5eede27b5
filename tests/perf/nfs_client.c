/* The client library against libnfs used directly: one connection to nfs-ganesha over a veth, paired in one run, the best
 * of three rounds each. Figures are ratios to libnfs. Needs root, for the namespaces of tests/support/nfs_rig.bash. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

#include "emu/model/random.h"
#include "nfsbal/client/jobs.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/client/pool.h"

enum { FILE_SIZE = 128 << 20, SECONDS = 1, ROUNDS = 3 };

static const char server[] = "10.77.0.11";
static const char file[] = "bench.dat";

struct work {
    const char *name;
    bool write, random;
    uint32_t block;
    unsigned outstanding;
};

static const struct work works[] = {
    {"write-1MiB", true, false, 1 << 20, 16},
    {"read-1MiB", false, false, 1 << 20, 16},
    {"read-4KiB", false, true, 4096, 32},
};

/* --- ours ---------------------------------------------------------------------------------------------------------- */

struct ours {
    struct loop *loop;
};

static void over(void *context) { loop_stop(((struct ours *)context)->loop); }

static void second(void *context, double t)
{
    (void)context;
    (void)t;
}

static double run_ours(const char *export, const struct work *w, bool fill)
{
    struct ours o = {.loop = loop_new()};
    struct paths_server s = {.name = server};
    struct job_config job = {
        .name = w->name,
        .file = file,
        .size = FILE_SIZE,
        .fill = fill,
        .seed = 1,
        .paths = {.servers = &s, .n_servers = 1, .export = export, .port = 2049, .mount_port = 20048, .reserved = true},
        .workload = {.op = w->write ? TOPO_WRITE : TOPO_READ,
                     .sequential = !w->random,
                     .block = w->block,
                     .outstanding = w->outstanding,
                     .duration = SECONDS * PS_PER_S},
    };
    const struct jobs_events events = {.second = second, .over = over, .context = &o};
    struct jobs_result r;
    struct jobs *jobs;
    double rate;

    conn_parse_address(server, 2049, &s.address);
    jobs = o.loop ? jobs_new(o.loop, &job, 1, &events) : NULL;
    if (!jobs)
        exit(1);
    loop_run(o.loop);
    jobs_result(jobs, 0, &r);
    if (r.problem) {
        fprintf(stderr, "ours: %s\n", r.problem);
        exit(1);
    }
    rate = (double)r.operations / r.seconds;
    jobs_free(jobs);
    loop_free(o.loop);
    return rate;
}

/* --- libnfs -------------------------------------------------------------------------------------------------------- */

struct theirs {
    struct nfs_context *nfs;
    struct nfsfh *fh;
    const struct work *work;
    char *data;
    uint64_t number, done;
    unsigned out;
    int64_t end;
};

static void start_theirs(struct theirs *t);

#ifdef LIBNFS_API_V2
#define PREAD(t, offset)  nfs_pread_async((t)->nfs, (t)->fh, (t)->data, (t)->work->block, offset, answered, t)
#define PWRITE(t, offset) nfs_pwrite_async((t)->nfs, (t)->fh, (t)->data, (t)->work->block, offset, answered, t)
#else
#define PREAD(t, offset)  nfs_pread_async((t)->nfs, (t)->fh, offset, (t)->work->block, answered, t)
#define PWRITE(t, offset) nfs_pwrite_async((t)->nfs, (t)->fh, offset, (t)->work->block, (t)->data, answered, t)
#endif

static void answered(int error, struct nfs_context *nfs, void *data, void *context)
{
    struct theirs *t = context;

    (void)nfs;
    if (error < 0) {
        fprintf(stderr, "libnfs: %s\n", (const char *)data);
        exit(1);
    }
    t->done++;
    t->out--;
    if (loop_clock() < t->end)
        start_theirs(t);
}

static void start_theirs(struct theirs *t)
{
    uint64_t blocks = FILE_SIZE / t->work->block;
    uint64_t offset = (t->work->random ? random_at(1, 2 * t->number + 1) : t->number) % blocks * t->work->block;

    t->number++;
    t->out++;
    if (t->work->write ? PWRITE(t, offset) : PREAD(t, offset))
        exit(1);
}

static double run_theirs(const char *export, const struct work *w)
{
    struct theirs t = {.nfs = nfs_init_context(), .work = w, .data = calloc(1, 1 << 20)};
    char text[600];
    struct nfs_url *url;
    int64_t began;

    snprintf(text, sizeof text, "nfs://%s%s?nfsport=2049&mountport=20048", server, export);
    url = nfs_parse_url_dir(t.nfs, text);
    if (!url || nfs_mount(t.nfs, url->server, url->path) || nfs_open(t.nfs, file, 02, &t.fh)) {
        fprintf(stderr, "libnfs: %s\n", nfs_get_error(t.nfs));
        exit(1);
    }
    began = loop_clock();
    t.end = began + SECONDS * NS_PER_S;
    for (unsigned i = 0; i < w->outstanding; i++)
        start_theirs(&t);
    while (t.out) {
        struct pollfd p = {.fd = nfs_get_fd(t.nfs), .events = (short)nfs_which_events(t.nfs)};

        poll(&p, 1, 1000);
        if (nfs_service(t.nfs, p.revents))
            exit(1);
    }
    if (w->write)
        nfs_fsync(t.nfs, t.fh);
    began = loop_clock() - began;
    nfs_close(t.nfs, t.fh);
    nfs_destroy_url(url);
    nfs_destroy_context(t.nfs);
    free(t.data);
    return (double)t.done / ((double)began / 1e9);
}

static int in_client(const char *export)
{
    struct work fill = {"fill", true, false, 1 << 20, 16};

    pool_tune_malloc();
    run_ours(export, &fill, true);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        const struct work *w = &works[i];
        double ours = 0, theirs = 0;

        for (int round = 0; round < ROUNDS; round++) {
            double a = run_theirs(export, w), b = run_ours(export, w, false);

            theirs = a > theirs ? a : theirs;
            ours = b > ours ? b : ours;
        }
        printf("%s: %.0f operations/s (%.0f MB/s), libnfs %.0f\n", w->name, ours, ours * w->block / 1e6, theirs);
        printf("bench: %s %.3f of-libnfs\n", w->name, ours / theirs);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char script[] =
        ". tests/support/nfs_rig.bash\n"
        "rig_up; rig_vip_add $server1 10.77.0.11; rig_server $server1 && in_client \"$0\" $rig/export";
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (argc == 2)
        return in_client(argv[1]);
    if (n < 0)
        return 1;
    self[n] = '\0';
    execlp("bash", "bash", "-c", script, self, (char *)NULL);
    return 1;
}
