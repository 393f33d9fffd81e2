"""EEPROMs on the cards of a Kasli, which has them on its I2C bus behind two switches."""

from ..language import TInt32, kernel
from .i2c import i2c_read_many, i2c_write_many

__all__ = ["KasliEEPROM", "port_mapping"]

port_mapping = {
    "EEM0": 7,
    "EEM1": 5,
    "EEM2": 4,
    "EEM3": 3,
    "EEM4": 2,
    "EEM5": 1,
    "EEM6": 0,
    "EEM7": 6,
    "EEM8": 12,
    "EEM9": 13,
    "EEM10": 15,
    "EEM11": 14,
    "SFP0": 8,
    "SFP1": 9,
    "SFP2": 10,
    "LOC0": 11,
}
"""Channel of each connector: from 8 on, of the second switch."""


class KasliEEPROM:
    """The EEPROM behind the connector `port` (a key of `port_mapping`)."""

    kernel_invariants = {"core", "address", "busno", "sw0", "sw1", "port"}

    def __init__(
        self,
        dmgr,
        port,
        address=0xA0,
        busno=0,
        core_device="core",
        sw0_device="i2c_switch0",
        sw1_device="i2c_switch1",
    ):
        if port not in port_mapping:
            raise ValueError(f"no connector {port}; there are {', '.join(port_mapping)}")
        self.core = dmgr.get(core_device)
        self.sw0 = dmgr.get(sw0_device)
        self.sw1 = dmgr.get(sw1_device)
        self.busno = busno
        self.port = port_mapping[port]
        self.address = address

    @kernel
    def select(self):
        """Connect the EEPROM to the bus, and no other device behind the switches."""
        if self.port < 8:
            self.sw1.unset()
            self.sw0.set(self.port)
        else:
            self.sw0.unset()
            self.sw1.set(self.port - 8)

    @kernel
    def deselect(self):
        """Disconnect it."""
        self.sw0.unset()
        self.sw1.unset()

    @kernel
    def write_i32(self, addr, value):
        """Write a word, its highest byte first."""
        self.select()
        try:
            data = [0] * 4
            for i in range(4):
                data[i] = (value >> 24) & 0xFF
                value <<= 8
            i2c_write_many(self.busno, self.address, addr, data)
        finally:
            self.deselect()

    @kernel
    def read_i32(self, addr) -> TInt32:
        """Read a word, its highest byte first."""
        self.select()
        try:
            data = [0] * 4
            i2c_read_many(self.busno, self.address, addr, data)
            value = 0
            for i in range(4):
                value = (value << 8) | data[i]
        finally:
            self.deselect()
        return value
