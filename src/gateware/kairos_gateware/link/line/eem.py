"""The physical layer of DRTIO over an EEM connector: words of two characters on four pairs each way, with 8B/10B
coding (`code8b10b.py`) and five bits a cycle on each pair. Clock domain sys.

A link word has two characters, each of nine bits (the highest one for control characters), the first one lower. In a
cycle one word begins: that of an even cycle goes to lanes 0 (first character) and 2, that of an odd one to lanes 1 and
3. A character is sent within two cycles, its bits in the order j h g f i e d c b a.

    cycle    0            1            2            3
    lane 0   word 0, jhgfi   edcba     word 2, jhgfi   edcba
    lane 1   ...          word 1, jhgfi   edcba     word 3, jhgfi

There is no clock on the connector: both ends have the same one, and the receiver's phase is set by delays in front of
it (`eem_delays.py`), for which `Transitions` shows on which side of a rising edge a sample is that was taken between
two bits. `Receiver` finds the beginning of a character by the control characters K28.5 and K28.1, which the other end
sends while it has nothing else (`eem_words.py`): it tries the next of ten places at a code that is no character's, or
if none of the two came for some time. That is logic instead of the bit slips of a deserialiser, so it has the same
latency each time.

`Silence` is the reset of a card whose line is silent. Pins and cells: `boards/eem.py`.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from ...code8b10b import CODE_BITS, Decoder, Encoder, control

__all__ = ["CHARACTER_BITS", "COMMAS", "LANES", "LANE_BITS", "Receiver", "Silence", "Transitions", "Transmitter"]

LANES = 4
LANE_BITS = 5
"""On a lane, in a cycle."""
CHARACTER_BITS = 9
COMMAS = (control(28, 5), control(28, 1))
_PLACES = 2 * LANE_BITS
_COUNT = 18
"""Bits of the counters of edges."""
_GOOD = 16
"""Words without an invalid code before a place counts as found: half of all codes are invalid, so that another place
would not have so many."""
_ERRORS = 16
"""Invalid words within the receiver's patience with which a place is lost."""


class Transmitter(Module):
    """`word` (in, 18 bits): that of this cycle; `even` (out): whether it is an even one. `lanes` (out, 5 bits each):
    levels of a cycle, the first one in time lowest."""

    def __init__(self):
        self.word, self.even = Signal(2 * CHARACTER_BITS), Signal(reset=1)
        self.lanes = [Signal(LANE_BITS, name=f"lane_{n}") for n in range(LANES)]

        # # #

        self.sync += self.even.eq(~self.even)
        for n, lane in enumerate(self.lanes):
            encoder, rest = Encoder(), Signal(LANE_BITS)
            self.submodules += encoder
            first = CHARACTER_BITS * (n // 2)
            begins = self.even if n % 2 == 0 else ~self.even
            in_time = Cat(*reversed([encoder.code[bit] for bit in range(CODE_BITS)]))
            self.comb += [
                encoder.character.eq(self.word[first : first + CHARACTER_BITS]),
                encoder.ce.eq(begins),
            ]
            self.sync += If(begins, lane.eq(in_time[:LANE_BITS]), rest.eq(in_time[LANE_BITS:])).Else(lane.eq(rest))


class Receiver(Module):
    """`lanes` (in, 5 bits each): levels of a cycle, the first one in time lowest. `word` (out, 18 bits): of a cycle.
    `aligned` (out): control characters are found, and codes are those of characters. `invalid` (out): the word has a
    code that is no character's.

    patience: cycles within which the other end sends K28.5 or K28.1.
    """

    def __init__(self, patience=12500):
        self.lanes = [Signal(LANE_BITS, name=f"lane_{n}") for n in range(LANES)]
        self.word, self.aligned, self.invalid = Signal(2 * CHARACTER_BITS), Signal(), Signal()

        # # #

        place, odd = Signal(max=_PLACES), Signal()
        slip, exchanged = Signal(max=LANE_BITS), Signal()
        self.comb += Case(place, {n: [slip.eq(n % LANE_BITS), exchanged.eq(n // LANE_BITS)] for n in range(_PLACES)})
        self.sync += odd.eq(~odd)
        characters, valid = [], []  # of each lane, a cycle later
        for lane in self.lanes:
            seen, decoder = Signal(3 * LANE_BITS), Decoder()
            self.submodules += decoder
            characters.append(Signal(CHARACTER_BITS))
            valid.append(Signal())
            self.sync += [
                seen.eq(Cat(seen[LANE_BITS:], lane)),
                characters[-1].eq(decoder.character),
                valid[-1].eq(decoder.valid),
            ]
            codes = {
                n: decoder.code.eq(Cat(*[seen[n + CODE_BITS - 1 - bit] for bit in range(CODE_BITS)]))
                for n in range(LANE_BITS)
            }
            self.comb += Case(slip, codes)
        turn, comma = Signal(), Signal()  # turn: characters end on lanes 1 and 3
        self.sync += turn.eq(odd ^ exchanged)
        self.comb += [
            self.word.eq(Cat(*[Mux(turn, characters[n + 1], characters[n]) for n in (0, 2)])),
            self.invalid.eq(~Mux(turn, valid[1] & valid[3], valid[0] & valid[2])),
            comma.eq(~turn & valid[0] & ((characters[0] == COMMAS[0]) | (characters[0] == COMMAS[1]))),
        ]
        self._search(place, comma, self.invalid, patience)

    def _search(self, place, comma, invalid, patience):
        """Tries the next place if this one is wrong."""
        waited, over, found, came, leaves = Signal(max=patience), Signal(), Signal(), Signal(), Signal()
        good, errors = Signal(max=_GOOD + 1), Signal(max=_ERRORS + 1)
        before, bad = Signal(), Signal()  # the word of this cycle is that of the place before
        self.comb += [
            over.eq(waited == patience - 1),
            found.eq(comma & ~before),
            bad.eq(invalid & ~before),
            If(self.aligned, leaves.eq((over & ~came & ~found) | (errors == _ERRORS))).Else(leaves.eq(bad | over)),
        ]
        self.sync += [
            before.eq(leaves),
            waited.eq(waited + 1),
            If(found, came.eq(1), If(good == _GOOD, self.aligned.eq(1))),
            If(bad, good.eq(0)).Elif(good != _GOOD, good.eq(good + 1)),
            If(bad & (errors != _ERRORS), errors.eq(errors + 1)),
            If(over | leaves, waited.eq(0), came.eq(0), errors.eq(0)),
            If(
                leaves,
                self.aligned.eq(0),
                good.eq(0),
                If(place == _PLACES - 1, place.eq(0)).Else(place.eq(place + 1)),
            ),
        ]


class Transitions(Module):
    """`samples` (in, 3 bits): in the middle of a bit, at its end, in the middle of the next one. `high`, `low` (out, 18
    bits): number of rising edges with either level between them, until one of the counters is full; `clear` (in)."""

    def __init__(self):
        self.samples, self.clear = Signal(3), Signal()
        self.high, self.low = Signal(_COUNT), Signal(_COUNT)

        # # #

        full = Signal()
        self.comb += full.eq((self.high == 2**_COUNT - 1) | (self.low == 2**_COUNT - 1))
        self.sync += If(self.clear, self.high.eq(0), self.low.eq(0)).Elif(
            ~full & ~self.samples[0] & self.samples[2],
            If(self.samples[1], self.high.eq(self.high + 1)).Else(self.low.eq(self.low + 1)),
        )


class Silence(Module):
    """`level` (in): that of lane 0, of any clock. `silent` (out): it has not changed for so many cycles; then 1 until
    it has changed in each of as many periods of `active` cycles in a row as make up that time. 1 at the beginning."""

    def __init__(self, cycles=2**15, active=2**8):
        self.level, self.silent = Signal(), Signal(reset=1)

        # # #

        seen, before, changed = Signal(), Signal(), Signal()
        idle, quiet, time = Signal(max=cycles), Signal(max=active), Signal(max=cycles)
        self.specials += MultiReg(self.level, seen)
        self.comb += changed.eq(seen ^ before)
        self.sync += [
            before.eq(seen),
            If(changed, idle.eq(0), quiet.eq(0)).Else(
                If(idle == cycles - 1, self.silent.eq(1)).Else(idle.eq(idle + 1)),
                If(quiet != active - 1, quiet.eq(quiet + 1)),
            ),
            If(quiet == active - 1, time.eq(0)).Elif(time == cycles - 1, self.silent.eq(0)).Else(time.eq(time + 1)),
            If(idle == cycles - 1, time.eq(0)),
        ]
