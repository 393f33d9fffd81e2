"""Fast link: back-to-back serial frames to an EEM card, over one clock lane, six data lanes and one
return lane.

A frame has `words` words of `word_bits` bits on each lane, two bits in each cycle of 8 ns (250
Mbit/s, the first in the cycle's first half). Frames begin at coarse times that are multiples of
their length, so the frame's phase follows from the time and needs no start. In each word the clock
lane has the levels of `pattern`, whose highest bit is the first.

Order of the bits: bit 6 s + l of a frame is on lane l, s bit times before the frame's end. A frame
is filled from bit 0 on, so from its end: with the CRC, then with the payload from its bit 0 on, except
for the markers. These are the lowest bits of the words 1 to n/2 + 1 before the last one (word 0), for
n words: 1 in word 1, otherwise 0. At the end of each word lane 0 therefore shows a receiver at least
n/2 zeros and a one, in the last word but one, which no other place in a stream of frames does. Before the
first frame after a reset the lanes have no markers: a receiver may lose that frame, and count one wrong CRC.

The CRC is that of everything before it, in order of time, of a bit time lane 5 first; polynomial `crc`
without its highest term, register initially 0, highest bit first. So the CRC of a whole frame is 0.

    cycle (coarse time)   S - 1       S           S + 1    ...   S + length - 1   S + length
    begin                 /‾‾‾‾‾‾‾‾‾‾\\____________________ ... ____/‾‾‾‾‾‾‾‾‾‾‾‾‾‾\\__
    payload               sampled                                 sampled
    data lanes                        first bits            ...   CRC last         next frame

The card returns one bit per word: the level of the return lane in the cycle in which the last bit
of that word is sent. `answer` has those of the last whole frame, the first one in the highest bit.
Clock domain sys.

Simulation builds may skip time, and report every change of a pad: there a frame with `fresh` low,
which has nothing new for the card, is not put on the pads (they stay low), see
docs/gateware/phys.md.
"""

from functools import reduce
from operator import xor

from migen import *

from ..pad import SAMPLES
from ..rtio.free_phase import FreePhase

__all__ = ["FastLink", "LANES", "arranged", "frame_cycles", "geometry", "payload_bits"]

LANES = 6

_BITS_PER_CYCLE = 2
_HALF = SAMPLES // _BITS_PER_CYCLE
_CHUNK = _BITS_PER_CYCLE * LANES


def frame_cycles(words, word_bits):
    """Length of a frame in cycles. Raises ValueError if it is not a whole number."""
    if words * word_bits % _BITS_PER_CYCLE:
        raise ValueError(f"a frame of {words} words of {word_bits} bits does not end with a cycle")
    return words * word_bits // _BITS_PER_CYCLE


def geometry(facts):
    """Arguments of a `FastLink` for the frames of a card, from its contract."""
    width = facts.CRC.bit_length() - 1
    words = {"words": facts.FRAME_WORDS, "word_bits": facts.FRAME_WORD_BITS, "pattern": facts.CLOCK_PATTERN}
    return words | {"crc": facts.CRC ^ 1 << width, "crc_width": width}


def payload_bits(words, word_bits, crc_width):
    """Bits of a frame beside its CRC and its markers."""
    return LANES * words * word_bits - crc_width - (words // 2 + 1)


def arranged(payload, words, word_bits, crc_width):
    """The bits of a frame from bit 0 on, with None for those of the CRC: `payload` from its bit 0
    on, and markers (ints)."""
    payload, frame = iter(payload), []
    for word in range(words):
        frame += [None] * crc_width if word == 0 else [int(word == 1)] if word <= words // 2 + 1 else []
        frame += [next(payload) for _ in range(LANES * word_bits * (word + 1) - len(frame))]
    return frame


def _crc_step(register, bits, polynomial):
    """Expressions of the register's bits after `bits`, the first one first."""
    inputs = [*register, *bits]
    state = [{n} for n in range(len(register))]  # each bit is the parity of a set of inputs
    for n in range(len(register), len(inputs)):
        feedback = state[-1] ^ {n}
        state = [before ^ (feedback if polynomial >> i & 1 else set()) for i, before in enumerate([set(), *state[:-1]])]
    return [reduce(xor, [inputs[n] for n in sorted(terms)], C(0)) for terms in state]


class FastLink(Module):
    """clock, lanes, back: serialised pads, six of them, and a simple one or None.

    `payload` (in, `payload_bits` bits): sampled in the cycle `begin` (out). `fresh` (in): it is to be sent
    in simulation, too; sampled with it. free_running: for the PHY's channel. `settled` (out): no frame is
    on the pads, and the return lane is idle. `frames` (out, 4 bits): of all lengths that are odd, the
    number of `begin`s so far. `phase` (out, below `length`): number of the cycle in the frame, `after` (out, as
    `phase`): the one after a jump.

    `answer` (out, `words` bits): the last samples of the return lane, a bit for each word of the frame;
    `answered` (out), one cycle: they are new, and those of the frame after one that was sent.
    """

    def __init__(self, clock, lanes, back, words=14, word_bits=7, pattern=0b1100011, crc=0x80F, crc_width=12):
        self.length = length = frame_cycles(words, word_bits)
        if len(lanes) != LANES:
            raise ValueError(f"a fast link has {LANES} data lanes, not {len(lanes)}")
        if crc_width > _CHUNK:
            raise ValueError(f"the CRC's {crc_width} bits do not fit into the last cycle's {_CHUNK}")
        if word_bits <= _BITS_PER_CYCLE:
            raise ValueError(f"a word has more than {_BITS_PER_CYCLE} bits, not {word_bits}")
        self.payload = Signal(payload_bits(words, word_bits, crc_width))
        self.fresh = Signal()
        self.begin = Signal()
        self.frames = Signal(4)
        self.answer = Signal(words)
        self.answered = Signal()
        self.settled = Signal()
        self.submodules.time = time = FreePhase(length)
        self.free_running = running = time.free_running
        self.phase, self.after = phase, after = time.phase, time.after

        # # #

        sending = Signal(_CHUNK * length)  # its highest bits are next
        shown, awaited = Signal(), Signal()  # this frame was sent; the one before it was
        register = Signal(crc_width)
        now = sending[-_CHUNK:]
        data = Signal(_CHUNK)
        in_order = [now[n] for n in reversed(range(_CHUNK))]
        # The last cycle: the rest of the payload, then the CRC
        rest = _CHUNK - crc_width
        checked = Cat(*_crc_step(register, in_order[:rest], crc), *reversed(in_order[:rest]))
        self.comb += [
            self.begin.eq(time.last),
            data.eq(Mux(self.begin, checked, now)),
        ]
        frame = [0 if bit is None else bit for bit in arranged(list(self.payload), words, word_bits, crc_width)]
        self.sync += [
            If(self.begin, self.frames.eq(self.frames + 1)),
            sending.eq(sending << _CHUNK),
            register.eq(Cat(*_crc_step(register, in_order, crc))),
            If(self.begin, sending.eq(Cat(*frame)), register.eq(0), shown.eq(self.fresh), awaited.eq(shown)),
            self.answered.eq(self.begin & (awaited | ~running.simulated)),
        ]
        if length % 2:
            # Frames of a jump, modulo 16: its cycles but for the rest, divided by the odd length
            jumped = Signal(len(self.frames))
            self.comb += jumped.eq((running.cycles + phase - after) * pow(length, -1, 2 ** len(jumped)))
            self.sync += If(running.stb, self.frames.eq(self.frames + jumped))
        visible = Signal()
        self.comb += visible.eq(shown | ~running.simulated)
        for i, pad in enumerate(lanes):
            bits = [data[LANES + i] & visible, data[i] & visible]
            self.comb += [pad.o.eq(Cat(*[Replicate(bit, _HALF) for bit in bits])), pad.oe.eq(1)]
        levels = [pattern >> (word_bits - 1 - n % word_bits) & 1 for n in range(_BITS_PER_CYCLE * length)]
        both = Signal(_BITS_PER_CYCLE)
        self.comb += [
            Case(phase, {n: both.eq(levels[2 * n] | levels[2 * n + 1] << 1) for n in range(length)}),
            clock.o.eq(Cat(*[Replicate(both[i] & visible, _HALF) for i in range(_BITS_PER_CYCLE)])),
            clock.oe.eq(1),
        ]
        still = self._listen(back, phase, words, word_bits) if back is not None else C(1)
        self.comb += self.settled.eq(~shown & ~awaited & ~self.answered & ~self.fresh & still)

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
