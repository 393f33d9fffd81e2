"""Camera Link receiver, base configuration: 28 bits on four data lanes for each period of the
camera's pixel clock.

The lanes are sampled once per nanosecond with the RTIO clock, like those of any serialised pad, so
nothing runs on the camera's clock and no second clock domain is needed. Pixel clocks from 5 to 68 MHz
are received, faster ones are ignored. The clock lane provides the rate, measured over 72 periods, and
with its rising edges the position of the bits, which are taken from the sample nearest to their middle.

At 68 MHz a bit lasts 2.1 ns, of which sampling costs 0.5 ns on either side, so the position must be known
better than from one edge. An edge that is seen in sample n was within half a sample of it; as the rate is
known, each edge narrows the interval in which the next one is expected, whose middle is used (`_Middles`).
What is left for jitter and skew: `test_cameralink.py`.

A word extends from two bits after a rising edge of the clock lane to two bits after the next one,
so the clock lane reads 1100011. The order of the bits on the lanes is `LANES` of the contract
(docs/chips/cameralink.md).

Timing: `stb` 4 cycles after the sample of a word's last bit arrived. Clock domain sys. A period
that differs by more than an eighth and 1 ns from the one before stops reception until the rate has been
measured again.
"""

from functools import reduce
from operator import or_

from migen import *

from ..contracts.cameralink import LANES, WORD_BITS
from ..pad import SAMPLES

__all__ = ["CameraLinkReceiver"]

_BITS = 7
_EDGE_BIT = 5  # the clock lane rises at the beginning of this bit of a word
_PERIODS = 72  # 504 bits
_UNIT = 10  # log2 of the units per sample
_SHORTEST = 1047  # of 72 periods, in samples: 14.55 ns each, for cameras at 68 MHz and a bit
_HALF = 1 << _UNIT - 1  # an edge is at most this far from the sample that shows it
_DRIFT = 24  # units by which an edge may be off after a period, as the rate is not known exactly
_LONGEST = 2**8 - 1  # of a period, in samples
_TOLERANCE = 3  # log2 of the part of a period by which the next one may differ
_PER_CYCLE = 4  # bits of at least 2 ns that can have their middle in one cycle


class _Rate(Module):
    """Measures the clock lane. edge, at: there is a rising edge in this cycle, at that sample. `locked`
    (out): the rate is known; `bit` (out, 16 bits): length of a bit in 1/1024 sample. `stopped` (out): no edge
    for so long that the clock has stopped."""

    def __init__(self, edge, at):
        self.locked = Signal()
        self.bit = Signal(16)
        self.stopped = Signal(reset=1)

        # # #

        since = Signal(max=_LONGEST + 2 * SAMPLES, reset=_LONGEST)  # samples from the last edge to this cycle
        period = Signal(max=_LONGEST + 2 * SAMPLES)
        before = Signal.like(period)
        tolerance = Signal(max=(_LONGEST >> _TOLERANCE) + 4)
        total = Signal(max=(_PERIODS + 1) * _LONGEST)
        number = Signal(max=_PERIODS)
        regular = Signal()
        self.comb += [
            self.stopped.eq(since >= _LONGEST),
            period.eq(since + at),
            tolerance.eq((before >> _TOLERANCE) + 1),
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
        # 1024 / 504 units per sample: 2 (1 + 1/64 + 1/64**2), rounded
        units = total << 1
        return [self.locked.eq(total >= _SHORTEST), self.bit.eq(units + (units + 32 >> 6) + (units + 2048 >> 12))]


def _times(number, signal):
    """A product as a sum: a multiplier would be slower."""
    return sum((signal << bit for bit in range(number.bit_length()) if number >> bit & 1), C(0))


class _Middles(Module):
    """Determines which bits have their middle in this cycle: up to four, the first `count` (out, 3 bits)
    of `taken`. index: place of the bit in its word. sample: its position in the cycle.

    Bit 5 waits for the clock's edge, so nothing is taken while the clock is stopped.

    The edge before bit 5 is expected within an interval around the time that `due` implies. With an edge the
    interval is cut to that of the sample that shows it; the middles move in the second cycle after it.
    """

    def __init__(self, rate, edge, at):
        self.taken = [Signal(name=f"taken_{j}") for j in range(_PER_CYCLE)]
        self.index = [Signal(max=_BITS, name=f"index_{j}") for j in range(_PER_CYCLE)]
        self.sample = [Signal(max=SAMPLES, name=f"sample_{j}") for j in range(_PER_CYCLE)]
        self.count = Signal(max=_PER_CYCLE + 1)

        # # #

        cycle = SAMPLES << _UNIT
        tracking = Signal()  # since the first edge at a known rate
        next_bit = Signal(max=_BITS, reset=_EDGE_BIT)
        due = Signal((20, True))  # from the beginning of the cycle to its middle
        anchored = Signal()  # the edge before bit 5 has been seen
        multiples = [Signal(19, name=f"bits_{j}") for j in range(_EDGE_BIT)]  # lengths of 0, 1... bits
        # One more than a cycle can have: the next one after them
        middle = [Signal((21, True), name=f"middle_{j}") for j in range(_PER_CYCLE + 1)]
        index = [*self.index, Signal(max=_BITS, name="index_after")]
        self.comb += [index[0].eq(next_bit), self.count.eq(sum(self.taken[1:], self.taken[0]))]
        for j in range(_PER_CYCLE + 1):
            self.comb += middle[j].eq(due + multiples[j])
        for j in range(_PER_CYCLE):
            in_order = self.taken[j - 1] if j else tracking & rate.locked
            allowed = (index[j] != _EDGE_BIT) | anchored | edge
            self.comb += [
                self.taken[j].eq(in_order & allowed & (middle[j] < cycle)),
                self.sample[j].eq(Mux(middle[j] < 0, 0, middle[j][_UNIT:])),
                index[j + 1].eq(Mux(index[j] == _BITS - 1, 0, index[j] + 1)),
            ]
        place = Cat(Constant(0, _UNIT), at)  # of the edge, in units
        correction = self._correction(tracking, next_bit, due, multiples, rate, edge, place)
        self.sync += [
            [multiple.eq(_times(j, rate.bit)) for j, multiple in enumerate(multiples)],
            Case(
                self.count,
                {n: [next_bit.eq(index[n]), due.eq(middle[n] - cycle + correction)] for n in range(_PER_CYCLE + 1)},
            ),
            If(edge, anchored.eq(1)),
            [If(self.taken[j] & (index[j] == _EDGE_BIT), anchored.eq(0)) for j in range(_PER_CYCLE)],
            # Bits are taken from the second edge on, whose bit is not yet late
            If(
                ~tracking, next_bit.eq(_EDGE_BIT), due.eq(place + _times(_BITS + 1, rate.bit) - (rate.bit >> 1) - cycle)
            ),
            If(~tracking, anchored.eq(0)),
            tracking.eq(rate.locked & (tracking | edge)),
        ]

    def _correction(self, tracking, next_bit, due, multiples, rate, edge, place):
        """Return by how much an edge moves all middles, two cycles after it (units, signed).

        Cycle by cycle, so that each has little to compute: how late the edge came, the interval cut to what it allows,
        middles and interval moved. Of two edges in successive cycles only the second one moves them, for both.
        """
        low, high = (
            Signal((20, True), reset=-_HALF),
            Signal((20, True), reset=_HALF),
        )  # of the interval, from its middle
        late, expected = Signal((20, True)), Signal((20, True))
        seen, cut = Signal(), Signal()
        correction = Signal((20, True))

        def limited(value):
            """To half a sample around the edge."""
            return Mux(value > late + _HALF, late + _HALF, Mux(value < late - _HALF, late - _HALF, value))

        ahead = {n: expected.eq(due + multiples[_EDGE_BIT - n]) for n in range(1, _EDGE_BIT)}
        self.comb += [
            Case(next_bit, ahead | {"default": expected.eq(due)}),
            If(cut & ~seen, correction.eq(low + high >> 1)),
        ]
        self.sync += [
            seen.eq(edge & tracking),
            cut.eq(seen),
            late.eq(place + (rate.bit >> 1) - expected - correction),
            If(seen, low.eq(limited(low - _DRIFT)), high.eq(limited(high + _DRIFT))).Elif(
                cut, low.eq(low - high >> 1), high.eq(high - low + 1 >> 1)
            ),
            If(~tracking, low.eq(-_HALF), high.eq(_HALF)),
        ]
        return correction


class CameraLinkReceiver(Module):
    """clock: pad of the clock lane; lanes: list of the four pads of the data lanes; all serialised.

    `stb` (out), `word` (out, 28 bits): a word of 28 bits; bit n is the transmitter's input n. `settled`
    (out): the clock is stopped and nothing is in progress.
    """

    def __init__(self, clock, lanes):
        self.stb = Signal()
        self.word = Signal(WORD_BITS)
        self.settled = Signal()

        # # #

        # Samples, and one cycle later the clock's edge in them
        first = Signal(SAMPLES)
        last = Signal()
        rising = Signal(SAMPLES)
        edge = Signal()
        at = Signal(max=SAMPLES)
        self.comb += rising.eq(first & ~Cat(last, first))
        self.sync += [
            first.eq(clock.i),
            last.eq(first[-1]),
            edge.eq(rising != 0),
            [If(rising[i], at.eq(i)) for i in range(SAMPLES)],
        ]
        self.submodules.rate = rate = _Rate(edge, at)
        self.submodules.middles = middles = _Middles(rate, edge, at)

        # Number of bits shifted in, and number of those that already belong to the next word
        count = Signal.like(middles.count)
        ends = Signal()
        surplus = Signal(max=_PER_CYCLE)
        behind = Signal.like(surplus)
        whole = Signal()  # all bits of this word have been taken
        starts = reduce(or_, [t & (i == 0) for t, i in zip(middles.taken, middles.index, strict=True)])
        self.sync += [
            count.eq(middles.count),
            ends.eq(0),
            self.stb.eq(ends),
            behind.eq(surplus),
            If(~rate.locked, whole.eq(0)).Elif(starts, whole.eq(1)),
        ]
        for j in range(_PER_CYCLE):
            complete = middles.taken[j] & (middles.index[j] == _BITS - 1) & whole
            self.sync += If(complete, ends.eq(1), surplus.eq(middles.count - 1 - j))
        for lane, (pad, numbers) in enumerate(zip(lanes, LANES, strict=True)):
            samples = [Signal(SAMPLES, name=f"lane{lane}_{stage}") for stage in range(2)]
            bits = [Signal(name=f"lane{lane}_bit{j}") for j in range(_PER_CYCLE)]
            shifted = Signal(_BITS + _PER_CYCLE - 1, name=f"lane{lane}_shifted")  # the newest bit is bit 0
            self.sync += [
                samples[0].eq(pad.i),
                samples[1].eq(samples[0]),
                [
                    Case(place, {n: bit.eq(samples[1][n]) for n in range(SAMPLES)})
                    for bit, place in zip(bits, middles.sample, strict=True)
                ],
                Case(count, {n: shifted.eq(Cat(*reversed(bits[:n]), shifted)) for n in range(1, _PER_CYCLE + 1)}),
            ]
            for n, number in enumerate(numbers):
                at_end = {s: self.word[number].eq(shifted[_BITS - 1 - n + s]) for s in range(_PER_CYCLE)}
                self.comb += Case(behind, at_end)
        self.comb += self.settled.eq(
            (clock.i == Replicate(last, SAMPLES))
            & (first == Replicate(last, SAMPLES))
            & ~edge
            & rate.stopped
            & ~rate.locked
            & (count == 0)
            & ~ends
            & ~self.stb
        )
