"""Fast link: back-to-back serial frames to an EEM card, over one clock lane, some data lanes and
one return lane.

A frame has `words` words of `word_bits` bits on each lane, two bits in each cycle of 8 ns (250
Mbit/s). Frames begin at coarse times that are multiples of their length, so the frame's phase
follows from the time and needs no start. The clock lane has one period per word: high for its first
`high` bits, in a frame's first word for `high` - 1 bits, which marks it; so the rising edges, to
which a card locks its own clock, are evenly spaced. Last in the frame is the CRC of everything
before it, polynomial `crc` without its highest term, register initially 0, highest bit first.

Order of the bits: a cycle takes the next 2 x `lanes` bits of the frame, from bit 0 on. Its first
half is sent first, the lower bit on the lower lane. So bit n is on lane n mod `lanes`, in bit time
n // `lanes`.

    cycle (coarse time)   S - 1       S           S + 1    ...   S + length - 1   S + length
    begin                 /‾‾‾‾‾‾‾‾‾‾\\____________________ ... ____/‾‾‾‾‾‾‾‾‾‾‾‾‾‾\\__
    payload               sampled                                 sampled
    data lanes                        first bits            ...   CRC              next frame

The card returns one bit per word: the level of the return lane in the cycle in which the last bit
of that word is sent. `answer` has those of the last whole frame, the first one in the highest bit.
Clock domain sys.

Simulation builds may skip time, and report every change of a pad: there a frame with `fresh` low,
which has nothing new for the card, is not put on the pads (they stay low), see
docs/gateware/phys.md.
"""

from functools import reduce
from operator import add, xor

from migen import *

from ..pad import SAMPLES
from ..rtio.link import FreeRunning

__all__ = ["FastLink", "frame_cycles", "geometry"]

_BITS_PER_CYCLE = 2
_CHUNK = SAMPLES // _BITS_PER_CYCLE


def frame_cycles(words, word_bits):
    """Length of a frame in cycles. Raises ValueError if it is not a whole number."""
    if words * word_bits % _BITS_PER_CYCLE:
        raise ValueError(f"a frame of {words} words of {word_bits} bits does not end with a cycle")
    return words * word_bits // _BITS_PER_CYCLE


def geometry(facts):
    """Arguments of a `FastLink` for the frames of a card, from its contract."""
    width = facts.CRC.bit_length() - 1
    words = {"words": facts.FRAME_WORDS, "word_bits": facts.FRAME_WORD_BITS, "high": facts.CLOCK_HIGH}
    return words | {"crc": facts.CRC ^ 1 << width, "crc_width": width}


def _crc_step(register, bits, polynomial):
    """Expressions of the register's bits after `bits`, the first one first."""
    inputs = [*register, *bits]
    state = [{n} for n in range(len(register))]  # each bit is the parity of a set of inputs
    for n in range(len(register), len(inputs)):
        feedback = state[-1] ^ {n}
        state = [before ^ (feedback if polynomial >> i & 1 else set()) for i, before in enumerate([set(), *state[:-1]])]
    return [reduce(xor, [inputs[n] for n in sorted(terms)], C(0)) for terms in state]


class FastLink(Module):
    """clock, lanes, back: serialised pads, a list of them, and a simple one or None.

    `payload` (in, `chunk * (length - crc_cycles)` bits): the frame without its CRC, sampled in the cycle
    `begin` (out). `fresh` (in): it is to be sent in simulation, too; sampled with it. free_running: for the
    PHY's channel. `settled` (out): no frame is on the pads, and the return lane is idle.

    `answer` (out, `words` bits): the last samples of the return lane, a bit for each word of the frame.
    """

    def __init__(self, clock, lanes, back, words=14, word_bits=7, high=4, crc=0x80F, crc_width=12):
        self.length = length = frame_cycles(words, word_bits)
        chunk = _BITS_PER_CYCLE * len(lanes)
        if crc_width % chunk:
            raise ValueError(f"the CRC's {crc_width} bits do not fill cycles of {chunk} bits")
        if word_bits <= _BITS_PER_CYCLE:
            raise ValueError(f"a word has more than {_BITS_PER_CYCLE} bits, not {word_bits}")
        crc_cycles = crc_width // chunk
        self.payload = Signal(chunk * (length - crc_cycles))
        self.fresh = Signal()
        self.begin = Signal()
        self.answer = Signal(words)
        self.settled = Signal()
        self.free_running = running = FreeRunning()

        # # #

        phase = Signal(max=length, reset_less=True)  # continues during a reset of the PHYs, like the time
        sending = Signal(len(self.payload))
        shown = Signal()
        register = Signal(crc_width)
        data = Signal(chunk)
        last = Signal()  # cycles of the CRC
        self.comb += [
            self.begin.eq(phase == length - 1),
            # The CRC's highest bit is sent first
            last.eq(phase >= length - crc_cycles),
            data.eq(Mux(last, Cat(*reversed(list(register[-chunk:]))), sending[:chunk])),
        ]
        remainder = Signal(max=2 * length)
        self.comb += remainder.eq(self._modulo(running.cycles, length) + phase)
        crc_after = Cat(*_crc_step(register, list(sending[:chunk]), crc))
        self.sync += [
            phase.eq(Mux(self.begin, 0, phase + 1)),
            If(running.stb, phase.eq(Mux(remainder >= length, remainder - length, remainder))),
            # The same reset as the counter's
            If(ResetSignal(allow_reset_less=True), phase.eq(0)),
            sending.eq(sending[chunk:]),
            register.eq(Mux(last, register << chunk, crc_after)),
            If(self.begin, sending.eq(self.payload), register.eq(0), shown.eq(self.fresh)),
        ]
        visible = Signal()
        self.comb += visible.eq(shown | ~running.simulated)
        for i, pad in enumerate(lanes):
            bits = [data[half * len(lanes) + i] & visible for half in range(_BITS_PER_CYCLE)]
            self.comb += [pad.o.eq(Cat(*[Replicate(bit, _CHUNK) for bit in bits])), pad.oe.eq(1)]
        levels = [int(n % word_bits < high - (n < word_bits)) for n in range(_BITS_PER_CYCLE * length)]
        both = Signal(_BITS_PER_CYCLE)
        self.comb += [
            Case(phase, {n: both.eq(levels[2 * n] | levels[2 * n + 1] << 1) for n in range(length)}),
            clock.o.eq(Cat(*[Replicate(both[i] & visible, _CHUNK) for i in range(_BITS_PER_CYCLE)])),
            clock.oe.eq(1),
        ]
        still = self._listen(back, phase, words, word_bits) if back is not None else C(1)
        self.comb += [
            self.settled.eq(~shown & ~self.fresh & still),
            # Nothing on the pads changes by itself
            running.limit.eq(2 ** len(running.limit) - 1),
        ]

    def _listen(self, back, phase, words, word_bits):
        """Collects the answer; returns an expression: the answer would not change."""
        bits = Signal(words)
        takes = Signal()
        ends = {((n + 1) * word_bits - 1) // _BITS_PER_CYCLE: takes.eq(1) for n in range(words)}
        collected = Cat(back.i[-1], bits)
        self.comb += Case(phase, ends)
        self.sync += [If(takes, bits.eq(collected)), If(self.begin, self.answer.eq(collected))]
        same = Replicate(back.i[-1], words)
        return (bits == same) & (self.answer == same)

    def _modulo(self, value, divisor):
        """value mod divisor: digits of about 6 bits are weighted with the remainders of their
        places and added up, repeatedly, until subtractions suffice."""
        digit = divisor.bit_length()
        largest = 2 ** len(value) - 1
        while largest >= 4 * divisor:
            places = range(0, largest.bit_length(), digit)
            weights = [pow(2, place, divisor) for place in places]
            total = reduce(add, [value[p : p + digit] * w for p, w in zip(places, weights, strict=True)])
            largest = sum(min(2**digit - 1, largest >> p) * w for p, w in zip(places, weights, strict=True))
            value = Signal(max=largest + 1)
            self.comb += value.eq(total)
        for multiple in [2, 1]:
            reduced = Signal(max=2 * multiple * divisor)
            self.comb += reduced.eq(Mux(value >= multiple * divisor, value - multiple * divisor, value))
            value = reduced
        return value
