/* Faults and bad pointers of every kind, chosen by the host. An exception must end the kernel; mark 99 means that it
   continued. */
#include "kernel.h"

IMPORT void rpc_nothing(void) __attribute__((weak));

typedef struct { void *elements; uint32_t length; } list;

#define BAD ((void *)0xf0000000)

static void store(uint32_t address)
{
    *(volatile uint32_t *)address = 0xe7f000f0;
}

void __modinit__(void *unused)
{
    static const slice name = TEXT("fault"), integer = TEXT("i:n"), texts = TEXT("ls:n"), reply = TEXT(":i");
    static const slice unknown = TEXT("x:n"), bad_name = {BAD, 5}, huge = {"", 0x7fffffff};
    list bad_list = {BAD, 4}, *bad_list_at = &bad_list;
    slice one_bad[] = {TEXT("good"), {BAD, 4}};
    list bad_texts = {one_bad, 2}, *bad_texts_at = &bad_texts;
    int32_t number = 1;
    void *good[] = {&number}, *bad[] = {BAD}, *lists[] = {&bad_texts_at}, *deep[] = {&bad_list_at};
    int32_t what = ask();
    mark(what);
    switch (what) {
    case 0: mark(*(volatile int32_t *)0); break;
    case 1: store(0); break;
    case 2: __asm__ volatile("mov r0, #0\n blx r0" ::: "r0", "lr"); break;
    case 3: rpc_nothing(); break; /* an undefined weak symbol */
    case 4: store(RUNTIME_START + 0x100000); break; /* the comms core's memory */
    case 5: store(ETHERNET_DESCRIPTORS_START); break; /* its Ethernet descriptors */
    case 6: store(PL_DESCRIPTOR_START); mark(0); break; /* the descriptor memory: writes are ignored */
    case 7: store(KERNEL_GUARD_END - 0x80000); break; /* below the stack */
    case 8: __asm__ volatile("svc #0"); break;
    case 9: __asm__ volatile("bkpt #0"); break;
    case 10: __asm__ volatile("udf #0"); break;
    case 11: __asm__ volatile("mov sp, #0\n push {r0}"); break;
    case 12: __asm__ volatile("mov sp, #0xf0000000\n udf #0"); break;
    case 13: memset(BAD, 0, 100); break;
    case 14: memcpy(&number, BAD, 4); break;
    case 15: rtio_output_wide(4 << 8, BAD); break;
    case 16: rtio_output_wide(4 << 8, &bad_list); break;
    case 17: dma_record_start(bad_name); break;
    case 18: cache_put(name, BAD); break;
    case 19: cache_put(name, &bad_list); break;
    case 20: core_log("%.*s\n", 4, BAD); break;
    case 21: core_log(BAD); break;
    case 22: rpc_send(100, BAD, good); break;
    case 23: rpc_send(100, &bad_name, good); break;
    case 24: rpc_send_async(100, &integer, BAD); break;
    case 25: rpc_send_async(100, &integer, bad); break;
    case 26: rpc_send_async(100, &texts, lists); break;
    case 27: rpc_send_async(100, &texts, deep); break;
    case 28: rpc_send_async(100, &unknown, good); break;
    case 29: rpc_send_async(100, &huge, good); break;
    case 30: rpc_send(101, &reply, 0); rpc_recv(BAD); break;
    case 31: rpc_recv(&number); break; /* without a preceding call */
    case 32: /* during a recording */
        dma_record_start(name);
        rtio_output(4 << 8, 1);
        store(0);
        break;
    case 33: __asm__ volatile("cpsid i\n 1: b 1b"); break; /* ignores stop requests */
    }
    mark(99);
}
