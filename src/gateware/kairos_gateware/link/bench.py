"""A near and a far bridge with a word channel between, for tests and figures."""

from migen import *

from .bridge import FarBridge, NearBridge

__all__ = ["BridgePair", "BridgeTraffic"]

BURSTS_UNDER_WAY = 64


class BridgePair(Module):
    """delay: cycles that a word is under way. `flips_there`, `flips_back`: bits to invert in the words that arrive."""

    def __init__(self, delay=1, **options):
        self.submodules.near = near = NearBridge(**options)
        self.submodules.far = far = FarBridge(**options)
        self.flips_there, self.flips_back = Signal(64), Signal(64)
        self._join(near.endpoint, far.endpoint, delay, self.flips_there)
        self._join(far.endpoint, near.endpoint, delay, self.flips_back)

    def _join(self, source, sink, delay, flips):
        valid, word = source.out.valid, source.out.word
        for _ in range(delay - 1):
            next_valid, next_word = Signal(), Signal.like(word)
            self.sync += [next_valid.eq(valid), next_word.eq(word)]
            valid, word = next_valid, next_word
        self.comb += [source.out.ready.eq(1), sink.into.valid.eq(valid), sink.into.word.eq(word ^ flips)]


class BridgeTraffic(Module):
    """Bursts without pause. `beats`: of each; `writes`, `reads`: what is asked for. `written`, `read`: beats that have
    arrived; `wrong`: those with other data than were sent."""

    def __init__(self, **options):
        self.submodules.pair = pair = BridgePair(**options)
        near, far = pair.near.axi, pair.far.axi
        self.beats, self.writes, self.reads = Signal(9), Signal(), Signal()
        self.written, self.read, self.wrong = Signal(32), Signal(32), Signal(32)

        # # #

        self._bursts(near.w)
        self._bursts(far.r)
        announced, ended = Signal(32), Signal(32)  # bursts of writes, at the near end
        wanted, had = Signal(32), Signal(32)  # bursts of reads, at the near end
        asked, answered = Signal(32), Signal(32)  # the same at the far end
        self.comb += [
            near.aw.valid.eq(self.writes & (announced - ended < BURSTS_UNDER_WAY)),
            near.w.valid.eq(announced != ended),
            near.aw.len.eq(self.beats - 1),
            near.w.strb.eq(2**8 - 1),
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
            self.written.eq(self.written + far.w.valid),
            self.read.eq(self.read + near.r.valid),
            self.wrong.eq(
                self.wrong
                + (far.w.valid & (far.w.data != self._nth(self.written)))
                + (near.r.valid & (near.r.data != self._nth(self.read)))
            ),
        ]

    @staticmethod
    def _nth(count):
        return Cat(count, ~count)

    def _bursts(self, channel):
        beat, sent = Signal(9), Signal(32)
        self.comb += [channel.last.eq(beat == self.beats - 1), channel.data.eq(self._nth(sent))]
        self.sync += If(
            channel.valid & channel.ready,
            sent.eq(sent + 1),
            If(channel.last, beat.eq(0)).Else(beat.eq(beat + 1)),
        )
