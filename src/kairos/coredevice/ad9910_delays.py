"""Synchronisation delays of an AD9910, taken from the device database or the EEPROM of its card."""

from ..language import kernel
from .chips.ad9910 import STORED_DELAYS

__all__ = ["FixedDelays", "StoredDelays", "delays_of"]


def delays_of(dmgr, core, sync_delay_seed, io_update_delay):
    """Return the delays for these arguments of an AD9910: two numbers, or the same text twice; else
    ValueError."""
    if not (isinstance(sync_delay_seed, str) or isinstance(io_update_delay, str)):
        return FixedDelays(core, sync_delay_seed, io_update_delay)
    if sync_delay_seed != io_update_delay:
        raise ValueError("sync_delay_seed and io_update_delay of an AD9910 are both numbers or the same text")
    return StoredDelays(dmgr, core, sync_delay_seed)


class FixedDelays:
    """Delays from the device database: `sync_delay_seed` in steps of the chip, negative without
    synchronisation; `io_update_delay` in machine units."""

    kernel_invariants = {"core", "sync_delay_seed", "io_update_delay"}

    def __init__(self, core, sync_delay_seed=-1, io_update_delay=0):
        self.core = core
        self.sync_delay_seed = sync_delay_seed
        self.io_update_delay = io_update_delay

    @kernel
    def init(self):
        """Do nothing."""


class StoredDelays:
    """Delays in an EEPROM: `text` is ``"DEVICE:OFFSET"``. Valid once `init` has read them."""

    kernel_invariants = {"core", "eeprom_device", "eeprom_offset"}

    def __init__(self, dmgr, core, text):
        device, _, offset = text.rpartition(":")
        if not (device and offset.isdecimal()):
            raise ValueError(f"'{text}' is not the location of a calibration: give EEPROM_DEVICE:OFFSET")
        self.core = core
        self.eeprom_device = dmgr.get(device)
        self.eeprom_offset = int(offset)
        self.sync_delay_seed = self.io_update_delay = 0

    @kernel
    def init(self):
        """Read the EEPROM, which takes longer than any slack. An erased EEPROM disables
        synchronisation."""
        word = self.eeprom_device.read_i32(self.eeprom_offset)
        self.sync_delay_seed = STORED_DELAYS.sync_delay_seed.get(word)
        self.io_update_delay = 0 if self.sync_delay_seed < 0 else STORED_DELAYS.io_update_delay.get(word)
