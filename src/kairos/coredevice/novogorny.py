"""Novogorny: a card with eight ADC channels of 16 bits (LTC2335-16), each with an amplifier of gain
1, 10, 100 or 1000.

The ADC converts one channel at a time, in a range selected per channel; each transfer selects the
next conversion.
"""

from math import nan

from ..language import TFloat, TInt32, at_mu, delay, host_only, kernel, now_mu, ns, portable
from .chips.measured import MEASURED
from .chips.novogorny import (
    ADC_CONTROL,
    CHANNELS,
    CS_ADC,
    CS_PGIA,
    RESULT,
    SPANS,
    checked_channel,
    checked_gain,
    checked_softspan,
)
from .chips.sampler import PGIA
from .parts.monitored import Monitored
from .parts.spi import SPI_END, SPI_INPUT, Transfer
from .sampler import GAINS

__all__ = ["Novogorny", "adc_channel", "adc_ctrl", "adc_data", "adc_softspan", "adc_value"]

_STEPS = [span / (1 << RESULT.code.width) for span, _ in SPANS]
_BIPOLAR = [bool(bipolar) for _, bipolar in SPANS]
_FULL = 1 << RESULT.code.width
_REFERENCE = 5.0
_BURST_MAX = 60
"""Results of a burst that the device buffers until they are read."""


@portable
def adc_ctrl(channel=1, softspan=0b111, valid=1) -> TInt32:
    """Return the control word for a channel and a range (both 0 to 7). ValueError for others."""
    return ADC_CONTROL.word(valid, checked_channel(channel), checked_softspan(softspan))


@portable
def adc_softspan(data) -> TInt32:
    """The range of a result."""
    return RESULT.softspan.get(data)


@portable
def adc_channel(data) -> TInt32:
    """The channel of a result."""
    return RESULT.channel.get(data)


@portable
def adc_data(data) -> TInt32:
    """The code of a result, 16 bits."""
    return RESULT.code.get(data)


@portable
def adc_value(data, v_ref=_REFERENCE) -> TFloat:
    """Convert a result to volts at the ADC, given a reference in volts."""
    span, code = adc_softspan(data), adc_data(data)
    if _BIPOLAR[span] and code >= _FULL // 2:
        code -= _FULL
    return code * _STEPS[span] * v_ref


class Novogorny:
    """A Novogorny: the SPI bus of its ADC and its amplifiers, and the TTL output that starts a conversion.

    `div`: SPI clock divider. `gains`: settings of the amplifiers, two bits for each channel.
    """

    kernel_invariants = {"bus", "cnv", "core", "div"}

    setting = Transfer(length=PGIA.width, div="div", cs=CS_PGIA)
    control = Transfer(length=ADC_CONTROL.width, div="div", cs=CS_ADC, flags=0)
    last_control = Transfer(length=ADC_CONTROL.width, div="div", cs=CS_ADC)
    result = Transfer(length=RESULT.width, div="div", cs=CS_ADC, flags=SPI_END | SPI_INPUT)

    def __init__(self, dmgr, spi_device, cnv_device, div=8, gains=0x0000, core_device="core"):
        self.core, self.cnv = dmgr.get(core_device), dmgr.get(cnv_device)
        self.bus = dmgr.get(spi_device)
        self.div, self.gains = div, gains

    @host_only
    def monitored(self):
        """Return the probes of all channels: the voltage at each input that was read last, with the gain of its
        amplifier at that time."""
        return [Monitored(n, self.bus.channel, n, self._measured, "V", is_input=True) for n in range(CHANNELS)]

    @host_only
    def _measured(self, probe):
        result = RESULT.word(code=MEASURED.code.get(probe), softspan=MEASURED.softspan.get(probe))
        return adc_value(result) / GAINS[MEASURED.gain.get(probe)] if MEASURED.valid.get(probe) else nan

    @kernel
    def set_gain_mu(self, channel, gain):
        """Set the gain of a channel: 0, 1, 2, 3 for 1, 10, 100, 1000."""
        self.gains = PGIA.gain.put_at(self.gains, checked_channel(channel), checked_gain(gain))
        self.setting.send(self.gains)

    @kernel
    def configure(self, data):
        """Fill the ADC's sequence of conversions with control words (see `adc_ctrl`)."""
        last = len(data) - 1
        for word in range(last):
            self.control.send(data[word])
        self.last_control.send(data[last])

    @kernel
    def _convert(self, next_ctrl):
        """Convert, and transfer the result and the next control word; the bus must be configured
        for results."""
        self.cnv.pulse(40 * ns)
        delay(560 * ns)
        self.result.put(next_ctrl << (RESULT.width - ADC_CONTROL.width))

    @kernel
    def sample_mu(self, next_ctrl=0) -> TInt32:
        """Convert and return the 24-bit result; `next_ctrl` selects the next conversion."""
        self.result.prepare()
        self._convert(next_ctrl)
        return self.result.get()

    @kernel
    def sample(self, next_ctrl=0) -> TFloat:
        """As `sample_mu`, in volts at the ADC: behind the channel's amplifier, whose gain the result
        is not divided by."""
        return adc_value(self.sample_mu(next_ctrl))

    @kernel
    def burst_mu(self, data, dt_mu, ctrl=0):
        """Fill `data` with results (24 bits), one every `dt_mu` machine units (int64), each with
        the control word `ctrl`. ValueError if it is longer than the 60 results that the device can
        buffer.
        """
        if len(data) > _BURST_MAX:
            raise ValueError("a burst has at most 60 samples")
        self.result.prepare()
        for _ in range(len(data)):
            start = now_mu()
            self._convert(ctrl)
            at_mu(start + dt_mu)
        for place in range(len(data)):
            data[place] = self.result.get()
