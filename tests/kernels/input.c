/* Signals the host, then waits for an input event that never arrives. */
#include "kernel.h"


void __modinit__(void *unused)
{
    rtio_init();
    mark(1);
    mark(rtio_input_data(0));
}
