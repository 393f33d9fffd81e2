/* Tells the host that it runs, then waits for an input event that never comes. */
#include "kernel.h"


void __modinit__(void *unused)
{
    rtio_init();
    mark(1);
    mark(rtio_input_data(0));
}
