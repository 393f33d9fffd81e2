/* DMA on channel 4, an output of the gateware variant "demo"; the host chooses the operation. */
#include "kernel.h"

static const slice name = TEXT("trace");

static void pulses(int count, int64_t period)
{
    dma_record_start(name);
    at_mu(0);
    for (int pulse = 0; pulse < count; pulse++) {
        int32_t words[] = {0, 7};
        struct { void *elements; uint32_t length; } wide = {words, 2};
        rtio_output(4 << 8, 1);
        delay_mu(period / 4);
        rtio_output_wide(4 << 8, &wide);
        delay_mu(period - period / 4);
    }
}

static void play(void)
{
    retrieved trace = dma_retrieve(name);
    at_mu(rtio_get_counter() + 125000);
    dma_playback(now_mu(), trace.address, 0);
    rtio_wait_until_mu(now_mu() + trace.duration);
    mark(trace.duration);
}

void __modinit__(void *unused)
{
    rtio_init();
    switch (ask()) {
    case 0:
        pulses(3, 4000);
        dma_record_stop(now_mu(), 0);
        break;
    case 1:
        play();
        break;
    case 2: /* never ends recording */
        pulses(1, 4000);
        mark(2);
        for (;;)
            rtio_output(4 << 8, 1);
    case 3: /* ends while recording */
        pulses(1, 4000);
        mark(3);
        break;
    case 4: /* plays for seconds, as the FIFOs have no room for so many events */
        pulses(1200, 7300000);
        dma_record_stop(now_mu(), 0);
        mark(4);
        play();
        break;
    case 5:
        dma_playback(rtio_get_counter() + 125000, 0x0e000084, 0);
        break;
    case 6: /* exceeds the memory: 30 MiB in steps of 80 bytes */
        dma_record_start(name);
        for (int event = 0; event < 410000; event++) {
            static int32_t words[16] = {1};
            static struct { void *elements; uint32_t length; } wide = {words, 16};
            rtio_output_wide(4 << 8, &wide);
        }
        dma_record_stop(now_mu(), 0);
        break;
    case 7:
        dma_erase(name);
        break;
    case 9: /* events faster than the analyzer writes single messages */
        pulses(400, 32);
        dma_record_stop(now_mu(), 0);
        play();
        break;
    case 10: /* more messages than fit into the analyzer's ring */
        pulses(9000, 400);
        dma_record_stop(now_mu(), 0);
        play();
        break;
    case 11: /* too late */
        dma_playback(rtio_get_counter() - 1000, dma_retrieve(name).address, 0);
        break;
    case 8: /* a channel that does not exist */
        dma_record_start(name);
        at_mu(100);
        rtio_output(999 << 8, 1);
        dma_record_stop(100, 0);
        play();
        break;
    }
}
