#include "emu/live/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "emu/live/netns.h"
#include "emu/model/topology.h"
#include "emu/report/json.h"
#include "emu/report/outfile.h"

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    return fclose(f) == 0 ? text : NULL;
}

/* ---- names and places ---- */

char *lab_rundir(char *problem, size_t size)
{
    const char *given = getenv("EMU_RUNDIR"), *user = getenv("XDG_RUNTIME_DIR");
    char *folder;

    if (given && given[0] && given[0] != '/') {
        snprintf(problem, size, "EMU_RUNDIR=%s: expected an absolute path", given);
        return NULL;
    }
    if (given && given[0])
        folder = strdup(given);
    else if (geteuid() == 0)
        folder = strdup("/run/emu");
    else if (user && user[0] == '/')
        folder = print("%s/emu", user);
    else
        folder = print("/tmp/emu-%u", (unsigned)geteuid());
    if (!folder)
        snprintf(problem, size, "out of memory");
    return folder;
}

static bool name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
}

bool lab_name_valid(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!name_byte(name[i]))
            return false;
    return n > 0 && n <= LAB_NAME_MAX && name[0] != '.' && name[0] != '-';
}

void lab_name_from(const char *title, char *name, size_t size)
{
    size_t n = 0, most = size - 1 < LAB_NAME_MAX ? size - 1 : LAB_NAME_MAX;

    for (const char *c = title; *c && n < most; c++)
        if (n > 0 || (name_byte(*c) && *c != '.' && *c != '-'))
            name[n++] = name_byte(*c) ? *c : '-';
    while (n > 0 && name[n - 1] == '-')
        n--;
    name[n] = '\0';
    if (n == 0)
        snprintf(name, size, "lab");
}

char *lab_path(const struct lab *lab, const char *file) { return print("%s/%s", lab->folder, file); }

int lab_make_export(const struct lab *lab)
{
    char *path = lab_path(lab, "export");
    struct statfs s;
    int rc = path ? 0 : -ENOMEM;

    if (rc == 0 && mkdir(path, 0755) < 0 && errno != EEXIST)
        rc = -errno;
    if (rc == 0 && statfs(path, &s) < 0)
        rc = -errno;
    if (rc == 0 && s.f_type != TMPFS_MAGIC && !lab->rootless &&
        mount("emu-export", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, "mode=755") < 0)
        rc = -errno;
    free(path);
    return rc;
}

/* ---- processes ---- */

uint64_t lab_process_start(pid_t pid)
{
    char path[64], text[1024], *p;
    unsigned long long start = 0;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    p = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (p)
        start = strtoull(p + 1, NULL, 10);
    return start;
}

static char *boot_id(void)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    char text[64];
    bool ok = f && fgets(text, sizeof text, f);

    if (f)
        fclose(f);
    if (ok)
        text[strcspn(text, "\n")] = '\0';
    return ok && *text ? strdup(text) : NULL;
}

bool lab_of_this_boot(const struct lab *lab)
{
    char *now = boot_id();
    bool same = !now || !lab->boot || strcmp(now, lab->boot) == 0;

    free(now);
    return same;
}

/* The lock of the folder; -EWOULDBLOCK where another process has it. */
static int take_lock(const char *folder)
{
    char *path = print("%s/lock", folder);
    int fd, rc;

    if (!path)
        return -ENOMEM;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    rc = fd < 0 ? -errno : flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : fd;
    if (rc < 0 && fd >= 0)
        close(fd);
    free(path);
    return rc;
}

bool lab_alive(const struct lab *lab)
{
    int fd;

    if (lab->lock >= 0)
        return true;
    fd = take_lock(lab->folder);
    if (fd >= 0)
        close(fd);
    return fd == -EWOULDBLOCK;
}

/* ---- new labs ---- */

static int make_folders(const char *rundir, const char *folder)
{
    char *parent = strdup(rundir), *slash;
    int rc = 0;

    if (!parent)
        return -ENOMEM;
    slash = strrchr(parent, '/');
    if (slash && slash > parent) {
        *slash = '\0';
        if (mkdir(parent, 0755) < 0 && errno != EEXIST)
            rc = -errno;
    }
    free(parent);
    if (rc == 0 && mkdir(rundir, 0755) < 0 && errno != EEXIST)
        rc = -errno;
    if (rc == 0 && mkdir(folder, 0755) < 0)
        rc = -errno;
    return rc;
}

/* Why a name can't be had. */
static void in_use(struct lab *lab, char *problem, size_t size)
{
    if (lab_alive(lab))
        snprintf(problem, size, "lab `%s` is up already: take another name with --name, or `emu down %s` first",
                 lab->name, lab->name);
    else
        snprintf(problem, size, "lab `%s` was left behind by a run that was killed: `emu clean` removes it", lab->name);
}

int lab_new(struct lab **out, const char *name, char *problem, size_t size)
{
    char *rundir = lab_rundir(problem, size);
    struct lab *lab = calloc(1, sizeof *lab);
    int rc = -ENOMEM;

    if (!rundir) {
        free(lab);
        return -EINVAL;
    }
    snprintf(problem, size, "out of memory");
    if (!lab)
        goto out;
    lab->lock = -1;
    lab->name = strdup(name);
    lab->folder = print("%s/%s", rundir, name);
    if (!lab->name || !lab->folder)
        goto out;
    rc = make_folders(rundir, lab->folder);
    if (rc == -EEXIST)
        in_use(lab, problem, size);
    else if (rc < 0)
        snprintf(problem, size, "%s: %s", lab->folder, strerror(-rc));
    if (rc < 0)
        goto out;
    lab->lock = rc = take_lock(lab->folder);
    if (rc < 0) {
        snprintf(problem, size, "%s/lock: %s", lab->folder, strerror(-rc));
        goto out;
    }
    *out = lab;
    lab = NULL;
    rc = 0;
out:
    free(rundir);
    lab_free(lab);
    return rc;
}

static const char *kind_name(enum topo_kind kind)
{
    static const char *const names[] = {"esxi", "linux", "switch", "nas", "router"};
    _Static_assert(sizeof names / sizeof names[0] == TOPO_ROUTER + 1, "a name per kind");

    return names[kind];
}

/* A name of the file system for a box. */
static char *file_name(const char *box)
{
    char *name = strdup(box);

    for (char *c = name; c && *c; c++)
        if (*c == '/' || *c == ':')
            *c = '.';
    return name;
}

static bool add_address(struct lab_node *n, const struct topo_addr *a)
{
    char text[64], **more = realloc(n->addresses, (n->n_addresses + 1) * sizeof(*more));

    if (!more)
        return false;
    n->addresses = more;
    more[n->n_addresses] = strdup(topo_addr_print(text, sizeof text, a, true));
    return more[n->n_addresses++] != NULL;
}

static bool fill_node(struct lab *lab, struct lab_node *n, const struct topo *t, int box)
{
    enum topo_kind kind = t->nodes[t->boxes[box].node].kind;
    char *file = file_name(t->boxes[box].name);
    bool ok = file != NULL;

    n->box = box;
    n->name = strdup(t->boxes[box].name);
    n->kind = strdup(kind_name(kind));
    if (ok && kind == TOPO_NAS)
        n->folder = lab_path(lab, file);
    if (ok)
        n->netns =
            lab->rootless ? print("%s/ns/%s", lab->folder, file) : print("%s/emu-%s-%s", NETNS_FOLDER, lab->name, file);
    free(file);
    ok = ok && n->name && n->kind && n->netns && (kind != TOPO_NAS || n->folder);
    for (size_t i = 0; ok && i < t->n_ifaces; i++)
        if (t->ifaces[i].box == box && t->ifaces[i].addr.version)
            ok = add_address(n, &t->ifaces[i].addr);
    for (size_t v = 0; ok && v < t->n_vips; v++)
        if (t->vips[v].home == box)
            ok = add_address(n, &t->vips[v].addr);
    return ok;
}

int lab_nodes(struct lab *lab, const struct topo *t)
{
    lab->boot = boot_id();
    lab->nodes = calloc(t->n_boxes + 1, sizeof *lab->nodes);
    if (!lab->nodes)
        return -ENOMEM;
    for (int b = 0; b < (int)t->n_boxes; b++) {
        enum topo_kind kind = t->nodes[t->boxes[b].node].kind;

        if (kind == TOPO_SWITCH || kind == TOPO_ROUTER)
            continue;
        if (!fill_node(lab, &lab->nodes[lab->n_nodes++], t, b))
            return -ENOMEM;
    }
    return 0;
}

static void free_nodes(struct lab *lab)
{
    for (size_t i = 0; i < lab->n_nodes; i++) {
        struct lab_node *n = &lab->nodes[i];

        for (size_t k = 0; k < n->n_addresses; k++)
            free(n->addresses[k]);
        free(n->addresses);
        free(n->name);
        free(n->kind);
        free(n->netns);
        free(n->folder);
    }
    free(lab->nodes);
    lab->nodes = NULL;
    lab->n_nodes = 0;
}

int lab_check(struct lab *lab, char *problem, size_t size)
{
    for (size_t i = 0; i < lab->n_nodes; i++)
        if (access(lab->nodes[i].netns, F_OK) == 0) {
            snprintf(problem, size, "%s is there already, and no lab's: take another name with --name",
                     lab->nodes[i].netns);
            free_nodes(lab);
            return -EEXIST;
        }
    return 0;
}

/* ---- lab.json ---- */

static void write_node(struct json_out *j, const struct lab_node *n)
{
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "node", n->name);
    json_out_string(j, "kind", n->kind);
    json_out_string(j, "netns", n->netns);
    if (n->folder)
        json_out_string(j, "folder", n->folder);
    json_out_array(j, "addresses", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < n->n_addresses; i++)
        json_out_string(j, NULL, n->addresses[i]);
    json_out_end(j);
    if (n->server) {
        json_out_integer(j, "server", n->server);
        json_out_count(j, "server_start", n->server_start);
    }
    json_out_end(j);
}

int lab_write(const struct lab *lab)
{
    char *path = lab_path(lab, "lab.json");
    struct outfile o;
    struct json_out j;
    int rc = path ? outfile_open(&o, path) : -ENOMEM;

    free(path);
    if (rc < 0)
        return rc;
    json_out_init(&j, o.file);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "emu-lab/1");
    json_out_string(&j, "name", lab->name);
    json_out_string(&j, "topology", lab->topology);
    json_out_string(&j, "case", lab->case_name);
    json_out_string(&j, "scale", lab->scale);
    json_out_string(&j, "detail", lab->detail);
    json_out_bool(&j, "rootless", lab->rootless);
    json_out_string(&j, "boot", lab->boot);
    json_out_integer(&j, "pid", lab->pid);
    json_out_count(&j, "start", lab->start);
    json_out_array(&j, "nodes", JSON_ON_LINES);
    for (size_t i = 0; i < lab->n_nodes; i++)
        write_node(&j, &lab->nodes[i]);
    json_out_end(&j);
    json_out_end(&j);
    return outfile_commit(&o);
}

static char *copy_text(const struct json_in *object, const char *key)
{
    const char *text = json_in_text(json_in_member(object, key));

    return text ? strdup(text) : NULL;
}

static uint64_t number(const struct json_in *object, const char *key)
{
    double value;

    return json_in_number(json_in_member(object, key), &value) && value > 0 ? (uint64_t)value : 0;
}

static bool read_node(struct lab_node *n, const struct json_in *j)
{
    const struct json_in *addresses = json_in_member(j, "addresses");
    size_t count = json_in_size(addresses);

    n->box = -1;
    n->name = copy_text(j, "node");
    n->kind = copy_text(j, "kind");
    n->netns = copy_text(j, "netns");
    n->folder = copy_text(j, "folder");
    n->server = (pid_t)number(j, "server");
    n->server_start = number(j, "server_start");
    n->addresses = calloc(count + 1, sizeof(char *));
    for (size_t i = 0; n->addresses && i < count; i++) {
        const char *text = json_in_text(json_in_element(addresses, i));

        n->addresses[n->n_addresses++] = strdup(text ? text : "");
    }
    return n->name && n->kind && n->netns && n->addresses;
}

/* Whether a lab of this name makes such files for its namespaces: what is taken away is not for a file to say. */
static bool own_name(const struct lab *lab, const char *netns)
{
    char *prefix = lab->rootless ? print("%s/ns/", lab->folder) : print("%s/emu-%s-", NETNS_FOLDER, lab->name);
    size_t n = prefix ? strlen(prefix) : 0;
    bool own = prefix && strncmp(netns, prefix, n) == 0 && !strchr(netns + n, '/');

    free(prefix);
    return own;
}

static bool read_lab(struct lab *lab, const struct json_in *j)
{
    const struct json_in *nodes = json_in_member(j, "nodes");
    const char *schema = json_in_text(json_in_member(j, "schema"));
    bool ok = schema && strcmp(schema, "emu-lab/1") == 0;

    lab->topology = copy_text(j, "topology");
    lab->case_name = copy_text(j, "case");
    lab->scale = copy_text(j, "scale");
    lab->detail = copy_text(j, "detail");
    lab->rootless = json_in_true(json_in_member(j, "rootless"));
    lab->boot = copy_text(j, "boot");
    lab->pid = (pid_t)number(j, "pid");
    lab->start = number(j, "start");
    lab->nodes = calloc(json_in_size(nodes) + 1, sizeof *lab->nodes);
    for (size_t i = 0; ok && lab->nodes && i < json_in_size(nodes); i++)
        ok = read_node(&lab->nodes[lab->n_nodes++], json_in_element(nodes, i)) && own_name(lab, lab->nodes[i].netns);
    return ok && lab->nodes && lab->topology && lab->scale && lab->detail;
}

struct lab *lab_bare(const char *name, char *problem, size_t size)
{
    char *rundir = lab_rundir(problem, size), *path = NULL;
    struct lab *lab = rundir ? calloc(1, sizeof *lab) : NULL;
    bool ok = false;

    if (!lab)
        goto out;
    lab->lock = -1;
    lab->name = strdup(name);
    lab->folder = print("%s/%s", rundir, name);
    path = lab->folder ? lab_path(lab, "lab.json") : NULL;
    ok = lab->name && path && access(path, F_OK) < 0; /* else `problem` says what is wrong with it */
out:
    free(path);
    free(rundir);
    if (!ok) {
        lab_free(lab);
        lab = NULL;
    }
    return lab;
}

int lab_lock(struct lab *lab)
{
    int fd = take_lock(lab->folder);

    if (fd < 0)
        return fd;
    lab->lock = fd;
    return 0;
}

struct lab *lab_open(const char *name, char *problem, size_t size)
{
    char *rundir = lab_rundir(problem, size), *path = NULL;
    struct lab *lab = rundir ? calloc(1, sizeof *lab) : NULL;
    struct json_in *j = NULL;
    bool ok = false;

    if (!lab)
        goto out;
    lab->lock = -1;
    lab->name = strdup(name);
    lab->folder = print("%s/%s", rundir, name);
    if (!lab_name_valid(name) || !lab->folder || access(lab->folder, F_OK) < 0) {
        snprintf(problem, size, "there is no lab `%s`; `emu list` shows those that are", name);
        goto out;
    }
    path = lab_path(lab, "lab.json");
    j = path ? json_in_load(path, problem, size) : NULL;
    ok = j && read_lab(lab, j);
    if (j && !ok)
        snprintf(problem, size, "%s: not an emu-lab/1", path);
out:
    json_in_free(j);
    free(path);
    free(rundir);
    if (!ok) {
        lab_free(lab);
        lab = NULL;
    }
    return lab;
}

void lab_free(struct lab *lab)
{
    if (!lab)
        return;
    free_nodes(lab);
    if (lab->lock >= 0)
        close(lab->lock);
    free(lab->name);
    free(lab->folder);
    free(lab->topology);
    free(lab->case_name);
    free(lab->scale);
    free(lab->detail);
    free(lab->boot);
    free(lab);
}

const struct lab_node *lab_node(const struct lab *lab, const char *name)
{
    for (size_t i = 0; i < lab->n_nodes; i++)
        if (strcmp(lab->nodes[i].name, name) == 0)
            return &lab->nodes[i];
    return NULL;
}
