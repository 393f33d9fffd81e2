/* Overwrites the rings between the cores (docs/interfaces.md, sections 1 and 2), then executes what is no instruction. */
#include "kernel.h"

void __modinit__(void *unused)
{
    mark(1);
    for (volatile uint32_t *word = (uint32_t *)0x07000080; word < (uint32_t *)0x070f0000; word++)
        *word = 0x80000000;
    __builtin_trap();
}
