"""Distributes each word of the stream to the channels that it names, all at once. Clock domain sys.

A word is accepted only when every channel that it names has room: none loses it, none gets it
twice. A word that names no channel, or only channels that do not exist, is dropped.
"""

from functools import reduce
from operator import and_

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ..contracts import pulse as facts
from .words import channels_of

__all__ = ["Demultiplexer"]


class Demultiplexer(Module):
    """`valid` (in), `ready` (out), `word` (in, 256 bits): the stream. fifos: of each channel, `readable`,
    `re`, `dout`."""

    def __init__(self, channels=facts.CHANNELS, depth=facts.INPUT_FIFO):
        self.valid, self.ready = Signal(), Signal()
        self.word = Signal(facts.WORD_BITS)
        self.fifos = [SyncFIFOBuffered(facts.WORD_BITS, depth) for _ in range(channels)]
        self.submodules += self.fifos

        # # #

        named = channels_of(self.word)
        self.comb += self.ready.eq(reduce(and_, [~named[c] | fifo.writable for c, fifo in enumerate(self.fifos)]))
        for c, fifo in enumerate(self.fifos):
            self.comb += [fifo.din.eq(self.word), fifo.we.eq(self.valid & self.ready & named[c])]
