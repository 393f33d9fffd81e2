"""The filters of all channels on one multiplier, a channel in four cycles. Clock domain sys.

The arithmetic is in `model.py`. A slot of four cycles belongs to a channel; in it a row of its profile is read in each
cycle, and three products are added up behind a pre-adder, as in a DSP48E1:

    cycle of the slot       0            1            2            3            slot + 1: 0
    address of the row      adc, dly     offset, a1   ftw_high, b0 pow, b1
    row                     (pow, b1)    adc, dly     offset, a1   ftw_high, b0 pow, b1
    address in the Y memory              Y, to read   Y two slots before, to write
    operands                                                       y1, a1       x0, offset, b0 ...
    sum                     slot + 2: 0 complete, 1 limits found, 2 Y written

So each word for the synthesisers has its own cycle: frequency in 1 and 3, phase in 0 of the next slot, the amplitude,
which is Y's upper 14 bits, in 2 of the slot after that.
"""

from migen import *

from .dds import ASF, FTW_HIGH, FTW_LOW, POW
from .format import (
    ADC_CHANNELS,
    ADC_WIDTH,
    ASF_WIDTH,
    COEFF_SHIFT,
    COEFF_WIDTH,
    DELAY_WIDTH,
    PROFILE_WIDTH,
    STATE_WIDTH,
    WORDS,
)

__all__ = ["Control", "IirFilter", "iir_cycles"]

_STEPS = 4
_PRODUCT_WIDTH = 48
# Rows in the order in which they are needed; a row has the words 2 n and 2 n + 1
_ROWS = [WORDS[name] // 2 for name in ["adc_dly", "a1", "b0", "b1"]]


def iir_cycles(channels: int) -> int:
    """From `start` to `done`, in which the last amplitude has been written."""
    return _STEPS * (channels + 2)


class Control:
    """What a channel is to do. active: Y is updated, once `waited` is at least the profile's delay. taken: the filter
    takes all this over in this cycle."""

    def __init__(self):
        self.active = Signal()
        self.profile = Signal(PROFILE_WIDTH)
        self.waited = Signal(DELAY_WIDTH)
        self.taken = Signal()


class IirFilter(Module):
    """controls: four or eight `Control`. x0, x1: newest samples and those before, not to change while `busy`. dds: the
    `DdsWriter` that gets the words.

    start: not while `busy`. hold: at `start`, no Y is updated. clip: one cycle for each Y that was limited.

    Access to the memories, any time: address (bits of a word of the coefficients; Y in its low bits), value,
    write_coeff, write_state; coeff and state have the content in the next cycle.
    """

    def __init__(self, controls, x0, x1, dds):
        channels = len(controls)
        index_width = bits_for(channels - 1)
        self.start = Signal()
        self.hold = Signal()
        self.busy = Signal()
        self.done = Signal()
        self.clip = Signal(channels)
        self.address = Signal(index_width + PROFILE_WIDTH + 3)
        self.value = Signal(COEFF_WIDTH)
        self.write_coeff = Signal()
        self.write_state = Signal()
        self.coeff = Signal(COEFF_WIDTH)
        self.state = Signal(STATE_WIDTH)

        # # #

        # Sequence: slots of four steps, two more than there are channels
        cycle = Signal(max=iir_cycles(channels))
        step = cycle[:2]
        slot = cycle[2:]
        running = Signal()
        holding = Signal()
        fetch = Signal()
        following = Signal(max=channels + 3)  # the slot that comes next
        last = iir_cycles(channels) - 2
        self.comb += [
            self.busy.eq(running | self.done),
            fetch.eq(self.start | (running & (step == 3))),
            following.eq(Mux(running, slot + 1, 0)),
            [control.taken.eq(fetch & (following == i)) for i, control in enumerate(controls)],
        ]
        self.sync += [
            self.done.eq(running & (cycle == last)),
            If(running, cycle.eq(cycle + 1), If(cycle == last, running.eq(0))),
            If(self.start, running.eq(1), cycle.eq(0), holding.eq(self.hold)),
        ]

        # What belongs to the slot, and to the two before
        active = Signal()
        waited = Signal(DELAY_WIDTH)
        profiles = [Signal(PROFILE_WIDTH, name=f"profile_{i}") for i in range(3)]
        updates = [Signal(name=f"update_{i}") for i in range(2)]
        olds = [Signal((STATE_WIDTH, True), name=f"y1_{i}") for i in range(2)]
        cases = {
            i: [profiles[0].eq(c.profile), waited.eq(c.waited), active.eq(c.active)] for i, c in enumerate(controls)
        }
        self.sync += If(fetch, Case(following, cases), [b.eq(a) for a, b in zip(profiles, profiles[1:], strict=False)])

        # Memories
        coeff = [self._memory(COEFF_WIDTH, index_width + PROFILE_WIDTH + 2, False, f"coeff_{i}") for i in range(2)]
        state = self._memory(STATE_WIDTH, index_width + PROFILE_WIDTH, True, "state")
        older = Signal(index_width)
        low, high = Signal((COEFF_WIDTH, True)), Signal((COEFF_WIDTH, True))
        odd = Signal()
        y0 = Signal((STATE_WIDTH, True))
        writing = Signal()
        row = Signal(2)
        self.sync += odd.eq(self.address[0])
        self.comb += [
            Case(step, {i: row.eq(number) for i, number in enumerate(_ROWS)}),
            [port.adr.eq(Cat(row, profiles[0], slot[:index_width])) for port, _ in coeff],
            low.eq(coeff[0][0].dat_r),
            high.eq(coeff[1][0].dat_r),
            writing.eq(running & (step == 2) & (slot >= 2)),
            If(
                step == 1,
                state[0].adr.eq(Cat(profiles[0], slot[:index_width])),
            ).Else(state[0].adr.eq(Cat(profiles[2], older))),
            older.eq(slot - 2),
            state[0].dat_w.eq(y0),
            state[0].we.eq(writing),
            [access.adr.eq(self.address[1:]) for _, access in coeff],
            [access.dat_w.eq(self.value) for _, access in coeff],
            [access.we.eq(self.write_coeff & (self.address[0] == i)) for i, (_, access) in enumerate(coeff)],
            self.coeff.eq(Mux(odd, coeff[1][1].dat_r, coeff[0][1].dat_r)),
            state[1].adr.eq(self.address),
            # A negative Y has no meaning
            If(~self.value[-1], state[1].dat_w.eq(self.value << STATE_WIDTH - COEFF_WIDTH)),
            state[1].we.eq(self.write_state),
            self.state.eq(state[1].dat_r),
        ]

        # Operands
        adc = Signal(max=ADC_CHANNELS)
        offset = Signal((COEFF_WIDTH, True))
        x = [Signal((ADC_WIDTH, True), name=f"x_{i}") for i in range(2)]
        operand, summand = Signal((STATE_WIDTH, True)), Signal((STATE_WIDTH, True))
        factor = Signal((COEFF_WIDTH, True))
        self.sync += [
            If(
                step == 1,
                adc.eq(high),
                updates[0].eq(active & ~holding & (waited >= high[8 : 8 + DELAY_WIDTH])),
                updates[1].eq(updates[0]),
            ),
            If(step == 2, offset.eq(low), olds[0].eq(state[0].dat_r), olds[1].eq(olds[0])),
            [
                Case(adc, {i: selected.eq(channel) for i, channel in enumerate(source)})
                for selected, source in zip(x, [x0, x1], strict=True)
            ],
            factor.eq(high),
            summand.eq(offset << STATE_WIDTH - COEFF_WIDTH - 1),
            Case(
                step,
                {
                    2: [operand.eq(state[0].dat_r), summand.eq(0)],
                    3: operand.eq(x[0] << STATE_WIDTH - ADC_WIDTH - 1),
                    0: operand.eq(x[1] << STATE_WIDTH - ADC_WIDTH - 1),
                },
            ),
        ]

        # Multiplier
        added = Signal((STATE_WIDTH, True))
        delayed = Signal((COEFF_WIDTH, True))
        product = Signal((STATE_WIDTH + COEFF_WIDTH, True))
        total = Signal((_PRODUCT_WIDTH, True))
        self.sync += [
            added.eq(operand + summand),
            delayed.eq(factor),
            product.eq(added * delayed),
            If(step == 1, total.eq(product + (1 << COEFF_SHIFT - 1))).Elif(step != 0, total.eq(total + product)),
        ]

        # Limits, result
        result = Signal(STATE_WIDTH - 1)
        negative, large = Signal(), Signal()
        above = total[COEFF_SHIFT + STATE_WIDTH - 1 : -1]
        self.sync += [
            result.eq(total[COEFF_SHIFT:]),
            negative.eq(total[-1]),
            large.eq(~total[-1] & (above != 0)),
            If(
                ~updates[1],
                y0.eq(olds[1]),
            )
            .Elif(negative, y0.eq(0))
            .Elif(large, y0.eq(2 ** (STATE_WIDTH - 1) - 1))
            .Else(y0.eq(result)),
            self.clip.eq(0),
            If(
                running & (step == 1) & updates[1] & (negative | large),
                Case(slot, {i + 2: self.clip[i].eq(1) for i in range(channels)}),
            ),
        ]

        # To the synthesisers
        word = {
            0: (1, POW, low),
            1: (0, FTW_LOW, low),
            2: (2, ASF, y0[STATE_WIDTH - 1 - ASF_WIDTH : STATE_WIDTH - 1]),
            3: (0, FTW_HIGH, low),
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
                for i, (behind, number, value) in word.items()
            },
        )

    def _memory(self, width, address_width, writes, name):
        """Ports of the filter, which perhaps `writes`, and for access."""
        memory = Memory(width, 1 << address_width, name=name)
        ports = [memory.get_port(write_capable=capable, mode=READ_FIRST) for capable in [writes, True]]
        self.specials += memory, *ports
        return ports
