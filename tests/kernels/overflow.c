/* Recurses until the stack overflows. */
#include "kernel.h"

static __attribute__((noinline)) int deeper(volatile int *above)
{
    volatile int here[1024];
    here[0] = *above + 1;
    if (here[0] != -1)
        here[0] += deeper(here);
    return here[0] + *above;
}

void __modinit__(void *unused)
{
    volatile int start = 0;
    mark(1);
    deeper(&start);
}
