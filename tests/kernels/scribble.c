/* Overwrites the rings between the cores (docs/interfaces.md, sections 1 and 2), then executes an undefined instruction. */
#include "kernel.h"

void __modinit__(void *unused)
{
    mark(1);
    for (volatile uint32_t *word = (uint32_t *)(CHANNEL_START + 0x80); word < (uint32_t *)DEVICE_MAP_END; word++)
        *word = 0x80000000;
    __builtin_trap();
}
