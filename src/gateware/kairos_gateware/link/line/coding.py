"""Line coding: words to scrambled 64B/66B blocks, 64 bits per cycle for a serialiser, and back from
any bit alignment.

A block is a two-bit header and 64 bits, bit 0 first. Header 01 is a word. Header 10 is sent while
there is no word, and at least every 256 blocks: the 58-bit state of the scrambler and six parities
of it. 32 blocks take 33 cycles, so each block begins two bits later in its cycle than the one
before: its place, in pairs of bits, is added to the parities. From it the receiver knows at which
bit of its own cycle those of the sender begin, and so delivers every word with the same latency,
whatever its place. Otherwise the latency would vary by a cycle and could not be used to transfer
time.

The scrambler is additive and its state is transmitted, as in Interlaken: one bit error on the line
is one bit error of a word, which its check bits correct. A self-synchronising scrambler (10GBASE-R)
would turn it into three.

Alignment (IEEE 802.3, 49.2.13): a header of 00 or 11 slips the alignment by one bit, until 64
headers in a row are valid; alignment is lost with 16 invalid headers out of 64. An invalid header
on an aligned line is taken for that of a word: most blocks are words, and the frame's CRC catches
the rest.
"""

from functools import reduce
from operator import xor

from migen import *

from .word import WORD_BITS

__all__ = ["BEGIN_BITS", "BLOCK_BITS", "LineReceiver", "LineTransmitter"]

BLOCK_BITS = WORD_BITS + 2
_WORD, _STATE = 0b01, 0b10
_TAPS = (58, 39)
"""x^58 + x^39 + 1."""
_STATE_BITS = _TAPS[0]
_FIRST = 0x243_F6A8_885A_308D
"""Initial transmitter state, the digits of pi: a state with few ones would take thousands of bits
to become balanced."""
_PARITIES = WORD_BITS - _STATE_BITS
_PLACES = 32
BEGIN_BITS = log2_int(WORD_BITS)
STATE_EVERY = 256
"""Greatest number of blocks from one state to the next."""
_MISSES = 8
"""Consecutive states that must differ from the receiver's before it adopts the received one."""


class _Scrambler(Module):
    """`sequence` (out, 64 bits): 64 bits to add to the block with scrambler state `state` (in, 58 bits);
    `after` (out, 58 bits): the state of the next block."""

    def __init__(self):
        self.state = Signal(_STATE_BITS, reset=_FIRST)
        self.sequence, self.after = Signal(WORD_BITS), Signal(_STATE_BITS)

        # # #

        bits = [self.state[n] for n in range(_STATE_BITS)]  # oldest bit lowest
        for _ in range(WORD_BITS):
            bits.append(bits[-_TAPS[0]] ^ bits[-_TAPS[1]])
        self.comb += [self.sequence.eq(Cat(*bits[_STATE_BITS:])), self.after.eq(Cat(*bits[-_STATE_BITS:]))]


def _parities(state):
    return Cat(*[reduce(xor, [state[n] for n in range(row, _STATE_BITS, _PARITIES)]) for row in range(_PARITIES)])


class LineTransmitter(Module):
    """`word` (in): accepted in a cycle with `valid` and `ready`. `line` (out, 64 bits): 64 bits per cycle,
    bit 0 first."""

    def __init__(self):
        self.word = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.line = Signal(WORD_BITS)

        # # #

        self.submodules.scrambler = scrambler = _Scrambler()
        block, due = Signal(BLOCK_BITS), Signal(max=STATE_EVERY, reset=STATE_EVERY - 1)
        place, kept = Signal(max=_PLACES + 1), Signal(WORD_BITS)  # `place` pairs of bits are left from earlier blocks
        full, joined = Signal(), Signal(WORD_BITS + BLOCK_BITS)
        self.comb += [
            full.eq(place == _PLACES),
            self.word.ready.eq(~full & (due != 0)),
            If(self.word.valid & self.word.ready, block.eq(Cat(C(_WORD, 2), self.word.word ^ scrambler.sequence))).Else(
                block.eq(Cat(C(_STATE, 2), scrambler.state, _parities(scrambler.state) ^ place))
            ),
            Case(place, {n: joined.eq(kept | block << 2 * n) for n in range(_PLACES)} | {_PLACES: joined.eq(kept)}),
        ]
        self.sync += [
            self.line.eq(joined[:WORD_BITS]),
            kept.eq(joined[WORD_BITS:]),
            If(full, place.eq(0)).Else(
                place.eq(place + 1),
                scrambler.state.eq(scrambler.after),
                If(self.word.valid & (due != 0), due.eq(due - 1)).Else(due.eq(STATE_EVERY - 1)),
            ),
        ]


class _Aligner(Module):
    """Extracts `block` (out, 66 bits) from `line` (in, 64 bits), in a cycle with `valid` (out); the block
    began `before` (out, 7 bits) bits before the line word with which it ended. `slip` (in): skip one bit."""

    def __init__(self):
        self.line, self.slip = Signal(WORD_BITS), Signal()
        self.valid, self.block, self.before = Signal(), Signal(BLOCK_BITS), Signal(max=BLOCK_BITS)

        # # #

        held, kept = Signal(max=BLOCK_BITS), Signal(BLOCK_BITS - 1)  # `held` bits are left from earlier line words
        joined, enough = Signal(WORD_BITS + BLOCK_BITS), Signal()
        self.comb += [joined.eq(kept | self.line << held), enough.eq(held >= 2 + self.slip)]
        self.sync += [
            self.valid.eq(enough),
            self.block.eq(joined),
            self.before.eq(held),
            If(enough, kept.eq(Mux(self.slip, joined[BLOCK_BITS + 1 :], joined[BLOCK_BITS:]))).Else(
                kept.eq(Mux(self.slip, joined[1:], joined))
            ),
            held.eq(held + Mux(enough, WORD_BITS - BLOCK_BITS, WORD_BITS) - self.slip),
        ]


class _Alignment(Module):
    """`good` (in), in a cycle with `valid` (in): the header is valid. `aligned` (out): block alignment is
    found. `slip` (out): for a cycle, shift the alignment by one bit."""

    def __init__(self):
        self.valid, self.good, self.aligned, self.slip = [Signal() for _ in range(4)]

        # # #

        blocks, wrong, rest = Signal(max=64), Signal(max=16), Signal(2)
        self.comb += self.slip.eq(
            self.valid & ~self.good & (rest == 0) & (~self.aligned | (wrong == 15)),
        )
        self.sync += If(
            self.valid,
            If(rest != 0, rest.eq(rest - 1)),  # blocks received before the slip took effect
            blocks.eq(blocks + 1),
            If(blocks == 63, wrong.eq(0), self.aligned.eq(1)),
            If(~self.good, wrong.eq(wrong + 1)),
            If(self.slip, self.aligned.eq(0), blocks.eq(0), wrong.eq(0), rest.eq(2)),
        )


class LineReceiver(Module):
    """`line` (in, 64 bits) to `word` (out), in a cycle with `valid`, four cycles after the cycle in whose
    bits the sender's cycle began. `begin` (out, 6 bits): at which of those bits, counted from 0. `up`
    (out): aligned, with scrambler state and place known; otherwise no word is output and `begin` is
    invalid."""

    def __init__(self):
        self.line = Signal(WORD_BITS)
        self.word = Record([("valid", 1), ("word", WORD_BITS)])
        self.begin, self.up = Signal(BEGIN_BITS), Signal()

        # # #

        self.submodules.aligner = aligner = _Aligner()
        self.submodules.alignment = alignment = _Alignment()
        self.submodules.scrambler = scrambler = _Scrambler()
        header, body = aligner.block[:2], aligner.block[2:]
        received_state, received_place, rest = Signal(_STATE_BITS), Signal(log2_int(_PLACES)), Signal()
        misses, known = Signal(max=_MISSES + 1), Signal()
        received_right, same, taken = Signal(), Signal(), Signal()
        state, place = Signal.like(received_state), Signal.like(received_place)  # of this block
        self.comb += [
            aligner.line.eq(self.line),
            aligner.slip.eq(alignment.slip),
            alignment.valid.eq(aligner.valid),
            alignment.good.eq(header[0] ^ header[1]),
            received_state.eq(body),
            Cat(received_place, rest).eq(body[_STATE_BITS:] ^ _parities(received_state)),
            received_right.eq((header == _STATE) & ~rest),
            same.eq((received_state == state) & (received_place == place)),
            taken.eq(received_right & ~same & (~known | (misses == _MISSES - 1))),
            scrambler.state.eq(Mux(taken, received_state, state)),
            self.up.eq(alignment.aligned & known),
        ]
        self.sync += [
            If(
                aligner.valid,
                state.eq(scrambler.after),
                place.eq(Mux(taken, received_place, place) + 1),
                If(
                    received_right,
                    If(same, known.eq(1), misses.eq(0)).Else(known.eq(known & ~taken), misses.eq(misses + 1)),
                ),
                If(taken, misses.eq(0)),
            ),
            If(~alignment.aligned, known.eq(0), misses.eq(0)),
        ]
        self._deliver(body ^ scrambler.sequence, header != _STATE, place)

    def _deliver(self, word, is_word, place):
        """Delivers all words with the same latency: a word whose block ended in the cycle after the
        sender's cycle is delayed by one cycle; others end one cycle later."""
        aligner = self.aligner
        begin, behind, early = Signal(BEGIN_BITS), Signal(BEGIN_BITS + 1), Signal()
        come, waits, kept = Signal(), Signal(), Signal(WORD_BITS)
        self.comb += [
            begin.eq(-aligner.before - Cat(C(0, 1), place)),
            behind.eq(begin + Cat(C(0, 1), place)),  # where the block began, in bits after `begin`
            early.eq(behind < WORD_BITS - 1),
            come.eq(aligner.valid & self.up & is_word),
        ]
        self.sync += [
            If(aligner.valid, self.begin.eq(begin)),
            waits.eq(come & early),
            kept.eq(word),
            self.word.valid.eq(waits | (come & ~early)),
            self.word.word.eq(Mux(waits, kept, word)),
        ]
