"""Reads the eight channels of a Sampler: one LTC2320-16 on four data lanes, in single data rate.
Clock domain sys.

CNV is high for at least 30 ns; all channels are sampled at its falling edge, and 450 ns later the
results are ready (data sheet of the family; the Sampler's driver waits as long). 32 periods of SCK
at 62.5 MHz then shift out two words of 16 bits on each lane, most significant bit first. A bit is
valid around the rising edge of SCK (SPI mode 0, as in the Sampler's SPI driver). The card returns
SCK together with the data (its board exchanges the wires of four of these pairs, see `SWAPPED`):
the bits are sampled at the rising edges of that return clock, found among eight samples of 1 ns in
each cycle. So the length of the cables does not matter, up to RETURN_CYCLES from the pad of SCK to
the return clock's pad.

    cycle     0       1 ... 4      5 ... 61       62      63        ...  125      READ_CYCLES
    start     /‾\\
    cnv               /‾‾‾‾‾‾‾‾‾\\_____________________________________________________________
    sck                                          /‾‾‾‾‾‾‾\\______/‾‾ ...    ______
    done                                                                            /‾\\
"""

from functools import reduce
from operator import or_

from migen import *

from ..pad import SAMPLES
from .format import ADC_CHANNELS, ADC_WIDTH

__all__ = ["AdcReader", "LANES", "READ_CYCLES", "RETURN_CYCLES", "SAMPLE_CYCLES", "SWAPPED"]

LANES = 4
SWAPPED = (True, False, True, True, True)
"""The return clock and each lane: whether the card's board exchanges the wires of the pair, so that its
level arrives inverted."""
_BITS = ADC_WIDTH * ADC_CHANNELS // LANES
_CNV_CYCLES = 4  # at least 30 ns
_CONVERSION_CYCLES = 57  # at least 450 ns
SAMPLE_CYCLES = 1 + _CNV_CYCLES
"""From `start` to the falling edge of CNV."""
_SHIFT_START = SAMPLE_CYCLES + _CONVERSION_CYCLES
RETURN_CYCLES = 13
"""Largest delay from the pad of SCK to that of the return clock, serialisers of the board included
(4 cycles)."""
_CAPTURE_CYCLES = 2  # from the pads to the shift registers
READ_CYCLES = _SHIFT_START + 2 * (_BITS - 1) + RETURN_CYCLES + _CAPTURE_CYCLES
"""From `start` to `done`."""


class AdcReader(Module):
    """cnv, sck, sdr: output pads; clkout, sdo: serialised input pads, sdo a list of four, that with
    channel 7 first.

    `start` (in): not while `busy` (out). done: one cycle; from the next one on x0 has the new samples and
    x1 the previous ones. `failed` (out): together with `done` (out), the return clock did not have its 32
    edges; x0 and x1 are unchanged.

    `write` (in), any time: `value` (in, 16 bits, signed) becomes sample `number` (in, 4 bits, bits 3..1 the
    channel, bit 0 x1).
    """

    def __init__(self, cnv, sck, sdr, clkout, sdo):
        self.start = Signal()
        self.busy = Signal()
        self.done = Signal()
        self.failed = Signal()
        self.x0 = [Signal((ADC_WIDTH, True), name=f"x0_{i}") for i in range(ADC_CHANNELS)]
        self.x1 = [Signal((ADC_WIDTH, True), name=f"x1_{i}") for i in range(ADC_CHANNELS)]
        self.write = Signal()
        self.number, self.value = Signal(max=2 * ADC_CHANNELS), Signal(ADC_WIDTH)

        # # #

        cycle = Signal(max=READ_CYCLES + 1)
        convert = Signal()
        clock = Signal()
        shifting = Signal()
        self.comb += [
            self.done.eq(cycle == READ_CYCLES),
            cnv.o.eq(Replicate(convert, SAMPLES)),
            sck.o.eq(Replicate(clock, SAMPLES)),
            # Level that selects single data rate
            sdr.o.eq(2**SAMPLES - 1),
            [pad.oe.eq(1) for pad in [cnv, sck, sdr]],
            self.busy.eq(cycle != 0),
        ]
        self.sync += [
            If(self.start, cycle.eq(1)).Elif(self.done, cycle.eq(0)).Elif(self.busy, cycle.eq(cycle + 1)),
            If(self.start, convert.eq(1)).Elif(cycle == _CNV_CYCLES, convert.eq(0)),
            If(cycle == _SHIFT_START - 1, shifting.eq(1)).Elif(cycle == _SHIFT_START + 2 * _BITS - 2, shifting.eq(0)),
            clock.eq((shifting & ~clock) | (cycle == _SHIFT_START - 1)),
        ]

        # Edges of the return clock, at most one per cycle: its period is two cycles
        samples = Signal(SAMPLES + 1)  # including the last one of the previous cycle
        rising = Signal(SAMPLES)
        edge = Signal()
        edges = Signal(max=_BITS + 2)
        self.sync += [
            samples.eq(Cat(samples[-1], ~clkout.i if SWAPPED[0] else clkout.i)),
            If(self.start, edges.eq(0)).Elif(edge & (edges != _BITS + 1), edges.eq(edges + 1)),
        ]
        self.comb += [
            rising.eq(samples[1:] & ~samples[:-1]),
            edge.eq(rising != 0),
            self.failed.eq(edges != _BITS),
        ]
        for i, pad in enumerate(sdo):
            data = Signal(SAMPLES, name=f"lane_{i}")
            word = Signal(_BITS, name=f"word_{i}")
            bit = reduce(or_, [rising[n] & data[n] for n in range(SAMPLES)])
            self.sync += [data.eq(~pad.i if SWAPPED[1 + i] else pad.i), If(edge, word.eq(Cat(bit, word)))]
            second = 2 * (LANES - 1 - i)
            for channel, value in [(second + 1, word[ADC_WIDTH:]), (second, word[:ADC_WIDTH])]:
                x0, x1 = self.x0[channel], self.x1[channel]
                self.sync += If(self.done & ~self.failed, x1.eq(x0), x0.eq(value))
        words = [x for pair in zip(self.x0, self.x1, strict=True) for x in pair]
        self.sync += If(self.write, Case(self.number, {n: x.eq(self.value) for n, x in enumerate(words)}))
