/* Many asynchronous calls with large lists: more than the inter-core ring and the network can buffer. */
#include "kernel.h"

static int32_t numbers[2000];
static struct { void *elements; uint32_t length; } list = {numbers, 2000}, *list_at = &list;

void __modinit__(void *unused)
{
    static const slice tag = TEXT("ili:n");
    for (int32_t index = 0; index < 300; index++) {
        numbers[index] = index;
        void *data[] = {&index, &list_at};
        rpc_send_async(100, &tag, data);
    }
}
