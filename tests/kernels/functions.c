/* Calls any function of the firmware with registers that the host chooses, and tells what they are afterwards. */
#include "kernel.h"

/* Every name of the kernel ABI's list (section 2.13); the host finds a function by its place in the table. */
#define NAMES(X) \
    X(now_mu) X(at_mu) X(delay_mu) X(rpc_send) X(rpc_send_async) X(rpc_recv) \
    X(rtio_init) X(rtio_get_destination_status) X(rtio_get_counter) X(rtio_output) X(rtio_output_wide) \
    X(rtio_input_timestamp) X(rtio_input_data) X(rtio_input_timestamped_data) X(rtio_batch_start) X(rtio_batch_end) \
    X(core_log) X(rtio_log) X(dma_record_start) X(dma_record_stop) X(dma_erase) X(dma_retrieve) X(dma_playback) \
    X(cache_get) X(cache_put) X(i2c_start) X(i2c_restart) X(i2c_stop) X(i2c_write) X(i2c_read) X(i2c_switch_select) \
    X(spi_set_config) X(spi_write) X(spi_read) \
    X(subkernel_load_run) X(subkernel_await_finish) X(subkernel_send_message) X(subkernel_await_message) \
    X(cxp_download_xml_file) X(cxp_read32) X(cxp_write32) X(cxp_start_roi_viewer) X(cxp_download_roi_viewer_frame) \
    X(__aeabi_dadd) X(__aeabi_ddiv) X(__aeabi_dmul) X(__aeabi_dsub) X(__aeabi_dcmpeq) X(__aeabi_dcmplt) \
    X(__aeabi_dcmple) X(__aeabi_dcmpge) X(__aeabi_dcmpgt) X(__aeabi_dcmpun) X(__aeabi_fadd) X(__aeabi_fdiv) \
    X(__aeabi_fmul) X(__aeabi_fsub) X(__aeabi_fcmpeq) X(__aeabi_fcmplt) X(__aeabi_fcmple) X(__aeabi_fcmpge) \
    X(__aeabi_fcmpgt) X(__aeabi_fcmpun) X(__aeabi_d2iz) X(__aeabi_d2uiz) X(__aeabi_d2lz) X(__aeabi_d2ulz) \
    X(__aeabi_f2iz) X(__aeabi_f2uiz) X(__aeabi_f2lz) X(__aeabi_f2ulz) X(__aeabi_f2d) X(__aeabi_i2d) X(__aeabi_ui2d) \
    X(__aeabi_l2d) X(__aeabi_ul2d) X(__aeabi_i2f) X(__aeabi_ui2f) X(__aeabi_l2f) X(__aeabi_ul2f) X(__aeabi_lmul) \
    X(__aeabi_llsl) X(__aeabi_llsr) X(__aeabi_lasr) X(__aeabi_idiv) X(__aeabi_ldivmod) X(__aeabi_idivmod) \
    X(__aeabi_uidiv) X(__aeabi_uidivmod) X(__aeabi_uldivmod) X(__aeabi_memcpy) X(__aeabi_memcpy4) \
    X(__aeabi_memcpy8) X(__aeabi_memmove) X(__aeabi_memmove4) X(__aeabi_memmove8) X(__aeabi_memset) \
    X(__aeabi_memset4) X(__aeabi_memset8) X(__aeabi_memclr) X(__aeabi_memclr4) X(__aeabi_memclr8) \
    X(memcpy) X(memmove) X(memset) X(memcmp) X(bcmp) X(strlen) \
    X(_Unwind_Resume) X(__artiq_personality) X(__artiq_raise) X(__artiq_resume) X(__artiq_end_catch) \
    X(__nac3_personality) X(__nac3_raise) X(__nac3_resume) X(__nac3_end_catch) X(__powidf2) X(ldexp) X(sincos) \
    X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos) X(cosh) X(erf) X(erfc) X(exp) X(exp2) \
    X(exp10) X(expm1) X(fabs) X(floor) X(j0) X(j1) X(lgamma) X(log) X(log2) X(log10) X(round) X(rint) X(sin) X(sinh) \
    X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc) X(y0) X(y1) X(atan2) X(copysign) X(fmax) X(fmin) X(fmod) X(hypot) \
    X(nextafter) X(pow) X(fma) X(jn) X(yn) X(test_exception_id_sync)

#define DECLARE(name) IMPORT const char at_##name __asm__(#name);
#define ADDRESS(name) &at_##name,
NAMES(DECLARE)
static const void *const table[] = {NAMES(ADDRESS)};

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

/* Replaces each group of words by what it has become; the number of calls that preserved registers, or -1. */
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

/* Asks with service 1 for a function's place and the words of its calls, and answers with service 2, until the place is
   negative: number of calls, words, buffer. */
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
    void *told[] = {&done, &task.words, &bytes};
    rpc_send_async(2, &answer, told);
    return 1;
}

void __modinit__(void *unused)
{
    while (step((int32_t)(uintptr_t)buffer))
        ;
}
