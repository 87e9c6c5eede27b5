#define _GNU_SOURCE /* accept4, ucred */
#include "nfsbal/client/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "nfsbal/client/loop.h"

enum { REQUEST_MAX = 1024, WAIT_S = 10, CLIENTS_MAX = 16 };

struct client {
    struct control *control;
    int fd;
    struct loop_io io;
    char request[REQUEST_MAX];
    size_t n;
    char *answer; /* NULL: still reading */
    size_t size, sent;
    struct client *next;
};

struct control {
    struct loop *loop;
    int fd;
    struct loop_io io;
    control_handler *handle;
    void *context;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct client *clients;
    unsigned n_clients;
};

/* Where sockets of this user's mounts are. */
static void directory_of(uid_t uid, char *to, size_t size)
{
    const char *run = getenv("XDG_RUNTIME_DIR");

    if (uid == 0)
        snprintf(to, size, "/run/nfsbal");
    else if (run && *run)
        snprintf(to, size, "%s/nfsbal", run);
    else
        snprintf(to, size, "/tmp/nfsbal-%lu", (unsigned long)uid);
}

static void path_of(uid_t uid, uint64_t device, char *to, size_t size)
{
    char directory[80];

    directory_of(uid, directory, sizeof directory);
    snprintf(to, size, "%s/%u:%u", directory, major(device), minor(device));
}

static void end_client(struct client *k)
{
    struct client **at = &k->control->clients;

    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    k->control->n_clients--;
    loop_io_stop(&k->io);
    close(k->fd);
    free(k->answer);
    free(k);
}

static void send_answer(struct client *k)
{
    while (k->sent < k->size) {
        ssize_t n = send(k->fd, k->answer + k->sent, k->size - k->sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN) {
            loop_io_events(&k->io, LOOP_WRITE);
            return;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        k->sent += (size_t)n;
    }
    end_client(k);
}

static bool answer(struct client *k)
{
    char problem[300] = "", *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool ok;

    if (!out)
        return false;
    fputs("ok\n", out);
    ok = k->control->handle(k->control->context, k->request, out, problem, sizeof problem);
    if (!ok) {
        rewind(out);
        fprintf(out, "error: %s\n", problem);
    }
    if (fclose(out) != 0) {
        free(text);
        return false;
    }
    k->answer = text;
    k->size = ok ? size : strlen("error: \n") + strlen(problem);
    return true;
}

static void client_ready(void *context, unsigned events)
{
    struct client *k = context;
    ssize_t n;
    char *end;

    (void)events;
    if (k->answer) {
        send_answer(k);
        return;
    }
    n = recv(k->fd, k->request + k->n, sizeof k->request - 1 - k->n, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end_client(k);
        return;
    }
    k->n += (size_t)n;
    k->request[k->n] = '\0';
    end = strchr(k->request, '\n');
    if (!end && k->n < sizeof k->request - 1)
        return;
    if (end)
        *end = '\0';
    if (!end || !answer(k))
        end_client(k);
    else
        send_answer(k);
}

static void incoming(void *context, unsigned events)
{
    struct control *c = context;
    int fd = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct ucred who;
    socklen_t size = sizeof who;
    struct client *k;

    (void)events;
    if (fd < 0)
        return;
    /* The directory keeps others out; this does where it can't, in /tmp. */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || (who.uid != 0 && who.uid != geteuid()) ||
        c->n_clients >= CLIENTS_MAX || !(k = calloc(1, sizeof *k))) {
        close(fd);
        return;
    }
    k->control = c;
    k->fd = fd;
    k->next = c->clients;
    c->clients = k;
    c->n_clients++;
    loop_io_start(c->loop, &k->io, fd, LOOP_READ, client_ready, k);
}

/* Ours alone: not a link, nobody else may write. */
static bool make_directory(const char *path)
{
    struct stat st;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    if (lstat(path, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0)
        return true;
    errno = EPERM;
    return false;
}

struct control *control_listen(struct loop *l, uint64_t device, control_handler *handle, void *context, char *problem,
                               size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct control *c = calloc(1, sizeof *c);
    char directory[80];

    directory_of(geteuid(), directory, sizeof directory);
    if (!c) {
        snprintf(problem, size, "no memory");
        return NULL;
    }
    path_of(geteuid(), device, c->path, sizeof c->path);
    memcpy(address.sun_path, c->path, sizeof c->path);
    c->loop = l;
    c->handle = handle;
    c->context = context;
    c->fd = -1;
    if (make_directory(directory)) {
        unlink(c->path); /* of a mount that was killed and had the same number */
        c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (c->fd >= 0 && bind(c->fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
            chmod(c->path, 0600) == 0 && listen(c->fd, CLIENTS_MAX) == 0) {
            loop_io_start(l, &c->io, c->fd, LOOP_READ, incoming, c);
            return c;
        }
    }
    snprintf(problem, size, "%s: %s", c->path, strerror(errno));
    if (c->fd >= 0)
        close(c->fd);
    free(c);
    return NULL;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    while (c->clients)
        end_client(c->clients); /* NOLINT(clang-analyzer-unix.Malloc): it takes itself off the list */
    loop_io_stop(&c->io);
    close(c->fd);
    unlink(c->path);
    free(c);
}

/* The asking end. */

/* The kernel writes blanks and such in its table as \040. */
static void unescape_octal(char *text)
{
    char *to = text;

    for (const char *from = text; *from; to++) {
        unsigned code;

        /* NOLINTNEXTLINE(cert-err34-c): three digits at most */
        if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* The last component may be a mount that doesn't answer, so only its parent is resolved. */
static bool resolve(const char *directory, char *to)
{
    char copy[PATH_MAX], parent[PATH_MAX], *slash, *last;
    size_t n = strlen(directory);

    while (n > 1 && directory[n - 1] == '/')
        n--;
    if (n >= sizeof copy || n == 0)
        return false;
    memcpy(copy, directory, n);
    copy[n] = '\0';
    slash = strrchr(copy, '/');
    last = slash ? slash + 1 : copy;
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return realpath(copy, to) != NULL;
    if (slash)
        *slash = '\0';
    if (!realpath(!slash ? "." : slash == copy ? "/" : copy, parent))
        return false;
    return snprintf(to, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "", last) < PATH_MAX;
}

bool control_find(const char *directory, uint64_t *device, char *type, size_t type_size)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    char line[2 * PATH_MAX], real[PATH_MAX];
    bool found = false;

    if (f && resolve(directory, real))
        while (fgets(line, sizeof line, f)) {
            unsigned ma, mi;
            char where[PATH_MAX], kind[64];
            const char *dash = strstr(line, " - ");

            /* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
            if (!dash || sscanf(line, "%*u %*u %u:%u %*s %4095s", &ma, &mi, where) != 3 ||
                sscanf(dash, " - %63s", kind) != 1)
                continue;
            unescape_octal(where);
            if (strcmp(where, real) != 0)
                continue;
            *device = makedev(ma, mi); /* the last one is on top */
            snprintf(type, type_size, "%s", kind);
            found = true;
        }
    if (f)
        fclose(f);
    return found;
}

static int connect_to(uid_t uid, uint64_t device)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval wait = {.tv_sec = WAIT_S};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    path_of(uid, device, address.sun_path, sizeof address.sun_path);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static bool read_answer(FILE *in, FILE *out, char *problem, size_t size)
{
    char line[4096];
    size_t n;

    if (!fgets(line, sizeof line, in)) {
        snprintf(problem, size, "the mount's process doesn't answer");
        return false;
    }
    if (strcmp(line, "ok\n") != 0) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(problem, size, "%s", strncmp(line, "error: ", 7) == 0 ? line + 7 : line);
        return false;
    }
    while ((n = fread(line, 1, sizeof line, in)) > 0)
        fwrite(line, 1, n, out);
    if (ferror(in))
        snprintf(problem, size, "the mount's process stopped answering");
    return !ferror(in);
}

bool control_ask(const char *directory, const char *request, FILE *out, char *problem, size_t size)
{
    uint64_t device;
    char type[64];
    FILE *in;
    int fd;
    bool ok;

    if (!control_find(directory, &device, type, sizeof type)) {
        snprintf(problem, size, "%s: nothing is mounted there", directory);
        return false;
    }
    if (strcmp(type, "fuse.nfsbal") != 0) {
        snprintf(problem, size, "%s: a mount of type %s, not of nfsbal", directory, type);
        return false;
    }
    fd = connect_to(geteuid(), device);
    if (fd < 0 && geteuid() != 0)
        fd = connect_to(0, device);
    if (fd < 0) {
        snprintf(problem, size, "%s: can't reach the mount's process: %s", directory, strerror(errno));
        return false;
    }
    in = fdopen(fd, "r+");
    if (!in) {
        close(fd);
        snprintf(problem, size, "no memory");
        return false;
    }
    if (dprintf(fd, "%s\n", request) < 0) {
        snprintf(problem, size, "%s: %s", directory, strerror(errno));
        ok = false;
    } else {
        ok = read_answer(in, out, problem, size);
    }
    fclose(in);
    return ok;
}

bool control_wait_gone(uint64_t device, int64_t seconds)
{
    const struct timespec step = {.tv_nsec = 20000000};
    int64_t until = loop_clock() + seconds * NS_PER_S;
    int fd;

    while ((fd = connect_to(geteuid(), device)) >= 0) {
        close(fd);
        if (loop_clock() >= until)
            return false;
        nanosleep(&step, NULL);
    }
    return true;
}
