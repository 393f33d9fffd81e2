"""Songbird, a card whose gateware makes sums of tones. Only the constructors of its drivers are publicly
documented, so device databases with one can be loaded, but using it raises an error.
"""

from .parts.channel import RTIODevice
from .parts.lacking import Unknown

__all__ = ["DDS", "Songbird"]

_WHY = "what a Songbird's RTIO channels take is not published"


class Songbird(Unknown, RTIODevice):
    """The card on the SPI bus `spi_device`; the RTIO channels from `channel` on are its clear,
    reset and trigger."""

    why = _WHY
    channel_suffixes = ("clear", "reset", "trigger")

    def __init__(self, dmgr, spi_device, channel, core_device="core"):
        RTIODevice.__init__(self, dmgr, channel, core_device)
        self.bus = dmgr.get(spi_device)


class DDS(Unknown, RTIODevice):
    """Tone `dds_no` of the card `config_device`."""

    why = _WHY

    def __init__(self, dmgr, channel, config_device, dds_no, core_device="core"):
        RTIODevice.__init__(self, dmgr, channel, core_device)
        self.config, self.dds_no = dmgr.get(config_device), dds_no
