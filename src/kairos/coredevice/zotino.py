"""Zotino: a card with 32 DAC channels (AD5372) and eight LEDs."""

from ..language import TInt32, kernel, portable
from .ad53xx import AD53xx
from .chips.ad53xx import checked_zotino_channel
from .parts.spi import Transfer

__all__ = ["Zotino"]

CS_DAC = 1
CS_LED = 2


class Zotino(AD53xx):
    """A Zotino; the arguments are those of `AD53xx`."""

    channels = 32
    leds = Transfer(length=8, div="div_write", cs=CS_LED)

    def __init__(
        self, dmgr, spi_device, ldac_device=None, clr_device=None, div_write=4, div_read=16, vref=5.0, core="core"
    ):
        super().__init__(dmgr, spi_device, ldac_device, clr_device, CS_DAC, div_write, div_read, vref, core=core)

    @portable
    def _number(self, channel) -> TInt32:
        """Return `channel`; ValueError if the card has none of this number."""
        return checked_zotino_channel(channel)

    @kernel
    def set_leds(self, leds):
        """Light the LEDs whose bits in `leds` (8 bits) are 1."""
        self.leds.send(leds)
        self.word.prepare()
