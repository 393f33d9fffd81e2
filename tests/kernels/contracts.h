/* What the firmware provides to kernels. Generated from src/contracts/ by src/contracts/generate.py: do not edit. */
#pragma once
#include <stdint.h>

#define IMPORT extern __attribute__((visibility("default")))

typedef struct { const void *data; uint32_t length; } slice;
typedef struct { int64_t timestamp; int32_t data; } timestamped;
typedef struct { int64_t duration; int32_t address; uint8_t uses_ddma; } retrieved;
typedef struct { int32_t width, height, pixel_code; } frame_format;

/* time: the time cursor */
IMPORT int64_t now_mu(void);
IMPORT void at_mu(int64_t);
IMPORT void delay_mu(int64_t);

/* rpc: remote procedure calls to the host */
IMPORT void rpc_send(uint32_t, const slice *, void *);
IMPORT void rpc_send_async(uint32_t, const slice *, void *);
IMPORT uint32_t rpc_recv(void *);

/* rtio: events */
IMPORT void rtio_init(void);
IMPORT int rtio_get_destination_status(int32_t);
IMPORT int64_t rtio_get_counter(void);
IMPORT void rtio_wait_until_mu(int64_t);
IMPORT void rtio_output(int32_t, int32_t);
IMPORT void rtio_output_wide(int32_t, const void *);
IMPORT int64_t rtio_input_timestamp(int64_t, int32_t);
IMPORT int32_t rtio_input_data(int32_t);
IMPORT timestamped rtio_input_timestamped_data(int64_t, int32_t);
IMPORT void rtio_batch_start(void);
IMPORT void rtio_batch_end(void);

/* log: text */
IMPORT void core_log(const char *format, ...) __attribute__((pcs("aapcs")));
IMPORT void rtio_log(const char *format, ...) __attribute__((pcs("aapcs")));

/* dma: recorded sequences */
IMPORT void dma_record_start(slice);
IMPORT void dma_record_stop(int64_t, int);
IMPORT void dma_erase(slice);
IMPORT retrieved dma_retrieve(slice);
IMPORT void dma_playback(int64_t, int32_t, int);

/* pulse: the pulse core */
IMPORT void pulse_update(const void *, int32_t, int32_t, double);
IMPORT void pulse_update_all(const void *, const void *, const void *, int32_t);
IMPORT void pulse_make(const void *, const void *, int32_t, double);
IMPORT void pulse_store(const void *, const void *, const void *, int32_t, double);
IMPORT void pulse_change(const void *, const void *, int32_t);
IMPORT int32_t pulse_stream(const void *);
IMPORT void pulse_note(int32_t, int32_t);
IMPORT int32_t pulse_noted(int32_t);

/* cache: values kept between kernels */
IMPORT const void *cache_get(slice);
IMPORT void cache_put(slice, const void *);

/* i2c: the board's I2C bus */
IMPORT void i2c_start(int32_t);
IMPORT void i2c_restart(int32_t);
IMPORT void i2c_stop(int32_t);
IMPORT int i2c_write(int32_t, int32_t);
IMPORT int32_t i2c_read(int32_t, int);
IMPORT void i2c_switch_select(int32_t, int32_t, int32_t);

/* linalg: linear algebra of small dense matrices */
IMPORT void np_linalg_cholesky(void *, void *);
IMPORT void np_linalg_inv(void *, void *);
IMPORT void np_linalg_pinv(void *, void *);
IMPORT void np_linalg_det(void *, void *);
IMPORT void np_linalg_qr(void *, void *, void *);
IMPORT void np_linalg_svd(void *, void *, void *, void *);
IMPORT void np_linalg_matrix_power(void *, int32_t, void *);
IMPORT void sp_linalg_lu(void *, void *, void *);
IMPORT void sp_linalg_schur(void *, void *, void *);
IMPORT void sp_linalg_hessenberg(void *, void *, void *);
IMPORT void kairos_linalg_solve(void *, void *, void *);

/* spi: SPI outside of RTIO: always raises */
IMPORT void spi_set_config(int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT void spi_write(int32_t, int32_t);
IMPORT int32_t spi_read(int32_t);

/* subkernels: kernels on satellites */
IMPORT void subkernel_load_run(uint32_t, int, int);
IMPORT void subkernel_await_finish(uint32_t, int64_t);
IMPORT void subkernel_send_message(uint32_t, int, int, int, const slice *, void *);
IMPORT int subkernel_await_message(int32_t, int64_t, const slice *, int, int);

/* remote: memory of other boards */
IMPORT int32_t remote_pointer(int32_t, int32_t);
IMPORT int32_t remote_load(int32_t, int32_t);
IMPORT void remote_store(int32_t, int32_t, int32_t);
IMPORT void remote_read(int32_t, int32_t, const void *);
IMPORT void remote_export(int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT void remote_copy(int32_t, int32_t, int32_t, int32_t);
IMPORT void remote_copy_pieces(int32_t, const void *);
IMPORT void remote_write(int32_t, int32_t, const void *);
IMPORT void remote_post(int);
IMPORT void remote_wait(void);
IMPORT int32_t remote_bridge(int32_t, int32_t, int32_t);

/* coaxpress: CoaXPress cameras: always raise */
IMPORT int32_t cxp_download_xml_file(int32_t, const void *);
IMPORT int32_t cxp_read32(int32_t, int32_t);
IMPORT void cxp_write32(int32_t, int32_t, int32_t);
IMPORT void cxp_start_roi_viewer(int32_t, int32_t, int32_t, int32_t, int32_t);
IMPORT frame_format cxp_download_roi_viewer_frame(int32_t, const void *);

/* exceptions: raising and unwinding */
IMPORT void __artiq_raise(void *);
IMPORT void __artiq_resume(void);
IMPORT void __artiq_end_catch(void);
IMPORT int32_t __kairos_in_flight(void);
IMPORT void __kairos_end_catch(int32_t);
IMPORT void __nac3_raise(void *);
IMPORT void __nac3_resume(void);
IMPORT void __nac3_end_catch(void);
IMPORT void _Unwind_Resume(void *);
IMPORT void test_exception_id_sync(int32_t);

/* c: C and LLVM */
IMPORT void sincos(double, void *, void *);
IMPORT int32_t __aeabi_idiv(int32_t, int32_t);
IMPORT int64_t __aeabi_idivmod(int32_t, int32_t);
IMPORT double __powidf2(double, int32_t);
IMPORT uint32_t strlen(void *);

/* Every name but Kairos's own. */
#define KERNEL_SYMBOLS(X) \
    X(now_mu) \
    X(at_mu) \
    X(delay_mu) \
    X(rpc_send) \
    X(rpc_send_async) \
    X(rpc_recv) \
    X(rtio_init) \
    X(rtio_get_destination_status) \
    X(rtio_get_counter) \
    X(rtio_output) \
    X(rtio_output_wide) \
    X(rtio_input_timestamp) \
    X(rtio_input_data) \
    X(rtio_input_timestamped_data) \
    X(rtio_batch_start) \
    X(rtio_batch_end) \
    X(core_log) \
    X(rtio_log) \
    X(dma_record_start) \
    X(dma_record_stop) \
    X(dma_erase) \
    X(dma_retrieve) \
    X(dma_playback) \
    X(cache_get) \
    X(cache_put) \
    X(i2c_start) \
    X(i2c_restart) \
    X(i2c_stop) \
    X(i2c_write) \
    X(i2c_read) \
    X(i2c_switch_select) \
    X(np_linalg_cholesky) \
    X(np_linalg_inv) \
    X(np_linalg_pinv) \
    X(np_linalg_det) \
    X(np_linalg_qr) \
    X(np_linalg_svd) \
    X(np_linalg_matrix_power) \
    X(sp_linalg_lu) \
    X(sp_linalg_schur) \
    X(sp_linalg_hessenberg) \
    X(spi_set_config) \
    X(spi_write) \
    X(spi_read) \
    X(subkernel_load_run) \
    X(subkernel_await_finish) \
    X(subkernel_send_message) \
    X(subkernel_await_message) \
    X(cxp_download_xml_file) \
    X(cxp_read32) \
    X(cxp_write32) \
    X(cxp_start_roi_viewer) \
    X(cxp_download_roi_viewer_frame) \
    X(__artiq_personality) \
    X(__artiq_raise) \
    X(__artiq_resume) \
    X(__artiq_end_catch) \
    X(__nac3_personality) \
    X(__nac3_raise) \
    X(__nac3_resume) \
    X(__nac3_end_catch) \
    X(_Unwind_Resume) \
    X(test_exception_id_sync) \
    X(sincos) \
    X(__aeabi_idiv) \
    X(__aeabi_idivmod) \
    X(__powidf2) \
    X(strlen) \
    X(__aeabi_dadd) \
    X(__aeabi_ddiv) \
    X(__aeabi_dmul) \
    X(__aeabi_dsub) \
    X(__aeabi_dcmpeq) \
    X(__aeabi_dcmplt) \
    X(__aeabi_dcmple) \
    X(__aeabi_dcmpge) \
    X(__aeabi_dcmpgt) \
    X(__aeabi_dcmpun) \
    X(__aeabi_fadd) \
    X(__aeabi_fdiv) \
    X(__aeabi_fmul) \
    X(__aeabi_fsub) \
    X(__aeabi_fcmpeq) \
    X(__aeabi_fcmplt) \
    X(__aeabi_fcmple) \
    X(__aeabi_fcmpge) \
    X(__aeabi_fcmpgt) \
    X(__aeabi_fcmpun) \
    X(__aeabi_d2iz) \
    X(__aeabi_d2uiz) \
    X(__aeabi_d2lz) \
    X(__aeabi_d2ulz) \
    X(__aeabi_f2iz) \
    X(__aeabi_f2uiz) \
    X(__aeabi_f2lz) \
    X(__aeabi_f2ulz) \
    X(__aeabi_f2d) \
    X(__aeabi_d2f) \
    X(__aeabi_i2d) \
    X(__aeabi_ui2d) \
    X(__aeabi_l2d) \
    X(__aeabi_ul2d) \
    X(__aeabi_i2f) \
    X(__aeabi_ui2f) \
    X(__aeabi_l2f) \
    X(__aeabi_ul2f) \
    X(__aeabi_lmul) \
    X(__aeabi_llsl) \
    X(__aeabi_llsr) \
    X(__aeabi_lasr) \
    X(__aeabi_ldivmod) \
    X(__aeabi_uidiv) \
    X(__aeabi_uidivmod) \
    X(__aeabi_uldivmod) \
    X(__aeabi_memcpy) \
    X(__aeabi_memcpy4) \
    X(__aeabi_memcpy8) \
    X(__aeabi_memmove) \
    X(__aeabi_memmove4) \
    X(__aeabi_memmove8) \
    X(__aeabi_memset) \
    X(__aeabi_memset4) \
    X(__aeabi_memset8) \
    X(__aeabi_memclr) \
    X(__aeabi_memclr4) \
    X(__aeabi_memclr8) \
    X(memcpy) \
    X(memmove) \
    X(memset) \
    X(memcmp) \
    X(bcmp) \
    X(acos) \
    X(acosh) \
    X(asin) \
    X(asinh) \
    X(atan) \
    X(atan2) \
    X(atanh) \
    X(cbrt) \
    X(ceil) \
    X(copysign) \
    X(cos) \
    X(cosh) \
    X(erf) \
    X(erfc) \
    X(exp) \
    X(exp10) \
    X(exp2) \
    X(expm1) \
    X(fabs) \
    X(floor) \
    X(fma) \
    X(fmax) \
    X(fmin) \
    X(fmod) \
    X(hypot) \
    X(j0) \
    X(j1) \
    X(jn) \
    X(ldexp) \
    X(lgamma) \
    X(log) \
    X(log10) \
    X(log1p) \
    X(log2) \
    X(nextafter) \
    X(pow) \
    X(rint) \
    X(round) \
    X(sin) \
    X(sinh) \
    X(sqrt) \
    X(tan) \
    X(tanh) \
    X(tgamma) \
    X(trunc) \
    X(y0) \
    X(y1) \
    X(yn)

/* Ids of exceptions. */
enum {
    ID_RTIOUnderflow = 0,
    ID_RTIOOverflow = 1,
    ID_RTIODestinationUnreachable = 2,
    ID_DMAError = 3,
    ID_I2CError = 4,
    ID_CacheError = 5,
    ID_SPIError = 6,
    ID_SubkernelError = 7,
    ID_AssertionError = 8,
    ID_AttributeError = 9,
    ID_IndexError = 10,
    ID_IOError = 11,
    ID_KeyError = 12,
    ID_NotImplementedError = 13,
    ID_OverflowError = 14,
    ID_RuntimeError = 15,
    ID_TimeoutError = 16,
    ID_TypeError = 17,
    ID_ValueError = 18,
    ID_ZeroDivisionError = 19,
    ID_LinAlgError = 20,
    ID_UnwrapNoneError = 21,
    ID_CXPError = 22,
    ID_RemoteMemoryError = 23,
};

/* The kernel initiator's ring. */
enum {
    RING_SLOTS = 16,
    RING_SLOT_BYTES = 128,
    RING_SLOT_TARGET = 0,
    RING_SLOT_DATA = 4,
    RING_SLOT_TIME = 8,
    RING_SLOT_HEADER = 16,
    RING_SLOT_WORDS = 20,
    RING_MAX_WORDS = 16,
    RING_REPLY = 2048,
    RING_REPLY_STATUS = 2056,
    RING_REPLY_DATA = 2060,
    RING_RING_ALIGNMENT = 4096,
    RING_NUMBER_BITS = 15,
    RING_CREDIT = 15,
    RING_ATTENTION = 1,
    RING_STATUS_SHIFT = 16,
    RING_POSTED_ERROR = 2097152,
    RING_PERMIT = 4194304,
    RING_POSTED_WORD = 16908288,
    RING_POST = 2272,
    RING_POST_CURSOR = 0,
    RING_POST_RING = 8,
    RING_POST_CHANNEL = 12,
    RING_POST_FLOOR = 16,
    RING_POST_HEADER = 24,
    RING_POST_END = 28,
    RING_INPUT_ENTRIES = 64,
    RING_INPUT_ENTRY_BYTES = 16,
    RING_INPUT_CHANNELS = 256,
    RING_ENTRY_TIME = 0,
    RING_ENTRY_DATA = 8,
    RING_ENTRY_FLAGS = 12,
    RING_ENTRY_NUMBER = 14,
    RING_ENTRY_EVENT = 1,
    RING_ENTRY_LOST = 2,
    RING_ENTRY_MORE = 4,
};

/* Begins and ends of the regions of memory. */
#define LOW_START 0x00000000u
#define LOW_END 0x00100000u
#define RUNTIME_START 0x00100000u
#define RUNTIME_END 0x06000000u
#define ETHERNET_DESCRIPTORS_START 0x06000000u
#define ETHERNET_DESCRIPTORS_END 0x06100000u
#define ETHERNET_BUFFERS_START 0x06100000u
#define ETHERNET_BUFFERS_END 0x06200000u
#define REPORT_START 0x06200000u
#define REPORT_END 0x06300000u
#define INTERCORE_START 0x07000000u
#define INTERCORE_END 0x070e0000u
#define DEVICE_MAP_START 0x070e0000u
#define DEVICE_MAP_END 0x070f0000u
#define DESCRIPTOR_COPY_START 0x070f0000u
#define DESCRIPTOR_COPY_END 0x07100000u
#define MAILBOX_START 0x07100000u
#define MAILBOX_END 0x07200000u
#define KERNEL_IMAGE_START 0x08000000u
#define KERNEL_IMAGE_END 0x09000000u
#define KERNEL_LIBRARY_START 0x09000000u
#define KERNEL_LIBRARY_END 0x0a000000u
#define KERNEL_HEAP_START 0x0a000000u
#define KERNEL_HEAP_END 0x0b000000u
#define KERNEL_GUARD_START 0x0b000000u
#define KERNEL_GUARD_END 0x0c000000u
#define KERNEL_STACK_START 0x0c000000u
#define KERNEL_STACK_END 0x0e000000u
#define DMA_START 0x0e000000u
#define DMA_END 0x0fe00000u
#define REMOTE_START 0x0fe00000u
#define REMOTE_END 0x0feff000u
#define REMOTE_RINGS_START 0x0feff000u
#define REMOTE_RINGS_END 0x0ff00000u
#define ANALYZER_START 0x0ff00000u
#define ANALYZER_END 0x0ff80000u
#define STREAM_START 0x0ff80000u
#define STREAM_END 0x10000000u
#define PL_DESCRIPTOR_START 0x40000000u
#define PL_DESCRIPTOR_END 0x40010000u
#define PL_REGISTERS_START 0x40010000u
#define PL_REGISTERS_END 0x40020000u
#define PL_BLOCK_START 0x41000000u
#define PL_BLOCK_END 0x41100000u
#define REMOTE_WINDOW_START 0x80000000u
#define REMOTE_WINDOW_END 0xc0000000u
#define FIRST_STAGE_START 0x00000000u
#define FIRST_STAGE_END 0x00030000u
#define BOOT_FIRMWARE_START 0x08000000u
#define BOOT_FIRMWARE_END 0x0a000000u
#define BOOT_GATEWARE_START 0x0a000000u
#define BOOT_GATEWARE_END 0x0c000000u
#define BOOT_IMAGE_START 0x0c000000u
#define BOOT_IMAGE_END 0x0e000000u
#define LOADER_START 0x0f000000u
#define LOADER_END 0x0f800000u
