/* The registry of live labs: a folder per lab, and in it what must be known to enter a lab and to take it away.
 *
 *     $EMU_RUNDIR, else /run/emu for root, $XDG_RUNTIME_DIR/emu for others
 *       LAB/lab.json   "emu-lab/1": written before anything is made (intent), so that `emu clean` finds it all
 *       LAB/lock       locked by the datapath as long as it lives
 *       LAB/control    its socket
 *       LAB/log        what it has to say
 *       LAB/NODE/      a folder per NAS controller, for its server
 *       LAB/export/    what the servers export unless a folder was given: in memory
 *       LAB/ns/NODE    rootless labs: the namespaces' names, seen from inside the lab only
 */
#ifndef EMU_LIVE_LAB_H
#define EMU_LIVE_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct topo;

enum { LAB_NAME_MAX = 32 };

/* What lab.json says of a node. Texts belong to the lab. */
struct lab_node {
    char *name, *kind; /* "fs7500:ctl1"; "esxi", "linux", "nas" */
    char *netns;       /* path */
    char *folder;      /* LAB/NODE, for a server's files; NULL for hosts */
    char **addresses;  /* with prefix */
    size_t n_addresses;
    pid_t server; /* first process of its NFS server; 0: none */
    uint64_t server_start;
    int box; /* in the topology; not in the file */
};

struct lab {
    char *name, *folder;
    char *topology;  /* absolute path of the file, as it was when the lab came up */
    char *case_name; /* or NULL */
    char *scale;     /* as given; "1" */
    char *detail;    /* "train" or "frame" */
    bool rootless;
    char *boot;     /* of the machine, as /proc/sys/kernel/random/boot_id names it; NULL: not known */
    pid_t pid;      /* of the datapath */
    uint64_t start; /* of that process, as in /proc/PID/stat, so that a number used again isn't taken for it */
    struct lab_node *nodes;
    size_t n_nodes;
    int lock; /* private */
};

/* The folder of all labs, as above; NULL with a sentence when there can't be one. The caller frees it. */
char *lab_rundir(char *problem, size_t size);

bool lab_name_valid(const char *name); /* letters, digits, '.', '_', '-'; not first '.' or '-' */
void lab_name_from(const char *title, char *name, size_t size); /* a valid one, of at most LAB_NAME_MAX */

/* Makes the folder of a new lab and locks it. -EEXIST: the name is in use, by a lab that runs or one left behind; the
 * sentence says which. */
int lab_new(struct lab **out, const char *name, char *problem, size_t size);
/* Fills in the nodes of the topology: hosts and NAS controllers. -ENOMEM. */
int lab_nodes(struct lab *lab, const struct topo *t);
/* -EEXIST with a sentence when something that the lab is about to make is there already: then the lab has no nodes any more,
 * so that it takes nothing away that isn't its own. */
int lab_check(struct lab *lab, char *problem, size_t size);
int lab_write(const struct lab *lab); /* lab.json, whole or not at all: 0 or -errno */

/* Reads a lab by its name; NULL with a sentence. */
struct lab *lab_open(const char *name, char *problem, size_t size);
void lab_free(struct lab *lab);        /* forgets it, changes nothing; accepts NULL */
bool lab_alive(const struct lab *lab); /* its datapath runs */
const struct lab_node *lab_node(const struct lab *lab, const char *name); /* NULL: none */
char *lab_path(const struct lab *lab, const char *file); /* FOLDER/file, for the caller to free; NULL without memory */

/* Makes LAB/export, in memory: where the labs are on a disk a tmpfs is mounted there, and lab_remove() unmounts it. But for
 * rootless labs, whose mounts nobody outside could see. 0 or -errno. */
int lab_make_export(const struct lab *lab);

/* Names of all labs, sorted; freed by lab_names_free(). -errno. */
long lab_names(char ***names);
void lab_names_free(char **names, size_t n);

/* Takes away what a lab left: processes in its namespaces, servers, namespaces, its folder. Only for labs that are not alive, and
 * by the datapath for its own. 0, or -errno with a sentence about the first thing that would not go. */
int lab_remove(struct lab *lab, char *problem, size_t size);
/* The same for a lab of which only the name is known, unless it is alive: 1 removed, 0 alive or gone, -errno with a sentence. */
int lab_clean(const char *name, char *problem, size_t size);
/* A lab with its name and folder alone, for one that has no lab.json. -EBUSY with a sentence: it has one that can't be read. */
struct lab *lab_bare(const char *name, char *problem, size_t size);
int lab_lock(struct lab *lab); /* 0; -EWOULDBLOCK: it is alive; -errno */

/* Ends all processes in the namespaces of the lab but the caller: first asked, then killed. */
void lab_end_processes(const struct lab *lab);

uint64_t lab_process_start(pid_t pid); /* 0: no such process */
/* What is there of it beside its folder may be its own. Not when the machine has been started anew since. */
bool lab_of_this_boot(const struct lab *lab);

#endif
