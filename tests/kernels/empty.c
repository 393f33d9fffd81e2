/* Does nothing. */
#include "kernel.h"

void __modinit__(void *unused) {}
