"""Zotino: a card with 32 DAC channels (AD5372) and eight LEDs."""

from ..language import kernel
from . import spi2 as spi
from .ad53xx import SPI_AD53XX_CONFIG, AD53xx

__all__ = ["Zotino"]

SPI_DAC_CONFIG = SPI_AD53XX_CONFIG
SPI_SR_CONFIG = spi.SPI_END
CS_DAC = 1
CS_LED = 2


class Zotino(AD53xx):
    """A Zotino; the arguments are those of `AD53xx`."""

    def __init__(
        self, dmgr, spi_device, ldac_device=None, clr_device=None, div_write=4, div_read=16, vref=5.0, core="core"
    ):
        AD53xx.__init__(
            self,
            dmgr=dmgr,
            spi_device=spi_device,
            ldac_device=ldac_device,
            clr_device=clr_device,
            chip_select=CS_DAC,
            div_write=div_write,
            div_read=div_read,
            vref=vref,
            core=core,
        )

    @kernel
    def set_leds(self, leds):
        """Light the LEDs whose bits in `leds` (8 bits) are 1."""
        self.bus.set_config_mu(SPI_SR_CONFIG, 8, self.div_write, CS_LED)
        self.bus.write(leds << 24)
        self.bus.set_config_mu(SPI_DAC_CONFIG, 24, self.div_write, self.chip_select)
