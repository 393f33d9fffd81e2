/* The firmware's unsigned division, checked by its definition. Reports the number of the first wrong pair, or 0. */
#include "kernel.h"

IMPORT uint32_t __aeabi_uidiv(uint32_t, uint32_t);
/* Quotient and remainder are returned in registers, like a value of this type. */
IMPORT uint64_t __aeabi_uidivmod(uint32_t, uint32_t);

void __modinit__(void *unused)
{
    static const uint32_t values[] = {0,     1,      2,       3,          5,          7,          9,          10,        99,        100,
                                      65535, 65536,  65537,   1000000,    0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa, 0xfffffffe, 0xffffffff};
    enum { COUNT = sizeof values / sizeof values[0] };
    uint32_t random = 12345;
    for (uint32_t pair = 1; pair <= 4000; pair++) {
        uint32_t n = values[pair % COUNT], d = values[pair / COUNT % COUNT];
        if (pair > COUNT * COUNT) {
            random = random * 1664525 + 1013904223;
            n = random;
            random = random * 1664525 + 1013904223;
            d = random >> (random >> 2) % 32;
        }
        if (d == 0)
            continue;
        uint64_t both = __aeabi_uidivmod(n, d);
        uint32_t quotient = (uint32_t)both, remainder = (uint32_t)(both >> 32);
        if (remainder >= d || (uint64_t)quotient * d + remainder != n || __aeabi_uidiv(n, d) != quotient) {
            mark((int32_t)pair);
            return;
        }
    }
    mark(0);
}
