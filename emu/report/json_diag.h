/* Diagnostics as JSON, for `emu check --json` and whatever else reads a topology file. */
#ifndef EMU_REPORT_JSON_DIAG_H
#define EMU_REPORT_JSON_DIAG_H

struct diag;
struct json_out;

/* Adds the findings, sorted by place, as an array of objects: severity, id, line, column, length, text, hint, allowed,
 * reason. Absent values are null; line 0 becomes null as well. */
void json_diag(struct json_out *j, const char *key, struct diag *d);

#endif
