"""Writes a profile register of four or eight AD9910 at once: Urukuls in the mode in which each
synthesiser has its own data line (the switch EN_NU on the card; manual of the Urukul logic). Clock
domain sys.

Cards of protocol revision 9 have no line for `cs`: their chips are permanently selected, and count
the bits of a transfer.

72 bits at 62.5 MHz: the instruction byte, then amplitude, phase and frequency, most significant bit
first. The synthesisers sample a bit at the rising edge of the clock. An update pulse of two cycles
then makes the values effective.

    cycle     0      1     2     3     4  ...  143   144   145   146   147
    start     /‾\\                                               /‾\\         next one at the earliest
    cs               /‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾ ...  ‾‾‾‾‾‾‾‾\\__________/‾‾‾
    clk       _____________/‾‾‾‾‾\\_____/‾ ...  ______/‾‾‾‾\\________________/‾‾
    mosi             bit 71      bit 70   ...  bit 0
    update                                                       /‾‾‾‾‾‾‾‾‾‾   samples of 1 ns, delayed by `delay`

The next values may be written to the other page meanwhile; `start` swaps the pages.
"""

from migen import *

from ..pad import SAMPLES, reached
from .format import T_CYCLE, URUKUL_CHANNELS

__all__ = ["DdsWriter", "ASF", "POW", "FTW_HIGH", "FTW_LOW", "UPDATE_CYCLES", "PROFILE_REGISTER"]

ASF, POW, FTW_HIGH, FTW_LOW = range(4)
"""The 16-bit words of a register, in transmission order."""
PROFILE_REGISTER = 0x0E
"""Address of profile 0; the others follow."""
UPDATE_CYCLES = T_CYCLE
"""From `start` to the rise of the update pulse."""
_WORD = 16
# The bit counter starts so that the words begin at multiples of 16, after an instruction of 8 bits
_FIRST, _LAST = 8, 79


class DdsWriter(Module):
    """buses: for each Urukul its pads (clk, cs or None, list of four mosi). profile: number of the
    register.

    `we` (in), `channel` (in, below `channels`), `word` (in, 2 bits), `data` (in, 16 bits): writes a word of
    the next page. `start` (in): at least UPDATE_CYCLES after the previous one. delays: for each Urukul the
    delay of its update pulse in ns; updates: eight samples for each.

    `busy` (out): a page is being written to the chips.
    """

    def __init__(self, buses, profile):
        channels = URUKUL_CHANNELS * len(buses)
        self.we = Signal()
        self.channel = Signal(max=channels)
        self.word = Signal(2)
        self.data = Signal(_WORD)
        self.start = Signal()
        self.busy = Signal()
        self.delays = [Signal(max=SAMPLES, name=f"delay_{i}") for i in range(len(buses))]
        self.updates = [Signal(SAMPLES, name=f"update_{i}") for i in range(len(buses))]

        # # #

        page = Signal()  # of the words being sent
        bit = Signal(max=_LAST + 1)
        active = Signal()
        clock = Signal()
        load = Signal()
        pulse = Signal(3)
        gap = Signal()  # cycle between the last bit and the update
        self.comb += [
            load.eq(bit[:4] == 15),
            self.busy.eq(active | gap | (pulse != 0)),
        ]
        self.sync += [
            If(active, clock.eq(~clock)),
            If(active & clock, bit.eq(bit + 1), If(bit == _LAST, active.eq(0))),
            If(self.start, active.eq(1), bit.eq(_FIRST), page.eq(~page)),
            gap.eq(active & clock & (bit == _LAST)),
            pulse.eq(Cat(gap, pulse)),
        ]
        for i, (clk, cs, mosi) in enumerate(buses):
            after = [reached(self.delays[i], n) for n in range(SAMPLES)]
            self.comb += [
                clk.o.eq(Replicate(clock, SAMPLES)),
                [pad.oe.eq(1) for pad in [clk, *mosi]],
                [] if cs is None else [cs.o.eq(Replicate(active, SAMPLES)), cs.oe.eq(1)],
                # Two cycles long, shifted by the delay
                [
                    self.updates[i][n].eq(Mux(after[n], pulse[0] | pulse[1], pulse[1] | pulse[2]))
                    for n in range(SAMPLES)
                ],
            ]
            for j, pad in enumerate(mosi):
                shift = Signal(_WORD, name=f"shift_{URUKUL_CHANNELS * i + j}")
                self._channel(URUKUL_CHANNELS * i + j, shift, page, bit, load, active & clock, profile)
                self.comb += pad.o.eq(Replicate(shift[-1], SAMPLES))

    def _channel(self, number, shift, page, bit, load, advance, profile):
        memory = Memory(_WORD, 8, name=f"words_{number}")
        write, read = memory.get_port(write_capable=True), memory.get_port(async_read=True)
        self.specials += memory, write, read
        self.comb += [
            write.adr.eq(Cat(self.word, ~page)),
            write.dat_w.eq(self.data),
            write.we.eq(self.we & (self.channel == number)),
            read.adr.eq(Cat(bit[4:6], page)),
        ]
        self.sync += [
            If(advance, shift.eq(Mux(load, read.dat_r, shift << 1))),
            If(self.start, shift.eq(PROFILE_REGISTER + profile << 8)),
        ]
