/* A kernel without host: writes to the log, emits a pulse on channel 4, and ends 50 ms later. */
#include "kernel.h"

void __modinit__(void *unused)
{
    core_log("by itself\n");
    rtio_init();
    at_mu(rtio_get_counter() + 125000);
    rtio_output(4 << 8, 1);
    delay_mu(1000);
    rtio_output(4 << 8, 0);
    rtio_wait_until_mu(now_mu() + 50000000);
}
