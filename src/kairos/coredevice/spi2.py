"""SPI buses of the gateware. A transfer has up to 32 bits; longer ones are chained by omitting
`SPI_END`.

Chip drivers declare their transfers (`kairos.coredevice.parts.spi`) instead of configuring the bus
themselves.
"""

from ..contracts.spi import CONFIG_ADDRESS, CS_AT, DATA_ADDRESS, DIV_AT, LENGTH_AT
from ..language import TInt32, delay_mu, kernel, portable
from .parts.channel import Address, BusDevice, RTIODevice
from .parts.firmware import QUIET, firmware_function
from .parts.numbers import nearest
from .parts.spi import (
    DIVIDERS,
    LENGTHS,
    SPI_CLK_PHASE,
    SPI_CLK_POLARITY,
    SPI_CS_POLARITY,
    SPI_END,
    SPI_HALF_DUPLEX,
    SPI_INPUT,
    SPI_LSB_FIRST,
    SPI_OFFLINE,
    transfer_cycles,
)
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

SPI_DATA_ADDR = DATA_ADDRESS
SPI_CONFIG_ADDR = CONFIG_ADDRESS

SHORTEST, LONGEST = LENGTHS[0], LENGTHS[-1]
FASTEST, SLOWEST = DIVIDERS[0], DIVIDERS[-1]


class SPIMaster(RTIODevice):
    """The SPI bus on RTIO channel `channel`. `div` and `length` describe a configuration already in
    force.

    Each call advances the cursor by the time for which it occupies the bus, so calls can follow one
    another.
    """

    kernel_invariants = {"ref_period_mu"}
    data_target = Address(SPI_DATA_ADDR)
    config_target = Address(SPI_CONFIG_ADDR)

    def __init__(self, dmgr, channel, div=0, length=0, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.ref_period_mu = self.core.seconds_to_mu(self.core.coarse_ref_period)
        if self.ref_period_mu != self.core.ref_multiplier:
            raise ValueError("an SPI bus needs a core whose coarse cycle is a whole number of machine units")
        self.update_xfer_duration_mu(div, length)

    @portable
    def frequency_to_div(self, f):
        """Coarse cycles in a period of the bus clock, for a frequency in Hz. ValueError if there are too many."""
        return int(nearest(1.0 / (f * self.core.coarse_ref_period)))

    @portable
    def update_xfer_duration_mu(self, div, length):
        """Compute the duration of a transfer from the configuration in force; `set_config_mu` does
        so itself."""
        self.xfer_duration_mu = transfer_cycles(length, div) * self.ref_period_mu

    @kernel
    def configure(self, word, duration_mu):
        """Write the configuration `word`; transfers then take `duration_mu` machine units (int64).
        Advances by one coarse cycle."""
        self.xfer_duration_mu = duration_mu
        rtio_output(self.config_target, word)
        delay_mu(self.ref_period_mu)

    @kernel
    def set_config_mu(self, flags, length, div, cs):
        """Configure the following transfers: `flags`, `length` in bits (1 to 32), clock period
        `div` in coarse cycles (2 to 257), chip selects `cs`. Advances by one coarse cycle.
        ValueError if length or div is out of range.
        """
        if not (SHORTEST <= length <= LONGEST and FASTEST <= div <= SLOWEST):
            raise ValueError("an SPI transfer has 1 to 32 bits and a clock divider from 2 to 257")
        shape = (length - SHORTEST << LENGTH_AT) + (div - FASTEST << DIV_AT)
        self.configure(flags + shape + (cs << CS_AT), transfer_cycles(length, div) * self.ref_period_mu)

    @kernel
    def set_config(self, flags, length, freq, cs):
        """As `set_config_mu`, with the clock frequency in Hz."""
        self.set_config_mu(flags, length, self.frequency_to_div(freq), cs)

    @kernel
    def read(self) -> TInt32:
        """Wait for and return the word read by the next transfer with `SPI_INPUT`, right aligned.
        The cursor does not move."""
        return rtio_input_data(self.channel)

    @kernel
    def write(self, data):
        """Start a transfer of `data` (int32), left aligned if the highest bit is sent first;
        advances by its duration."""
        rtio_output(self.data_target, data)
        delay_mu(self.xfer_duration_mu)


set_bus = firmware_function("spi_set_config", "busno flags length div cs", QUIET)
transfer_on_bus = firmware_function("spi_write", "busno data", QUIET)
received_on_bus = firmware_function("spi_read", "busno", QUIET)


class NRTSPIMaster(BusDevice):
    """SPI bus `busno` of the core device itself, outside of RTIO. Boards without one raise SPIError."""

    def __init__(self, dmgr, busno=0, core_device="core"):
        super().__init__(dmgr, busno, core_device)

    @kernel
    def set_config_mu(self, flags=0, length=8, div=6, cs=1):
        """As `SPIMaster.set_config_mu`, effective immediately."""
        set_bus(self.busno, flags, length, div, cs)

    @kernel
    def write(self, data=0):
        """Transfer `data` (int32)."""
        transfer_on_bus(self.busno, data)

    @kernel
    def read(self):
        """Return the word read by the last transfer."""
        return received_on_bus(self.busno)
