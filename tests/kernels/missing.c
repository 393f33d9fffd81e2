/* Imports a function that does not exist. */
#include "kernel.h"

IMPORT void no_such_function(void);

void __modinit__(void *unused) { no_such_function(); }
