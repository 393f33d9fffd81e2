/* Definitions for kernels in C, in addition to the firmware's functions (contracts.h). */
#include "contracts.h"

#define EXPORT __attribute__((visibility("default")))
#define TEXT(text) {text, sizeof(text) - 1}

IMPORT void *memset(void *, int, unsigned);
IMPORT void *memcpy(void *, const void *, unsigned);

EXPORT void __modinit__(void *);

/* Reports a number to the host: service 100, asynchronous. */
static inline void mark(int32_t value)
{
    static const slice tag = TEXT("i:n");
    void *data[] = {&value};
    rpc_send_async(100, &tag, data);
}

/* Requests a number from the host: service 101. */
static inline int32_t ask(void)
{
    static const slice tag = TEXT(":i");
    int32_t answer;
    rpc_send(101, &tag, 0);
    rpc_recv(&answer);
    return answer;
}
