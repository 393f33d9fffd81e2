"""Sampler: a card with eight ADC channels of 16 bits (LTC2320), each with an amplifier of gain 1, 10, 100 or 1000."""

from math import nan

from ..language import TFloat, delay, host_only, kernel, ns, portable
from .chips.measured import MEASURED
from .chips.sampler import CHANNELS, CS_ADC, CS_PGIA, PAIR, PGIA, checked_channel, checked_gain
from .parts.monitored import Monitored
from .parts.scales import AmplifiedScale
from .parts.spi import SPI_END, SPI_INPUT, Transfer

__all__ = ["Sampler", "adc_mu_to_volt"]

GAINS = [1.0, 10.0, 100.0, 1000.0]
FIRST_REVISION, LATER_REVISIONS = (AmplifiedScale(PAIR.odd.width, span, GAINS) for span in (20.0, 20.48))
"""The scale of hardware revision 2.1, and that of later revisions."""


@portable
def adc_mu_to_volt(data, gain=0, corrected_fs=True) -> TFloat:
    """Convert a code to volts at a gain setting (0 to 3). ValueError for other settings.

    `corrected_fs`: full scale is 10.24 V, as from hardware revision 2.2 on, else 10 V.
    """
    return LATER_REVISIONS.quantity(data, gain) if corrected_fs else FIRST_REVISION.quantity(data, gain)


class Sampler:
    """A Sampler: SPI buses of its ADC and its amplifiers, and the TTL output that starts a conversion.

    `div`: SPI clock divider. `gains`: settings of the amplifiers, two bits for each channel. `hw_rev`: "v2.1" or later.
    """

    kernel_invariants = {"bus_adc", "bus_pgia", "core", "cnv", "div", "corrected_fs"}

    codes = Transfer(length=PAIR.width, div="div", cs=CS_ADC, flags=SPI_END | SPI_INPUT, bus="bus_adc")
    settings = Transfer(length=PGIA.width, div="div", cs=CS_PGIA, bus="bus_pgia")
    read_settings = Transfer(length=PGIA.width, div="div", cs=CS_PGIA, flags=SPI_END | SPI_INPUT, bus="bus_pgia")

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
        self.core, self.cnv = dmgr.get(core_device), dmgr.get(cnv_device)
        self.bus_adc, self.bus_pgia = dmgr.get(spi_adc_device), dmgr.get(spi_pgia_device)
        self.div = div
        for bus, word in ((self.bus_adc, PAIR), (self.bus_pgia, PGIA)):
            bus.update_xfer_duration_mu(div, word.width)
        self.corrected_fs = self.use_corrected_fs(hw_rev)
        self.gains = gains

    @staticmethod
    def use_corrected_fs(hw_rev):
        """Return whether full scale is 10.24 V in a hardware revision."""
        return hw_rev != "v2.1"

    @host_only
    def monitored(self):
        """Return the probes of all channels: the voltage at each input that was read last, with the gain of its
        amplifier at that time."""
        return [Monitored(n, self.bus_adc.channel, n, self._measured, "V", is_input=True) for n in range(CHANNELS)]

    @host_only
    def _measured(self, probe):
        code = PAIR.even.get(MEASURED.code.get(probe))
        return adc_mu_to_volt(code, MEASURED.gain.get(probe), self.corrected_fs) if MEASURED.valid.get(probe) else nan

    @kernel
    def init(self):
        """Configure both buses."""
        self.codes.prepare()
        self.settings.prepare()

    @kernel
    def set_gain_mu(self, channel, gain):
        """Set the gain of a channel: 0, 1, 2, 3 for 1, 10, 100, 1000."""
        self.gains = PGIA.gain.put_at(self.gains, checked_channel(channel), checked_gain(gain))
        self.settings.put(self.gains)

    @kernel
    def get_gains_mu(self):
        """Read the settings of all amplifiers, two bits for each channel."""
        self.read_settings.send(self.gains)
        self.settings.prepare()
        self.gains = self.read_settings.get() & PGIA.gain.all
        return self.gains

    @kernel
    def sample_mu(self, data):
        """Sample all channels simultaneously and fill `data` (int32; 2, 4, 6 or 8 elements), ending
        with channel 7. ValueError, here and below, for another number of elements."""
        if len(data) % 2 != 0 or len(data) > CHANNELS:
            raise ValueError("a sample of a Sampler has 2, 4, 6 or 8 elements")
        self.cnv.pulse(30 * ns)
        delay(450 * ns)
        pairs = len(data) // 2
        for _ in range(pairs):
            self.codes.put(0)
        # The highest channels arrive first.
        for pair in range(pairs):
            word, place = self.codes.get(), len(data) - 2 * pair
            data[place - 1] = PAIR.odd.get(word)
            data[place - 2] = PAIR.even.get(word)

    @kernel
    def sample(self, data):
        """As `sample_mu`, in volts (float)."""
        codes = [0 for _ in data]
        self.sample_mu(codes)
        first = CHANNELS - len(data)
        for i in range(len(data)):
            data[i] = adc_mu_to_volt(codes[i], PGIA.gain.get_at(self.gains, first + i), self.corrected_fs)
