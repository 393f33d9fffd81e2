/* Raises the exception with the id given by the host. */
#include "kernel.h"


void __modinit__(void *unused)
{
    test_exception_id_sync(ask());
}
