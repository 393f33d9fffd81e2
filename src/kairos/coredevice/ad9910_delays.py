"""Synchronisation delays of an AD9910, or of those of an SU-Servo's Urukul, taken from the device database or the
EEPROM of the card."""

from ..language import kernel
from .chips.ad9910 import STORED_DELAYS, STORED_DELAYS_OF_SERVO

__all__ = [
    "FixedDelays",
    "FixedSharedDelays",
    "StoredDelays",
    "StoredSharedDelays",
    "delays_of",
    "shared_delays_of",
]

CHANNELS = STORED_DELAYS_OF_SERVO.sync_delay_seed.count
_UNEQUAL = "When using EEPROM, sync_delay_seeds must be equal to io_update_delay"


def delays_of(dmgr, core, sync_delay_seed, io_update_delay):
    """Return the delays for these arguments of an AD9910: two numbers, or the same text twice; else
    ValueError."""
    if not (isinstance(sync_delay_seed, str) or isinstance(io_update_delay, str)):
        return FixedDelays(core, sync_delay_seed, io_update_delay)
    if sync_delay_seed != io_update_delay:
        raise ValueError("sync_delay_seed and io_update_delay of an AD9910 are both numbers or the same text")
    return StoredDelays(dmgr, core, sync_delay_seed)


def shared_delays_of(dmgr, core, sync_delay_seeds, io_update_delay):
    """Return the delays for these arguments of a SharedDDS: a list of numbers and a number, or the
    same text twice; else ValueError."""
    texts = [argument for argument in (sync_delay_seeds, io_update_delay) if isinstance(argument, str)]
    if texts and texts != [sync_delay_seeds] * 2:
        raise ValueError(_UNEQUAL)
    if texts:
        return StoredSharedDelays(dmgr, core, sync_delay_seeds)
    if len(sync_delay_seeds) != CHANNELS:
        raise ValueError(f"sync_delay_seeds of an Urukul are {CHANNELS} numbers, not {len(sync_delay_seeds)}")
    return FixedSharedDelays(core, sync_delay_seeds, io_update_delay)


def _location(dmgr, text):
    """Return the EEPROM and the offset of ``"DEVICE:OFFSET"``."""
    device, _, offset = text.rpartition(":")
    if not (device and offset.isdecimal()):
        raise ValueError(f"'{text}' is not the location of a calibration: give EEPROM_DEVICE:OFFSET")
    return dmgr.get(device), int(offset)


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
        self.core = core
        self.eeprom_device, self.eeprom_offset = _location(dmgr, text)
        self.sync_delay_seed = self.io_update_delay = 0

    @kernel
    def init(self):
        """Read the EEPROM, which takes longer than any slack. An erased EEPROM disables
        synchronisation, and has no delay of updates."""
        word = self.eeprom_device.read_i32(self.eeprom_offset)
        self.sync_delay_seed = STORED_DELAYS.sync_delay_seed.get(word)
        stored = STORED_DELAYS.io_update_delay.get(word)
        self.io_update_delay = 0 if stored == STORED_DELAYS.io_update_delay.mask else stored


class FixedSharedDelays:
    """Delays of an Urukul's chips from the device database: `sync_delay_seeds`, one per channel,
    negative without synchronisation; `io_update_delay` in machine units."""

    NONE = [-1] * CHANNELS
    kernel_invariants = {"core", "sync_delay_seeds", "io_update_delay"}

    def __init__(self, core, sync_delay_seeds, io_update_delay):
        self.core = core
        self.sync_delay_seeds = list(sync_delay_seeds)
        self.io_update_delay = io_update_delay

    @kernel
    def init(self):
        """Do nothing."""


class StoredSharedDelays:
    """Delays of an Urukul's chips in one word of an EEPROM: `text` is ``"DEVICE:OFFSET"``. Valid once
    `init` has read them."""

    kernel_invariants = {"core", "eeprom_device", "eeprom_offset"}

    def __init__(self, dmgr, core, text):
        self.core = core
        self.eeprom_device, self.eeprom_offset = _location(dmgr, text)
        self.sync_delay_seeds = [0] * CHANNELS
        self.io_update_delay = 0

    @kernel
    def init(self):
        """Read the EEPROM, which takes longer than any slack. In an erased one all seeds are 31, and
        there is no delay of the update."""
        word = self.eeprom_device.read_i32(self.eeprom_offset)
        for channel in range(CHANNELS):
            self.sync_delay_seeds[channel] = STORED_DELAYS_OF_SERVO.sync_delay_seed.get_at(word, channel)
        stored = STORED_DELAYS_OF_SERVO.io_update_delay.get(word)
        self.io_update_delay = 0 if stored == STORED_DELAYS_OF_SERVO.io_update_delay.mask else stored
