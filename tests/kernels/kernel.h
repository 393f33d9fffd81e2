/* What the firmware provides to kernels (kernel ABI, section 2), as far as these tests use it. */
#include <stdint.h>

#define IMPORT extern __attribute__((visibility("default")))
#define EXPORT __attribute__((visibility("default")))

typedef struct { const void *data; uint32_t length; } slice;
#define TEXT(text) {text, sizeof(text) - 1}

IMPORT void rpc_send(uint32_t service, const slice *tag, void **data);
IMPORT void rpc_send_async(uint32_t service, const slice *tag, void **data);
IMPORT uint32_t rpc_recv(void *slot);
IMPORT int64_t now_mu(void);
IMPORT void at_mu(int64_t);
IMPORT void delay_mu(int64_t);
IMPORT void rtio_init(void);
IMPORT int64_t rtio_get_counter(void);
IMPORT void rtio_output(int32_t target, int32_t data);
IMPORT void rtio_output_wide(int32_t target, void *list);
IMPORT void rtio_wait_until_mu(int64_t);
typedef struct { int64_t duration; int32_t address; uint8_t uses_ddma; } retrieved;
IMPORT void dma_record_start(slice name);
IMPORT void dma_record_stop(int64_t duration, int enable_ddma);
IMPORT void dma_erase(slice name);
IMPORT retrieved dma_retrieve(slice name);
IMPORT void dma_playback(int64_t timestamp, int32_t address, int uses_ddma);
IMPORT void i2c_start(int32_t bus);
IMPORT void i2c_stop(int32_t bus);
IMPORT int32_t i2c_write(int32_t bus, int32_t data);
IMPORT void i2c_switch_select(int32_t bus, int32_t address, int32_t mask);
IMPORT void spi_write(int32_t bus, int32_t data);
IMPORT void core_log(const char *format, ...) __attribute__((pcs("aapcs")));
IMPORT void *memset(void *, int, unsigned);
IMPORT void *memcpy(void *, const void *, unsigned);

EXPORT void __modinit__(void *);

/* Reports a number to the host: service 100, asynchronous. */
static inline void mark(int32_t value)
{
    static const slice tag = TEXT("i:n");
    void *data[] = {&value};
    rpc_send_async(100, &tag, data);
}

/* Asks the host for a number: service 101. */
static inline int32_t ask(void)
{
    static const slice tag = TEXT(":i");
    int32_t answer;
    rpc_send(101, &tag, 0);
    rpc_recv(&answer);
    return answer;
}
