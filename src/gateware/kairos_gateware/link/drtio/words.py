"""The link layer of DRTIO: what the characters of each word are (docs/gateware/drtio.md). Clock domain sys.

A word has n characters, a power of two. Words of real-time packets are data characters, 8 n bits. All others are
control characters with three bits each: 100 between auxiliary packets, 0AB inside one, where BA are two of its bits, A
the higher one. Real-time words go first, so they may stand in the middle of an auxiliary packet.

    real time, 8 n bits ──┐
                          ├─▶ scrambler ─▶ characters ═══▶ bits ─▶ descrambler ─┬─▶ real time
    auxiliary, 2 n bits ──┘                                                     └─▶ auxiliary

Each bit sent is the xor of the bit to send and of those sent 18 and 23 bits before: x^23 + x^18 + 1. Both kinds of
words share these. So a receiver needs no beginning; it is right after 23 bits, and a wrong bit spoils two later ones.

Latency: 1 cycle each.
"""

from functools import reduce
from operator import and_, or_, xor

from migen import *

from ...code8b10b import control
from ...contracts.drtio import (
    CONTROL_BITS,
    FIRST_CHARACTERS,
    FRAME_GAP,
    IDLE,
    OTHER_CHARACTERS,
    SCRAMBLER_BITS,
    SCRAMBLER_TAP,
)

__all__ = ["AUXILIARY_BITS", "CHARACTER_BITS", "Turns", "WordReceiver", "WordTransmitter", "check_characters"]

CHARACTER_BITS = 9
"""Of which the highest one is set for control characters."""
AUXILIARY_BITS = CONTROL_BITS - 1
"""Of an auxiliary packet, in a character."""
_DATA_BITS = CHARACTER_BITS - 1
_MOST = 16
"""Characters of a word with which it has no more than 32 bits of an auxiliary packet."""


def check_characters(characters):
    """Raises ValueError if a word cannot have so many."""
    if characters not in (1, 2, 4, 8, _MOST):
        raise ValueError(f"a word of DRTIO has 1, 2, 4, 8 or {_MOST} characters here, not {characters}")


def _table(place):
    """Control characters at a place of a word, by the bits that they carry."""
    names = OTHER_CHARACTERS if place else FIRST_CHARACTERS
    return [control(*map(int, name.split("."))) for name in names.split()]


def _xor(terms):
    return reduce(xor, sorted(terms, key=lambda bit: bit.duid))


def _parities(history, bits, scrambles):
    """(for each bit those before the scrambler of which its partner is the xor, history after them). history: for each
    bit sent before, the newest one first, those of which it is the xor; these are sets. scrambles: the partners are
    those to be sent, otherwise those received."""
    partners = []
    for bit in bits:
        partners.append({bit} ^ history[SCRAMBLER_TAP] ^ history[-1])
        history = [partners[-1] if scrambles else {bit}, *history[:-1]]
    return partners, history


class _Scrambler(Module):
    """width: bits of a word. scrambles: `out` is to be sent, otherwise `data` was received. `state` (in, 23 bits): bits
    sent before. `data` (in, `width` bits), `out` (out, as `data`), lowest bit first; `after` (out, 23 bits): the state
    after them. Combinational."""

    def __init__(self, width, scrambles):
        self.state, self.after = Signal(SCRAMBLER_BITS), Signal(SCRAMBLER_BITS)
        self.data, self.out = Signal(width), Signal(width)

        # # #

        known = [Signal(name=f"before_{n}") for n in range(SCRAMBLER_BITS)]
        bits = [Signal(name=f"bit_{n}") for n in range(width)]
        partners, history = _parities([{bit} for bit in known], bits, scrambles)
        self.comb += [
            Cat(*known).eq(self.state),
            Cat(*bits).eq(self.data),
            self.out.eq(Cat(*map(_xor, partners))),
            self.after.eq(Cat(*map(_xor, history))),
        ]


class Turns(Module):
    """What goes in a cycle. characters: of a word. `realtime` (in), `auxiliary` (in): as of the `WordTransmitter`.
    `sends` (out): a word of real time; `goes_on` (out): one of an auxiliary packet."""

    def __init__(self, characters):
        check_characters(characters)
        self.realtime = Record([("valid", 1), ("ready", 1), ("last", 1), ("word", _DATA_BITS * characters)])
        self.auxiliary = Record([("valid", 1), ("ready", 1), ("last", 1), ("bits", AUXILIARY_BITS * characters)])
        self.sends, self.goes_on = Signal(), Signal()

        # # #

        realtime, auxiliary = self.realtime, self.auxiliary
        gap, ended = Signal(max=FRAME_GAP + 1), Signal()
        self.comb += [
            realtime.ready.eq(gap == 0),
            self.sends.eq(realtime.valid & realtime.ready),
            auxiliary.ready.eq(~self.sends & ~ended),
            self.goes_on.eq(auxiliary.valid & auxiliary.ready),
        ]
        self.sync += [
            If(gap != 0, gap.eq(gap - 1)),
            If(self.sends & realtime.last, gap.eq(FRAME_GAP)),
            # A word between two packets
            If(~self.sends, ended.eq(self.goes_on & auxiliary.last)),
        ]


class WordTransmitter(Module):
    """characters: of a word. `realtime` (in): `word` of a packet, the last one with `last`; taken in a cycle with
    `valid` and `ready` (out). The words of a packet come in consecutive cycles; then `ready` is low for as long as two
    packets are to be apart. `auxiliary` (in): `bits` of a packet likewise, whose sender has the next ones at once.
    `line` (out, `9 * characters` bits): the word of this cycle, its first character lowest."""

    def __init__(self, characters):
        self.submodules.turns = turns = Turns(characters)
        self.realtime, self.auxiliary = turns.realtime, turns.auxiliary
        self.line = Signal(CHARACTER_BITS * characters)

        # # #

        realtime, auxiliary, sends = self.realtime, self.auxiliary, turns.sends
        state, bits = Signal(SCRAMBLER_BITS, reset=1), Signal(CONTROL_BITS * characters)
        data, controls = _Scrambler(len(realtime.word), True), _Scrambler(len(bits), True)
        self.submodules += data, controls
        line = [Signal(CHARACTER_BITS, name=f"character_{n}") for n in range(characters)]
        self.comb += [
            data.state.eq(state),
            data.data.eq(realtime.word),
            controls.state.eq(state),
            controls.data.eq(bits),
        ]
        for n, character in enumerate(line):
            of_character = controls.out[n * CONTROL_BITS : (n + 1) * CONTROL_BITS]
            inside = Cat(auxiliary.bits[n * AUXILIARY_BITS : (n + 1) * AUXILIARY_BITS], C(0, 1))
            self.comb += [
                bits[n * CONTROL_BITS : (n + 1) * CONTROL_BITS].eq(Mux(turns.goes_on, inside, C(IDLE, CONTROL_BITS))),
                Case(of_character, {m: character.eq(code) for m, code in enumerate(_table(n))}),
            ]
        self.sync += [
            state.eq(Mux(sends, data.after, controls.after)),
            [
                self.line[n * CHARACTER_BITS : (n + 1) * CHARACTER_BITS].eq(
                    Mux(sends, Cat(data.out[n * _DATA_BITS : (n + 1) * _DATA_BITS], C(0, 1)), character)
                )
                for n, character in enumerate(line)
            ],
        ]


class WordReceiver(Module):
    """characters: of a word. `line` (in, `9 * characters` bits): a word in each cycle in which the line is
    `aligned` (in), with `invalid` (in) if a character of it is wrong. `realtime` (out): `word` in a cycle with `valid`;
    a cycle without ends the packet. `auxiliary` (out): `bits` in a cycle with `valid`. `idle` (out): there is no
    auxiliary packet in this cycle. `wrong` (out): the word had characters that do not go together; until 23 bits after
    it, and after the beginning, there is nothing on the other outputs."""

    def __init__(self, characters):
        check_characters(characters)
        self.line = Signal(CHARACTER_BITS * characters)
        self.invalid, self.aligned, self.idle, self.wrong = Signal(), Signal(), Signal(), Signal()
        self.realtime, self.auxiliary = self.outputs(characters)

        # # #

        of_line = [self.line[n * CHARACTER_BITS : (n + 1) * CHARACTER_BITS] for n in range(characters)]
        state, known = Signal(SCRAMBLER_BITS), Signal(max=SCRAMBLER_BITS + 1)
        received = [Signal(CONTROL_BITS, name=f"received_{n}") for n in range(characters)]
        listed = [Signal(name=f"listed_{n}") for n in range(characters)]
        for n, character in enumerate(of_line):
            codes = {code: [received[n].eq(m), listed[n].eq(1)] for m, code in enumerate(_table(n))}
            self.comb += Case(character, codes)
        data = _Scrambler(_DATA_BITS * characters, False)
        controls = _Scrambler(CONTROL_BITS * characters, False)
        self.submodules += data, controls
        of_bits = [controls.out[n * CONTROL_BITS : (n + 1) * CONTROL_BITS] for n in range(characters)]
        is_data, is_control, is_idle, is_inside, trusted, bad = [Signal() for _ in range(6)]
        self.comb += [
            data.state.eq(state),
            data.data.eq(Cat(*[character[:_DATA_BITS] for character in of_line])),
            controls.state.eq(state),
            controls.data.eq(Cat(*received)),
            is_data.eq(~reduce(or_, [character[-1] for character in of_line])),
            is_control.eq(reduce(and_, listed)),
            is_idle.eq(reduce(and_, [three == IDLE for three in of_bits])),
            is_inside.eq(reduce(and_, [~three[-1] for three in of_bits])),
            trusted.eq(known == SCRAMBLER_BITS),
            bad.eq(self.invalid | ~(is_data | is_control) | (trusted & is_control & ~is_idle & ~is_inside)),
        ]
        after = Signal(max=SCRAMBLER_BITS + _DATA_BITS * characters + 1)
        self.comb += after.eq(known + Mux(is_data, _DATA_BITS * characters, CONTROL_BITS * characters))
        good = self.aligned & ~bad & trusted
        self.sync += [
            self.realtime.valid.eq(good & is_data),
            self.realtime.word.eq(data.out),
            self.auxiliary.valid.eq(good & is_control & is_inside),
            self.auxiliary.bits.eq(Cat(*[three[:AUXILIARY_BITS] for three in of_bits])),
            self.idle.eq(good & is_control & is_idle),
            self.wrong.eq(self.aligned & bad),
            state.eq(Mux(is_data, data.after, controls.after)),
            If(~self.aligned | bad, known.eq(0))
            .Elif(after > SCRAMBLER_BITS, known.eq(SCRAMBLER_BITS))
            .Else(known.eq(after)),
        ]

    @staticmethod
    def outputs(characters):
        """Records for `realtime` and `auxiliary`."""
        realtime = Record([("valid", 1), ("word", _DATA_BITS * characters)])
        return realtime, Record([("valid", 1), ("bits", AUXILIARY_BITS * characters)])
