"""The link layer of DRTIO in the emulator (`words.py` otherwise): what goes in a cycle is a word of the emulated line
as it is, and there is none in an idle cycle, so that time can be skipped. Clock domain sys.

    kind, 2 bits: 1 real time, 2 auxiliary │ bits
"""

from migen import *

from ..line.word import WORD_BITS
from .words import Turns, WordReceiver

__all__ = ["PlainReceiver", "PlainTransmitter"]

_KIND_BITS = 2
_REALTIME, _AUXILIARY = 1, 2


class PlainTransmitter(Module):
    """characters, `realtime`, `auxiliary`: as of a `WordTransmitter`. `valid` (out): there is a word in this cycle,
    `line` (out, 64 bits)."""

    def __init__(self, characters):
        self.submodules.turns = turns = Turns(characters)
        self.realtime, self.auxiliary = turns.realtime, turns.auxiliary
        self.line, self.valid = Signal(WORD_BITS), Signal()

        # # #

        word, bits = self.realtime.word, self.auxiliary.bits
        self.sync += [
            self.valid.eq(turns.sends | turns.goes_on),
            self.line.eq(Mux(turns.sends, Cat(C(_REALTIME, _KIND_BITS), word), Cat(C(_AUXILIARY, _KIND_BITS), bits))),
        ]


class PlainReceiver(Module):
    """characters, `realtime` (out), `auxiliary` (out), `idle` (out), `wrong` (out): as of a `WordReceiver`. `valid`
    (in): there is a word in this cycle, `line` (in, 64 bits), and the line is `aligned` (in)."""

    def __init__(self, characters):
        self.line, self.valid, self.aligned = Signal(WORD_BITS), Signal(), Signal()
        self.idle, self.wrong = Signal(), Signal()
        self.realtime, self.auxiliary = WordReceiver.outputs(characters)

        # # #

        kind, content = self.line[:_KIND_BITS], self.line[_KIND_BITS:]
        known = (kind == _REALTIME) | (kind == _AUXILIARY)
        self.sync += [
            self.realtime.valid.eq(self.aligned & self.valid & (kind == _REALTIME)),
            self.realtime.word.eq(content),
            self.auxiliary.valid.eq(self.aligned & self.valid & (kind == _AUXILIARY)),
            self.auxiliary.bits.eq(content),
            self.idle.eq(self.aligned & ~self.valid),
            self.wrong.eq(self.aligned & self.valid & ~known),
        ]
