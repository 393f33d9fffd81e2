"""The I2C bus of the core device and devices on it. Not for real time: a byte takes about 0.1 ms.

Addresses of devices have 8 bits, the lowest of which is 0. All functions raise I2CError.
"""

from ..language import kernel
from .chips import tca6424a
from .exceptions import I2CError
from .parts.channel import BusDevice
from .parts.firmware import QUIET, firmware_function

__all__ = [
    "I2CDevice",
    "I2CSwitch",
    "PCA9548",
    "PCF8574A",
    "TCA6424A",
    "i2c_poll",
    "i2c_read_byte",
    "i2c_read_many",
    "i2c_write_byte",
    "i2c_write_many",
]

BRANCHES = 8
"""Channels of a switch."""

i2c_start = firmware_function("i2c_start", "busno", QUIET)
i2c_restart = firmware_function("i2c_restart", "busno", QUIET)
i2c_stop = firmware_function("i2c_stop", "busno", QUIET)
i2c_write = firmware_function("i2c_write", "busno b", QUIET)
i2c_read = firmware_function("i2c_read", "busno ack", QUIET)
i2c_switch_select = firmware_function("i2c_switch_select", "busno address mask", QUIET)

WRITE, READ = 0, 1
"""Transfer directions: the lowest bit of the address byte."""
NO_REGISTER = -1


@kernel
def _address(busno, busaddr, register, direction):
    """Send the device address and, unless it is `NO_REGISTER`, the register, from the start to the
    data."""
    if register != NO_REGISTER or direction == WRITE:
        if not i2c_write(busno, busaddr | WRITE):
            raise I2CError("failed to ack bus address")
    if register != NO_REGISTER:
        if not i2c_write(busno, register):
            raise I2CError("failed to ack data address")
        if direction == READ:
            i2c_restart(busno)
    if direction == READ:
        if not i2c_write(busno, busaddr | READ):
            raise I2CError("failed to ack bus read address")


@kernel
def _transact(busno, busaddr, register, direction, data, ack_last):
    """Run a complete transaction: addresses, then `data` in either direction. When writing, the
    device must acknowledge each byte, the last one only if `ack_last`; when reading, all bytes but
    the last are acknowledged.
    """
    last = len(data) - 1
    i2c_start(busno)
    try:
        _address(busno, busaddr, register, direction)
        for place in range(len(data)):
            if direction == READ:
                data[place] = i2c_read(busno, place != last)
            else:
                taken = i2c_write(busno, data[place])
                if not taken and (ack_last or place != last):
                    raise I2CError("failed to ack write data")
    finally:
        i2c_stop(busno)


@kernel
def i2c_poll(busno, busaddr):
    """Return whether a device answers at `busaddr`."""
    i2c_start(busno)
    present = i2c_write(busno, busaddr)
    i2c_stop(busno)
    return present


@kernel
def i2c_write_byte(busno, busaddr, data, ack=True):
    """Write one byte; with `ack` the device must acknowledge it."""
    _transact(busno, busaddr, NO_REGISTER, WRITE, [data], ack)


@kernel
def i2c_read_byte(busno, busaddr):
    """Read one byte."""
    single = [0]
    _transact(busno, busaddr, NO_REGISTER, READ, single, False)
    return single[0]


@kernel
def i2c_write_many(busno, busaddr, addr, data, ack_last=True):
    """Write the bytes of `data` (list of int32) starting at register `addr`."""
    _transact(busno, busaddr, addr, WRITE, data, ack_last)


@kernel
def i2c_read_many(busno, busaddr, addr, data):
    """Fill `data` (list of int32) with bytes starting at register `addr`."""
    _transact(busno, busaddr, addr, READ, data, False)


class I2CDevice(BusDevice):
    """A device at `address` of bus `busno`, with registers of one or more bytes, highest first."""

    kernel_invariants = {"address"}

    def __init__(self, dmgr, busno, address, core_device):
        super().__init__(dmgr, busno, core_device)
        self.address = address

    @kernel
    def write_word(self, register, word, size):
        """Write the lowest `size` bytes of `word` starting at `register`."""
        i2c_write_many(
            self.busno, self.address, register, [(word >> 8 * place) & 0xFF for place in range(size - 1, -1, -1)]
        )

    @kernel
    def read_word(self, register, size):
        """Return the number in `size` bytes starting at `register`."""
        data = [0 for _ in range(size)]
        i2c_read_many(self.busno, self.address, register, data)
        word = 0
        for byte in data:
            word = word << 8 | byte
        return word


def device_at(default):
    """Return a constructor of an I2C device with the default address `default`."""

    def __init__(self, dmgr, busno=0, address=default, core_device="core"):
        I2CDevice.__init__(self, dmgr, busno, address, core_device)

    return __init__


class I2CSwitch(I2CDevice):
    """A switch with 8 channels (PCA9548, TCA9548) at `address`."""

    __init__ = device_at(0xE8)

    @kernel
    def _connect(self, mask):
        i2c_switch_select(self.busno, self.address >> 1, mask)

    @kernel
    def set(self, channel):
        """Connect one channel (0 to 7), and no other. ValueError for another one."""
        if channel < 0 or channel >= BRANCHES:
            raise ValueError("the channels of an I2C switch are 0 to 7")
        self._connect(1 << channel)

    @kernel
    def unset(self):
        """Disconnect all channels."""
        self._connect(0)


PCA9548 = I2CSwitch
"""Its name in old device databases."""


class TCA6424A(I2CDevice):
    """An I/O expander with 24 pins at `address`, all outputs."""

    __init__ = device_at(tca6424a.BUS_ADDRESS << 1)

    # Commands for port 0; the device advances to the other ports by itself.
    LEVELS, INPUTS = (
        tca6424a.COMMAND.word(1, register.address) for register in (tca6424a.OUTPUT, tca6424a.CONFIGURATION)
    )

    @kernel
    def set(self, outputs):
        """Make all pins outputs with the levels of the 24 bits of `outputs`, of which bit 0 is pin
        0 of port 0."""
        self.write_word(self.INPUTS, 0, 3)
        levels = [(outputs >> 8 * port) & 0xFF for port in range(3)]
        i2c_write_many(self.busno, self.address, self.LEVELS, levels)


class PCF8574A(I2CDevice):
    """An I/O expander with 8 pins at `address`."""

    __init__ = device_at(0x7C)

    @kernel
    def set(self, data):
        """Drive the pins whose bits are 0 low, and release the others."""
        i2c_write_byte(self.busno, self.address, data)

    @kernel
    def get(self):
        """Return the levels of the pins."""
        return i2c_read_byte(self.busno, self.address)
