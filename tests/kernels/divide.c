/* The firmware's division, unsigned and signed, checked by its definition. Reports the number of the first wrong pair, or 0. */
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
        /* The same bits with a sign. The remainder has the dividend's, and is nearer to zero than the divisor. */
        int64_t n_signed = (int32_t)n, d_signed = (int32_t)d;
        uint64_t signed_both = (uint64_t)__aeabi_idivmod((int32_t)n, (int32_t)d);
        int64_t q = (int32_t)signed_both, r = (int32_t)(signed_both >> 32);
        int near = (r < 0 ? -r : r) < (d_signed < 0 ? -d_signed : d_signed) && (r == 0 || (r < 0) == (n_signed < 0));
        /* Only -2^31 / -1 wraps around, and then to what the lower half says, too. */
        if (!near || (int32_t)(q * d_signed + r) != (int32_t)n || __aeabi_idiv((int32_t)n, (int32_t)d) != (int32_t)q) {
            mark(-(int32_t)pair);
            return;
        }
    }
    mark(0);
}
