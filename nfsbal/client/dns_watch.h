/* Asks DNS again and again what addresses some server names have. The question blocks, for as long as DNS likes, so it is asked in a
 * thread of its own; everything else happens in the loop.
 */
#ifndef NFSBAL_CLIENT_DNS_WATCH_H
#define NFSBAL_CLIENT_DNS_WATCH_H

#include <stdint.h>

#include "nfsbal/client/server_name.h"

struct dns_watch;
struct loop;

/* An answer; `names` is valid during the call. Questions without an answer are not told. */
typedef void dns_watch_answer(void *context, const struct server_names *names);

/* Asks every `interval` ns for a list as server_names_resolve() has it. NULL: no memory. */
struct dns_watch *dns_watch_new(struct loop *l, const char *text, int64_t interval, dns_watch_answer *answer,
                                void *context);
void dns_watch_free(struct dns_watch *w); /* accepts NULL; not within `answer` */

#endif
