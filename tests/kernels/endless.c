/* Signals the host, then loops forever. */
#include "kernel.h"

void __modinit__(void *unused)
{
    mark(1);
    for (;;)
        __asm__ volatile("");
}
