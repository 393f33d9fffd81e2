/* Two pulses on channel 4, an output of the gateware variant "demo"; reports the cursor and whether the wait reached it. */
#include "kernel.h"

void __modinit__(void *unused)
{
    rtio_init();
    at_mu(rtio_get_counter() + 125000);
    for (int pulse = 0; pulse < 2; pulse++) {
        rtio_output(4 << 8, 1);
        delay_mu(1000);
        rtio_output(4 << 8, 0);
        delay_mu(3000);
    }
    rtio_wait_until_mu(now_mu());
    mark(rtio_get_counter() >= now_mu());
}
