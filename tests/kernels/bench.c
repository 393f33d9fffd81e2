/* Repeatedly asks the host for an operation and performs it; the host measures the time between its answers. */
#include "kernel.h"

typedef struct { void *elements; uint32_t length; } list;

#define MEBIBYTE (1 << 20)
static uint8_t data[MEBIBYTE];
static slice bytes = {data, MEBIBYTE};
/* 64 KiB: the payload of an asynchronous call. */
static slice part = {data, 1 << 16};
static list numbers = {data, MEBIBYTE / 4}, *numbers_at = &numbers;

static __attribute__((noinline)) int32_t call(uint32_t service, int32_t argument)
{
    static const slice tag = TEXT("i:i");
    int32_t result;
    void *arguments[] = {&argument};
    rpc_send(service, &tag, arguments);
    rpc_recv(&result);
    return result;
}

/* A synchronous call with one argument and no result. */
static __attribute__((noinline)) void give(const slice *tag, void *value)
{
    void *arguments[] = {value};
    rpc_send(2, tag, arguments);
    rpc_recv(arguments);
}

static __attribute__((noinline)) void take_list(void)
{
    static const slice tag = TEXT(":li");
    int64_t slot[2];
    rpc_send(3, &tag, 0);
    uint32_t size = rpc_recv(slot);
    while (size != 0)
        size = rpc_recv(__builtin_alloca_with_align(size, 64));
}

static __attribute__((noinline)) void outputs(int32_t count)
{
    rtio_init();
    at_mu(rtio_get_counter() + 1000000);
    for (int32_t index = 0; index < count; index++) {
        rtio_output(4 << 8, index & 1);
        delay_mu(2000);
    }
}

void __modinit__(void *unused)
{
    static const slice give_bytes = TEXT("B:n"), give_list = TEXT("li:n"), send_bytes = TEXT("B:n");
    for (;;) {
        int32_t command = call(1, 0);
        int32_t count = command >> 8;
        switch (command & 0xff) {
        case 0:
            return;
        case 1:
            for (int32_t index = 0; index < count; index++)
                call(4, index);
            break;
        case 2:
            give(&give_bytes, &bytes);
            break;
        case 3:
            give(&give_list, &numbers_at);
            break;
        case 4:
            take_list();
            break;
        case 5:
            for (int32_t index = 0; index < count; index++) {
                void *arguments[] = {&part};
                rpc_send_async(5, &send_bytes, arguments);
            }
            break;
        case 6:
            outputs(count);
            break;
        }
    }
}
