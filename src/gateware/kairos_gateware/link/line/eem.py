"""The physical layer of DRTIO over an EEM connector: words of two characters on four pairs each way, with 8B/10B
coding (`code8b10b.py`) and five bits a cycle on each pair. Clock domain sys.

A link word has two characters, each of nine bits (the highest one for control characters), the first one lower. In a
cycle one word begins: that of an even cycle goes to lanes 0 (first character) and 2, that of an odd one to lanes 1 and
3. A character is sent within two cycles, its bits in the order j h g f i e d c b a.

    cycle    0            1            2            3
    lane 0   word 0, jhgfi   edcba     word 2, jhgfi   edcba
    lane 1   ...          word 1, jhgfi   edcba     word 3, jhgfi

There is no clock on the connector: both ends have the same one, and the receiver's phase is set by delays in front of
it. For that, `Transitions` shows on which side of a rising edge a sample is that was taken between two bits. `Receiver`
finds the beginning of a character by the control characters K28.5 and K28.1, which the other end sends while it has
nothing else: it tries the next of ten places if none came for some time.

No board has its pins connected to this: the receiver's delays, and the packets above, are not there.
"""

from migen import *

from .code8b10b import CODE_BITS, Decoder, Encoder, control

__all__ = ["CHARACTER_BITS", "COMMAS", "LANES", "LANE_BITS", "Receiver", "Transitions", "Transmitter"]

LANES = 4
LANE_BITS = 5
"""On a lane, in a cycle."""
CHARACTER_BITS = 9
COMMAS = (control(28, 5), control(28, 1))
_PLACES = 2 * LANE_BITS
_COUNT = 18
"""Bits of the counters of edges."""


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
    `aligned` (out): control characters are found. `invalid` (out): the word has a code that is no character's.

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
        decoders = []
        for lane in self.lanes:
            seen, decoder = Signal(3 * LANE_BITS), Decoder()
            self.submodules += decoder
            decoders.append(decoder)
            self.sync += seen.eq(Cat(seen[LANE_BITS:], lane))
            codes = {
                n: decoder.code.eq(Cat(*[seen[n + CODE_BITS - 1 - bit] for bit in range(CODE_BITS)]))
                for n in range(LANE_BITS)
            }
            self.comb += Case(slip, codes)
        turn = Signal()  # characters end on lanes 1 and 3
        low, high = [Mux(turn, decoders[n + 1].character, decoders[n].character) for n in (0, 2)]
        both = [decoders[n].valid & decoders[n + 2].valid for n in (0, 1)]
        comma, waited, came = Signal(), Signal(max=patience), Signal()
        self.comb += [
            turn.eq(odd ^ exchanged),
            comma.eq(
                ~turn
                & decoders[0].valid
                & ((decoders[0].character == COMMAS[0]) | (decoders[0].character == COMMAS[1]))
            ),
        ]
        self.sync += [
            self.word.eq(Cat(low, high)),
            self.invalid.eq(~Mux(turn, both[1], both[0])),
            If(comma, came.eq(1), self.aligned.eq(1)),
            If(
                waited == patience - 1,
                waited.eq(0),
                came.eq(0),
                If(
                    ~(came | comma),
                    self.aligned.eq(0),
                    If(place == _PLACES - 1, place.eq(0)).Else(place.eq(place + 1)),
                ),
            ).Else(waited.eq(waited + 1)),
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
