"""Where the synchronisation delays of an AD9910 come from: the device database, or the EEPROM of its card."""

from ..language import kernel

__all__ = ["FixedDelays", "StoredDelays"]


class FixedDelays:
    """Delays of the device database: `sync_delay` in steps of the chip, negative if it is not synchronised;
    `io_update_delay` in machine units."""

    kernel_invariants = {"sync_delay", "io_update_delay"}

    def __init__(self, sync_delay, io_update_delay):
        self.sync_delay = sync_delay
        self.io_update_delay = io_update_delay

    @kernel
    def load(self):
        """Nothing to do."""


class StoredDelays:
    """Delays in an EEPROM. `text` is ``"DEVICE:OFFSET"``, the word there sync_delay << 24 | io_update_delay << 16."""

    kernel_invariants = {"eeprom", "offset"}

    def __init__(self, dmgr, text):
        device, _, offset = text.rpartition(":")
        if not (device and offset.isdecimal()):
            raise ValueError(f"'{text}' does not say where the calibration is: EEPROM_DEVICE:OFFSET")
        self.eeprom = dmgr.get(device)
        self.offset = int(offset)
        self.sync_delay = 0
        self.io_update_delay = 0

    @kernel
    def load(self):
        """Read the EEPROM. An erased one has no delays."""
        word = self.eeprom.read_i32(self.offset)
        self.sync_delay = word >> 24
        self.io_update_delay = (word >> 16) & 0xFF
        if self.sync_delay < 0:
            self.io_update_delay = 0
