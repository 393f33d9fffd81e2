/* Verifies everything that another kernel may have been using when killed: outputs on channel 6, a trace on channel 7
   (recorded with answer 2), an input, the I2C bus, a recording. Answer 1: resets RTIO first. */
#include "kernel.h"


static const slice kept = TEXT("kept"), other = TEXT("other");

static void pulses(int32_t channel)
{
    for (int pulse = 0; pulse < 3; pulse++) {
        rtio_output(channel << 8, 1);
        delay_mu(1000);
        rtio_output(channel << 8, 0);
        delay_mu(1000 + 1000 * pulse);
    }
}

void __modinit__(void *unused)
{
    int32_t answer = ask();
    int64_t start = rtio_get_counter();
    if (answer == 2) {
        dma_record_start(kept);
        at_mu(0);
        pulses(7);
        dma_record_stop(now_mu(), 0);
        return;
    }
    if (answer == 1)
        rtio_init();
    mark(rtio_input_timestamp(rtio_get_counter() + 1000, 1) == -1);
    i2c_start(0);
    mark(i2c_write(0, 0xe8) & 1);
    i2c_stop(0);
    i2c_start(0);
    mark(i2c_write(0, 0x10) & 1);
    i2c_stop(0);
    dma_record_start(other);
    pulses(8);
    dma_record_stop(0, 0);
    dma_erase(other);
    mark(rtio_get_counter() > start);
    /* After everything that was queued. */
    at_mu(rtio_get_counter() + 2000000);
    retrieved trace = dma_retrieve(kept);
    pulses(6);
    dma_playback(now_mu(), trace.address, 0);
    delay_mu(trace.duration);
    rtio_wait_until_mu(now_mu());
}
