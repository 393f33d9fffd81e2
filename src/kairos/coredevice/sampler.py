"""Sampler: a card with eight ADC channels of 16 bits (LTC2320), each with an amplifier of gain 1, 10, 100 or 1000."""

from ..language import TFloat, delay, kernel, ns, portable
from . import spi2 as spi

__all__ = ["Sampler", "adc_mu_to_volt"]

SPI_CONFIG = spi.SPI_END
SPI_CS_ADC = 0
SPI_CS_PGIA = 1


@portable
def adc_mu_to_volt(data, gain=0, corrected_fs=True) -> TFloat:
    """Volts for a code at a gain setting (0 to 3). ValueError for another.

    `corrected_fs`: full scale is 10.24 V, as of hardware revision 2.2 on, else 10 V.
    """
    volt_per_lsb = 20.48 / (1 << 16) if corrected_fs else 20.0 / (1 << 16)
    if gain == 0:
        pass
    elif gain == 1:
        volt_per_lsb /= 10.0
    elif gain == 2:
        volt_per_lsb /= 100.0
    elif gain == 3:
        volt_per_lsb /= 1000.0
    else:
        raise ValueError("invalid gain")
    return data * volt_per_lsb


class Sampler:
    """A Sampler: SPI buses of its ADC and its amplifiers, and the TTL output that starts a conversion.

    `div`: SPI clock divider. `gains`: settings of the amplifiers, two bits for each channel. `hw_rev`: "v2.1" or later.
    """

    kernel_invariants = {"bus_adc", "bus_pgia", "core", "cnv", "div", "corrected_fs"}

    def __init__(
        self,
        dmgr,
        spi_adc_device,
        spi_pgia_device,
        cnv_device,
        div=8,
        gains=0x0000,
        hw_rev="v2.2",
        core_device="core",
    ):
        self.bus_adc = dmgr.get(spi_adc_device)
        self.bus_adc.update_xfer_duration_mu(div, 32)
        self.bus_pgia = dmgr.get(spi_pgia_device)
        self.bus_pgia.update_xfer_duration_mu(div, 16)
        self.core = dmgr.get(core_device)
        self.cnv = dmgr.get(cnv_device)
        self.div = div
        self.gains = gains
        self.corrected_fs = hw_rev != "v2.1"

    @kernel
    def init(self):
        """Configure both buses."""
        self.bus_adc.set_config_mu(SPI_CONFIG | spi.SPI_INPUT, 32, self.div, SPI_CS_ADC)
        self.bus_pgia.set_config_mu(SPI_CONFIG, 16, self.div, SPI_CS_PGIA)

    @kernel
    def set_gain_mu(self, channel, gain):
        """Set the gain of a channel: 0, 1, 2, 3 for 1, 10, 100, 1000."""
        gains = self.gains
        gains &= ~(0b11 << (channel * 2))
        gains |= gain << (channel * 2)
        self.bus_pgia.write(gains << 16)
        self.gains = gains

    @kernel
    def get_gains_mu(self):
        """Read the settings of all amplifiers, two bits for each channel."""
        self.bus_pgia.set_config_mu(SPI_CONFIG | spi.SPI_INPUT, 16, self.div, SPI_CS_PGIA)
        self.bus_pgia.write(self.gains << 16)
        self.bus_pgia.set_config_mu(SPI_CONFIG, 16, self.div, SPI_CS_PGIA)
        self.gains = self.bus_pgia.read() & 0xFFFF
        return self.gains

    @kernel
    def sample_mu(self, data):
        """Sample all channels at once and fill `data` (int32, an even number of elements), its last with channel 7."""
        self.cnv.pulse(30 * ns)
        delay(450 * ns)
        n = len(data)
        for _ in range(n // 2):
            self.bus_adc.write(0)
        for i in range(n - 1, -1, -2):
            pair = self.bus_adc.read()
            data[i] = pair >> 16
            data[i - 1] = (pair << 16) >> 16

    @kernel
    def sample(self, data):
        """As `sample_mu`, in volts (float)."""
        n = len(data)
        codes = [0] * n
        self.sample_mu(codes)
        for i in range(n):
            gain = (self.gains >> ((i + 8 - n) * 2)) & 0b11
            data[i] = adc_mu_to_volt(codes[i], gain, self.corrected_fs)
