"""EEPROMs on the cards of a Kasli, on its I2C bus behind two switches."""

from ..language import TInt32, kernel
from .i2c import BRANCHES, I2CDevice

__all__ = ["KasliEEPROM", "port_mapping"]

SWITCHES = (
    ("EEM6", "EEM5", "EEM4", "EEM3", "EEM2", "EEM1", "EEM7", "EEM0"),
    ("SFP0", "SFP1", "SFP2", "LOC0", "EEM8", "EEM9", "EEM11", "EEM10"),
)
"""Connectors of the channels 0 to 7 of each switch."""

port_mapping = {
    connector: switch * BRANCHES + branch
    for switch, connectors in enumerate(SWITCHES)
    for branch, connector in enumerate(connectors)
}
"""Channel of each connector; channels from 8 on belong to the second switch."""


class KasliEEPROM(I2CDevice):
    """The EEPROM behind the connector `port` (a key of `port_mapping`). As a context manager in
    kernels it is connected to the bus within the block."""

    kernel_invariants = {"sw0", "sw1", "port", "near", "far", "branch"}

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
            raise ValueError(f"no connector {port}; there are {', '.join(sorted(port_mapping))}")
        super().__init__(dmgr, busno, address, core_device)
        self.port = port_mapping[port]
        switch, self.branch = divmod(self.port, BRANCHES)
        switches = self.sw0, self.sw1 = dmgr.get(sw0_device), dmgr.get(sw1_device)
        self.near, self.far = switches[switch], switches[1 - switch]

    @kernel
    def select(self):
        """Connect the EEPROM to the bus and disconnect all other devices behind the switches."""
        self.far.unset()
        self.near.set(self.branch)

    @kernel
    def deselect(self):
        """Disconnect the EEPROM."""
        self.near.unset()
        self.far.unset()

    @kernel
    def __enter__(self):
        self.select()

    @kernel
    def __exit__(self, type, value, traceback):
        self.deselect()

    @kernel
    def write_i32(self, addr, value):
        """Write a word, highest byte first."""
        with self:
            self.write_word(addr, value, 4)

    @kernel
    def read_i32(self, addr) -> TInt32:
        """Read a word, highest byte first."""
        with self:
            return self.read_word(addr, 4)
