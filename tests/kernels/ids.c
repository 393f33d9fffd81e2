/* Raises the exception whose id the host says. */
#include "kernel.h"


void __modinit__(void *unused)
{
    test_exception_id_sync(ask());
}
