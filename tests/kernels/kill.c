/* Repeats one operation forever, after a delay chosen by the host, to be killed at an arbitrary instant. */
#include "kernel.h"


typedef struct { void *elements; uint32_t length; } list;

static const slice name = TEXT("killed");
static const slice list_tag = TEXT("li:n");
static int32_t numbers[3000];

/* Keeps the cursor 100 to 200 us ahead of the counter. */
static void keep_ahead(void)
{
    while (now_mu() - rtio_get_counter() > 200000)
        ;
}

static void record(int pulses)
{
    dma_record_start(name);
    at_mu(0);
    for (int pulse = 0; pulse < pulses; pulse++) {
        rtio_output(4 << 8, 1);
        delay_mu(400);
        rtio_output(4 << 8, 0);
        delay_mu(400);
    }
    dma_record_stop(now_mu(), 0);
}

void __modinit__(void *unused)
{
    int32_t answer = ask();
    list all = {numbers, 3000}, *all_at = &all;
    list words = {numbers, 8};
    void *data[] = {&all_at};
    rtio_init();
    if ((answer & 0xff) == 5)
        record(100);
    at_mu(rtio_get_counter() + 100000);
    mark(answer & 0xff);
    for (int32_t spin = answer >> 8; spin > 0; spin--)
        __asm__ volatile("");
    for (int32_t turn = 0;; turn++)
        switch (answer & 0xff) {
        case 0: /* posted outputs */
            keep_ahead();
            rtio_output(4 << 8, turn & 1);
            delay_mu(2000);
            break;
        case 1: /* outputs waiting for FIFO space */
            rtio_output(4 << 8, turn & 1);
            delay_mu(800);
            break;
        case 2: /* wide outputs */
            keep_ahead();
            numbers[0] = turn & 1;
            rtio_output_wide(4 << 8, &words);
            delay_mu(2000);
            break;
        case 3: /* outputs whose status is awaited */
            at_mu(rtio_get_counter() + 4000);
            rtio_output(4 << 8, turn & 1);
            break;
        case 4: /* recorded outputs */
            record(turn & 31);
            dma_erase(name);
            break;
        case 5: { /* played outputs, occasionally waiting for FIFO space */
            retrieved trace = dma_retrieve(name);
            dma_playback(now_mu(), trace.address, 0);
            delay_mu(trace.duration);
            break;
        }
        case 6:
            rtio_input_timestamp(rtio_get_counter() + 3000, 0);
            break;
        case 7:
            i2c_start(0);
            i2c_write(0, 0xe8);
            i2c_stop(0);
            i2c_start(0);
            i2c_write(0, 0xe9);
            i2c_read(0, turn & 1);
            i2c_read(0, 0);
            i2c_stop(0);
            break;
        case 8:
            rpc_send_async(103, &list_tag, data);
            break;
        case 9:
            rpc_send(103, &list_tag, data);
            rpc_recv(data);
            break;
        case 10:
            core_log("turn %d, %s\n", turn, "text");
            break;
        case 11:
            numbers[0] = turn;
            words.length = turn & 1023;
            cache_put(name, &words);
            break;
        }
}
