/* Two different events of one channel in one cycle: a collision, which no call can report. */
#include "kernel.h"

void __modinit__(void *unused)
{
    rtio_init();
    at_mu((rtio_get_counter() + 125000) & ~7ll);
    rtio_output(4 << 8, 1);
    delay_mu(1);
    rtio_output(4 << 8, 0);
    rtio_wait_until_mu(now_mu() + 10000);
}
