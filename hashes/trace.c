#include "hashes/trace.h"

#include <stdarg.h>
#include <stdio.h>

HASH_PRINTF(2, 0) static void put(struct hash_trace *trace, const char *format, va_list arguments)
{
    size_t room = trace->size - trace->length;
    int count;

    if (trace->size == 0)
        return;
    count = vsnprintf(trace->out + trace->length, room, format, arguments);
    if (count > 0)
        trace->length += (size_t)count < room ? (size_t)count : room - 1;
}

void hash_trace_more(struct hash_trace *trace, const char *format, ...)
{
    va_list arguments;

    if (!trace)
        return;
    va_start(arguments, format);
    put(trace, format, arguments);
    va_end(arguments);
}

void hash_trace_step(struct hash_trace *trace, const char *format, ...)
{
    va_list arguments;

    if (!trace)
        return;
    if (trace->length)
        hash_trace_more(trace, ", ");
    va_start(arguments, format);
    put(trace, format, arguments);
    va_end(arguments);
}

void hash_trace_xor32(struct hash_trace *trace, uint32_t a, uint32_t b)
{
    hash_trace_step(trace, "0x%08X xor 0x%08X = 0x%08X", (unsigned)a, (unsigned)b, (unsigned)(a ^ b));
}

void hash_trace_bytes(struct hash_trace *trace, const uint8_t *bytes, size_t count)
{
    hash_trace_more(trace, "0x");
    for (size_t i = 0; i < count; i++)
        hash_trace_more(trace, "%02X", bytes[i]);
}
