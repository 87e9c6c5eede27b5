/* A topology file from what the devices of a site print.
 *
 * Reading collects facts, device by device, from any subset of the inputs; writing joins them (cables by CDP and LLDP, LAGs by
 * their ports, datastores by server and path) and prints the file. Nothing is guessed in silence: what no input tells is a
 * comment at its place with the command that would tell, and where the file can't do without a value, a stand-in is given and
 * marked so. nfsbal-import(1) lists the inputs.
 */
#ifndef NFSBAL_SITE_IMPORT_H
#define NFSBAL_SITE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct diag;
struct import;

struct import *import_new(void);
void import_free(struct import *m); /* accepts NULL */

/* One file of a device. `name` is its path below the device's folder, which says what printed it; a file that a collector wrote
 * holds several outputs under "==== COMMAND" lines. What can't be read comes into d. */
void import_text(struct import *m, const char *device, const char *name, const char *text, size_t length,
                 struct diag *d);

/* All files of a folder that has one folder per device. Messages are printed on stderr. 0; -EINVAL when one of the files is
 * broken or none was understood (said on stderr); -errno, with the place in `problem`, when something can't be opened. */
int import_folder(struct import *m, const char *path, char *problem, size_t size);

/* Prints the file. The gaps are also printed on `gaps`, one a line, where that isn't NULL; *n_gaps says how many there are. False,
 * and nothing is printed, when no device has anything to do with NFS. The facts are used up: call it once. */
bool import_write(struct import *m, const char *name, FILE *out, FILE *gaps, size_t *n_gaps);

/* Scripts that collect the inputs of a kind of device; they only read. */
enum import_script { IMPORT_SCRIPT_ESXI, IMPORT_SCRIPT_ONTAP, IMPORT_SCRIPT_PVE, IMPORT_SCRIPT_LINUX, IMPORT_SCRIPTS };
extern const char *const import_script_names[IMPORT_SCRIPTS + 1]; /* NULL at the end */
void import_script_print(enum import_script which, FILE *out);

#endif
