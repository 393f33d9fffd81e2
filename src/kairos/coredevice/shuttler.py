"""Shuttler: a card with 16 DAC channels whose waveforms are splines.

An output is ``w = a + g * b * cos(2 pi c)``: `DCBias` sets the cubic spline a, `DDS` the cubic spline
b and the quadratic c; `Trigger` starts them; g is `TONE_GAIN`, 1.64676. Then w is multiplied and
shifted as `Config` says, limited to 16 bits (a step is 20 V / 65536), and output by a DAC with 14 bits.
`Relay` connects the outputs; `ADC` (AD4115) measures them.

The gateware adds differences every 8 ns: n cycles after the trigger the level is a0 + n a1 + C(n,2)
a2 + C(n,3) a3. It is the polynomial p0 + p1 t + p2 t**2 / 2 + p3 t**3 / 6 of the time t, in V and
V/s to V/s**3, with T = 8 ns, if ::

    a0 = p0
    a1 = p1 * T + p2 * T**2 / 2 + p3 * T**3 / 6
    a2 = p2 * T**2 + p3 * T**3
    a3 = p3 * T**3

b likewise; and c = r0 + r1 t + r2 t**2 / 2, in turns, Hz and Hz/s, if c0 = r0, c1 = r1 * T + r2 * T**2
/ 2 and c2 = r2 * T**2. `DCBias` and `DDS` say in which units they take these.
"""

from ..language import TFloat, TInt32, TInt64, TList, delay, delay_mu, kernel, portable, us
from ..numeric import int32, int64
from .chips.shuttler import (
    ADC_CHANNEL,
    ADC_DATA,
    ADC_ID,
    ADC_MODE,
    ADC_SETUP,
    COMMUNICATION,
    OUTPUT_SPAN,
    PORT,
    TONE_WORDS,
    WORD_BITS,
    checked_output,
)
from .parts.channel import RTIODevice
from .parts.scales import Scale
from .parts.spi import SPI_CLK_PHASE, SPI_CLK_POLARITY, SPI_END, SPI_INPUT, SizedTransfer, Transfer
from .parts.spline import LEVEL, SplineDevice
from .rtio import rtio_input_data, rtio_output

__all__ = ["ADC", "Config", "DCBias", "DDS", "Relay", "Trigger", "shuttler_volt_to_mu"]

_MODE3 = SPI_CLK_POLARITY | SPI_CLK_PHASE
_TONE = [words for words, *_ in TONE_WORDS]


class _Volts(Scale):
    @portable
    def refuse(self):
        raise ValueError("a voltage of a Shuttler is at least -10 V and less than 10 V")


_CODES = 1 << WORD_BITS
_VOLTS = _Volts(bits=WORD_BITS, steps=_CODES / OUTPUT_SPAN, zero=_CODES // 2)


@portable
def shuttler_volt_to_mu(volt) -> TInt32:
    """The 16-bit word for volts. ValueError outside of -10 V to less than 10 V."""
    return int32(_VOLTS.code(volt) - _CODES // 2) & 0xFFFF


_GAIN, _OFFSET, _CLEAR = (PORT.encode(setting=name) for name in ("GAIN", "OFFSET", "CLEAR"))
_READ = PORT.encode(read=1)
_PAIR, _COMMON = 5, 16
"""Position of an input's number in a channel of the ADC, and the number of the common one."""
_BUFFERS = 3
_MIDDLE, _SPAN = float(1 << 23), 25.0
"""Code of 0 V, and volts at twice that."""
_UNIT_GAIN = 65536.0
_SAMPLES = [-5.0, 0.0, 5.0]
_SINGLE, _STANDBY, _POWER_DOWN = (
    ADC_MODE.ref_en.place(1) | ADC_MODE.mode.place(ADC_MODE.mode.number(name))
    for name in ("SINGLE", "STANDBY", "POWER_DOWN")
)


class Config(RTIODevice):
    """Gain, offset and clear bit of each output; gains and offsets are -2**15 to 2**15 - 1.

    All are on one channel: calls need different coarse cycles.
    """

    @kernel
    def set_clr(self, clr):
        """Select the outputs, by a mask of 16 bits, whose phase begins at c0 with each trigger; that
        of the others goes on from where it is, with c0 in place of the one before. After a reset the
        phases of all begin again."""
        rtio_output(self.target | _CLEAR, clr)

    @kernel
    def set_gain(self, output, gain):
        """Multiply an output by 1 + `gain` / 2**16. ValueError, here and below, if there is no such output."""
        rtio_output(self.target | _GAIN | checked_output(output), gain & 0xFFFF)

    @kernel
    def get_gain(self, output) -> TInt32:
        """Return the gain of an output, as for `set_gain`; waits for the answer."""
        return self._setting(_GAIN | checked_output(output))

    @kernel
    def set_offset(self, output, offset):
        """Add `offset` steps of 20 V / 2**16 to an output, after its gain."""
        rtio_output(self.target | _OFFSET | checked_output(output), offset & 0xFFFF)

    @kernel
    def get_offset(self, output) -> TInt32:
        """Return the offset of an output, as for `set_offset`; waits for the answer."""
        return self._setting(_OFFSET | checked_output(output))

    @kernel
    def _setting(self, address) -> TInt32:
        """Return the setting at an address of `PORT`."""
        rtio_output(self.target | _READ | address, 0)
        word = rtio_input_data(self.channel) & 0xFFFF
        return word - ((word & 0x8000) << 1)


class Spline(SplineDevice):
    """A channel that takes coefficients."""

    @kernel
    def write_coefficients(self, coefficients: TList(TInt64), words: TList(TInt32)):
        """Write each coefficient as its number of words, lowest bits first, one word per coarse
        cycle."""
        self._write_coefficients(self.target, coefficients, words)


class DCBias(Spline):
    """The level of an output."""

    @kernel
    def set_waveform(self, a0: TInt32, a1: TInt32, a2: TInt64, a3: TInt64):
        """Set the coefficients, of 16, 32, 48 and 48 bits; advances by nine coarse cycles. Started
        by `Trigger`.

        a0 is in steps of 20 V / 2**16, a1 in 2**-16 steps per cycle of 8 ns, a2 and a3 in 2**-32
        steps per cycle**2 and cycle**3; the sum wraps at 16 bits of steps. For the polynomial of
        the module's text: a0 * 2**16 / 20 V, a1 * 2**32 / 20 V, a2 and a3 * 2**48 / 20 V.
        """
        self.write_coefficients([int64(a0), int64(a1), a2, a3], LEVEL)


class DDS(Spline):
    """The tone of an output."""

    @kernel
    def set_waveform(self, b0: TInt32, b1: TInt32, b2: TInt64, b3: TInt64, c0: TInt32, c1: TInt32, c2: TInt32):
        """Set the coefficients of the amplitude, of 16, 32, 48 and 48 bits, and of the phase, of
        16, 32 and 32 bits; advances by 14 coarse cycles. Started by `Trigger`.

        b0 to b3 are as a0 to a3 of `DCBias`, divided by `TONE_GAIN`. c0 is in 2**-16 turns, c1 in
        2**-32 turns per cycle of 8 ns (125 MHz / 2**32 = 29 mHz), c2 in 2**-32 turns per cycle**2
        (3.6 MHz/s). For the polynomial of the module's text: c0 * 2**16, c1 * 2**32, c2 * 2**32.
        """
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

    relays = Transfer(length=16, div=4, cs=3)

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


class ADC:
    """The ADC AD4115 of a Shuttler, on the SPI bus `spi_device`."""

    kernel_invariants = {"bus", "core"}

    message = SizedTransfer(div=4, cs=1, flags=_MODE3 | SPI_END)
    question = SizedTransfer(div=16, cs=1, flags=_MODE3 | SPI_END | SPI_INPUT)
    ones = Transfer(length=32, div=4, cs=1, flags=_MODE3)
    last_ones = Transfer(length=32, div=4, cs=1, flags=_MODE3 | SPI_END)

    def __init__(self, dmgr, spi_device, core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)

    # Registers

    @kernel
    def _read(self, addr, length) -> TInt32:
        word = COMMUNICATION.word(1, addr) << length
        return self.question.exchange(word, COMMUNICATION.width + length) & ((1 << length) - 1)

    @kernel
    def _write(self, addr, data, length):
        word = (COMMUNICATION.word(0, addr) << length) | (data & ((1 << length) - 1))
        self.message.send(word, COMMUNICATION.width + length)

    @kernel
    def read8(self, addr) -> TInt32:
        """Read a register of 8 bits."""
        return self._read(addr, 8)

    @kernel
    def read16(self, addr) -> TInt32:
        """Read a register of 16 bits."""
        return self._read(addr, 16)

    @kernel
    def read24(self, addr) -> TInt32:
        """Read a register of 24 bits."""
        return self._read(addr, 24)

    @kernel
    def write8(self, addr, data):
        """Write a register of 8 bits."""
        self._write(addr, data, 8)

    @kernel
    def write16(self, addr, data):
        """Write a register of 16 bits."""
        self._write(addr, data, 16)

    @kernel
    def write24(self, addr, data):
        """Write a register of 24 bits."""
        self._write(addr, data, 24)

    # Identification, modes and results

    @kernel
    def read_id(self) -> TInt32:
        """Read the identification: 0x38d followed by four undefined bits."""
        return self.read16(ADC_ID.address)

    @kernel
    def reset(self):
        """Reset the ADC: 96 clock cycles with the data high. It takes 2 ms."""
        self.ones.send(-1)
        self.ones.send(-1)
        self.last_ones.send(-1)

    @kernel
    def single_conversion(self):
        """Convert once."""
        self.write16(ADC_MODE.address, _SINGLE)

    @kernel
    def standby(self):
        """Go into standby: the references stay on."""
        self.write16(ADC_MODE.address, _STANDBY)

    @kernel
    def power_down(self):
        """Power everything down; only `power_up` or `reset` end that."""
        self.write16(ADC_MODE.address, _POWER_DOWN)

    @kernel
    def power_up(self):
        """Leave power-down, by a reset, and wait until the ADC is ready."""
        self.reset()
        delay(2500 * us)

    @kernel
    def read_data(self) -> TInt32:
        """Read the result of a conversion, 24 bits."""
        return self.read24(ADC_DATA.address)

    @kernel
    def read_ch(self, channel) -> TFloat:
        """Measure output `channel` (0 to 15) in volts; takes about 0.1 ms."""
        pair = (checked_output(channel) << _PAIR) | _COMMON
        self.write16(ADC_CHANNEL.address, ADC_CHANNEL.word(enable=1, input=pair))
        self.write16(ADC_SETUP.address, ADC_SETUP.word(bipolar=1, buffers=_BUFFERS))
        self.single_conversion()
        delay(100 * us)
        return (self.read_data() / _MIDDLE - 1.0) * _SPAN

    @kernel
    def calibrate(self, volts, trigger, config, samples=_SAMPLES):
        """Measure each output with the levels `samples` (V), and set its gain and offset so that it
        has them. `volts`: the `DCBias` of each output, in their order; `trigger` and `config` of the
        card. The outputs end at the last level. Takes about a millisecond for each output and level.
        ValueError if the ADC does not see an output follow its levels.
        """
        measured = [0.0 for _ in range(len(samples))]
        for output in range(len(volts)):
            for place in range(len(samples)):
                volts[output].set_waveform(shuttler_volt_to_mu(samples[place]), 0, int64(0), int64(0))
                trigger.trigger(1 << output)
                measured[place] = self.read_ch(output)
                delay(1000 * us)
            slope, offset = 0.0, 0.0
            for place in range(len(samples) - 1):
                slope += (measured[place + 1] - measured[place]) / (samples[place + 1] - samples[place])
            slope /= float(len(samples) - 1)
            if not 0.5 < slope < 2.0:
                raise ValueError("an output of the Shuttler does not follow its level: is the card connected?")
            for place in range(len(samples)):
                offset += measured[place] / slope - samples[place]
            config.set_gain(output, int(_UNIT_GAIN / slope) & 0xFFFF)
            delay_mu(int64(self.core.ref_multiplier))
            config.set_offset(output, shuttler_volt_to_mu(-offset / float(len(samples))))
            delay_mu(int64(self.core.ref_multiplier))
