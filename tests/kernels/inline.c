/* Posts outputs with code of its own, after the rules of docs/interfaces.md, section 5; what cannot be posted so is left to
 * rtio_output. Tells the host how many were posted. */
#include "kernel.h"

IMPORT char rtio_ring_1[];

#define TARGET (4 << 8)

static int32_t posted;

static inline __attribute__((always_inline)) void output(int32_t target, int32_t data)
{
    register char *ring asm("r12") = rtio_ring_1 + RING_POST_CHANNELS;
    register int32_t r0 asm("r0") = target;
    register int32_t r1 asm("r1") = data;
    asm goto(
        /* r2 allowed, r3 countdown, r4 and r5 cursor, r6 and r7 floor, r8 head, r9 slot */
        "ldmdb  r12, {r2-r9}\n"
        "ubfx   r10, r0, #8, #8\n"
        "ldr    r3, [r3]\n"
        "ldrb   r10, [r12, r10]\n"
        "ldr    lr, [r12, %[status]]\n"
        "cmp    r3, #1\n"
        "cmphs  r10, r0, lsr #16\n"
        "bic    lr, lr, #0x1f\n"
        "sub    lr, r8, lr\n"
        "bic    lr, lr, #0xf0000\n"
        "cmpeq  lr, r2\n"
        "bne    %l[otherwise]\n"
        "cmp    r4, r6\n"
        "sbcs   lr, r5, r7\n"
        "blt    %l[otherwise]\n"
        "stm    r9, {r0, r1, r4, r5, r8}\n"
        "add    r8, r8, #0x10000\n"
        "add    r9, r9, %[slot]\n"
        "bic    r9, r9, %[slots]\n"
        "stmdb  r12, {r4, r5, r8, r9}\n"
        "dsb\n"
        "sev\n"
        :
        : "r"(ring), "r"(r0), "r"(r1), [status] "i"(RING_REPLY_STATUS - RING_POST_CHANNELS), [slot] "i"(RING_SLOT_BYTES),
          [slots] "i"(RING_SLOT_BYTES * RING_SLOTS)
        : "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "lr", "memory", "cc"
        : otherwise);
    posted++;
    return;
otherwise:
    rtio_output(target, data);
}

static __attribute__((noinline)) void outputs(int32_t count)
{
    for (int32_t index = 0; index < count; index++) {
        output(TARGET, ~index & 1);
        delay_mu(2000);
    }
}

void __modinit__(void *unused)
{
    static const slice name = TEXT("trace");
    rtio_init();
    /* All but the first, and now and then one that has the estimate of the counter renewed. */
    at_mu(rtio_get_counter() + 1000000);
    outputs(300);
    rtio_wait_until_mu(now_mu());
    mark(posted);
    /* A recording forbids it. */
    posted = 0;
    dma_record_start(name);
    outputs(10);
    dma_record_stop(0, 0);
    mark(posted);
    /* Too late: raised by the very call. */
    at_mu(rtio_get_counter() - 1000);
    mark(-1);
    outputs(1);
    mark(-2);
}
