/* Jumps to an address without code. */
#include "kernel.h"

void __modinit__(void *unused)
{
    static void (*volatile target)(void) = (void (*)(void))0xf0000000;
    mark(1);
    target();
    mark(2);
}
