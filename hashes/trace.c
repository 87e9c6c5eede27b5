#include "hashes/trace.h"

#include <stdarg.h>
#include <stdio.h>

/* vsnprintf() has written `count` characters, or would have with more room. */
static void advance(struct hash_trace *trace, int count)
{
    const size_t room = trace->size - trace->length;

    if (count > 0 && room > 0)
        trace->length += (size_t)count < room ? (size_t)count : room - 1;
}

void hash_trace_more(struct hash_trace *trace, const char *format, ...)
{
    va_list arguments;
    int count;

    if (!trace)
        return;
    va_start(arguments, format);
    count = vsnprintf(trace->out + trace->length, trace->size - trace->length, format, arguments);
    va_end(arguments);
    advance(trace, count);
}

void hash_trace_step(struct hash_trace *trace, const char *format, ...)
{
    va_list arguments;
    int count;

    if (!trace)
        return;
    if (trace->length)
        hash_trace_more(trace, ", ");
    va_start(arguments, format);
    count = vsnprintf(trace->out + trace->length, trace->size - trace->length, format, arguments);
    va_end(arguments);
    advance(trace, count);
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
