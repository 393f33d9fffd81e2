"""SPI buses of the gateware. A transfer has up to 32 bits; longer ones are chained by leaving out `SPI_END`."""

from ..language import TInt32, TNone, delay_mu, kernel, portable, syscall
from .rtio import rtio_input_data, rtio_output

__all__ = [
    "NRTSPIMaster",
    "SPIMaster",
    "SPI_CLK_PHASE",
    "SPI_CLK_POLARITY",
    "SPI_CONFIG_ADDR",
    "SPI_CS_POLARITY",
    "SPI_DATA_ADDR",
    "SPI_END",
    "SPI_HALF_DUPLEX",
    "SPI_INPUT",
    "SPI_LSB_FIRST",
    "SPI_OFFLINE",
]

SPI_DATA_ADDR = 0
SPI_CONFIG_ADDR = 1

SPI_OFFLINE = 0x01
"""pins not driven"""
SPI_END = 0x02
"""chip select ends with the transfer"""
SPI_INPUT = 0x04
"""the transfer gives an input event"""
SPI_CS_POLARITY = 0x08
"""chip select active high"""
SPI_CLK_POLARITY = 0x10
"""clock idles high"""
SPI_CLK_PHASE = 0x20
"""data sampled at the clock's second edge"""
SPI_LSB_FIRST = 0x40
SPI_HALF_DUPLEX = 0x80


class SPIMaster:
    """The SPI bus on RTIO channel `channel`. `div` and `length` are those of a configuration that is in force already.

    The cursor advances with each call by the time that it keeps the bus busy, so calls follow one another.
    """

    kernel_invariants = {"core", "ref_period_mu", "channel"}

    def __init__(self, dmgr, channel, div=0, length=0, core_device="core"):
        self.core = dmgr.get(core_device)
        self.ref_period_mu = self.core.seconds_to_mu(self.core.coarse_ref_period)
        assert self.ref_period_mu == self.core.ref_multiplier
        self.channel = channel
        self.update_xfer_duration_mu(div, length)

    @staticmethod
    def get_rtio_channels(channel, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel, None)]

    @portable
    def frequency_to_div(self, f):
        """Coarse cycles in a period of the bus clock, for a frequency in Hz."""
        return int(round(1 / (f * self.core.mu_to_seconds(self.ref_period_mu))))

    @kernel
    def set_config(self, flags, length, freq, cs):
        """As `set_config_mu`, with the clock's frequency in Hz."""
        self.set_config_mu(flags, length, self.frequency_to_div(freq), cs)

    @kernel
    def set_config_mu(self, flags, length, div, cs):
        """Set what the next transfers are like: `flags`, `length` in bits (1 to 32), clock period `div` in coarse
        cycles (2 to 257), chip selects `cs`. Advances by a coarse cycle. ValueError if length or div is out of range.
        """
        if length > 32 or length < 1:
            raise ValueError("the length of an SPI transfer is between 1 and 32 bits")
        if div > 257 or div < 2:
            raise ValueError("the clock divider of an SPI bus is between 2 and 257")
        rtio_output((self.channel << 8) | SPI_CONFIG_ADDR, flags | ((length - 1) << 8) | ((div - 2) << 16) | (cs << 24))
        self.update_xfer_duration_mu(div, length)
        delay_mu(self.ref_period_mu)

    @portable
    def update_xfer_duration_mu(self, div, length):
        """Compute the duration of a transfer from the configuration in force; `set_config_mu` does."""
        self.xfer_duration_mu = ((length + 1) * div + 1) * self.ref_period_mu

    @kernel
    def write(self, data):
        """Start a transfer with `data` (int32), left aligned if the highest bit goes first; advances by its length."""
        rtio_output((self.channel << 8) | SPI_DATA_ADDR, data)
        delay_mu(self.xfer_duration_mu)

    @kernel
    def read(self) -> TInt32:
        """What the next transfer with `SPI_INPUT` has read, right aligned; waits for it. The cursor stays."""
        return rtio_input_data(self.channel)


@syscall(flags={"nounwind", "nowrite"})
def spi_set_config(busno: TInt32, flags: TInt32, length: TInt32, div: TInt32, cs: TInt32) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def spi_write(busno: TInt32, data: TInt32) -> TNone:
    raise NotImplementedError("runs on the core device only")


@syscall(flags={"nounwind", "nowrite"})
def spi_read(busno: TInt32) -> TInt32:
    raise NotImplementedError("runs on the core device only")


class NRTSPIMaster:
    """SPI bus `busno` of the core device itself, outside of RTIO. Boards without one raise SPIError."""

    kernel_invariants = {"core", "busno"}

    def __init__(self, dmgr, busno=0, core_device="core"):
        self.core = dmgr.get(core_device)
        self.busno = busno

    @kernel
    def set_config_mu(self, flags=0, length=8, div=6, cs=1):
        """As `SPIMaster.set_config_mu`, at once."""
        spi_set_config(self.busno, flags, length, div, cs)

    @kernel
    def write(self, data=0):
        """Transfer `data` (int32)."""
        spi_write(self.busno, data)

    @kernel
    def read(self):
        """What the last transfer has read."""
        return spi_read(self.busno)
