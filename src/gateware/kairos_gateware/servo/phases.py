"""Phase tracking: the phase words of channels whose phase is to be that of an oscillator that has always
had the profile's frequency, and the profile's phase at its reference time. Clock domain sys.

T is the servo's time, in samples of the synthesisers (1 ns). In each of the servo's cycles, for the
channel whose slot it is, modulo 2^32:

    accumulated' = accumulated - T_SAMPLES previous             minus the phase of the chip's accumulator
    phase word   = (ftw (t - reference) + 2^16 pow + accumulated') >> 16
    previous'    = ftw

with t = T when the filter began, so that a change of frequency does not need to wait for anything. The
chips' accumulators have to be zero at the first cycle.

    step of the slot   0            1               2       3              slot + 1: 0       1      2
    reads              reference                            difference                       sum    word
    words                           ftw_low                 ftw_high       pow, products
"""

from migen import *

from .format import COEFF_WIDTH, HALF_WIDTH, PROFILE_WIDTH, T_CYCLE

__all__ = ["PhaseTracker", "SAMPLES_OF_CYCLE", "T_SAMPLES"]

SAMPLES_OF_CYCLE = 8
T_SAMPLES = SAMPLES_OF_CYCLE * T_CYCLE
"""Samples of a synthesiser in a cycle of the servo."""
_WIDTH = 2 * HALF_WIDTH
_ONES = [place for place in range(T_SAMPLES.bit_length()) if T_SAMPLES >> place & 1]


class PhaseTracker(Module):
    """channels: their number. sequence: the filter's `Sequence`. `start` (in): the filter begins, at `time` (in, 32
    bits). `low` (in, 18 bits): the lower word of the row that is read; `profile` (in, 5 bits), `tracks` (in): of the
    slot's channel.

    `word` (out, 16 bits): two slots after its own, the phase word of a channel.

    Access, any time: `address` (in, `index_width + PROFILE_WIDTH + 2` bits; a half's place: bit 0 the
    upper one, then reference times by profile and channel, then previous word and accumulated phase of each
    channel), `value` (in, 16 bits), `write` (in);
    `both` (in): both halves are written, with `time` and in its lowest three bits with `value`. `half` (out, 16
    bits) has the content in the next cycle.
    """

    def __init__(self, channels, sequence):
        index_width = bits_for(channels - 1)
        self.start = Signal()
        self.time, self.low = Signal(_WIDTH), Signal(COEFF_WIDTH)
        self.profile, self.tracks = Signal(PROFILE_WIDTH), Signal()
        self.word = Signal(HALF_WIDTH)
        self.address = Signal(index_width + PROFILE_WIDTH + 2)
        self.value, self.half = Signal(HALF_WIDTH), Signal(HALF_WIDTH)
        self.write, self.both = Signal(), Signal()

        # # #

        step, slot = sequence.step, sequence.slot
        place = Signal(index_width + PROFILE_WIDTH)
        self.comb += place.eq(Cat(self.profile, slot[:index_width]))
        reference, at_address = self._references(place)
        previous = Array(Signal(_WIDTH, name=f"previous_{i}") for i in range(channels))
        accumulated = Array(Signal(_WIDTH, name=f"accumulated_{i}") for i in range(channels))
        began, difference, ftw = Signal(_WIDTH), Signal(_WIDTH), Signal(_WIDTH)
        turned, next_phase = Signal(_WIDTH), Signal(_WIDTH)
        number = Signal(index_width)
        tracks = [Signal(name=f"tracks_{i}") for i in range(2)]
        self.comb += [
            number.eq(slot),
            turned.eq(sum((Cat(C(0, n), previous[number]) for n in _ONES[1:]), Cat(C(0, _ONES[0]), previous[number]))),
            next_phase.eq(accumulated[number] - turned),
        ]
        # Products of the halves; the fourth one is beyond the word
        low, crossed = Signal(_WIDTH), [Signal(_WIDTH, name=f"crossed_{i}") for i in range(2)]
        shifted = Signal(HALF_WIDTH)
        pow_, total = Signal(HALF_WIDTH), Signal(_WIDTH)
        phase = Signal(_WIDTH)
        self.comb += shifted.eq(crossed[0] + crossed[1] + pow_)
        mine = slot < channels
        self.sync += [
            If(self.start, began.eq(self.time)),
            If(
                sequence.running,
                Case(
                    step,
                    {
                        0: [
                            low.eq(ftw[:HALF_WIDTH] * difference[:HALF_WIDTH]),
                            crossed[0].eq(ftw[:HALF_WIDTH] * difference[HALF_WIDTH:]),
                            crossed[1].eq(ftw[HALF_WIDTH:] * difference[:HALF_WIDTH]),
                            pow_.eq(self.low),
                        ],
                        1: [
                            total.eq(low + Cat(C(0, HALF_WIDTH), shifted) + phase),
                            If(~tracks[1], total.eq(Cat(C(0, HALF_WIDTH), pow_))),
                            ftw[:HALF_WIDTH].eq(self.low),
                        ],
                        2: [difference.eq(began - reference), tracks[0].eq(self.tracks)],
                        3: [
                            ftw[HALF_WIDTH:].eq(self.low),
                            phase.eq(next_phase),
                            tracks[1].eq(tracks[0]),
                            If(mine, Case(number, {i: one.eq(next_phase) for i, one in enumerate(accumulated)})),
                        ],
                    },
                ),
            ),
        ]
        self.comb += self.word.eq(total[HALF_WIDTH:])
        earlier = Signal(index_width)
        self.comb += earlier.eq(slot - 1)
        # The whole frequency word is there in the slot after its own
        self.sync += If(
            sequence.running & (step == 0) & (slot >= 1) & (slot <= channels),
            Case(earlier, {i: one.eq(ftw) for i, one in enumerate(previous)}),
        )
        self._access(previous, accumulated, at_address)

    def _references(self, place):
        """Memories of the reference times; returns the one at `place` a cycle before, and the half at `address`."""
        depth = 1 << len(place)
        contents = []
        found, upper = Signal(HALF_WIDTH), Signal()
        self.sync += upper.eq(self.address[0])
        known = self.address[len(self.address) - 1]
        times = [Cat(self.value[:3], self.time[3:HALF_WIDTH]), self.time[HALF_WIDTH:]]
        ends = []
        for i in range(2):
            memory = Memory(HALF_WIDTH, depth, name=f"reference_{i}")
            read = memory.get_port(mode=READ_FIRST)
            access = memory.get_port(write_capable=True, mode=READ_FIRST)
            self.specials += memory, read, access
            self.comb += [
                read.adr.eq(place),
                access.adr.eq(self.address[1:]),
                access.dat_w.eq(Mux(self.both, times[i], self.value)),
                access.we.eq(self.write & ~known & (self.both | (self.address[0] == i))),
            ]
            contents.append(read.dat_r)
            ends.append(access.dat_r)
        self.comb += found.eq(Mux(upper, ends[1], ends[0]))
        return Cat(*contents), found

    def _access(self, previous, accumulated, reference):
        """Reads and writes of what is kept of each channel. reference: half of a reference time, read along."""
        words = [word for pair in zip(previous, accumulated, strict=True) for word in pair]
        halves = [part for word in words for part in (word[:HALF_WIDTH], word[HALF_WIDTH:])]
        kept, other = Signal(HALF_WIDTH), Signal()
        known = self.address[len(self.address) - 1]
        number = self.address[: bits_for(len(halves) - 1)]
        self.sync += [
            other.eq(known),
            Case(number, {n: kept.eq(half) for n, half in enumerate(halves)}),
            If(self.write & known, Case(number, {n: half.eq(self.value) for n, half in enumerate(halves)})),
        ]
        self.comb += self.half.eq(Mux(other, kept, reference))
