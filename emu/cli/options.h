/* Command-line options as data: a table of typed rows fills a command's struct, prints its help
 * and its errors.
 *
 *     struct hash_options {
 *         const char *policy;
 *         int64_t links;
 *         struct option_list param;
 *         bool json;
 *     };
 *     static const struct option_spec rows[] = {
 *         OPTION_STRING(struct hash_options, policy, "policy", 'p', "POLICY", "policy or alias"),
 *         OPTION_INTEGER(struct hash_options, links, "links", 'n', "N", 1, 1024, "how many links"),
 *         OPTION_LIST(struct hash_options, param, "param", 0, "K=V", "parameter of the policy"),
 *         OPTION_FLAG(struct hash_options, json, "json", 0, "print JSON"),
 *     };
 *
 * Long options are `--name VALUE` or `--name=VALUE`, short ones `-n VALUE` or `-nVALUE`; `--` ends
 * the options, `-` is an operand. Names are not abbreviated; an unknown one is answered with the
 * nearest. An option given twice is refused unless it is a flag or a list. `--help` and `-h` come
 * with every table. Defaults are what the struct holds beforehand.
 */
#ifndef EMU_CLI_OPTIONS_H
#define EMU_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The member that a row fills: bool, const char *, struct option_list, int64_t, int (position in
 * `choices`), any. */
enum option_type {
    OPTION_IS_FLAG,
    OPTION_IS_STRING,
    OPTION_IS_LIST,
    OPTION_IS_INTEGER,
    OPTION_IS_ENUM,
    OPTION_IS_VALUE,
    OPTION_IS_OPTIONAL /* a string that may be left out: `--name` stores "", `--name=VALUE` VALUE */
};

/* Values in the order given; they point into argv. `items` is owned: option_free(). */
struct option_list {
    const char **items;
    size_t n;
};

struct option_spec {
    const char *name; /* without dashes */
    char letter;      /* 0: no short form */
    enum option_type type;
    size_t offset;              /* of the member */
    const char *argument;       /* placeholder in the help; NULL for flags */
    const char *help;           /* one line, or several divided by \n */
    const char *const *choices; /* ENUM: names, NULL-terminated */
    int64_t min, max;           /* INTEGER: inclusive */
    /* VALUE: stores and returns NULL, or returns what was expected ("a rate such as 1G") */
    const char *(*parse)(const char *text, void *member);
};

/* The offset of a member whose type is checked by the compiler. */
#define OPTION_MEMBER(s, member, member_type) (offsetof(s, member) + 0 * sizeof(&((s *)0)->member == (member_type *)0))

#define OPTION_FLAG(s, member, name_, letter_, help_)                                                       \
    {                                                                                                       \
        .name = name_, .letter = letter_, .type = OPTION_IS_FLAG, .offset = OPTION_MEMBER(s, member, bool), \
        .help = help_                                                                                       \
    }
#define OPTION_STRING(s, member, name_, letter_, argument_, help_)                                                    \
    {                                                                                                                 \
        .name = name_, .letter = letter_, .type = OPTION_IS_STRING, .offset = OPTION_MEMBER(s, member, const char *), \
        .argument = argument_, .help = help_                                                                          \
    }
#define OPTION_OPTIONAL(s, member, name_, letter_, argument_, help_)                           \
    {                                                                                          \
        .name = name_, .letter = letter_, .type = OPTION_IS_OPTIONAL,                          \
        .offset = OPTION_MEMBER(s, member, const char *), .argument = argument_, .help = help_ \
    }
#define OPTION_LIST(s, member, name_, letter_, argument_, help_)                                     \
    {                                                                                                \
        .name = name_, .letter = letter_, .type = OPTION_IS_LIST,                                    \
        .offset = OPTION_MEMBER(s, member, struct option_list), .argument = argument_, .help = help_ \
    }
#define OPTION_INTEGER(s, member, name_, letter_, argument_, min_, max_, help_)                                   \
    {                                                                                                             \
        .name = name_, .letter = letter_, .type = OPTION_IS_INTEGER, .offset = OPTION_MEMBER(s, member, int64_t), \
        .argument = argument_, .help = help_, .min = min_, .max = max_                                            \
    }
#define OPTION_ENUM(s, member, name_, letter_, argument_, choices_, help_)                                 \
    {                                                                                                      \
        .name = name_, .letter = letter_, .type = OPTION_IS_ENUM, .offset = OPTION_MEMBER(s, member, int), \
        .argument = argument_, .help = help_, .choices = choices_                                          \
    }
#define OPTION_VALUE(s, member, name_, letter_, argument_, parse_, help_)                         \
    {                                                                                             \
        .name = name_, .letter = letter_, .type = OPTION_IS_VALUE, .offset = offsetof(s, member), \
        .argument = argument_, .help = help_, .parse = parse_                                     \
    }

struct option_table {
    const char *operands; /* as in the usage line: "FILE", "SRC[:PORT] DST[:PORT]"; NULL: none */
    size_t min_operands, max_operands;
    const char *about; /* a sentence or two for --help, lines divided by \n */
    const struct option_spec *rows;
    size_t n_rows;
};

#define OPTION_GO_ON (-1)

/* Reads argv[1..] by the table into the struct `config` and the rest into `operands`. argv[0] is
 * the command as messages name it ("emu run"). Returns OPTION_GO_ON, or the exit code of the
 * command: 0 after --help was printed on stdout, 2 after an error was printed on stderr. Whatever
 * it returns, option_free() releases what it allocated. */
int option_parse(const struct option_table *table, int argc, char **argv, void *config, struct option_list *operands);
void option_free(const struct option_table *table, void *config, struct option_list *operands);

/* A whole decimal integer within [min, max]; false leaves *out alone. */
bool option_parse_integer(const char *text, int64_t min, int64_t max, int64_t *out);

#endif
