"""Camera Link receiver, base configuration: 28 bits on four data lanes for each period of the camera's pixel clock.

The lanes are sampled once a nanosecond with the RTIO clock, as those of any serialised pad, so nothing runs on the
camera's clock and no second clock domain is needed. The clock lane gives the rate, measured over nine periods, and with
each of its rising edges the position of the bits, which are then taken from the sample nearest to their middle. A bit
must last at least 3 ns: pixel clocks from 5 to 45 MHz are received (`test_cameralink.py` has how much the edges may
jitter), faster ones are ignored.

A word lasts from two bits behind a rising edge of the clock lane to two bits behind the next one, so the clock lane
reads 1100011. Order of the bits on the lanes, first one first, as the DS90CR287 sends them (numbers of its inputs):

    lane 0    7  6  4  3  2  1  0          lane 2   26 25 24 22 21 20 19
    lane 1   18 15 14 13 12  9  8          lane 3   23 17 16 11 10  5 27

Timing: `stb` 4 cycles after the sample of a word's last bit arrived. Clock domain sys. A period that differs by more
than an eighth from the one before ends the reception, until the rate has been measured anew.
"""

from functools import reduce
from operator import or_

from migen import *

from .pad import SAMPLES

__all__ = ["CameraLinkReceiver", "LANE_BITS", "WORD_BITS"]

LANE_BITS = [
    [7, 6, 4, 3, 2, 1, 0],
    [18, 15, 14, 13, 12, 9, 8],
    [26, 25, 24, 22, 21, 20, 19],
    [23, 17, 16, 11, 10, 5, 27],
]
WORD_BITS = 28
_BITS = 7
_EDGE_BIT = 5  # the clock lane rises at the beginning of this bit of a word
_PERIODS = 9  # 63 bits: 1/64 less than a bit in units of 1/64 sample
_UNIT = 6  # log2 of the units of a sample
_SHORTEST = 3 * _PERIODS * _BITS  # of nine periods, in samples
_LONGEST = 2**8 - 1  # of a period, in samples
_TOLERANCE = 3  # log2 of the part of a period by which the next one may differ
_PER_CYCLE = 3  # bits of at least 3 ns that can have their middle in one cycle


class _Rate(Module):
    """Measures the clock lane. edge, at: there is a rising edge in this cycle, at that sample. locked: the rate is
    known; bit: length of a bit in 1/64 sample. stopped: no edge for so long that the clock has stopped."""

    def __init__(self, edge, at):
        self.locked = Signal()
        self.bit = Signal(12)
        self.stopped = Signal(reset=1)

        # # #

        since = Signal(max=_LONGEST + 2 * SAMPLES, reset=_LONGEST)  # samples from the last edge to this cycle
        period = Signal(max=_LONGEST + 2 * SAMPLES)
        before = Signal.like(period)
        tolerance = Signal(max=(_LONGEST >> _TOLERANCE) + 3)
        total = Signal(max=(_PERIODS + 1) * _LONGEST)
        number = Signal(max=_PERIODS)
        regular = Signal()
        self.comb += [
            self.stopped.eq(since >= _LONGEST),
            period.eq(since + at),
            tolerance.eq(before >> _TOLERANCE),
            regular.eq(~self.stopped & (period <= before + tolerance) & (before <= period + tolerance)),
        ]
        self.sync += [
            If(edge, since.eq(SAMPLES - at), before.eq(period)).Elif(~self.stopped, since.eq(since + SAMPLES)),
            If(self.stopped | (edge & ~regular), self.locked.eq(0), number.eq(0), total.eq(0)).Elif(
                edge,
                number.eq(number + 1),
                total.eq(total + period),
                If(
                    number == _PERIODS - 1,
                    number.eq(0),
                    total.eq(0),
                    self._measured(total + period),
                ),
            ),
        ]

    def _measured(self, total):
        return [self.locked.eq(total >= _SHORTEST), self.bit.eq(total + (total >> _UNIT))]


class CameraLinkReceiver(Module):
    """clock: pad of the clock lane; lanes: list of the four pads of the data lanes; all serialised.

    stb, word: a word of 28 bits; bit n is the transmitter's input n. locked: the rate is known. settled: the clock
    stands still and nothing is under way."""

    def __init__(self, clock, lanes):
        self.stb = Signal()
        self.word = Signal(WORD_BITS)
        self.locked = Signal()
        self.settled = Signal()

        # # #

        # Samples, and one cycle later the clock's edge in them
        first = Signal(SAMPLES)
        last = Signal()
        edge = Signal()
        at = Signal(max=SAMPLES)
        rising = Signal(SAMPLES)
        data = []
        self.comb += rising.eq(first & ~Cat(last, first))
        self.sync += [
            first.eq(clock.i),
            last.eq(first[-1]),
            edge.eq(rising != 0),
            [If(rising[i], at.eq(i)) for i in range(SAMPLES)],
        ]
        for i, lane in enumerate(lanes):
            stages = [Signal(SAMPLES, name=f"lane{i}_{stage}") for stage in range(2)]
            self.sync += [stages[0].eq(lane.i), stages[1].eq(stages[0])]
            data.append(stages[1])

        self.submodules.rate = rate = _Rate(edge, at)

        # Which bits have their middle in this cycle. `next_bit` is the first one that has not been taken, `due` the
        # distance of its middle from the beginning of the cycle
        bit = rate.bit
        next_bit = Signal(max=_BITS, reset=_EDGE_BIT)
        due = Signal(14)
        now = Signal((15, True))
        middle = [Signal(16, name=f"middle_{j}") for j in range(_PER_CYCLE)]
        taken = [Signal(name=f"taken_{j}") for j in range(_PER_CYCLE)]
        index = [Signal(max=_BITS, name=f"index_{j}") for j in range(_PER_CYCLE)]
        anchored = Signal()  # the edge before the bits 5 and 6 has been seen
        in_step = Signal()
        whole = Signal()  # all bits of this word have been taken
        self.comb += [in_step.eq((next_bit >= 2) & (next_bit <= _EDGE_BIT)), now.eq(due)]
        # Half bits from the edge to the middle of the next bit
        halves = {2: -5, 3: -3, 4: -1}
        position = Case(
            next_bit,
            {n: now.eq((at << _UNIT) - ((bit * -h) >> 1)) for n, h in halves.items()}
            | {"default": now.eq((at << _UNIT) + (bit >> 1))},
        )
        self.comb += [If(edge, position), If(edge & ~in_step, index[0].eq(_EDGE_BIT)).Else(index[0].eq(next_bit))]
        self.comb += middle[0].eq(Mux(now < 0, 0, now))
        for j in range(_PER_CYCLE):
            allowed = (index[j] != _EDGE_BIT) | anchored | edge
            before = taken[j - 1] if j else rate.locked
            self.comb += taken[j].eq(before & allowed & (middle[j] < SAMPLES << _UNIT))
            if j:
                self.comb += [
                    middle[j].eq(middle[j - 1] + bit),
                    index[j].eq(Mux(index[j - 1] == _BITS - 1, 0, index[j - 1] + 1)),
                ]
        after = [index[0], *index[1:], Signal(max=_BITS, name="index_after")]
        beyond = [*middle, Signal(16, name="middle_after")]
        self.comb += [
            after[-1].eq(Mux(index[-1] == _BITS - 1, 0, index[-1] + 1)),
            beyond[-1].eq(middle[-1] + bit),
        ]
        count = Signal(max=_PER_CYCLE + 1)
        self.comb += count.eq(sum(taken[1:], taken[0]))
        self.sync += [
            Case(
                count,
                {
                    n: [
                        next_bit.eq(after[n]),
                        # A bit that waits for the edge gets its place from that
                        due.eq(Mux(beyond[n] < SAMPLES << _UNIT, 0, beyond[n] - (SAMPLES << _UNIT))),
                    ]
                    for n in range(_PER_CYCLE + 1)
                },
            ),
            If(edge, anchored.eq(1)),
            [If(taken[j] & (index[j] == _EDGE_BIT), anchored.eq(0)) for j in range(_PER_CYCLE)],
            If(edge & ~in_step, whole.eq(0)).Elif(
                reduce(or_, [taken[j] & (index[j] == 0) for j in range(_PER_CYCLE)]), whole.eq(1)
            ),
            If(~rate.locked, next_bit.eq(_EDGE_BIT), anchored.eq(0), whole.eq(0)),
        ]

        # The bits themselves, and how many of them belong to the next word
        took = Signal(max=_PER_CYCLE + 1)
        ends = Signal()
        surplus = Signal(max=_PER_CYCLE)
        self.sync += [took.eq(count), ends.eq(0)]
        for j in range(_PER_CYCLE):
            complete = taken[j] & (index[j] == _BITS - 1) & whole & ~(edge & ~in_step)
            self.sync += If(complete, ends.eq(1), surplus.eq(count - 1 - j))
        self.sync += self.stb.eq(ends)
        behind = Signal.like(surplus)
        self.sync += behind.eq(surplus)
        for lane, (samples, numbers) in enumerate(zip(data, LANE_BITS, strict=True)):
            bits = [Signal(name=f"bit{lane}_{j}") for j in range(_PER_CYCLE)]
            for j in range(_PER_CYCLE):
                place = middle[j][_UNIT : _UNIT + 3]
                picked = Signal(name=f"picked{lane}_{j}")
                self.comb += Case(place, {n: picked.eq(samples[n]) for n in range(SAMPLES)})
                self.sync += bits[j].eq(picked)
            # The newest bit is bit 0
            shifted = Signal(_BITS + _PER_CYCLE - 1, name=f"shifted{lane}")
            self.sync += Case(
                took,
                {n: shifted.eq(Cat(*reversed(bits[:n]), shifted)) for n in range(1, _PER_CYCLE + 1)},
            )
            for n, number in enumerate(numbers):
                self.comb += Case(
                    behind, {s: self.word[number].eq(shifted[s + _BITS - 1 - n]) for s in range(_PER_CYCLE)}
                )
        self.comb += [
            self.locked.eq(rate.locked),
            self.settled.eq(
                (clock.i == Replicate(last, SAMPLES))
                & (first == Replicate(last, SAMPLES))
                & ~edge
                & rate.stopped
                & ~rate.locked
                & (took == 0)
                & ~ends
                & ~self.stb
            ),
        ]
