/* Executes an undefined instruction. */
#include "kernel.h"

void __modinit__(void *unused)
{
    mark(1);
    __asm__ volatile("udf #0");
}
