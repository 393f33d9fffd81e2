/* A library of about 10 kB that stops in its first instructions, to measure the time until a kernel starts. */
#include "kernel.h"

static const uint8_t ballast[9000] = {1};

void __modinit__(void *unused)
{
    for (;;)
        __asm__ volatile("wfi" ::"r"(ballast));
}
