/* Closed forms of disks, RAID, caches and queues. Pure arithmetic: times in seconds, sizes in bytes, rates in 1/s and
 * bytes/s. docs/model.md has each with worked numbers, tests/unit/storage_forms.c holds them, tests/unit/storage.c holds the
 * stations of emu/sim/storage.h against them.
 */
#ifndef EMU_MODEL_STORAGE_FORMS_H
#define EMU_MODEL_STORAGE_FORMS_H

#include "emu/model/storage.h"

/* ---- one disk ---- */

/* Mean seek between two random places of a part `span` (0..1) of the stroke: a + b sqrt(span) 8/15, where a + b sqrt(d) is the
 * seek over distance d and 8/15 the mean of sqrt|x - y|. */
double storage_seek(const struct storage_disk *d, double span, bool write);
double storage_seek_over(const struct storage_disk *d, double distance, bool write); /* a + b sqrt(d) */
/* The same in a queue of `depth` that is served by place: the gap to the next of them. */
double storage_seek_sorted(const struct storage_disk *d, double span, double depth, bool write);
/* Mean time of one request at a random place: seek, half a turn, bytes / rate; of an SSD its read or write and the bytes. */
double storage_request(const struct storage_disk *d, double span, double bytes, bool write);
/* Share of the media rate that interleaved sequential streams get when each visit moves `chunk` and pays `position`; the chunk
 * that a share takes. */
double storage_efficiency(double chunk, double rate, double position);
double storage_chunk_for(double efficiency, double rate, double position);

/* ---- RAID ---- */

unsigned storage_parities(enum storage_raid raid);
double storage_usable(const struct storage_group *g);        /* bytes */
double storage_stripe_factor(const struct storage_group *g); /* bytes written to disks per byte of a sequential write */
double storage_stroke(const struct storage_group *g,
                      double placed); /* span of seeks: bytes placed / usable, at most 1 */
/* Disk operations per operation: r (1 - h) + w P / m. */
double storage_operations(double read_share, double read_hit, double penalty, double merge);

/* ---- caches ---- */

double storage_fill_time(double bytes, double in, double out); /* until a write-back cache is full; INFINITY: never */
double storage_hit_latency(double hit_share, double hit, double miss);

/* ---- queues ---- */

double queue_mm1(double service, double load);                    /* mean response */
double queue_erlang_c(unsigned servers, double load);             /* chance to wait; load per server */
double queue_mmc(double service, double load, unsigned servers);  /* mean response */
double queue_service_for(double response, double rate);           /* of M/M/1 */
double queue_closed_rate(double disks, double service, double n); /* n requests, each at a random of `disks` */
double queue_closed_response(double disks, double service, double n);
double queue_open_outstanding(double disks, double service, double rate);
double queue_bound(double clients, double think, double total, double largest); /* operations/s at most */
/* Mean response of requests that come at random at `rate`, when at most `limit` of them are at the disks and the rest wait in
 * line: a birth-death chain with the closed rate of each population. INFINITY when they are too many. */
double queue_limited_response(double disks, double service, double limit, double rate);

/* ---- jobs ---- */

double job_time(double think, double trips, double latency, double bytes, double rate);
double storm_peak(double starts_per_s, double duration, double rate_each, double n); /* operations/s */
double storm_time(double starts_per_s, double duration, double n);

/* ---- the back-end network ---- */

/* Bytes on the wire for a message of `bytes` of data: what protocol and frames add. */
double storage_wire_bytes(enum storage_protocol protocol, unsigned mtu, double bytes);

#endif
