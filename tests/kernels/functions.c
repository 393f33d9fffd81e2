/* Calls any function of the firmware with register values from the host, and reports the registers afterwards. */
#include "kernel.h"

/* Table of all functions in contracts.h; the host identifies a function by its index. */
#define DECLARE(name) IMPORT const char at_##name __asm__(#name);
#define ADDRESS(name) &at_##name,
KERNEL_SYMBOLS(DECLARE)
static const void *const table[] = {KERNEL_SYMBOLS(ADDRESS)};

typedef struct { uint32_t r[4]; double d[3]; } arguments;
typedef struct { double d[8]; uint32_t r[8]; } saved;
typedef struct { arguments values; saved saved; } state;
typedef struct { uint64_t *elements; uint32_t length; } list;

/* Loads r0-r3, d0-d2 and the registers that a function must preserve from `in`, calls it, and stores the same to `out`. */
__attribute__((naked)) static void call(const void *function, const state *in, state *out)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #4\n"
        "str r2, [sp]\n"
        "mov r12, r0\n"
        "add lr, r1, #16\n"
        "vldmia lr!, {d0-d2}\n"
        "vldmia lr!, {d8-d15}\n"
        "ldm lr, {r4-r11}\n"
        "ldm r1, {r0-r3}\n"
        "blx r12\n"
        "ldr r12, [sp]\n"
        "stm r12!, {r0-r3}\n"
        "vstmia r12!, {d0-d2}\n"
        "vstmia r12!, {d8-d15}\n"
        "stm r12, {r4-r11}\n"
        "add sp, sp, #4\n"
        "vpop {d8-d15}\n"
        "pop {r4-r11, pc}\n");
}

#define WORDS 5 /* r0:r1, r2:r3, d0, d1, d2 */
static uint8_t buffer[256] __attribute__((aligned(8)));

static int preserved(const saved *before, const saved *after)
{
    const uint8_t *a = (const uint8_t *)before, *b = (const uint8_t *)after;
    for (unsigned i = 0; i < sizeof *before; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

/* Replaces each group of words by the results; returns the number of calls that preserved registers, or -1. */
static __attribute__((noinline)) int32_t run(const void *function, list *words)
{
    state in, out;
    for (unsigned i = 0; i < 8; i++) {
        in.saved.d[i] = 0.5 + i;
        in.saved.r[i] = 0x01010101 * (i + 4);
    }
    for (unsigned i = 0; i < sizeof buffer; i++)
        buffer[i] = (uint8_t)~i;
    uint32_t done = 0;
    for (uint64_t *at = words->elements; done < words->length / WORDS; done++, at += WORDS) {
        memcpy(&in.values, at, sizeof in.values);
        call(function, &in, &out);
        if (!preserved(&in.saved, &out.saved))
            return -1;
        memcpy(at, &out.values, sizeof out.values);
    }
    return (int32_t)done;
}

/* Requests a function's index and the words of its calls with service 1, and replies with service 2 (number of calls,
   words, buffer), until the index is negative. */
static __attribute__((noinline)) int step(int32_t buffer_at)
{
    static const slice question = TEXT("i:t\x02ilI"), answer = TEXT("ilIB:n");
    struct { int32_t place; list *words; } task;
    void *asked[] = {&buffer_at};
    rpc_send(1, &question, asked);
    uint32_t size = rpc_recv(&task);
    while (size != 0)
        size = rpc_recv(__builtin_alloca_with_align(size, 64));
    if (task.place < 0)
        return 0;
    int32_t done = run(table[task.place], task.words);
    slice bytes = {buffer, sizeof buffer};
    void *arguments[] = {&done, &task.words, &bytes};
    rpc_send_async(2, &answer, arguments);
    return 1;
}

void __modinit__(void *unused)
{
    while (step((int32_t)(uintptr_t)buffer))
        ;
}
