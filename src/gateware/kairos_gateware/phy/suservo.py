"""RTIO channels of an SU-Servo (`servo/`): one for its memories and its configuration, one for each
synthesiser. Clock domain sys; reset stops the servo and switches the outputs off, but keeps the
memories.

The servo's channel: the address is the event's (8 bits) and, above them, the data's bits from 18
on; the value is the data's low 18 bits (for addresses see `servo/format.py`). A write takes effect
at the end of the cycle of the event's time. A read returns an input event stamped with that cycle,
readable 4 cycles after it; bit 17 fills the bits above. One event per cycle; there is no replacement.

Words of phase tracking (`servo/phases.py`) are accessed in halves, of which a read is extended with bit 15.

    configuration   bit 0 enable; bit 1 apply the delays of the update pulses, ns, in bits 4..2 and 7..5
    status          bit 0 enabled, bit 1 nothing in progress, bit 2 a sample was not read, bits 15..8 Y was limited;
                    reading it clears bits 2 and 15..8

A synthesiser's channel: bit 0 switch on, bit 1 update Y, bit 2 phase tracking, bits 7..3 profile.
The switch changes with the sample of the event's time, like a serialised TTL; everything else takes
effect with the servo's next cycle. Each event restarts the profile's delay.
"""

from migen import *

from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from ..rtio.timing import FINE_BITS
from ..servo.format import ADC_CHANNELS, COEFF_WIDTH, PHASE_AT, PROFILE_WIDTH, STATE_WIDTH, URUKUL_CHANNELS, AddressMap
from ..servo.iir import Control
from ..servo.servo import Servo
from .kind import Context, Figure, Kind, Parameter
from .ttl import LevelDriver

__all__ = ["KINDS", "SuServo", "SuServoChannel"]

_PHASE_TRACKING = 2
WORD = 32
"""Bits of an input event: what is read, with its sign."""


class SuServoChannel(Module):
    """A synthesiser: switch, and `control` for the filter. Of events at the same time, the last one
    counts."""

    def __init__(self, number, switch):
        link = OutputLink(data_width=8)
        self.channel = Channel(number, output=link)
        self.control = control = Control()
        self.pads = [switch]

        # # #

        on, update = Signal(), Signal()
        write = link.stb
        profile = link.data[3:]
        self.comb += control.active.eq(on & update)
        self.sync += [
            If(
                control.taken & on & (control.waited != 2 ** len(control.waited) - 1),
                control.waited.eq(control.waited + 1),
            ),
            If(
                write,
                on.eq(link.data[0]),
                update.eq(link.data[1]),
                control.tracks.eq(link.data[_PHASE_TRACKING]),
                control.profile.eq(profile),
                control.waited.eq(0),
            ),
        ]
        self.submodules.driver = driver = LevelDriver(switch, write, link.data[0], link.fine)
        self.comb += [switch.oe.eq(1), self.channel.settled.eq(driver.settled)]


class SuServo(Module):
    """channels: the `SuServoChannel`s. adc: pads cnv, sck, sdr, clkout, sdo0..3. buses: for each
    Urukul its pads clk, cs (or None), mosi0..3. updates: pads of the update pulses, or none: then
    `ttl.SharedOutput`s drive them. profile: number of the register that is written."""

    def __init__(self, number, channels, adc, buses, updates, profile):
        addresses = AddressMap(len(buses))
        extra = addresses.coeff_bits + 3 - 8
        link = OutputLink(data_width=COEFF_WIDTH + extra, address_width=8, replace=False)
        inputs = InputLink(data_width=WORD)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = [*adc, *(pad for bus in buses for pad in bus if pad is not None), *updates]
        self.submodules.servo = servo = Servo(
            [channel.control for channel in channels],
            (*adc[:4], adc[4:]),
            [(bus[0], bus[1], bus[2:]) for bus in buses],
            profile,
        )
        self.updates = servo.dds.updates

        # # #

        for pad, samples in zip(updates, self.updates, strict=False):
            self.comb += [pad.oe.eq(1), pad.o.eq(samples)]

        # First register: the request
        address = Signal(addresses.coeff_bits + 3)
        request = Signal()
        value = Signal(COEFF_WIDTH)
        fine = Signal(FINE_BITS)
        self.sync += [
            request.eq(link.stb),
            address.eq(Cat(link.address, link.data[COEFF_WIDTH:])),
            value.eq(link.data),
            fine.eq(link.fine),
        ]

        iir = servo.iir
        write, read, state, config, sampled = Signal(), Signal(), Signal(), Signal(), Signal()
        phase = Signal()
        tracker = iir.tracker
        self.comb += [
            write.eq(request & address[-1]),
            read.eq(request & ~address[-1]),
            phase.eq(address[addresses.coeff_bits + PHASE_AT]),
            state.eq(address[addresses.coeff_bits] & ~phase),
            config.eq(state & address[addresses.coeff_bits - 1]),
            tracker.address.eq(address),
            tracker.both.eq(address[addresses.coeff_bits]),
            tracker.value.eq(Mux(tracker.both, fine, value)),
            tracker.write.eq(write & phase),
            iir.address.eq(address),
            iir.value.eq(value),
            iir.write_coeff.eq(write & ~state & ~phase),
            sampled.eq(address[PROFILE_WIDTH : addresses.coeff_bits - 1] >= len(channels)),
            iir.write_state.eq(write & state & ~config & ~sampled),
            servo.adc.write.eq(write & state & ~config & sampled),
            servo.adc.number.eq(address),
            servo.adc.value.eq(value[1:]),
            servo.clear.eq(read & config),
        ]
        self.sync += If(
            write & config,
            servo.enable.eq(value[0]),
            If(value[1], [delay.eq(value[2 + 3 * i :]) for i, delay in enumerate(servo.dds.delays)]),
        )

        # Second register: contents of memories or flip-flops
        samples = {
            2 * i + before: (servo.adc.x1 if before else servo.adc.x0)[i]
            for i in range(ADC_CHANNELS)
            for before in [0, 1]
        }
        sample = Signal((COEFF_WIDTH - 1, True))
        status = Cat(servo.enable, ~servo.busy, servo.failed, C(0, 5), servo.clip)
        other = Signal(COEFF_WIDTH)
        reading = Signal()
        from_coeff, from_y, from_phase = Signal(), Signal(), Signal()
        self.comb += Case(address[:4], {i: sample.eq(x) for i, x in samples.items()})
        self.sync += [
            reading.eq(read),
            from_coeff.eq(~state),
            from_phase.eq(phase),
            from_y.eq(state & ~config & ~sampled),
            other.eq(Mux(config, status, sample << 1)),
        ]

        # Third: the input event
        found = Signal(COEFF_WIDTH)
        half = tracker.half
        phases = Cat(half, Replicate(half[-1], COEFF_WIDTH - len(half)))
        kept = Mux(from_phase, phases, iir.coeff)
        self.comb += found.eq(Mux(from_coeff, kept, Mux(from_y, iir.state[STATE_WIDTH - COEFF_WIDTH :], other)))
        self.sync += [
            inputs.stb.eq(reading),
            inputs.data.eq(Cat(found, Replicate(found[-1], WORD - COEFF_WIDTH))),
        ]
        self.comb += self.channel.settled.eq(~servo.enable & ~servo.busy & ~request & ~reading & ~inputs.stb)


def _make(context):
    urukuls = context["urukuls"]
    first = context.number if context["channels"] is None else context["channels"]
    channels = [context.phys.get(first + i) for i in range(urukuls * URUKUL_CHANNELS)]
    if not all(isinstance(channel, SuServoChannel) for channel in channels):
        raise ValueError(
            f"{context.name}: parameter `channels` must be the number of the first of {len(channels)} suservo_channels "
            "before it"
        )
    adc = [
        *context.pads(["cnv", "sck", "sdr"]),
        *context.pads(["clkout", *(f"sdo{i}" for i in range(4))], "in", True),
    ]
    lanes = [f"mosi{j}" for j in range(URUKUL_CHANNELS)]
    buses = []
    for i in range(urukuls):
        select = context.pad(f"urukul{i}_cs") if context["cs"] else None
        clock, *data = context.pads([f"urukul{i}_{part}" for part in ["clk", *lanes]])
        buses.append([clock, select, *data])
    pulses = [f"urukul{i}_io_update" for i in range(urukuls)] if context["io_update"] else []
    return SuServo(context.number, channels, adc, buses, context.pads(pulses, serialised=True), context["profile"])


def _make_channel(context):
    return SuServoChannel(context.number, context.pad(serialised=True))


class _WithChannels(Module):
    """A servo with the channels that belong to it; `channel` is the servo's own."""

    def __init__(self, urukuls):
        count = URUKUL_CHANNELS * urukuls
        channels = {i: _make_channel(Context(i, f"sw{i}", {}, {})) for i in range(count)}
        parameters = {"channels": 0, "urukuls": urukuls, "io_update": 1, "cs": 0, "profile": 7}
        servo = _make(Context(count, "servo", parameters, channels))
        self.submodules += servo, *channels.values()
        self.channel = servo.channel
        self.pads = [*servo.pads, *(pad for channel in channels.values() for pad in channel.pads)]
        self.others = [channel.channel for channel in channels.values()]


KINDS = (
    Kind(
        ChannelKind.SUSERVO,
        _make,
        pads="`cnv`, `sck`, `sdr`, `clkout`, `sdo0`–`sdo3`, each Urukul's `clk`, `cs`, `mosi0`–`mosi3`, "
        "then `io_update`s",
        parameters=(
            Parameter("channels", meaning="channel of the first of its `suservo_channel`s before it"),
            Parameter("urukuls", 1, range(1, 3), "a servo has 1 or 2 Urukuls"),
            Parameter("io_update", 1, meaning="0: `ttl_out`s have these pins"),
            Parameter("cs", 1, range(2), "parameter `cs` of a servo is 0 or 1", meaning="0: its cards have none"),
            Parameter("profile", 7, range(8), "the profiles of an AD9910 are 0 to 7"),
        ),
        figures={
            "suservo": Figure("one Urukul, with its channels", lambda: _WithChannels(1)),
            "suservo_8": Figure("two Urukuls, with their channels", lambda: _WithChannels(2)),
        },
    ),
    Kind(
        ChannelKind.SUSERVO_CHANNEL,
        _make_channel,
        pads="the switch",
    ),
)
