/* Sizes of iSCSI over TCP: what one SCSI read or write puts into the byte stream (RFC 7143).
 *
 * Every PDU begins with a basic header segment of 48 bytes (its section 11.2); no digests, as initiators have them by default. Data
 * of a read comes in PDUs of at most MaxRecvDataSegmentLength, the last one with the status (section 11.7). A write brings
 * up to FirstBurstLength unasked (ImmediateData and no InitialR2T), the rest in bursts that the target asks for by
 * R2T. The three limits are negotiated; here those of the ESXi initiator's documentation.
 */
#ifndef EMU_MODEL_ISCSI_H
#define EMU_MODEL_ISCSI_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ISCSI_HEADER = 48,
    ISCSI_SEGMENT = 131072,     /* MaxRecvDataSegmentLength */
    ISCSI_FIRST_BURST = 262144, /* FirstBurstLength */
    ISCSI_BURST = 262144        /* MaxBurstLength */
};

/* PDUs that carry so many bytes of data. */
static inline uint64_t iscsi_segments(uint64_t bytes) { return (bytes + ISCSI_SEGMENT - 1) / ISCSI_SEGMENT; }

static inline uint64_t iscsi_padded(uint64_t bytes) { return (bytes + 3) & ~UINT64_C(3); }

/* R2Ts of a write. */
static inline uint64_t iscsi_asked(uint64_t bytes)
{
    return bytes > ISCSI_FIRST_BURST ? (bytes - ISCSI_FIRST_BURST + ISCSI_BURST - 1) / ISCSI_BURST : 0;
}

/* From initiator to target. A write's first PDU is the command itself, with immediate data. */
static inline uint64_t iscsi_there(bool write, uint64_t bytes)
{
    return write ? iscsi_segments(bytes) * ISCSI_HEADER + iscsi_padded(bytes) : ISCSI_HEADER;
}

/* From target to initiator. */
static inline uint64_t iscsi_back(bool write, uint64_t bytes)
{
    return write ? (1 + iscsi_asked(bytes)) * ISCSI_HEADER : iscsi_segments(bytes) * ISCSI_HEADER + iscsi_padded(bytes);
}

#endif
