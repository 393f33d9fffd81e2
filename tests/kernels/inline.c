/* Posts outputs with inline code, following docs/interfaces.md, section 5; uses rtio_output for outputs that cannot be
 * posted this way. Reports to the host how many were posted. */
#include "kernel.h"

IMPORT char rtio_post_2[];

#define TARGET (4 << 8)

static int32_t posted;

static inline __attribute__((always_inline)) void output(int32_t target, int32_t data)
{
    register int32_t r0 asm("r0") = target;
    register int32_t r1 asm("r1") = data;
    asm goto(
        /* r2 and r3 cursor, r4 ring, r5 last channel, r6 and r12 floor, lr head */
        "ldmdb  %[end], {r2-r6, r12, lr}\n"
        "cmp    r2, r6\n"
        "sbcs   r6, r3, r12\n"
        "ldr    r6, [%[end], %[status]]\n"
        "cmpge  r6, lr\n"
        "cmpge  r5, r0, lsr #8\n"
        "blt    %l[otherwise]\n"
        "bfi    r4, lr, %[half_slot], %[slots]\n"
        "stm    r4, {r0-r3, lr}\n"
        "add    lr, lr, #2\n"
        "stmdb  %[end], {r2, r3, lr}\n"
        "dsb\n"
        "sev\n"
        :
        : [end] "r"(rtio_post_2 + RING_POST_END), "r"(r0), "r"(r1),
          [status] "i"(RING_REPLY_STATUS - RING_POST - RING_POST_END),
          [half_slot] "i"(__builtin_ctz(RING_SLOT_BYTES) - 1), [slots] "i"(__builtin_ctz(RING_SLOTS) + 1)
        : "r2", "r3", "r4", "r5", "r6", "r12", "lr", "memory", "cc"
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
    /* All but the first, and an occasional one that renews the counter estimate. */
    at_mu(rtio_get_counter() + 1000000);
    outputs(300);
    rtio_wait_until_mu(now_mu());
    mark(posted);
    /* Not possible during a recording. */
    posted = 0;
    dma_record_start(name);
    outputs(10);
    dma_record_stop(0, 0);
    mark(posted);
    /* Too late: the exception is raised by this call. */
    at_mu(rtio_get_counter() - 1000);
    mark(-1);
    outputs(1);
    mark(-2);
}
