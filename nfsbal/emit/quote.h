/* Writing names so that a shell, PowerShell, YAML, fstab or a unit file reads them back to the letter. */
#ifndef NFSBAL_EMIT_QUOTE_H
#define NFSBAL_EMIT_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

/* False for what no format here can hold: control characters (newlines among them). */
bool quote_possible(const char *text);

void quote_shell(FILE *out, const char *text); /* as it is where nothing in it is special, else in single quotes */

#endif
