"""The DAC chip DAC34H84 of a Phaser. Only its entry in a device database is supported: its registers are not
published as text, so using it raises an error.
"""

from .parts.lacking import Unknown

__all__ = ["DAC34H84"]


class DAC34H84(Unknown):
    """The chip on the SPI bus `spi_device`, which receives `input_sample_rate` samples per second;
    or, constructed from a dictionary of settings alone, an older experiment's register settings."""

    why = "the register map of the DAC34H84 is not published as text"

    def __init__(self, dmgr=None, spi_device=None, input_sample_rate=None, core_device="core"):
        self.settings = dmgr if isinstance(dmgr, dict) else {}
        self.input_sample_rate = input_sample_rate
        if spi_device is not None:
            self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
