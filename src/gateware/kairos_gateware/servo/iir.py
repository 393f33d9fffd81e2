"""The filters of all channels on one multiplier, one channel per four cycles. Clock domain sys.

The arithmetic is in `model.py`. A slot of four cycles belongs to a channel; in each cycle a row of
its profile is read, and three products are accumulated after a pre-adder, as in a DSP48E1:

    cycle of the slot       0            1            2            3            slot + 1: 0
    address of the row      adc, dly     offset, a1   ftw_high, b0 pow, b1
    row                     (pow, b1)    adc, dly     offset, a1   ftw_high, b0 pow, b1
    address in the Y memory              Y, to read   Y two slots before, to write
    operands                                                       y1, a1       x0, offset, b0 ...
    sum                     slot + 2: 0 complete, 1 limits found, 2 Y written

Y is written only if it is updated, and not if an access has written it since it was read: then that of the
access remains.

So each word for the synthesisers has its own cycle: frequency in 1 and 3, phase in 0 of the slot after
the next one, since it may be tracked (`phases.py`), and in its cycle 2 the amplitude, which is Y's upper 14
bits.
"""

from migen import *

from .accumulate import Accumulator, Limiter
from .dds import ASF, FTW_HIGH, FTW_LOW, POW
from .format import (
    ADC_CHANNELS,
    ADC_WIDTH,
    ASF_WIDTH,
    COEFF_WIDTH,
    DELAY_WIDTH,
    HALF_WIDTH,
    PROFILE_WIDTH,
    STATE_WIDTH,
    WORDS,
)
from .phases import PhaseTracker
from .profiles import ProfileMemories

__all__ = ["Control", "IirFilter", "iir_cycles"]

_STEPS = 4
# Rows in the order of their use; a row has the words 2 n and 2 n + 1
_ROWS = [WORDS[name] // 2 for name in ["adc_dly", "a1", "b0", "b1"]]


def iir_cycles(channels: int) -> int:
    """From `start` to `done`, in which the last amplitude has been written."""
    return _STEPS * (channels + 2)


class Control:
    """Control of a channel. `active` (out): Y is updated, once `waited` (out, 8 bits) is at least the
    profile's delay. `tracks` (out): its phase is tracked. `taken` (in): the filter samples these in this cycle.

    `profile` (in, 5 bits): number of the profile.
    """

    def __init__(self):
        self.active = Signal()
        self.tracks = Signal()
        self.profile = Signal(PROFILE_WIDTH)
        self.waited = Signal(DELAY_WIDTH)
        self.taken = Signal()


class Sequence(Module):
    """Slots of four steps, two more than there are channels: `slot` and `step` from `start` (in) to `done`
    (out). `fetch` (out): the next cycle begins the slot `following` (out, below `channels + 3`).

    `busy` (out): until `done`, including that cycle. `running` (out): a slot is in progress.
    """

    def __init__(self, channels):
        self.start = Signal()
        self.busy, self.done = Signal(), Signal()
        self.running = running = Signal()
        cycle = Signal(max=iir_cycles(channels))
        self.step, self.slot = cycle[:2], cycle[2:]
        self.fetch = Signal()
        self.following = Signal(max=channels + 3)

        # # #

        last = iir_cycles(channels) - 2
        self.comb += [
            self.busy.eq(running | self.done),
            self.fetch.eq(self.start | (running & (self.step == 3))),
            self.following.eq(Mux(running, self.slot + 1, 0)),
        ]
        self.sync += [
            self.done.eq(running & (cycle == last)),
            If(running, cycle.eq(cycle + 1), If(cycle == last, running.eq(0))),
            If(self.start, running.eq(1), cycle.eq(0)),
        ]


class IirFilter(Module):
    """controls: four or eight `Control`. x0, x1: newest and previous samples; if they change while
    `busy`, some channels have the new ones. dds: the `DdsWriter` that gets the words.

    start: not while `busy`. `hold` (in): at `start` (in), no Y is updated. `clip` (out, `channels` bits):
    one cycle for each Y that was clamped. `tracker`: the `PhaseTracker`, whose time and access are for its owner.

    Access to the memories, any time: address (bits of a word of the coefficients; Y in its low
    bits), value, write_coeff, write_state; coeff and state have the content in the next cycle. A Y that is
    written while the filter computes the next one replaces that.
    """

    def __init__(self, controls, x0, x1, dds):
        channels = len(controls)
        index_width = bits_for(channels - 1)
        self.start = Signal()
        self.hold = Signal()
        self.clip = Signal(channels)
        self.submodules.sequence = sequence = Sequence(channels)
        self.submodules.memories = memories = ProfileMemories(index_width)
        self.submodules.accumulator = accumulator = Accumulator()
        self.submodules.limiter = limiter = Limiter(accumulator.total)
        self.busy, self.done = sequence.busy, sequence.done
        self.address, self.value = memories.address, memories.value
        self.write_coeff, self.write_state = memories.write_coeff, memories.write_state
        self.coeff, self.state = memories.coeff, memories.state_out

        # # #

        running, step, slot = sequence.running, sequence.step, sequence.slot
        holding = Signal()
        self.comb += [
            sequence.start.eq(self.start),
            [control.taken.eq(sequence.fetch & (sequence.following == i)) for i, control in enumerate(controls)],
        ]
        self.sync += If(self.start, holding.eq(self.hold))

        self.submodules.values = values = SlotValues(controls, sequence)
        updates = [Signal(name=f"update_{i}") for i in range(3)]
        olds = [Signal((STATE_WIDTH, True), name=f"y1_{i}") for i in range(2)]

        # Memories
        self.submodules.guard = guard = AccessGuard(sequence, values.profiles, memories)
        older = Signal(index_width)
        low, high, y0 = memories.low, memories.high, limiter.y
        self.comb += [
            Case(step, {i: memories.row.eq(number) for i, number in enumerate(_ROWS)}),
            memories.profile.eq(values.profiles[0]),
            memories.channel.eq(slot[:index_width]),
            older.eq(slot - 2),
            If(step == 1, memories.state_at.eq(Cat(values.profiles[0], slot[:index_width]))).Else(
                memories.state_at.eq(Cat(values.profiles[2], older))
            ),
            memories.new_state.eq(y0),
            memories.write.eq(running & (step == 2) & (slot >= 2) & updates[2] & ~guard.written),
        ]

        # Operands
        adc = Signal(max=ADC_CHANNELS)
        offset = Signal((COEFF_WIDTH, True))
        x = [Signal((ADC_WIDTH, True), name=f"x_{i}") for i in range(2)]
        operand, summand = accumulator.operand, accumulator.summand
        self.sync += [
            If(
                step == 1,
                adc.eq(high),
                updates[0].eq(values.active & ~holding & (values.waited >= high[8 : 8 + DELAY_WIDTH])),
                [b.eq(a) for a, b in zip(updates, updates[1:], strict=False)],
            ),
            If(step == 2, offset.eq(low), olds[0].eq(memories.state), olds[1].eq(olds[0])),
            [
                Case(adc, {i: selected.eq(channel) for i, channel in enumerate(source)})
                for selected, source in zip(x, [x0, x1], strict=True)
            ],
            accumulator.factor.eq(high),
            summand.eq(offset << STATE_WIDTH - COEFF_WIDTH - 1),
            Case(
                step,
                {
                    2: [operand.eq(memories.state), summand.eq(0)],
                    3: operand.eq(x[0] << STATE_WIDTH - ADC_WIDTH - 1),
                    0: operand.eq(x[1] << STATE_WIDTH - ADC_WIDTH - 1),
                },
            ),
        ]

        # Sum, result
        self.comb += [
            accumulator.first.eq(step == 1),
            accumulator.more.eq(step != 0),
            limiter.update.eq(updates[1]),
            limiter.old.eq(olds[1]),
        ]
        self.sync += [
            self.clip.eq(0),
            If(
                running & (step == 1) & updates[1] & limiter.limited,
                Case(slot, {i + 2: self.clip[i].eq(1) for i in range(channels)}),
            ),
        ]

        self.submodules.tracker = tracker = PhaseTracker(channels, sequence)
        self.submodules.words = words = SynthesiserWords(channels, sequence, dds)
        self.comb += [
            tracker.start.eq(self.start),
            tracker.low.eq(low),
            tracker.profile.eq(values.profiles[0]),
            tracker.tracks.eq(values.tracks),
            words.low.eq(low),
            words.y0.eq(y0),
            words.pow.eq(tracker.word),
        ]


class SlotValues(Module):
    """What the controls say of the current slot's channel. `active`, `tracks` (out), `waited` (out, 8 bits): as of
    `Control`. `profiles` (out): of the current slot and of the two before it."""

    def __init__(self, controls, sequence):
        self.active, self.waited = Signal(), Signal(DELAY_WIDTH)
        self.tracks = Signal()
        self.profiles = profiles = [Signal(PROFILE_WIDTH, name=f"profile_{i}") for i in range(3)]

        # # #

        cases = {
            i: [
                profiles[0].eq(c.profile),
                self.waited.eq(c.waited),
                self.active.eq(c.active),
                self.tracks.eq(c.tracks),
            ]
            for i, c in enumerate(controls)
        }
        self.sync += If(
            sequence.fetch,
            Case(sequence.following, cases),
            [b.eq(a) for a, b in zip(profiles, profiles[1:], strict=False)],
        )


class AccessGuard(Module):
    """Finds accesses to `memories` that write a Y between its reading and its writing by the filter.

    `profiles`: of the current slot and of the two before it. `written` (out): an access has written the Y of two
    slots before, in this cycle or since step 1 of its slot.
    """

    def __init__(self, sequence, profiles, memories):
        self.written = Signal()

        # # #

        before = [Signal(name=f"before_{i}") for i in range(len(profiles))]
        now = [Signal(name=f"now_{i}") for i in range(len(profiles))]
        place = memories.address[: len(memories.state_at)]
        for behind, profile in enumerate(profiles):
            channel = Signal(len(memories.channel), name=f"channel_{behind}")
            self.comb += [
                channel.eq(sequence.slot - behind),
                now[behind].eq(before[behind] | (memories.write_state & (place == Cat(profile, channel)))),
            ]
        self.comb += self.written.eq(now[-1])
        self.sync += [
            [b.eq(a) for a, b in zip(now, before, strict=True)],
            # What is written before step 1 is read
            If(sequence.step == 0, before[0].eq(0)),
            If(sequence.fetch, [b.eq(a) for a, b in zip([0, *now], before, strict=False)]),
        ]


class SynthesiserWords(Module):
    """Writes a channel's frequency, phase and amplitude to `dds`, a `DdsWriter`, each in its own step.

    `low` (in, 18 bits): the lower word of the row that is read. `y0` (in, 25 bits): the newest Y. `pow` (in,
    16 bits): the phase word of the channel two slots before.
    """

    def __init__(self, channels, sequence, dds):
        self.low, self.y0 = Signal(COEFF_WIDTH), Signal(STATE_WIDTH)
        self.pow = Signal(HALF_WIDTH)

        # # #

        running, step, slot = sequence.running, sequence.step, sequence.slot
        # For each step: slots since the channel's own, word, value
        words = {
            0: (2, POW, self.pow),
            1: (0, FTW_LOW, self.low),
            2: (2, ASF, self.y0[STATE_WIDTH - 1 - ASF_WIDTH : STATE_WIDTH - 1]),
            3: (0, FTW_HIGH, self.low),
        }
        self.comb += Case(
            step,
            {
                i: [
                    dds.we.eq(running & (slot < channels + behind) & ((slot >= behind) if behind else 1)),
                    dds.channel.eq(slot - behind),
                    dds.word.eq(number),
                    dds.data.eq(value),
                ]
                for i, (behind, number, value) in words.items()
            },
        )
