#include "nfsbal/emit/quote.h"

#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,";

bool quote_possible(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return true;
}

void quote_shell(FILE *out, const char *text)
{
    if (*text && text[strspn(text, plain)] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    fputc('\'', out);
}

void quote_powershell(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            fputs("''", out);
        else if (!strncmp(c, "\xe2\x80", 2) && (unsigned char)c[2] >= 0x98 && (unsigned char)c[2] <= 0x9b) {
            fprintf(out, "%.3s%.3s", c, c);
            c += 2;
        } else
            fputc(*c, out);
    fputc('\'', out);
}

void quote_fstab(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (strchr(" \\#", *c))
            fprintf(out, "\\%03o", (unsigned)*c);
        else
            fputc(*c, out);
}

void quote_unit(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '%')
            fputc('%', out);
        fputc(*c, out);
    }
}

void quote_unit_name(FILE *out, const char *path)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.";
    const char *start = *path == '/' ? path + 1 : path;
    for (const char *c = start; *c; c++)
        if (*c == '/')
            fputc('-', out);
        else if (!strchr(allowed, *c) || (*c == '.' && c == start))
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)*c);
        else
            fputc(*c, out);
}

void quote_hcl(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        else if ((*c == '$' || *c == '%') && c[1] == '{')
            fputc(*c, out);
        fputc(*c, out);
    }
    fputc('"', out);
}

void quote_xml(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '\'':
            fputs("&apos;", out);
            break;
        default:
            fputc(*c, out);
        }
}

void quote_yaml(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputc('\'', out);
        fputc(*c, out);
    }
    fputc('\'', out);
}

/* autofs' reader takes a byte that is no ASCII letter for the end of a key, unless the key is quoted; and in quotes everything stands
 * for itself, a backslash as well. */
void quote_autofs_key(FILE *out, const char *text)
{
    bool quotes = text[strspn(text, plain)] != '\0';

    if (quotes)
        fputc('"', out);
    fputs(text, out);
    if (quotes)
        fputc('"', out);
}

void quote_autofs(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr(" \\\"'$&#", *c))
            fputc('\\', out);
        fputc(*c, out);
    }
}

void quote_ansible(FILE *out, const char *text)
{
    if (strstr(text, "{{") || strstr(text, "{%") || strstr(text, "{#"))
        fputs("!unsafe ", out);
    fputc('\'', out);
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputc('\'', out);
        fputc(*c, out);
    }
    fputc('\'', out);
}
