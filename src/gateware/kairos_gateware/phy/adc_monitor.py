"""Follows the ADCs of Sampler and Novogorny on their SPI buses, for the monitor: the last code that an experiment
has read of each channel, with the setting of its amplifier. Clock domain sys.

Probe n is `MEASURED` (`src/contracts/chips/measured.toml`) of channel n, which is 0 until the channel is read. It
changes in the cycle after a transfer's input event. The settings are those that were sent to the amplifiers last; a
reset of the PHYs does not change them, as it does not change the card. Until some are sent they are 0, those after the
card's power-on.
"""

from migen import *

from ..contracts import novogorny, sampler, spi
from ..contracts.measured import MEASURED
from .spi_monitor import SENT

__all__ = ["ADC_MONITORS", "RECEIVED", "NovogornyMonitor", "SamplerMonitor", "adc_of"]

RECEIVED = [("stb", 1), ("data", spi.WORD_BITS)]
"""An input event: the last bit that was read is bit 0."""

_SETTINGS = layout_len(sampler.PGIA)
_GAIN = _SETTINGS // sampler.CHANNELS
"""Bits of all amplifiers' settings, and of one."""
_PAIRS = sampler.CHANNELS // 2
_RESULT = layout_len(novogorny.RESULT)


class _AdcMonitor(Module):
    """select: chip select of the amplifiers.

    `sent`, `received` (in): of the bus of the ADC, see `SENT` and `RECEIVED`. `settings` (in): `SENT` of the bus of
    the amplifiers. `gains` (out, 16 bits): the settings of the amplifiers. `probe_port` (in): `adr` (3 bits) a
    channel; out: `dat_r` (22 bits) its probe. A subclass drives `probe` (out), a record of the latter.
    """

    def __init__(self, select):
        self.sent, self.received = Record(SENT), Record(RECEIVED)
        self.settings = settings = Record(SENT)
        self.probe = Record(MEASURED)
        self.probe_port = Record([("adr", bits_for(sampler.CHANNELS - 1)), ("dat_r", layout_len(MEASURED))])
        self.gains = gains = Signal(_SETTINGS, reset_less=True)

        # # #

        self.comb += self.probe_port.dat_r.eq(self.probe.raw_bits())
        self.sync += If(
            settings.stb & settings.end & (settings.cs == select) & (settings.length == _SETTINGS),
            gains.eq(settings.data[spi.WORD_BITS - _SETTINGS :]),
        )

    def memory(self, layout, depth):
        """Ports of a memory of such records, one to read it at any time, one to write it."""
        memory = Memory(layout_len(layout), depth)
        read, write = memory.get_port(async_read=True), memory.get_port(write_capable=True)
        self.specials += memory, read, write
        return read, write


class SamplerMonitor(_AdcMonitor):
    """The transfers after a conversion are of pairs of channels, the highest one first. Those after the last pair, or
    after a transfer of another length, are of none.

    `conversion` (in): level of CNV.
    """

    def __init__(self):
        super().__init__(sampler.CS_PGIA)
        self.conversion = Signal()

        # # #

        sent, received, port = self.sent, self.received, self.probe_port
        lost = _PAIRS + 1
        begun = Signal(max=lost + 1, reset=lost)  # transfers since the conversion
        self.sync += If(self.conversion, begun.eq(0)).Elif(
            sent.stb & (begun != lost), begun.eq(Mux(sent.length == spi.WORD_BITS, begun + 1, lost))
        )

        layout = [("codes", spi.WORD_BITS), ("gains", 2 * _GAIN), ("valid", 1)]
        new, found, codes = Record(layout), Record(layout), Record(sampler.PAIR)
        read, write = self.memory(layout, _PAIRS)
        odd = port.adr[0]
        self.comb += [
            write.adr.eq(_PAIRS - begun),
            write.we.eq(received.stb & (begun != 0) & (begun != lost)),
            write.dat_w.eq(new.raw_bits()),
            new.codes.eq(received.data),
            Case(write.adr, {pair: new.gains.eq(self.gains[2 * _GAIN * pair :]) for pair in range(_PAIRS)}),
            new.valid.eq(1),
            read.adr.eq(port.adr[1:]),
            found.raw_bits().eq(read.dat_r),
            codes.raw_bits().eq(found.codes),
            self.probe.code.eq(Mux(odd, codes.odd, codes.even)),
            self.probe.gain.eq(Mux(odd, found.gains[_GAIN:], found.gains[:_GAIN])),
            self.probe.valid.eq(found.valid),
        ]


class NovogornyMonitor(_AdcMonitor):
    """Each result says of which channel it is, and in which range. ADC and amplifiers are on the same bus."""

    def __init__(self):
        super().__init__(novogorny.CS_PGIA)

        # # #

        sent, received = self.sent, self.received
        result, new = Record(novogorny.RESULT), Record(MEASURED)
        read, write = self.memory(MEASURED, novogorny.CHANNELS)
        self.comb += [
            [getattr(self.settings, name).eq(getattr(sent, name)) for name, _ in SENT],
            result.raw_bits().eq(received.data),
            write.adr.eq(result.channel),
            write.we.eq(received.stb & (sent.cs == novogorny.CS_ADC) & (sent.length == _RESULT)),
            write.dat_w.eq(new.raw_bits()),
            new.code.eq(result.code),
            Case(result.channel, {n: new.gain.eq(self.gains[_GAIN * n :]) for n in range(novogorny.CHANNELS)}),
            new.softspan.eq(result.softspan),
            new.valid.eq(1),
            read.adr.eq(self.probe_port.adr),
            self.probe.raw_bits().eq(read.dat_r),
        ]


ADC_MONITORS = {"sampler": SamplerMonitor, "novogorny": NovogornyMonitor}
"""By the names of `variant.MONITORED`."""


def adc_of(context):
    """The monitor of the Sampler's ADC whose bus is the channel of the parameter `adc`. ValueError if that is none."""
    monitor = getattr(context.phys.get(context["adc"]), "monitor", None)
    if not isinstance(monitor, SamplerMonitor):
        raise ValueError(
            f"{context.name}: parameter `adc` must be the number of the monitored bus of a Sampler's ADC before it"
        )
    return monitor
