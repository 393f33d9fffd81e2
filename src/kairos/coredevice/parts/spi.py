"""Transfers on a shared SPI bus, declared as data.

Chips that share a bus differ in word length, clock, chip select and clock edges. A driver declares
each kind of transfer once, in its class::

    class Card:
        write_gain = Transfer(length=16, div=4, cs=1)
        read_status = Transfer(length=24, div=16, cs="chip_select", flags=SPI_END | SPI_INPUT)
        address = Transfer(length=8, div=4, cs=2, flags=0)  # without SPI_END: the chip stays selected

        def __init__(self, dmgr, spi_device, chip_select, core_device="core"):
            self.core = dmgr.get(core_device)
            self.bus = dmgr.get(spi_device)
            self.chip_select = chip_select

        @kernel
        def set_gain(self, code):
            self.write_gain.send(code)

A number may be given as the name of an attribute of the instance, such as ``"chip_select"``, and
`bus=` names the attribute that holds the bus if it is not ``bus``. On first use of an instance's
transfer, the configuration word, the duration and the position of the data in the bus's 32 bits are
computed on the host; they are constants in kernels. Invalid lengths and dividers raise `ValueError`
at that point.

========================  =====================================================================  ======================
kernel method             effect                                                                 cursor advances by
========================  =====================================================================  ======================
``send(data)``            configures the bus and transfers `data`                                ``1 + cycles`` of the
                                                                                                 coarse cycle
``exchange(data)``        `send`, then returns the word read; needs ``SPI_INPUT``                the same
``prepare()``             configures the bus for this kind                                       1 coarse cycle
``put(data)``             transfers `data`; requires a preceding `prepare` or `send` of          ``cycles``
                          this kind
``get()``                 returns the oldest word read but not fetched; RuntimeError if          nothing
                          none arrives within a millisecond after the cursor
========================  =====================================================================  ======================

`data` is right aligned for every length: bit 0 is sent last (first with ``SPI_LSB_FIRST``). Words
read are right aligned too. Longer messages are chains: all transfers but the last without
``SPI_END``. A `SizedTransfer` has no fixed length; ``send(data, length)`` and
``exchange(data, length)`` take it. `duration_mu` of a bound transfer is the time of `put` in
machine units (int64), for transfers that must end at the cursor.
"""

from ...contracts import spi as contract
from ...contracts.spi import SpiFlag
from ...language import TInt32, delay_mu, kernel, now_mu, portable
from ...numeric import Wide, int64
from ..rtio import rtio_input_timestamped_data, rtio_output
from .numbers import to_int32

__all__ = [
    "BoundTransfer",
    "BoundSizedTransfer",
    "LENGTHS",
    "DIVIDERS",
    "SPI_CLK_PHASE",
    "SPI_CLK_POLARITY",
    "SPI_CS_POLARITY",
    "SPI_END",
    "SPI_HALF_DUPLEX",
    "SPI_INPUT",
    "SPI_LSB_FIRST",
    "SPI_OFFLINE",
    "SizedTransfer",
    "Transfer",
    "config_word",
    "transfer_cycles",
]

SPI_OFFLINE = int(SpiFlag.OFFLINE)
SPI_END = int(SpiFlag.END)
SPI_INPUT = int(SpiFlag.INPUT)
SPI_CS_POLARITY = int(SpiFlag.CS_POLARITY)
SPI_CLK_POLARITY = int(SpiFlag.CLK_POLARITY)
SPI_CLK_PHASE = int(SpiFlag.CLK_PHASE)
SPI_LSB_FIRST = int(SpiFlag.LSB_FIRST)
SPI_HALF_DUPLEX = int(SpiFlag.HALF_DUPLEX)

WORD = contract.WORD_BITS
"""Maximum number of bits of a transfer."""
LATEST_ANSWER = Wide(1_000_000)
"""Machine units after the cursor, longer than an answer from a satellite takes."""


def _field(name, least=0):
    """Return (lowest bit, values in order of their codes) of a field of the configuration word."""
    return getattr(contract, f"{name}_AT"), range(least, least + (1 << getattr(contract, f"{name}_BITS")))


FIELDS = {
    "flags": _field("FLAGS"),
    "length": _field("LENGTH", contract.LENGTH_LEAST),
    "div": _field("DIV", contract.DIV_LEAST),
    "cs": _field("CS"),
}
"""Fields of the configuration word: lowest bit, and values in order of their codes from 0."""
LENGTHS, DIVIDERS = FIELDS["length"][1], FIELDS["div"][1]


def config_word(**values):
    """Encode the configuration word (int32) of `flags`, `length`, `div` and `cs`; ValueError if out
    of range."""
    word = 0
    for name, value in values.items():
        place, allowed = FIELDS[name]
        if value not in allowed:
            raise ValueError(f"{name} of an SPI transfer is between {allowed[0]} and {allowed[-1]}, not {value}")
        word |= allowed.index(value) << place
    return to_int32(word)


@portable
def transfer_cycles(length, div):
    """Coarse cycles for which a transfer occupies the bus: its bits, one period of chip select, one
    cycle."""
    return (length + 1) * div + 1


@kernel
def _answer(channel) -> TInt32:
    """Return the oldest word read by a bus. Transfers end at the cursor; without a word by then the
    bus was not configured to read."""
    time_mu, word = rtio_input_timestamped_data(now_mu() + LATEST_ANSWER, channel)
    if time_mu < 0:
        raise RuntimeError(
            "nothing was read on the SPI bus of RTIO channel {0}: call init() of the card before it is read",
            int64(channel),
        )
    return word


class Transfer:
    """Declares a kind of transfer: `length` in bits (1 to 32), clock period `div` in coarse cycles
    (2 to 257), chip select `cs` (0 to 255), `flags` of `kairos.coredevice.spi2`. On an instance it
    is a `BoundTransfer`.
    """

    @property
    def kind(self):
        return BoundTransfer

    def __init__(self, length, div, cs, flags=SPI_END, bus="bus"):
        self.values = {"length": length, "div": div, "cs": cs, "flags": flags}
        self.bus = bus

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, device, owner=None):
        if device is None:
            return self
        bound = self.kind(
            getattr(device, self.bus),
            **{name: getattr(device, v) if isinstance(v, str) else v for name, v in self.values.items()},
        )
        # Takes precedence over this descriptor from now on: the compiler needs one object.
        return device.__dict__.setdefault(self.name, bound)


class BoundTransfer:
    """A kind of transfer bound to the `SPIMaster` `bus`."""

    kernel_invariants = {"bus", "config", "data_target", "duration_mu", "shift"}

    def __init__(self, bus, length, div, cs, flags=SPI_END):
        self.bus = bus
        self.config = config_word(flags=flags, length=length, div=div, cs=cs)
        self.duration_mu = transfer_cycles(length, div) * bus.ref_period_mu
        self.shift = 0 if flags & SPI_LSB_FIRST else WORD - length
        self.data_target = bus.data_target

    @property
    def core(self):
        return self.bus.core

    @kernel
    def prepare(self):
        """Configure the bus for transfers of this kind; advances by one coarse cycle."""
        self.bus.configure(self.config, self.duration_mu)

    @kernel
    def put(self, data):
        """Transfer `data` (int32, right aligned); the bus must be configured for this kind."""
        rtio_output(self.data_target, data << self.shift)
        delay_mu(self.duration_mu)

    @kernel
    def get(self) -> TInt32:
        """Wait for and return the oldest word read but not fetched, right aligned. The cursor does
        not move. RuntimeError if the bus was not configured to read."""
        return _answer(self.bus.channel)

    @kernel
    def send(self, data):
        """Configure the bus and transfer `data` (int32, right aligned)."""
        self.prepare()
        self.put(data)

    @kernel
    def exchange(self, data) -> TInt32:
        """`send`, then return the word read."""
        self.send(data)
        return self.get()


class SizedTransfer(Transfer):
    """Declares a kind of transfer whose length is given by the kernel; on an instance a
    `BoundSizedTransfer`."""

    @property
    def kind(self):
        return BoundSizedTransfer

    def __init__(self, div, cs, flags=SPI_END, bus="bus"):
        super().__init__(LENGTHS[0], div, cs, flags, bus)


class BoundSizedTransfer:
    """A kind of transfer of 1 to 32 bits, highest first, bound to the `SPIMaster` `bus`."""

    kernel_invariants = {"bus", "config", "div"}

    def __init__(self, bus, length, div, cs, flags=SPI_END):
        self.bus = bus
        self.div = div
        self.config = config_word(flags=flags, length=length, div=div, cs=cs)

    @property
    def core(self):
        return self.bus.core

    @kernel
    def send(self, data, length):
        """Configure the bus and transfer the lowest `length` bits of `data` (int32)."""
        shape = length - LENGTHS[0] << contract.LENGTH_AT
        self.bus.configure(self.config + shape, transfer_cycles(length, self.div) * self.bus.ref_period_mu)
        self.bus.write(data << WORD - length)

    @kernel
    def exchange(self, data, length) -> TInt32:
        """`send`, then return the word read, right aligned."""
        self.send(data, length)
        return _answer(self.bus.channel)
