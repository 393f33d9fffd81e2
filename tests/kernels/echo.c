/* Calls the host with values of types chosen by the host, so that one kernel serves for all types. For each type V the
   host returns "V:V", "kV:n" and the position of the first colon; an empty text ends the kernel. */
#include "kernel.h"

/* Receives a reply of any type, into stack that stays allocated in the caller. */
#define RECEIVE(slot) do { \
        uint32_t size = rpc_recv(slot); \
        while (size != 0) \
            size = rpc_recv(__builtin_alloca_with_align(size, 64)); \
    } while (0)

typedef struct { void *elements; uint32_t length; } list;

static __attribute__((noinline)) int32_t turn(void)
{
    static const slice order_tag = TEXT(":t\3BBi");
    struct { slice tag, keyword; int32_t colon; } order;
    rpc_send(1, &order_tag, 0);
    RECEIVE(&order);
    if (order.tag.length == 0)
        return 0;
    slice ask_for = {(const char *)order.tag.data + order.colon, order.tag.length - order.colon};
    /* A name followed by a value of any type is a keyword argument. */
    struct { slice name; int64_t value[512]; } first = {TEXT("n\xc3\xa4me"), {}}, second = {TEXT(""), {}};
    memset(first.value, 0x55, sizeof first.value);
    memset(second.value, 0xaa, sizeof second.value);
    rpc_send(2, &ask_for, 0);
    RECEIVE(first.value);
    void *data[] = {first.value};
    rpc_send_async(3, &order.tag, data);
    rpc_send(4, &order.tag, data);
    RECEIVE(second.value);
    data[0] = second.value;
    rpc_send_async(5, &order.tag, data);
    data[0] = &first;
    rpc_send_async(6, &order.keyword, data);
    return 1;
}

static void objects(void)
{
    static const slice tag = TEXT("Okt\2iOlOn:n");
    static uint32_t ids[] = {3, 4, 5};
    void *one = &ids[0], *all[] = {&ids[1], &ids[2], &ids[0]};
    list several = {all, 3}, *several_at = &several;
    struct { slice name; int32_t number; void *object; } keyword = {TEXT("pair"), -1, &ids[2]};
    void *data[] = {&one, &keyword, &several_at, 0};
    rpc_send_async(7, &tag, data);
}

void __modinit__(void *unused)
{
    objects();
    while (turn())
        ;
}
