/* Log lines, in pieces. */
#include "kernel.h"

void __modinit__(void *unused)
{
    core_log("number %d, %lld, %g, ", -3, 1ll << 40, 0.1);
    core_log("%.*s\n", 4, "text");
    core_log("second\n");
}
