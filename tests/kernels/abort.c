/* Reads from an unmapped address. */
#include "kernel.h"

void __modinit__(void *unused)
{
    mark(1);
    *(volatile uint32_t *)0xf0000000;
}
