/* A posted output that is late if the memory port is slow, then an input that times out, then an output. */
#include "kernel.h"


void __modinit__(void *unused)
{
    rtio_init();
    at_mu(rtio_get_counter() + 1000000);
    rtio_output(4 << 8, 1);
    at_mu(rtio_get_counter() + 8000);
    rtio_output(4 << 8, 0);
    rtio_input_timestamp(rtio_get_counter() + 1000, 0);
    rtio_output(4 << 8, 1);
}
