/* The I2C bus; the host chooses the operation. */
#include "kernel.h"

void __modinit__(void *unused)
{
    switch (ask()) {
    case 0: /* reads zeros from the switch forever: the switch holds SDA low */
        i2c_start(0);
        mark(i2c_write(0, 0xe9) & 1);
        for (;;)
            __asm__ volatile("");
    case 1:
        i2c_start(0);
        mark(i2c_write(0, 0xe8) & 1);
        i2c_stop(0);
        i2c_start(0);
        mark(i2c_write(0, 0x10) & 1);
        i2c_stop(0);
        break;
    case 2: /* more than one channel */
        i2c_switch_select(0, 0x74, 3);
        break;
    case 3:
        i2c_switch_select(0, 0x10, 1);
        break;
    case 4:
        i2c_start(1);
        break;
    case 5:
        spi_write(0, 1);
        break;
    }
}
