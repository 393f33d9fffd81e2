/* Imports a function that no firmware has. */
#include "kernel.h"

IMPORT void no_such_function(void);

void __modinit__(void *unused) { no_such_function(); }
