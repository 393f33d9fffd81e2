"""One end of a link: vectors of several streams in and out; words with check bits in between.

A `credited` stream has a FIFO at the other end and waits for room in it. One that is not credited
(interrupts, of which only the latest state matters) is always accepted.

A vector of one word that is not delayed by others reaches the output of the FIFO 7 cycles plus the
delay of the line after it was accepted; with retransmission, 13.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from .credits import CreditsFreed, CreditsHeld
from .gearbox import Forms
from .multiplexer import Multiplexer
from .reliable import Plain, Reliable
from .simple import make_depacketiser, make_packetiser
from .word import CREDITS

__all__ = ["Endpoint", "Stream"]

_CREDITS_RANK = 1


def _lane(rank, lanes):
    """Lane of a rank: credits and everything of higher priority have a lane of their own, if there
    are two."""
    return min(int(rank > _CREDITS_RANK), lanes - 1)


@dataclass(frozen=True)
class Stream:
    """number: 1 to 6, unique per direction. rank: priority in the multiplexer, 0 first. depth:
    vectors for which the receiver has room; 0: not credited."""

    name: str
    number: int
    forms: Forms
    rank: int
    depth: int = 0


class Endpoint(Module):
    """outgoing, incoming: lists of `Stream`, swapped at the other end. reliability: `Reliability`,
    or None: broken words are lost.

    `sink[name]`: a vector to send, with `ready`. `source[name]`: a received vector; if the stream is
    credited, held until `ready`. `out`: word to the line coder, with `ready`; `into`: word from it. `line`:
    the line carries words. `corrected`, `broken`: state of the received word, for a cycle. `up`: the link
    is established; while it is not, nothing is accepted, and vectors in flight are lost. `transport`: `Plain`
    or `Reliable`, for further status. `moving` (out): as of the transport, or vectors are in transit.
    `leaving[name]`: words of the stream are still to be passed to the transport. `credits[name]`: for a
    credited stream, vectors for which the other end has room.
    """

    def __init__(self, outgoing, incoming, reliability=None):
        self.sink = {stream.name: self._port(stream) for stream in outgoing}
        self.source = {stream.name: self._port(stream) for stream in incoming}
        if reliability is None:
            self.submodules.transport = transport = Plain()
        else:
            second = [stream.number for stream in incoming if stream.rank > _CREDITS_RANK]
            self.submodules.transport = transport = Reliable(reliability, second)
        self.out, self.into, self.up, self.line = transport.out, transport.into, transport.up, transport.line
        self.corrected, self.broken = transport.corrected, transport.broken
        self.leaving = {stream.name: Signal(name=f"leaving_{stream.name}") for stream in outgoing}
        self.submodules.streams = streams = ResetInserter()(_Streams(self, outgoing, incoming))
        credited = [stream.name for stream in outgoing if stream.depth]
        self.credits = dict(zip(credited, streams.held.left, strict=True))

        # # #

        moves = [port.valid & port.ready for port in self.sink.values()]
        for stream in incoming:
            port = self.source[stream.name]
            moves.append(port.valid & (port.ready if stream.depth else 1))
        self.moving = Signal()
        self.comb += [streams.reset.eq(~self.up), self.moving.eq(reduce(or_, [transport.moving, *moves]))]

    @staticmethod
    def _port(stream):
        return Record([("valid", 1), ("ready", 1), *stream.forms.layout()], name=stream.name)


class _Streams(Module):
    """Everything between the vectors of an endpoint and the words of its transport."""

    def __init__(self, endpoint, outgoing, incoming):
        self.sink, self.source, self.up = endpoint.sink, endpoint.source, endpoint.up
        self.leaving = endpoint.leaving

        # # #

        transport = endpoint.transport
        credited_out = [stream for stream in outgoing if stream.depth]
        credited_in = [stream for stream in incoming if stream.depth]
        self.submodules.held = held = CreditsHeld([stream.depth for stream in credited_out])
        self.submodules.freed = freed = CreditsFreed([stream.depth for stream in credited_in])
        multiplexers = self._multiplexers(transport, outgoing)
        first = multiplexers[CREDITS]
        self.comb += [
            first.valid[CREDITS].eq(freed.due),
            first.payload[CREDITS].eq(freed.counts),
            freed.sent.eq(first.ready[CREDITS]),
        ]
        for stream in outgoing:
            credit = credited_out.index(stream) if stream.depth else None
            pool = None if credit is None else (held.available[credit], held.spent[credit])
            self._send(stream, multiplexers[stream.number], pool)
        word = transport.sources[0]
        self.comb += [held.valid.eq(word.stream == CREDITS), held.returned.eq(word.payload)]
        for stream in incoming:
            word = transport.sources[_lane(stream.rank, len(transport.sources))]
            self._receive(stream, word, freed.freed[credited_in.index(stream)] if stream.depth else None)

    def _multiplexers(self, transport, outgoing):
        """Returns a multiplexer for each lane of the transport that has streams, by stream number."""
        found = {}
        for lane, (word, any_, ready) in enumerate(transport.sinks):
            numbers = {}
            for rank, number in [*[(stream.rank, stream.number) for stream in outgoing], (_CREDITS_RANK, CREDITS)]:
                numbers.setdefault(rank, []).append(number)
            ranks = [numbers[rank] for rank in sorted(numbers) if _lane(rank, len(transport.sinks)) == lane]
            if not ranks:
                continue
            self.submodules += (multiplexer := Multiplexer(ranks))
            self.comb += [word.eq(multiplexer.word), any_.eq(multiplexer.any), multiplexer.word_ready.eq(ready)]
            found |= {number: multiplexer for rank in ranks for number in rank}
        return found

    def _send(self, stream, multiplexer, credit):
        sink, packetiser = self.sink[stream.name], make_packetiser(stream.forms)
        self.submodules += packetiser
        available, spent = credit or (C(1), Signal())
        self.comb += [
            packetiser.vector.valid.eq(sink.valid & available),
            packetiser.vector.form.eq(sink.form),
            packetiser.vector.data.eq(sink.data),
            sink.ready.eq(packetiser.vector_ready & available & self.up),
            self.leaving[stream.name].eq(packetiser.word.valid),
            spent.eq(sink.valid & sink.ready),
            multiplexer.valid[stream.number].eq(packetiser.word.valid),
            multiplexer.payload[stream.number].eq(packetiser.word.payload),
            packetiser.word_ready.eq(multiplexer.ready[stream.number]),
        ]

    def _receive(self, stream, word, freed):
        source, depacketiser = self.source[stream.name], make_depacketiser(stream.forms)
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
