"""One end of a link: vectors of several streams go in and come out; between are words with check bits.

A stream that is `credited` has a FIFO at the other end, and waits for room in it. One that is not (interrupts, whose
newest state is all that counts) is always taken.

Latency, of a vector that nobody hinders: accepted → word 1; word in → vector at the FIFO's output 4.
"""

from dataclasses import dataclass

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from .credits import CreditsFreed, CreditsHeld
from .gearbox import Depacketiser, Forms, Packetiser
from .multiplexer import Multiplexer
from .secded import Decoder, Encoder
from .word import CHECK_BITS, PAYLOAD_BITS, STREAM_BITS, WORD_BITS, word_layout

__all__ = ["CREDITS", "Endpoint", "Stream"]

CREDITS = 2**STREAM_BITS - 1
"""The stream of credits."""


@dataclass(frozen=True)
class Stream:
    """number: 1 to 6, a stream's own in its direction. rank: of the multiplexer, 0 first. depth: vectors that the
    receiver has room for; 0: not credited."""

    name: str
    number: int
    forms: Forms
    rank: int
    depth: int = 0


class Endpoint(Module):
    """outgoing, incoming: lists of `Stream`; the other end has them the other way round.

    `sink[name]`: a vector to send, with `ready`. `source[name]`: one that has come; of a credited stream it stays until
    `ready`. `out`: word to the line coder, with `ready`; `into`: from it. `corrected`, `broken`: of the word that came,
    for a cycle; a broken word is dropped.
    """

    def __init__(self, outgoing, incoming):
        self.out = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.into = Record([("valid", 1), ("word", WORD_BITS)])
        self.corrected = Signal()
        self.broken = Signal()
        self.sink = {stream.name: self._port(stream) for stream in outgoing}
        self.source = {stream.name: self._port(stream) for stream in incoming}

        # # #

        credited_out = [stream for stream in outgoing if stream.depth]
        credited_in = [stream for stream in incoming if stream.depth]
        self.submodules.held = held = CreditsHeld([stream.depth for stream in credited_out])
        self.submodules.freed = freed = CreditsFreed([stream.depth for stream in credited_in])
        ranks = sorted({stream.rank for stream in outgoing} | {1})
        numbers = [[s.number for s in outgoing if s.rank == rank] + [CREDITS] * (rank == 1) for rank in ranks]
        self.submodules.multiplexer = Multiplexer(numbers)
        self.comb += [
            self.multiplexer.valid[CREDITS].eq(freed.due),
            self.multiplexer.payload[CREDITS].eq(freed.counts),
            freed.sent.eq(self.multiplexer.ready[CREDITS]),
        ]
        for stream in outgoing:
            credit = credited_out.index(stream) if stream.depth else None
            self._send(stream, None if credit is None else (held.available[credit], held.spent[credit]))
        self._encode()
        word = self._decode()
        self.comb += [held.valid.eq(word.stream == CREDITS), held.returned.eq(word.payload)]
        for stream in incoming:
            self._receive(stream, word, freed.freed[credited_in.index(stream)] if stream.depth else None)

    @staticmethod
    def _port(stream):
        return Record([("valid", 1), ("ready", 1), *stream.forms.layout()], name=stream.name)

    def _send(self, stream, credit):
        sink, packetiser = self.sink[stream.name], Packetiser(stream.forms)
        self.submodules += packetiser
        available, spent = credit or (C(1), Signal())
        self.comb += [
            packetiser.vector.valid.eq(sink.valid & available),
            packetiser.vector.form.eq(sink.form),
            packetiser.vector.data.eq(sink.data),
            sink.ready.eq(packetiser.vector_ready & available),
            spent.eq(sink.valid & sink.ready),
            self.multiplexer.valid[stream.number].eq(packetiser.word.valid),
            self.multiplexer.payload[stream.number].eq(packetiser.word.payload),
            packetiser.word_ready.eq(self.multiplexer.ready[stream.number]),
        ]

    def _encode(self):
        self.submodules.encoder = encoder = Encoder(PAYLOAD_BITS + STREAM_BITS, CHECK_BITS)
        self.comb += [
            encoder.data.eq(self.multiplexer.word.raw_bits()),
            self.multiplexer.word_ready.eq(~self.out.valid | self.out.ready),
        ]
        self.sync += If(
            self.multiplexer.word_ready,
            self.out.valid.eq(self.multiplexer.any),
            self.out.word.eq(encoder.word),
        )

    def _decode(self):
        """The word that has come, corrected; its stream is 0 if there is none."""
        self.submodules.decoder = decoder = Decoder(PAYLOAD_BITS + STREAM_BITS, CHECK_BITS)
        word, decoded = Record(word_layout()), Record(word_layout())
        self.comb += [decoder.word.eq(self.into.word), decoded.raw_bits().eq(decoder.data)]
        self.sync += [
            self.corrected.eq(self.into.valid & decoder.corrected),
            self.broken.eq(self.into.valid & decoder.broken),
            word.payload.eq(decoded.payload),
            word.stream.eq(Mux(self.into.valid & ~decoder.broken, decoded.stream, 0)),
        ]
        return word

    def _receive(self, stream, word, freed):
        source, depacketiser = self.source[stream.name], Depacketiser(stream.forms)
        self.submodules += depacketiser
        vector = depacketiser.vector
        self.comb += [
            depacketiser.word.valid.eq(word.stream == stream.number),
            depacketiser.word.payload.eq(word.payload),
        ]
        if freed is None:
            self.comb += [source.valid.eq(vector.valid), source.form.eq(vector.form), source.data.eq(vector.data)]
            return
        fifo = SyncFIFOBuffered(len(vector.form) + len(vector.data), stream.depth)
        self.submodules += fifo
        self.comb += [
            fifo.din.eq(Cat(vector.form, vector.data)),
            fifo.we.eq(vector.valid),
            source.valid.eq(fifo.readable),
            Cat(source.form, source.data).eq(fifo.dout),
            fifo.re.eq(source.ready),
            freed.eq(source.valid & source.ready),
        ]
