/* The fabric tells of a train when its first frame arrives, so the others lie
 * in the future, and the two directions of a cable (and trains of one
 * direction, where one's first frame passes between another's) interleave. Each
 * cable keeps the trains that are not written to the end and writes up to the
 * arrival of the latest one: nothing earlier can come.
 */
#include "emu/report/pcap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "emu/model/topology.h"
#include "emu/report/frames.h"
#include "emu/report/outfile.h"

struct pending {
    struct frames frames;
    uint32_t next; /* frame to be written next */
};

struct cable {
    char *path;
    struct outfile out;
    pcap_dumper_t *dumper; /* NULL: no frame yet */
    struct pending *pending;
    size_t n_pending, size;
    uint16_t ip_id;
    int error; /* of the first write that failed, negative errno: ferror() remembers that one did, not why */
};

struct capture {
    pcap_t *format;
    char *folder;
    bool made_folder;
    const struct topo *topo; /* used while trains come; may be gone afterwards */
    struct cable *cables;
    size_t n_cables;
    int error;  /* the first one, negative errno */
    int failed; /* cable it happened on */
};

/* One file per cable may be more than a process has by default. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

struct capture *capture_new(const char *folder, const struct topo *t, char *problem, size_t size)
{
    struct stat st;
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        goto no_memory;
    c->topo = t;
    c->failed = -1;
    c->folder = strdup(folder);
    c->n_cables = t->n_links;
    c->cables = calloc(c->n_cables + 1, sizeof *c->cables);
    c->format = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, FRAME_SNAP, PCAP_TSTAMP_PRECISION_NANO);
    if (!c->folder || !c->cables || !c->format)
        goto no_memory;
    if (!mkdir(folder, 0777)) {
        c->made_folder = true;
    } else if (errno != EEXIST || stat(folder, &st) || !S_ISDIR(st.st_mode)) {
        snprintf(problem, size, "%s: %s", folder, strerror(errno == EEXIST ? ENOTDIR : errno));
        capture_abandon(c);
        return NULL;
    }
    allow_many_files();
    return c;
no_memory:
    snprintf(problem, size, "%s", strerror(ENOMEM));
    capture_abandon(c);
    return NULL;
}

/* Characters that a shell, another system's file names or a path would mind. */
static void plain_name(char *name)
{
    for (; *name; name++)
        if (*name == ':' || *name == '/' || *name == '\\' || *name == ' ' || *name == '>')
            *name = *name == ':' ? '.' : '_';
}

static char *cable_path(const struct capture *c, int link)
{
    const struct topo *t = c->topo;
    const char *a = t->ports[t->links[link].port[0]].full, *b = t->ports[t->links[link].port[1]].full;
    size_t folder = strlen(c->folder), size = folder + strlen(a) + strlen(b) + sizeof "/--.2147483647.pcap";
    char *path = malloc(size);
    if (!path)
        return NULL;
    snprintf(path, size, "%s/%s--%s.pcap", c->folder, a, b);
    plain_name(path + folder + 1);
    for (size_t l = 0; l < c->n_cables; l++) { /* two ports may be alike once their names are plain */
        if (c->cables[l].path && !strcmp(c->cables[l].path, path)) {
            snprintf(path, size, "%s/%s--%s.%d.pcap", c->folder, a, b, link);
            plain_name(path + folder + 1);
            break;
        }
    }
    return path;
}

static int open_cable(struct capture *c, int link)
{
    struct cable *cable = &c->cables[link];
    cable->path = cable_path(c, link);
    int error = cable->path ? outfile_open(&cable->out, cable->path) : -ENOMEM;
    if (error)
        return error;
    cable->dumper = pcap_dump_fopen(c->format, cable->out.file);
    return cable->dumper ? 0 : -ENOMEM;
}

static void write_frame(struct cable *cable, struct pending *p, ps_t time)
{
    struct frame_image image;
    struct pcap_pkthdr header = {0};
    frames_image(&p->frames, p->next, cable->ip_id++, &image);
    header.ts.tv_sec = (time_t)(time / PS_PER_S);
    header.ts.tv_usec = (suseconds_t)(time % PS_PER_S / PS_PER_NS); /* nanoseconds, as the file's header says */
    header.caplen = image.captured;
    header.len = image.length;
    errno = 0;
    pcap_dump((unsigned char *)cable->dumper, &header, image.bytes);
    if (!cable->error && ferror(pcap_dump_file(cable->dumper)))
        cable->error = errno ? -errno : -EIO;
}

/* Writes all frames that have arrived by `until`, in order. */
static void write_until(struct cable *cable, ps_t until)
{
    for (;;) {
        struct pending *first = NULL;
        ps_t time = until;
        for (size_t i = 0; i < cable->n_pending; i++) {
            struct pending *p = &cable->pending[i];
            ps_t at = train_frame_time(&p->frames.train, p->next);
            if (at < time || (at == time && !first)) {
                first = p;
                time = at;
            }
        }
        if (!first)
            return;
        write_frame(cable, first, time);
        if (++first->next == first->frames.train.frames) {
            size_t i = (size_t)(first - cable->pending);
            memmove(first, first + 1, (--cable->n_pending - i) * sizeof *first);
        }
    }
}

void capture_train(struct capture *c, int linkdir, const struct train *t)
{
    struct cable *cable = &c->cables[linkdir / 2];
    if (c->error)
        return;
    if (!cable->dumper)
        c->error = open_cable(c, linkdir / 2);
    if (!c->error && cable->n_pending == cable->size) {
        size_t size = cable->size ? 2 * cable->size : 4;
        struct pending *pending = realloc(cable->pending, size * sizeof *pending);
        if (pending) {
            cable->pending = pending;
            cable->size = size;
        } else {
            c->error = -ENOMEM;
        }
    }
    if (c->error) {
        c->failed = linkdir / 2;
        return;
    }
    struct pending *p = &cable->pending[cable->n_pending++];
    frames_of(&p->frames, t);
    p->next = 0;
    write_until(cable, t->head);
}

/* The dumper closes the FILE; before that it must have got rid of all it holds.
 */
static int close_cable(struct cable *cable)
{
    if (!cable->dumper)
        return 0;
    write_until(cable, PS_NEVER - 1);
    errno = 0;
    int error = cable->error;
    if (!error && pcap_dump_flush(cable->dumper))
        error = errno ? -errno : -EIO;
    pcap_dump_close(cable->dumper);
    cable->dumper = NULL;
    cable->out.file = NULL;
    return error;
}

static void capture_free(struct capture *c)
{
    for (size_t l = 0; c->cables && l < c->n_cables; l++) {
        free(c->cables[l].pending);
        free(c->cables[l].path);
    }
    free(c->cables);
    free(c->folder);
    if (c->format)
        pcap_close(c->format);
    free(c);
}

int capture_close(struct capture *c, char *problem, size_t size)
{
    int error = c->error;
    for (size_t l = 0; !error && l < c->n_cables; l++) {
        error = close_cable(&c->cables[l]);
        c->failed = error ? (int)l : -1;
    }
    for (size_t l = 0; !error && l < c->n_cables; l++) {
        if (c->cables[l].out.temporary)
            error = outfile_commit(&c->cables[l].out);
        c->failed = error ? (int)l : -1;
    }
    if (error) {
        const char *path = c->failed >= 0 ? c->cables[c->failed].path : NULL;
        snprintf(problem, size, "%s: %s", path ? path : c->folder, strerror(-error));
        capture_abandon(c);
        return error;
    }
    capture_free(c);
    return 0;
}

void capture_abandon(struct capture *c)
{
    if (!c)
        return;
    for (size_t l = 0; c->cables && l < c->n_cables; l++) {
        struct cable *cable = &c->cables[l];
        if (cable->dumper) {
            pcap_dump_close(cable->dumper);
            cable->out.file = NULL;
        }
        outfile_abandon(&cable->out);
    }
    if (c->made_folder)
        rmdir(c->folder); /* unless something else lies in it */
    capture_free(c);
}
