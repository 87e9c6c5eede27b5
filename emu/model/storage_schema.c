#include "emu/model/storage_schema.h"

#include <assert.h>

#include "emu/model/schema.h"
#include "emu/model/storage.h"

const char *const storage_media[] = {"hdd", "ssd", NULL};
const char *const storage_raids[] = {"raid-0", "raid-5", "raid-6", "raid-10", "raid-50", NULL};
const char *const storage_orders[] = {"fifo", "elevator", NULL};
const char *const storage_protocols[] = {"iscsi", "rdma", "sas", NULL};
static_assert(sizeof(storage_media) / sizeof(storage_media[0]) == STORAGE_SSD + 2, "a name per medium, and NULL");
static_assert(sizeof(storage_raids) / sizeof(storage_raids[0]) == STORAGE_RAID_50 + 2, "a name per level, and NULL");
static_assert(sizeof(storage_orders) / sizeof(storage_orders[0]) == STORAGE_ELEVATOR + 2, "a name per order, and NULL");
const char *const storage_alones[] = {"write-through", "journal", "cache", NULL};
static_assert(sizeof(storage_alones) / sizeof(storage_alones[0]) == STORAGE_CACHE + 2, "a name each, and NULL");
static_assert(sizeof(storage_protocols) / sizeof(storage_protocols[0]) == STORAGE_SAS + 2, "a name each, and NULL");

static const char *const disk_services[] = {"physical",   "constant", "exponential", "uniform",
                                            "log-normal", "table",    NULL};

/* Rows are one line each, laid out by hand. */
// clang-format off
#define END {.name = NULL}
#define SHORT_TIME .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 10
#define BYTES .shape = SCHEMA_ONE, .value = SCHEMA_SIZE
#define FAST .shape = SCHEMA_ONE, .value = SCHEMA_BYTE_RATE, .min = 1e3, .max = 1e13
#define WHOLE .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER
#define SHARE .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1
#define YES .shape = SCHEMA_ONE, .value = SCHEMA_BOOL
#define SPREAD_AND_TABLE                                                                                                   \
    {.name = "spread", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 0.001, .max = 10, .help = "of uniform: half the width / mean, at most 1; of log-normal: standard deviation / mean"}, \
    {.name = "table", .shape = SCHEMA_LIST, .value = SCHEMA_COUNT, .min = 0, .max = 1e9, .help = "measured values at equal steps of probability, ascending; only their ratios count"}

#define DEVICE                                                                                                             \
    {.name = "medium", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = storage_media, .help = "hdd or ssd"},          \
    {.name = "rpm", WHOLE, .min = 1000, .max = 30000, .help = "hdd: revolutions per minute"},                               \
    {.name = "seek", SHORT_TIME, .help = "hdd: average over the whole stroke, reading"},                                    \
    {.name = "seek-write", SHORT_TIME, .help = "hdd: the same, writing; as reading"},                                       \
    {.name = "seek-least", SHORT_TIME, .help = "hdd: the part that does not depend on the distance; 0"},                    \
    {.name = "read", SHORT_TIME, .help = "ssd: time of a read, without its bytes"},                                         \
    {.name = "write", SHORT_TIME, .help = "ssd: time of a write, without its bytes"},                                       \
    {.name = "parallel", WHOLE, .min = 1, .max = 1024, .help = "ssd: requests served at once; 1"},                          \
    {.name = "rate", FAST, .help = "bytes per second from and to the medium"},                                              \
    {.name = "size", BYTES, .min = 1e9, .max = 1e15, .help = "of one disk"},                                                \
    {.name = "service", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = disk_services, .help = "physical (seeks between places, part of a turn), or a distribution around the mean time"}, \
    SPREAD_AND_TABLE

const struct schema_key storage_schema_device[] = {DEVICE, END};

static const struct schema_key group_keys[] = {
    {.name = "device", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "a disk among the presets; keys beside it change it"},
    DEVICE,
    {.name = "disks", WHOLE, .min = 1, .max = 10000, .help = "that work, of one array"},
    {.name = "spares", WHOLE, .min = 0, .max = 1000, .help = "hot spares of one array; 0"},
    {.name = "arrays", WHOLE, .min = 1, .max = 1000, .help = "arrays of so many disks; 1"},
    {.name = "raid", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = storage_raids, .help = "level"},
    {.name = "set", WHOLE, .min = 2, .max = 64, .help = "disks of one parity set, with its parity; all of an array, RAID 50: 6"},
    {.name = "penalty", WHOLE, .min = 1, .max = 12, .help = "disk operations of one small write; RAID 0 1, 10 2, 5 and 50 4, 6 6"},
    {.name = "merge", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 1, .max = 1000, .help = "random writes that one destage write stands for; 1"},
    {.name = "full-stripe", YES, .help = "sequential writes are destaged as whole stripes; true"},
    {.name = "order", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = storage_orders, .help = "in which a disk serves its queue; fifo"},
    {.name = "placed", BYTES, .min = 0, .max = 1e18, .help = "bytes on the group besides the files of workloads: how far seeks go; the whole disks"},
    {.name = "visit", BYTES, .min = 512, .max = 1073741824, .help = "bytes of one sequential stream that a disk reads before it turns to another; 256KiB"},
    {.name = "destage-visit", BYTES, .min = 512, .max = 1073741824, .help = "the same for sequential writes; 1MiB"},
    {.name = "read-ahead", BYTES, .min = 512, .max = 1073741824, .help = "bytes of a sequential stream fetched before they are asked for; 16MiB"},
    {.name = "share", SHARE, .help = "of the operations, where several groups are tiers; without it by number of disks"},
    END};

static const char *const services[] = {"constant", "exponential", "uniform", "log-normal", "table", NULL};

static const struct schema_key controller_keys[] = {
    {.name = "cores", WHOLE, .min = 1, .max = 1024, .help = "of one controller; required"},
    {.name = "per-operation", SHORT_TIME, .help = "time of one core; 0"},
    {.name = "rate", FAST, .help = "bytes per second that one core moves; no limit"},
    {.name = "service", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = services, .help = "distribution around the mean time; constant"},
    SPREAD_AND_TABLE,
    END};

static const struct schema_key cache_keys[] = {
    {.name = "size", BYTES, .min = 0, .max = 1e15, .help = "of all controllers together, for reads"},
    {.name = "working-set", BYTES, .min = 1, .max = 1e18, .help = "bytes that random reads go to: hits are size / working-set"},
    {.name = "read-hit", SHARE, .help = "share of random reads that find their data, instead of `working-set`; 0%"},
    {.name = "hit", SHORT_TIME, .help = "time of a hit; 0"},
    {.name = "write-back", YES, .help = "writes are acknowledged from the cache; true"},
    {.name = "write", SHORT_TIME, .help = "time of a write into the cache; 0"},
    {.name = "mirror", SHORT_TIME, .help = "time of the copy to the partner's cache; 0"},
    {.name = "mirror-rate", FAST, .help = "bytes per second of these copies, per controller; no limit"},
    {.name = "dirty", BYTES, .min = 1048576, .max = 1e15, .help = "bytes written and not destaged at most; 1GiB"},
    {.name = "alone", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = storage_alones, .help = "writes of a controller whose partner has failed: write-through (from the disks), journal (once they are in a journal on them), cache (at risk); write-through"},
    {.name = "failover", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 3600, .help = "how long the partner serves nothing after a failure; 0"},
    END};

static const struct schema_key back_end_keys[] = {
    {.name = "links", WHOLE, .min = 1, .max = 1024, .help = "required, but with `zone`; taken in turn, as round-robin multipath does"},
    {.name = "speed", .shape = SCHEMA_ONE, .value = SCHEMA_RATE, .min = 1e3, .max = 1e12, .help = "of one link; required with `links`"},
    {.name = "protocol", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = storage_protocols, .help = "whose headers are carried; iscsi"},
    {.name = "mtu", WHOLE, .min = 576, .max = 65520, .help = "1500"},
    {.name = "delay", SHORT_TIME, .help = "one way; 5us"},
    {.name = "zone", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "instead of `links`: the zone of this NAS whose addresses its controllers have in the SAN"},
    {.name = "members", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "with `zone`: the arrays in the SAN, nodes of kind nas; every group's disks are dealt to them"},
    END};

static const struct schema_key host_cache_keys[] = {
    {.name = "hosts", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "required; hosts with a card"},
    {.name = "interface", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "required; of each host, through which it reaches the others by RDMA"},
    {.name = "device", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "the card, a device among the presets; keys beside it change it"},
    DEVICE,
    {.name = "read-hit", SHARE, .help = "share of reads that find their data in some host's card; 0%"},
    {.name = "path", SHORT_TIME, .help = "time of an operation through adapter, driver and cache software; 0"},
    {.name = "destage", BYTES, .min = 512, .max = 1073741824, .help = "bytes that a host writes to the array at a time; 256KiB"},
    {.name = "destages", WHOLE, .min = 1, .max = 1024, .help = "so many at a time; 8"},
    {.name = "dirty", BYTES, .min = 1048576, .max = 1e15, .help = "bytes of a card that wait for the array at most; half of it"},
    END};

static const struct schema_key limit_keys[] = {
    {.name = "read", .shape = SCHEMA_ONE, .value = SCHEMA_BYTE_RATE, .min = 1e3, .max = 1e12, .help = "bytes per second"},
    {.name = "write", .shape = SCHEMA_ONE, .value = SCHEMA_BYTE_RATE, .min = 1e3, .max = 1e12, .help = "bytes per second"},
    {.name = "iops", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 1, .max = 1e9, .help = "operations per second"},
    END};

const struct schema_key storage_schema_keys[] = {
    {.name = "limit", .shape = SCHEMA_MAP, .keys = limit_keys, .help = "the short form: what the storage behind the NAS delivers at most"},
    {.name = "preset", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "a product, by its name in emu/model/storage_presets.yaml; keys beside it change it"},
    {.name = "systems", WHOLE, .min = 1, .max = 64, .help = "NAS systems that the controllers are, in the order of their names and in equal parts; 1"},
    {.name = "concurrency", WHOLE, .min = 1, .max = 1000000, .help = "requests to disks that one system has outstanding at most; no limit"},
    {.name = "controller", .shape = SCHEMA_MAP, .keys = controller_keys, .help = "CPU of each controller"},
    {.name = "cache", .shape = SCHEMA_MAP, .keys = cache_keys, .help = "of the NAS; without it every read misses and every write waits for the disks"},
    {.name = "back-end", .shape = SCHEMA_MAP, .keys = back_end_keys, .help = "network between the controllers and the disks"},
    {.name = "host-cache", .shape = SCHEMA_MAP, .keys = host_cache_keys, .help = "flash cards in the hosts before it, that hold writes and their copies"},
    {.name = "groups", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = group_keys, .help = "disks by RAID group or tier"},
    END};

static const struct schema_key preset_keys[] = {
    {.name = "devices", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = storage_schema_device, .help = "disks"},
    {.name = "storages", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = storage_schema_keys, .help = "what `preset:` names"},
    END};
// clang-format on

const struct schema_key storage_schema_presets = {.name = "the presets", .shape = SCHEMA_MAP, .keys = preset_keys};
