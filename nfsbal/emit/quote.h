/* Writing names so that a shell, PowerShell, YAML, fstab or a unit file reads them back to the letter. */
#ifndef NFSBAL_EMIT_QUOTE_H
#define NFSBAL_EMIT_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

/* False for what no format here can hold: control characters (newlines among them). */
bool quote_possible(const char *text);

void quote_shell(FILE *out, const char *text);      /* as it is where nothing in it is special, else in single quotes */
void quote_powershell(FILE *out, const char *text); /* in single quotes; typographic ones end a string there too */
void quote_fstab(FILE *out, const char *text);      /* blanks, backslashes and # as \ooo */
void quote_unit(FILE *out, const char *text);       /* a value in a unit file: % twice */
void quote_unit_name(FILE *out, const char *path);  /* "/mnt/a b" as mnt-a\x20b, see systemd.unit(5) */

void quote_hcl(FILE *out, const char *text);        /* in double quotes, templates as they are written */
void quote_xml(FILE *out, const char *text);        /* text, or a value between single quotes */
void quote_yaml(FILE *out, const char *text);       /* in single quotes */
void quote_autofs_key(FILE *out, const char *text); /* a key of a map, without double quotes in it */
void quote_autofs(FILE *out, const char *text);     /* a location: what is special behind a backslash */

/* YAML in single quotes; where Jinja would read something in it, as !unsafe. */
void quote_ansible(FILE *out, const char *text);

#endif
