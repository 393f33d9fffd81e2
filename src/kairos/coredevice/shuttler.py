"""Shuttler: a card with 16 DAC channels whose waveforms are splines, on a satellite with RTIO
channels of its own.

A channel outputs ``w(t) = a(t) + b(t) * cos(c(t))``: `DCBias` sets the cubic spline a(t), `DDS` the
cubic spline b(t) and the quadratic c(t), in units of the gateware; `Trigger` starts them. `Relay`
connects the outputs; `ADC` (AD4115) measures them.
"""

from numpy import int32, int64

from ..language import TInt32, TInt64, TList, delay, delay_mu, kernel, portable, us
from .chips.shuttler import (
    ADC_DATA,
    ADC_ID,
    ADC_MODE,
    COMMUNICATION,
    LEVEL_WORDS,
    OUTPUT_SPAN,
    TONE_WORDS,
    WORD_BITS,
)
from .parts.channel import RTIODevice
from .parts.lacking import lacking
from .parts.methods import made
from .parts.spi import SPI_END, SPI_INPUT, SizedTransfer, Transfer
from .rtio import rtio_output

__all__ = ["ADC", "Config", "DCBias", "DDS", "Relay", "Trigger", "shuttler_volt_to_mu"]

_WORD = int64((1 << WORD_BITS) - 1)
_LEVEL = [words for words, *_ in LEVEL_WORDS]
_TONE = [words for words, *_ in TONE_WORDS]
_BYTE = 8


@portable
def shuttler_volt_to_mu(volt) -> TInt32:
    """The 16-bit word for volts, -10 V to less than 10 V."""
    return int32(round(volt * ((1 << WORD_BITS) / OUTPUT_SPAN))) & 0xFFFF


@lacking(
    "the RTIO addresses of a Shuttler's gains, offsets and clear bits are not published",
    "set_clr set_gain get_gain set_offset get_offset",
)
class Config(RTIODevice):
    """Gains and offsets of the outputs."""


class Spline(RTIODevice):
    """A channel that takes coefficients in 16-bit words, at consecutive addresses."""

    @kernel
    def write_coefficients(self, coefficients: TList(TInt64), words: TList(TInt32)):
        """Write each coefficient as its number of words, lowest bits first, one word per coarse
        cycle."""
        address = self.target
        for place in range(len(coefficients)):
            for word in range(words[place]):
                rtio_output(address, int32((coefficients[place] >> (WORD_BITS * word)) & _WORD))
                delay_mu(int64(self.core.ref_multiplier))
                address += 1


class DCBias(Spline):
    """The level of an output."""

    @kernel
    def set_waveform(self, a0: TInt32, a1: TInt32, a2: TInt64, a3: TInt64):
        """Set the coefficients, of 16, 32, 48 and 48 bits; advances by nine coarse cycles. Started
        by `Trigger`."""
        self.write_coefficients([int64(a0), int64(a1), a2, a3], _LEVEL)


class DDS(Spline):
    """The tone of an output."""

    @kernel
    def set_waveform(self, b0: TInt32, b1: TInt32, b2: TInt64, b3: TInt64, c0: TInt32, c1: TInt32, c2: TInt32):
        """Set the coefficients of the amplitude, of 16, 32, 48 and 48 bits, and of the phase, of
        16, 32 and 32 bits; advances by 14 coarse cycles. Started by `Trigger`."""
        amplitude = [int64(b0), int64(b1), b2, b3]
        self.write_coefficients(amplitude + [int64(c0), int64(c1), int64(c2)], _TONE)


class Trigger(RTIODevice):
    """The trigger of all outputs."""

    @kernel
    def trigger(self, mask):
        """Apply the coefficients of the outputs in `mask` (16 bits) and start them."""
        rtio_output(self.target, mask)


class Relay:
    """The relays between the outputs and their connectors, on the SPI bus `spi_device`."""

    kernel_invariants = {"bus", "core"}

    relays = Transfer(length=16, div=16, cs=1)

    def __init__(self, dmgr, spi_device, core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)

    @kernel
    def init(self):
        """Configure the bus."""
        self.relays.prepare()

    @kernel
    def enable(self, en):
        """Connect the outputs in the mask `en` (16 bits), and no others."""
        self.relays.put(en)


def sized_read(length):
    """Build a method that reads a register of `length` bits."""

    @made(f"Read a register of {length} bits.")
    def read(self, addr) -> TInt32:
        self.head.send(COMMUNICATION.word(1, addr))
        return self.answer.exchange(0, length)

    return read


def sized_write(length):
    """Build a method that writes a register of `length` bits."""

    @made(f"Write a register of {length} bits.")
    def write(self, addr, data):
        self.head.send(COMMUNICATION.word(0, addr))
        self.value.send(data, length)

    return write


def in_mode(name, text):
    """Build a method without arguments that sets the ADC's mode."""
    word = ADC_MODE.encode(ref_en=1, mode=name)

    @made(text)
    def set_mode(self):
        self.write16(ADC_MODE.address, word)

    return set_mode


@lacking(
    "the mapping of Shuttler outputs to ADC inputs and their dividers are not published",
    "read_ch calibrate",
)
class ADC:
    """The ADC AD4115 of a Shuttler, on the SPI bus `spi_device`."""

    kernel_invariants = {"bus", "core"}

    head = Transfer(length=COMMUNICATION.width, div=64, cs=1, flags=0)
    value = SizedTransfer(div=64, cs=1)
    answer = SizedTransfer(div=64, cs=1, flags=SPI_END | SPI_INPUT)

    def __init__(self, dmgr, spi_device, core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)

    read8, read16, read24 = (sized_read(_BYTE * size) for size in (1, 2, 3))
    write8, write16, write24 = (sized_write(_BYTE * size) for size in (1, 2, 3))

    @kernel
    def read_id(self) -> TInt32:
        """Read the identification: 0x38d followed by four undefined bits."""
        return self.read16(ADC_ID.address)

    @kernel
    def reset(self):
        """Reset the ADC: 64 clock cycles with the data high, then 500 us."""
        self.value.send(-1, 32)
        self.value.send(-1, 32)
        delay(500 * us)

    single_conversion = in_mode("SINGLE", "Convert once.")
    standby = in_mode("STANDBY", "Go into standby: the references stay on.")
    power_down = in_mode("POWER_DOWN", "Power everything down; only `power_up` or `reset` end that.")

    @kernel
    def power_up(self):
        """Leave power-down, by a reset, and go into standby."""
        self.reset()
        self.standby()

    @kernel
    def read_data(self) -> TInt32:
        """Read the result of a conversion, 24 bits."""
        return self.read24(ADC_DATA.address)
