"""The I2C bus of the core device, and devices on it. Not for real time: a byte takes about 0.1 ms.

Addresses of devices have 8 bits, the lowest of which is 0. All functions raise I2CError.
"""

from ..language import TBool, TInt32, TNone, kernel, syscall
from .exceptions import I2CError

__all__ = [
    "I2CSwitch",
    "PCF8574A",
    "TCA6424A",
    "i2c_poll",
    "i2c_read_byte",
    "i2c_read_many",
    "i2c_write_byte",
    "i2c_write_many",
]


@syscall(flags={"nounwind", "nowrite"})
def i2c_start(busno: TInt32) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def i2c_restart(busno: TInt32) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def i2c_stop(busno: TInt32) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def i2c_write(busno: TInt32, b: TInt32) -> TBool:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def i2c_read(busno: TInt32, ack: TBool) -> TInt32:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def i2c_switch_select(busno: TInt32, address: TInt32, mask: TInt32) -> TNone:
    raise NotImplementedError("runs on the core device only")


@kernel
def i2c_poll(busno, busaddr):
    """Whether a device answers at `busaddr`."""
    i2c_start(busno)
    r = i2c_write(busno, busaddr)
    i2c_stop(busno)
    return r


@kernel
def i2c_write_byte(busno, busaddr, data, ack=True):
    """Write one byte; with `ack` the device must acknowledge it."""
    i2c_start(busno)
    try:
        if not i2c_write(busno, busaddr):
            raise I2CError("failed to ack bus address")
        if not i2c_write(busno, data) and ack:
            raise I2CError("failed to ack write data")
    finally:
        i2c_stop(busno)


@kernel
def i2c_read_byte(busno, busaddr):
    """Read one byte."""
    i2c_start(busno)
    data = 0
    try:
        if not i2c_write(busno, busaddr | 1):
            raise I2CError("failed to ack bus read address")
        data = i2c_read(busno, ack=False)
    finally:
        i2c_stop(busno)
    return data


@kernel
def i2c_write_many(busno, busaddr, addr, data, ack_last=True):
    """Write the bytes of `data` (list of int32) from register `addr` on."""
    n = len(data)
    i2c_start(busno)
    try:
        if not i2c_write(busno, busaddr):
            raise I2CError("failed to ack bus address")
        if not i2c_write(busno, addr):
            raise I2CError("failed to ack data address")
        for i in range(n):
            if not i2c_write(busno, data[i]) and (i < n - 1 or ack_last):
                raise I2CError("failed to ack write data")
    finally:
        i2c_stop(busno)


@kernel
def i2c_read_many(busno, busaddr, addr, data):
    """Fill `data` (list of int32) with bytes from register `addr` on."""
    m = len(data)
    i2c_start(busno)
    try:
        if not i2c_write(busno, busaddr):
            raise I2CError("failed to ack bus address")
        if not i2c_write(busno, addr):
            raise I2CError("failed to ack data address")
        i2c_restart(busno)
        if not i2c_write(busno, busaddr | 1):
            raise I2CError("failed to ack bus read address")
        for i in range(m):
            data[i] = i2c_read(busno, ack=i < m - 1)
    finally:
        i2c_stop(busno)


class _I2CDevice:
    kernel_invariants = {"core", "busno", "address"}

    def __init__(self, dmgr, busno, address, core_device):
        self.core = dmgr.get(core_device)
        self.busno = busno
        self.address = address


class I2CSwitch(_I2CDevice):
    """A switch with 8 channels (PCA9548, TCA9548) at `address`."""

    def __init__(self, dmgr, busno=0, address=0xE8, core_device="core"):
        super().__init__(dmgr, busno, address, core_device)

    @kernel
    def set(self, channel):
        """Connect one channel (0 to 7), and no other."""
        i2c_switch_select(self.busno, self.address >> 1, 1 << channel)

    @kernel
    def unset(self):
        """Disconnect all channels."""
        i2c_switch_select(self.busno, self.address >> 1, 0)


class TCA6424A(_I2CDevice):
    """An I/O expander with 24 pins at `address`, all outputs."""

    def __init__(self, dmgr, busno=0, address=0x44, core_device="core"):
        super().__init__(dmgr, busno, address, core_device)

    @kernel
    def _write24(self, addr, value):
        i2c_write_many(self.busno, self.address, addr, [value >> 16, value >> 8, value])

    @kernel
    def set(self, outputs):
        """Make all pins outputs with the levels of the 24 bits of `outputs`."""
        self._write24(0x8C, 0)
        self._write24(0x84, outputs)


class PCF8574A(_I2CDevice):
    """An I/O expander with 8 pins at `address`."""

    def __init__(self, dmgr, busno=0, address=0x7C, core_device="core"):
        super().__init__(dmgr, busno, address, core_device)

    @kernel
    def set(self, data):
        """Drive the pins whose bits are 0 low, and release the others."""
        i2c_write_byte(self.busno, self.address, data)

    @kernel
    def get(self):
        """The levels of the pins."""
        return i2c_read_byte(self.busno, self.address)
