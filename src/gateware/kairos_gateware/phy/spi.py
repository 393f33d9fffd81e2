"""SPI master. Address 1: configuration; address 0: data, which starts a transfer. Clock domain sys.

Fields and flags of the configuration: `contracts/spi.py`. One SPI clock period is `div` cycles.

A transfer of n bits takes (n + 1) * div + 1 cycles, as the driver's `xfer_duration_mu` assumes: a
write in the first cycle after it is the earliest; an earlier one is rejected as "busy". MSB first,
written data are aligned to bit 31, read data to bit 0; LSB first, the other way round. With A = div
- div // 2 and B = div // 2, clock phase 0:

    cycle     T               T+A        T+div           T+n*div   +A    T+(n+1)*div   +1
    cs        active ...                                                 inactive if END
    mosi      bit n-1                    bit n-2 ...
    sck       ________________/‾‾‾‾‾‾‾‾‾‾\\____ ... ‾‾‾‾‾\\_________________________________
    miso                      sampled                                                  ready

The input event is stamped with the cycle in which the last bit was sampled, and can be read 4
cycles after it.
"""

from migen import *

from ..contracts import spi
from ..contracts.descriptor import ChannelKind
from ..contracts.spi import CONFIG_ADDRESS, DATA_ADDRESS, SpiFlag
from ..pad import SAMPLES, Pad
from ..rtio.link import Channel, InputLink, OutputLink
from ..variant import MONITORED
from .adc_monitor import ADC_MONITORS, adc_of
from .kind import Figure, Kind, Parameter
from .spi_aside import SpiAside
from .spi_monitor import MONITORS

__all__ = ["KINDS", "SpiMaster"]

_WIDTH = spi.WORD_BITS
_FIELDS = ("LENGTH", "DIV", "CS")


def _config_layout():
    """The configuration as a record: flags and fields from bit 0 on, with reserved fields in the
    gaps."""
    fields = [(spi.FLAGS_AT + flag.bit_length() - 1, flag.name.lower(), 1) for flag in SpiFlag]
    fields += [(getattr(spi, f"{name}_AT"), name.lower(), getattr(spi, f"{name}_BITS")) for name in _FIELDS]
    layout, end = [], 0
    for at, name, bits in sorted(fields):
        if at > end:
            layout.append((f"reserved_{end}", at - end))
        layout.append((name, bits))
        end = at + bits
    return layout


_CONFIG = _config_layout()


class SpiMaster(Module):
    """clk, mosi, miso: pads; mosi and miso may be None. cs: list of up to eight pads, bit 0 of the chip
    select first. Events in the same cycle collide; there is no replacement. `selected` (out): chip select
    is asserted. `sent`, `received`: the fields of a monitor's `SENT` and `RECEIVED`."""

    def __init__(self, number, clk, mosi=None, miso=None, cs=()):
        link = OutputLink(data_width=_WIDTH, address_width=1, replace=False)
        inputs = InputLink(data_width=_WIDTH)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = [pad for pad in [clk, mosi, miso, *cs] if pad is not None]

        # # #

        config = Record(_CONFIG)
        config.offline.reset = 1
        new = Record(_CONFIG)
        active = Signal()  # all cycles of a transfer
        last = Signal()  # its last cycle
        self.selected = selected = Signal()  # chip select is asserted
        # Pins are driven by registers to avoid glitches
        sck = Signal()
        select = Signal(8)
        driven = Signal()
        mosi_driven = Signal()
        start, configure = Signal(), Signal()
        self.submodules.bits = bits = _BitClock(config)
        self.submodules.shifter = shifter = _Shifter(config, mosi, miso)
        self.sent = {
            "stb": start,
            "data": link.data,
            "length": config.length + spi.LENGTH_LEAST,
            "cs": config.cs,
            "end": config.end,
        }
        self.received = {"stb": shifter.done, "data": shifter.data}
        self.comb += [
            new.raw_bits().eq(link.data),
            link.busy.eq(active & ~last),
            start.eq(link.stb & ~link.busy & (link.address == DATA_ADDRESS)),
            configure.eq(link.stb & ~link.busy & (link.address == CONFIG_ADDRESS)),
            bits.start.eq(start),
            bits.running.eq(active & ~last),
        ]
        self.sync += [
            If(last, active.eq(0), last.eq(0)),
            If(bits.tick, sck.eq((~bits.second & (bits.remaining != 0)) ^ config.clk_polarity)),
            If(bits.finish, last.eq(1), If(config.end, selected.eq(0), select.eq(Replicate(~config.cs_polarity, 8)))),
            If(
                start,
                active.eq(1),
                selected.eq(1),
                select.eq(config.cs ^ Replicate(~config.cs_polarity, 8)),
            ),
            # Never during a transfer: SCK is idle
            If(
                configure,
                config.raw_bits().eq(new.raw_bits()),
                sck.eq(new.clk_polarity),
                select.eq((new.cs & Replicate(selected, 8)) ^ Replicate(~new.cs_polarity, 8)),
                driven.eq(~new.offline),
                mosi_driven.eq(~new.offline & ~(new.half_duplex & new.input)),
            ),
        ]

        self.comb += [
            shifter.start.eq(start),
            shifter.written.eq(link.data),
            shifter.shift.eq(bits.shift),
            shifter.sample.eq(bits.sample),
            shifter.final.eq(bits.remaining == 1),
            inputs.stb.eq(shifter.done),
            inputs.data.eq(shifter.data),
            self.channel.settled.eq(~active & ~shifter.done),
        ]
        for pad, level, enable in [
            (clk, sck, driven),
            (mosi, shifter.out[-1], mosi_driven),
            *[(pad, select[i], driven) for i, pad in enumerate(cs)],
        ]:
            if pad is not None:
                self.comb += [pad.o.eq(Replicate(level, SAMPLES)), pad.oe.eq(enable)]


class _BitClock(Module):
    """Divides a transfer into its bits, and each bit into phases A and B. config: record of the
    configuration.

    `start` (in): a transfer begins. `running` (in): it has not ended. `tick` (out): a phase ends in
    this cycle, B if `second` (out). `remaining` (out, 6 bits): bits not yet transferred. `shift`,
    `sample` (out): the next bit out; MISO is sampled. `finish` (out): all bits are transferred.
    """

    def __init__(self, config):
        self.start, self.running = Signal(), Signal()
        self.tick, self.second = tick, second = Signal(), Signal()
        self.remaining = remaining = Signal(6)
        self.shift, self.sample, self.finish = Signal(), Signal(), Signal()

        # # #

        first_bit, timer = Signal(), Signal(9)
        div, phase_a, phase_b = Signal(9), Signal(9), Signal(9)
        self.comb += [
            div.eq(config.div + spi.DIV_LEAST),
            phase_b.eq(div[1:]),
            phase_a.eq(div - phase_b),
            tick.eq(self.running & (timer == 0)),
            If(
                tick,
                If(
                    ~second,
                    self.sample.eq((remaining != 0) & ~config.clk_phase),
                    self.shift.eq((remaining != 0) & config.clk_phase & ~first_bit),
                )
                .Elif(
                    remaining != 0,
                    self.sample.eq(config.clk_phase),
                    self.shift.eq(~config.clk_phase & (remaining != 1)),
                )
                .Else(self.finish.eq(1)),
            ),
        ]
        self.sync += [
            If(timer != 0, timer.eq(timer - 1)),
            If(
                tick,
                second.eq(~second),
                timer.eq(Mux(second, phase_a, phase_b) - 1),
                If(second, first_bit.eq(0), If(remaining != 0, remaining.eq(remaining - 1))),
            ),
            If(
                self.start,
                second.eq(0),
                first_bit.eq(1),
                remaining.eq(config.length + spi.LENGTH_LEAST),
                timer.eq(phase_a - 1),
            ),
        ]


class _Shifter(Module):
    """The data of a transfer, in both directions. config: record of the configuration. mosi, miso:
    pads; may be None.

    `start` (in): `written` (in, 32 bits) is loaded. `shift` (in): the next bit out. `sample` (in): the
    pin has a bit in this cycle, the last one if `final` (in). `out` (out, 32 bits): its bit 31 is on
    MOSI. `done` (out): `data` (out, 32 bits) was read, 3 cycles after the last sample.
    """

    def __init__(self, config, mosi, miso):
        self.start, self.shift = start, shift = Signal(), Signal()
        self.sample, self.final = sample, final = Signal(), Signal()
        self.written, self.out, self.data = Signal(_WIDTH), Signal(_WIDTH), Signal(_WIDTH)
        self.done = Signal()

        # # #

        # Data out: shifted towards bit 31; for LSB first the word is mirrored when loaded
        out, written = self.out, self.written
        mirrored = Cat(*[written[i] for i in reversed(range(_WIDTH))])
        self.sync += If(start, out.eq(Mux(config.lsb_first, mirrored, written))).Elif(shift, out.eq(out << 1))

        # Data in: one register at the pin, then shifted in at bit 0
        pin = Signal()
        sampling = Signal(2)  # the cycle of sampling, the cycle after it
        received = Signal(_WIDTH)
        two_wires = C(0) if mosi is None else mosi.i[-1]
        source = two_wires if miso is None else Mux(config.half_duplex, two_wires, miso.i[-1])
        ending = Signal(2)
        self.sync += [
            pin.eq(source),
            sampling.eq(Cat(sample, sampling)),
            ending.eq(Cat(sample & final, ending)),
            If(start, received.eq(0)).Elif(sampling[1], received.eq(Cat(pin, received))),
            self.done.eq(ending[1] & config.input),
        ]
        mirrored = Cat(*[received[i] for i in reversed(range(_WIDTH))])
        self.comb += self.data.eq(Mux(config.lsb_first, mirrored, received))


def _make(context):
    clock = context.pad("clk")
    mosi = context.pad("mosi", "inout") if context["mosi"] else None
    miso = context.pad("miso", "in") if context["miso"] else None
    phy = SpiMaster(context.number, clock, mosi, miso, context.pads([f"cs{i}" for i in range(context["cs_width"])]))
    # Pins of the card that must be held high
    high = context.pads([f"high{i}" for i in range(context["high"])])
    phy.comb += [[pad.o.eq(Replicate(1, SAMPLES)), pad.oe.eq(1)] for pad in high]
    phy.pads += high
    aside = SpiAside(phy)
    if context["monitor"]:
        _watch(aside, (MONITORS | ADC_MONITORS)[MONITORED[context["monitor"]]]())
    if context["adc"] is not None:
        aside.comb += _connected(adc_of(context).settings, phy.sent)
    return aside


def _connected(record, values):
    """Statements that drive the fields of a record."""
    return [getattr(record, name).eq(value) for name, value in values.items()]


def _watch(aside, monitor):
    """Connects the probes of a monitor to a bus."""
    aside.submodules.monitor = monitor
    aside.comb += _connected(monitor.sent, aside.phy.sent)
    if hasattr(monitor, "received"):
        aside.comb += _connected(monitor.received, aside.phy.received)
    for name in ["probes", "probe_port"]:
        if hasattr(monitor, name):
            setattr(aside, name, getattr(monitor, name))


def _measured():
    clock, mosi, miso, *cs = [Pad(f"pad{i}", "inout", 0) for i in range(6)]
    return SpiMaster(0, clock, mosi, miso, cs)


KINDS = (
    Kind(
        ChannelKind.SPI_MASTER,
        _make,
        pads="`clk`, `mosi`, `miso`, `cs0`…, `high0`…",
        parameters=(
            Parameter("cs_width", 1, range(9), "an SPI master has 0 to 8 chip select pins"),
            Parameter("mosi", 1, meaning="0: no such pin"),
            Parameter("miso", 1, meaning="0: no such pin"),
            Parameter("high", 0, meaning="pads held at 1"),
            Parameter(
                "monitor",
                0,
                range(len(MONITORED)),
                f"the monitor of an SPI master is 0 to {len(MONITORED) - 1}",
                meaning="chips whose settings are probes: 1 AD9910, 2 AD9912 of an Urukul, 3 AD53xx; "
                "cards whose measurements are: 4 Sampler, 5 Novogorny",
            ),
            Parameter("adc", meaning="channel of the bus of a Sampler's ADC whose amplifiers this one sets"),
        ),
        figures={"spi": Figure("3 chip selects", _measured, {"lut": 118, "ff": 80, "bram": 0})},
    ),
)
