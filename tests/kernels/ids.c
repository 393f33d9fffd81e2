/* Raises the exception whose id the host says. */
#include "kernel.h"

IMPORT void test_exception_id_sync(int32_t id);

void __modinit__(void *unused)
{
    test_exception_id_sync(ask());
}
