"""Benches for tests and figures of a link: a near and a far bridge with a simulated fibre between
them, endless bursts over it, and endless vectors over an endpoint."""

from functools import reduce
from operator import add

from migen import *

from ..link.line.bonded import LANE_BITS, BondedRequester, BondedServer
from ..link.line.bridge import BridgeRequester, BridgeServer
from ..link.line.coding import LineReceiver, LineTransmitter
from ..link.line.endpoint import Endpoint, Stream
from ..link.line.gearbox import Forms

__all__ = ["STREAMS", "BondedPair", "BridgePair", "BridgeTraffic", "Chance", "StreamTraffic"]

BURSTS_UNDER_WAY = 64


class BridgePair(Module):
    """delay: cycles that a word is in flight. `flips_there`, `flips_back`: bits to invert in the
    arriving words. coded: the link carries blocks of the line coder instead of words."""

    def __init__(self, delay=1, coded=False, **options):
        self.submodules.near = near = BridgeRequester(**options)
        self.submodules.far = far = BridgeServer(**options)
        self.flips_there, self.flips_back = Signal(64), Signal(64)
        join = self._join_coded if coded else self._join
        join(near.endpoint, far.endpoint, delay, self.flips_there)
        join(far.endpoint, near.endpoint, delay, self.flips_back)

    def _late(self, signal, delay):
        for _ in range(delay - 1):
            before, signal = signal, Signal.like(signal)
            self.sync += signal.eq(before)
        return signal

    def _join(self, source, sink, delay, flips):
        self.comb += [
            source.out.ready.eq(1),
            sink.into.valid.eq(self._late(source.out.valid, delay)),
            sink.into.word.eq(self._late(source.out.word, delay) ^ flips),
        ]

    def _join_coded(self, source, sink, delay, flips):
        transmitter, receiver = LineTransmitter(), LineReceiver()
        self.submodules += transmitter, receiver
        self.comb += [
            transmitter.word.valid.eq(source.out.valid),
            transmitter.word.word.eq(source.out.word),
            source.out.ready.eq(transmitter.word.ready),
            receiver.line.eq(self._late(transmitter.line, delay) ^ flips),
            sink.into.valid.eq(receiver.word.valid),
            sink.into.word.eq(receiver.word.word),
        ]


class BondedPair(Module):
    """Two ends with several lanes, each with line coders. skews: bits by which each lane is late, beyond `delay`
    cycles, one for each lane. `cut`: a bit for each lane whose line carries nothing, towards the far end."""

    def __init__(self, skews, delay=1, **options):
        self.submodules.near = near = BondedRequester(len(skews), **options)
        self.submodules.far = far = BondedServer(len(skews), **options)
        self.cut = Signal(len(skews))

        # # #

        for n, skew in enumerate(skews):
            self._join(near.endpoints[n], far.endpoints[n], far.lines[n], 64 * delay + skew, self.cut[n])
            self._join(far.endpoints[n], near.endpoints[n], near.lines[n], 64 * delay + skew, 0)

    def _join(self, source, sink, carries, bits, cut):
        transmitter, receiver = LineTransmitter(), LineReceiver()
        self.submodules += transmitter, receiver
        line, cycles, rest = transmitter.line, *divmod(bits, 64)
        for _ in range(cycles):
            before, line = line, Signal.like(line)
            self.sync += line.eq(before)
        earlier = Signal.like(line)
        self.sync += earlier.eq(line)
        self.comb += [
            transmitter.word.valid.eq(source.out.valid),
            transmitter.word.word.eq(source.out.word),
            source.out.ready.eq(transmitter.word.ready),
            receiver.line.eq(Mux(cut, 0, (Cat(earlier, line) >> (64 - rest))[:64] if rest else line)),
            carries.eq(receiver.up),
            sink.into.valid.eq(receiver.word.valid),
            sink.into.word.eq(receiver.word.word),
        ]


class BridgeTraffic(Module):
    """Back-to-back bursts. pair: of bridges, by default `BridgePair` with the options. `beats`: of each;
    `writes`, `reads`: enable each kind. `written`, `read`: beats that have arrived; `wrong`: beats with other data
    than were sent. `levels`: of the interrupts at the far end; `levels_seen`: at the near end. restarts: bursts of
    ends with `up` begin anew with the link. `torn`: beats whose parts of 64 bits are not those of one beat."""

    def __init__(self, pair=None, restarts=False, **options):
        self.submodules.pair = pair = pair or BridgePair(**options)
        near, far = pair.near.axi, pair.far.axi
        self.torn = Signal(32)
        self.beats, self.writes, self.reads = Signal(9), Signal(), Signal()
        self.written, self.read, self.wrong = Signal(32), Signal(32), Signal(32)
        self.levels, self.levels_seen = pair.far.interrupts, pair.near.interrupts

        # # #

        near_down, far_down = (~pair.near.up, ~pair.far.up) if restarts else (C(0), C(0))
        self._bursts(near.w, near_down)
        self._bursts(far.r, far_down)
        announced, ended = Signal(32), Signal(32)  # bursts of writes, at the near end
        wanted, had = Signal(32), Signal(32)  # bursts of reads, at the near end
        asked, answered = Signal(32), Signal(32)  # the same at the far end
        self.comb += [
            near.aw.valid.eq(self.writes & (announced - ended < BURSTS_UNDER_WAY)),
            near.w.valid.eq(announced != ended),
            near.aw.len.eq(self.beats - 1),
            near.w.strb.eq(2 ** len(near.w.strb) - 1),
            near.ar.valid.eq(self.reads & (wanted - had < BURSTS_UNDER_WAY)),
            near.ar.len.eq(self.beats - 1),
            near.b.ready.eq(1),
            near.r.ready.eq(1),
            far.aw.ready.eq(1),
            far.w.ready.eq(1),
            far.ar.ready.eq(1),
            far.r.valid.eq(asked != answered),
        ]
        ends = Signal(32)  # of bursts, not answered yet
        self.comb += far.b.valid.eq(ends != 0)
        self.sync += [
            ends.eq(ends + (far.w.valid & far.w.last) - (far.b.valid & far.b.ready)),
            announced.eq(announced + (near.aw.valid & near.aw.ready)),
            ended.eq(ended + (near.w.valid & near.w.ready & near.w.last)),
            wanted.eq(wanted + (near.ar.valid & near.ar.ready)),
            had.eq(had + (near.r.valid & near.r.ready & near.r.last)),
            asked.eq(asked + (far.ar.valid & far.ar.ready)),
            answered.eq(answered + (far.r.valid & far.r.ready & far.r.last)),
            If(near_down, announced.eq(0), ended.eq(0), wanted.eq(0), had.eq(0)),
            If(far_down, asked.eq(0), answered.eq(0), ends.eq(0)),
            self.torn.eq(self.torn + (far.w.valid & self._torn(far.w.data)) + (near.r.valid & self._torn(near.r.data))),
            self.written.eq(self.written + far.w.valid),
            self.read.eq(self.read + near.r.valid),
            self.wrong.eq(
                self.wrong
                + (far.w.valid & (far.w.data != self._nth(self.written, len(far.w.data))))
                + (near.r.valid & (near.r.data != self._nth(self.read, len(near.r.data))))
            ),
        ]

    @staticmethod
    def _nth(count, width):
        """Return the data of a beat: other ones for each 64 bits."""
        return Cat(*[bits for n in range(width // LANE_BITS) for bits in (count ^ n << 29, ~count)])

    def _torn(self, data):
        count = data[: LANE_BITS // 2]
        return data != self._nth(count, len(data))

    def _bursts(self, channel, down):
        beat, sent = Signal(9), Signal(32)
        self.comb += [channel.last.eq(beat == self.beats - 1), channel.data.eq(self._nth(sent, len(channel.data)))]
        self.sync += If(
            channel.valid & channel.ready,
            sent.eq(sent + 1),
            If(channel.last, beat.eq(0)).Else(beat.eq(beat + 1)),
        )
        self.sync += If(down, beat.eq(0))


_COUNT_BITS = 24
STREAMS = [
    Stream("event", 1, Forms(event=110), 0, 64),
    Stream("state", 2, Forms(state=30), 0),
    Stream("bulk", 3, Forms(beat=64, last=64, other=73), 2, 512),
    Stream("request", 4, Forms(request=99), 2, 16),
    Stream("answer", 5, Forms(answer=26), 2, 32),
]
_OFFERED = {"event": 40, "state": 3, "bulk": 256, "request": 20, "answer": 100}
"""Number of cycles out of 256 in which a vector is offered."""


class Chance(Module):
    """`yes` in `share` of 256 cycles, a number or a signal; `state`: random bits. From a shift
    register (x^32 + x^22 + x^2 + x + 1)."""

    def __init__(self, share, seed):
        self.state = state = Signal(32, reset=0x9E3779B9 * (2 * seed + 1) & 0xFFFF_FFFF)
        self.yes = Signal()

        # # #

        bits = [state[n] for n in range(32)]
        for _ in range(8):
            bits = [bits[31] ^ bits[21] ^ bits[1] ^ bits[0], *bits[:31]]
        self.sync += state.eq(Cat(*bits))
        self.comb += self.yes.eq(state[:8] < share)


class StreamTraffic(Module):
    """An endpoint that offers numbered vectors on all streams while `offering`, and accepts
    received ones at random times. `sent`, `received`: vectors, by stream. `gaps`: how often a
    number was missing; `wrong`: vectors with an invalid or a repeated number."""

    def __init__(self, seed, **options):
        self.submodules.endpoint = endpoint = Endpoint(STREAMS, STREAMS, **options)
        self.offering = Signal()
        self.sent, self.received = [], []
        self.gaps, self.wrong = Signal(32), Signal(32)

        # # #

        found = []
        for n, stream in enumerate(STREAMS):
            self.sent.append(self._offer(stream, endpoint.sink[stream.name], 2 * n + 100 * seed))
            found.append(self._take(stream, endpoint.source[stream.name], 2 * n + 1 + 100 * seed))
        self.sync += [
            self.gaps.eq(self.gaps + reduce(add, [gap for gap, _ in found])),
            self.wrong.eq(self.wrong + reduce(add, [wrong for _, wrong in found])),
        ]

    @staticmethod
    def _data(number, width):
        copies = -(-width // _COUNT_BITS)
        return Cat(*[number ^ (0x5A5A5A * copy & 2**_COUNT_BITS - 1) for copy in range(copies)])[:width]

    def _offer(self, stream, sink, seed):
        number, sent, held = Signal(_COUNT_BITS), Signal(32), Signal()
        self.submodules += (chance := Chance(_OFFERED[stream.name], seed))
        forms = list(stream.forms.tags.values())
        self.comb += [
            sink.valid.eq(held),
            sink.data.eq(self._data(number, stream.forms.data_bits)),
            Case(number[:4], {"default": sink.form.eq(forms[0])} | {n: sink.form.eq(f) for n, f in enumerate(forms)}),
        ]
        moves = sink.valid & sink.ready
        self.sync += [
            If(moves, number.eq(number + 1), sent.eq(sent + 1)),
            If(moves | ~held, held.eq(chance.yes & self.offering)),
        ]
        return sent

    def _take(self, stream, source, seed):
        expected, received, step = Signal(_COUNT_BITS), Signal(32), Signal(_COUNT_BITS)
        number, width = source.data[:_COUNT_BITS], min(stream.forms.widths.values())
        self.submodules += (chance := Chance(230, seed))
        takes, fits = Signal(), Signal()
        self.comb += [
            source.ready.eq(chance.yes),
            takes.eq(source.valid & (source.ready if stream.depth else 1)),
            fits.eq(source.data[:width] == self._data(number, width)),
            step.eq(number - expected),
        ]
        self.sync += If(takes, expected.eq(number + 1), received.eq(received + 1))
        self.received.append(received)
        late = step[_COUNT_BITS - 1]
        return takes & fits & (step != 0) & ~late, takes & (~fits | late)
