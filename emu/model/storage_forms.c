#include "emu/model/storage_forms.h"

#include <math.h>

static double seconds(ps_t t) { return (double)t / (double)PS_PER_S; }

/* Mean of sqrt|x - y| for x, y random in 0..1. */
#define MEAN_ROOT (8.0 / 15)

double storage_seek_over(const struct storage_disk *d, double distance, bool write)
{
    double a = seconds(d->seek_least), b = (seconds(write ? d->seek_write : d->seek_read) - a) / MEAN_ROOT;
    return a + b * sqrt(distance);
}

double storage_seek(const struct storage_disk *d, double span, bool write)
{
    double a = seconds(d->seek_least);
    return a + (storage_seek_over(d, span, write) - a) * MEAN_ROOT;
}

/* Gaps between n random places are close to exponential with mean span / n; the mean of the root of such a gap is
 * Gamma(3/2) sqrt(span / n). */
double storage_seek_sorted(const struct storage_disk *d, double span, double depth, bool write)
{
    double a = seconds(d->seek_least), gap = span / (depth + 1);
    double sorted = a + (storage_seek_over(d, gap, write) - a) * 0.8862269254527580;
    return depth > 1 ? fmin(sorted, storage_seek(d, span, write)) : storage_seek(d, span, write);
}

double storage_request(const struct storage_disk *d, double span, double bytes, bool write)
{
    double transfer = d->rate > 0 ? bytes / d->rate : 0;
    if (d->medium == STORAGE_SSD)
        return seconds(write ? d->write : d->read) + transfer;
    return storage_seek(d, span, write) + seconds(d->turn) / 2 + transfer;
}

double storage_efficiency(double chunk, double rate, double position) { return chunk / (chunk + rate * position); }

double storage_chunk_for(double efficiency, double rate, double position)
{
    return rate * position * efficiency / (1 - efficiency);
}

unsigned storage_parities(enum storage_raid raid)
{
    switch (raid) {
    case STORAGE_RAID_0:
    case STORAGE_RAID_10:
        break;
    case STORAGE_RAID_5:
    case STORAGE_RAID_50:
        return 1;
    case STORAGE_RAID_6:
        return 2;
    }
    return 0;
}

static double data_share(const struct storage_group *g)
{
    return g->raid == STORAGE_RAID_10 ? 0.5 : 1 - (double)storage_parities(g->raid) / (double)g->set;
}

double storage_usable(const struct storage_group *g) { return (double)g->disks * (double)g->disk.size * data_share(g); }

double storage_stripe_factor(const struct storage_group *g)
{
    return storage_parities(g->raid) && !g->full_stripe ? (double)g->penalty : 1 / data_share(g);
}

double storage_stroke(const struct storage_group *g, double placed) { return fmin(1, placed / storage_usable(g)); }

double storage_operations(double read_share, double read_hit, double penalty, double merge)
{
    return read_share * (1 - read_hit) + (1 - read_share) * penalty / merge;
}

double storage_fill_time(double bytes, double in, double out)
{
    return in > out ? bytes / (in - out) : (double)INFINITY;
}

double storage_hit_latency(double hit_share, double hit, double miss)
{
    return hit_share * hit + (1 - hit_share) * miss;
}

double queue_mm1(double service, double load) { return load < 1 ? service / (1 - load) : (double)INFINITY; }

double queue_erlang_c(unsigned servers, double load)
{
    double a = load * servers, b = 1; /* Erlang B, by its recursion */
    if (load >= 1)
        return 1;
    for (unsigned i = 1; i <= servers; i++)
        b = a * b / (i + a * b);
    return b / (1 - load * (1 - b));
}

double queue_mmc(double service, double load, unsigned servers)
{
    if (load >= 1)
        return (double)INFINITY;
    return service + queue_erlang_c(servers, load) * service / (servers * (1 - load));
}

double queue_service_for(double response, double rate) { return response / (1 + rate * response); }

double queue_closed_rate(double disks, double service, double n) { return disks / service * n / (n + disks - 1); }

double queue_closed_response(double disks, double service, double n) { return service * (n + disks - 1) / disks; }

double queue_open_outstanding(double disks, double service, double rate)
{
    double u = rate * service / disks;
    return u < 1 ? disks * u / (1 - u) : (double)INFINITY;
}

double queue_bound(double clients, double think, double total, double largest)
{
    return fmin(1 / largest, clients / (total + think));
}

double queue_limited_response(double disks, double service, double limit, double rate)
{
    double full = queue_closed_rate(disks, service, limit), load = rate / full;
    if (load >= 1)
        return (double)INFINITY;
    double weight = 1, sum = 1, mean = 0; /* of n = 0, 1, ... limit, then a geometric tail */
    for (unsigned long i = 1; (double)i <= limit; i++) {
        double n = (double)i;
        weight *= rate / queue_closed_rate(disks, service, n);
        sum += weight;
        mean += n * weight;
        if (sum > 1e200) {
            weight /= sum;
            mean /= sum;
            sum = 1;
        }
    }
    double tail = weight * load / (1 - load);
    mean += tail * (limit + 1 / (1 - load));
    return mean / (sum + tail) / rate;
}

double job_time(double think, double trips, double latency, double bytes, double rate)
{
    return think + trips * latency + (rate > 0 ? bytes / rate : 0);
}

double storm_peak(double starts_per_s, double duration, double rate_each, double n)
{
    return fmin(n, starts_per_s * duration) * rate_each;
}

double storm_time(double starts_per_s, double duration, double n) { return n / starts_per_s + duration; }

double storage_wire_bytes(enum storage_protocol protocol, unsigned mtu, double bytes)
{
    /* Per frame: Ethernet header 14, FCS 4, preamble and gap 20; TCP/IP with timestamps 52. iSCSI: a PDU of at most 256 KiB has a
     * header of 48 bytes (RFC 7143). RoCE version 1: GRH 40, BTH 12, ICRC 4, RETH 16 once, and payloads that are a power of
     * two up to 4096 (InfiniBand architecture, annex A16). SAS: frames of 1,024 bytes with 36 of header, CRC and marks. */
    double frame = 38, payload = mtu, once = 0;
    switch (protocol) {
    case STORAGE_ISCSI:
        payload = (double)mtu - 52;
        frame += 52;
        once = 48 * ceil(bytes / 262144);
        break;
    case STORAGE_RDMA:
        payload = mtu >= 4160 ? 4096 : mtu >= 2112 ? 2048 : mtu >= 1088 ? 1024 : 512;
        frame += 56;
        once = 16;
        break;
    case STORAGE_SAS:
        payload = 1024;
        frame = 36;
        break;
    }
    bytes += once;
    return bytes + ceil(bytes / payload) * frame;
}
