/* Tells the host that it runs, then never returns. */
#include "kernel.h"

void __modinit__(void *unused)
{
    mark(1);
    for (;;)
        __asm__ volatile("");
}
