"""Converts beats to requests: checks a slot's contents and holds them until the core accepts them.

    beat 0     target, data word 0
    beat 1     time
    beat 2     2 * number of the request, command, number of data words; data word 1
    beat 3 …   two data words each

`request` is valid in the same cycle in which the last beat that it needs is consumed. Words beyond
the request's own are zero, whatever the slot holds. A slot with an unexpected number is skipped
(`missed`). A request that could not be read is not offered but answered at once (`unreadable`).

Throughput: one beat per cycle. Clock domain sys; while `enable` is 0 all state is cleared.
"""

from litex.soc.interconnect import stream
from migen import *

from ..contracts.initiator import CREDIT, MAX_WORDS, NUMBER_BITS, SLOTS, Command
from .fetch import FIRST_BEATS

__all__ = ["REQUEST", "Receiver"]

INPUT, POSTED = int(Command.INPUT), int(Command.POSTED)
REQUEST = [("target", 32), ("time", 64), ("data", 32 * MAX_WORDS), ("is_input", 1)]
"""Fields of a slot's request; the data of an input is the number of the newest entry consumed."""


class Receiver(Module):
    """reader: `SlotReader`, whose beats are consumed.

    `enable` (in): 0 clears all state. `request` (out): stream of REQUEST. `number` (out, 16 bits),
    `posted`, `is_input` (out) are those of the last complete request, until the next one is complete;
    `limit` (out, 15 bits) is `number` + CREDIT. `busy` (in): the core works on it, so that an input's
    answer is not overtaken; set by the consumer of requests. For one cycle: `unreadable` (out): a request
    could not be read, and is answered at once; `missed` (out): the slot has another number than the
    expected one; `failed_beat` (out): a beat could not be read. `soon` (out): a request may be offered in
    this cycle. `holding` (out): it is on offer and was not accepted. `asks` (out): an input's request is on
    offer, if its number is the expected one, which is known only late in the cycle.
    """

    def __init__(self, reader):
        self.enable = Signal()
        self.busy = Signal()
        self.request = request = stream.Endpoint(REQUEST)
        self.number = Signal(16)
        self.limit = Signal(NUMBER_BITS)
        self.posted = Signal()
        self.is_input = Signal()
        self.unreadable = Signal()
        self.missed = Signal()
        self.failed_beat = Signal()
        self.soon = Signal()
        self.holding = Signal()
        self.asks = Signal()

        # # #

        beats = reader.beats
        index = Signal(4)  # of the beat that is received, within the event
        expected = Signal(16, reset=1)  # number of the event that is being received
        first_beats = Signal(4, reset=FIRST_BEATS)
        failed = Signal()
        consume, take, head, complete = Signal(), Signal(), Signal(), Signal()
        short = Signal()  # beat 2 is the last one
        match = Signal()
        bad = Signal()
        word, last = beats.word, beats.last
        head_number, head_command, head_words = word[1:16], word[16:24], word[24:32]
        self.submodules.surplus = surplus = SurplusBeats(reader, consume, complete, self.missed)
        self.comb += surplus.enable.eq(self.enable)
        self.submodules.extent = extent = RequestExtent(head_command, head_words, index == 2)
        self.comb += [
            reader.expected.eq(expected),
            reader.index.eq(index),
            reader.first_beats.eq(first_beats),
            beats.ready.eq(~self.holding & ~reader.flush & ~(self.busy & self.is_input)),
            consume.eq(beats.valid & beats.ready),
            take.eq(consume & ~surplus.skip),
            head.eq(take & (index == 2)),
            extent.head.eq(head),
            self.is_input.eq(extent.is_input),
            bad.eq(failed | beats.failed),
            match.eq(bad | (head_number == expected[:NUMBER_BITS])),
            short.eq((head_command == INPUT) | (head_words < 3)),
            self.missed.eq(head & ~match),
            reader.missed.eq(self.missed),
            complete.eq(take & Mux(index == 2, short, (index > 2) & (index == extent.needed - 1)) & ~self.missed),
            # The burst ends before the event does. In parallel with `complete`, not derived from
            # it: the beat arrives late in the cycle
            reader.cut.eq(take & last & Mux(index == 2, ~short & match, (index > 2) & (index != extent.needed - 1))),
            reader.rest.eq(extent.now_needed - index - 1),
            self.failed_beat.eq(take & beats.failed),
            self.soon.eq(self.holding | (index >= 2)),
            request.valid.eq(((complete & ~bad) | self.holding) & self.enable),
            request.is_input.eq(extent.now_input),
            self.asks.eq((take & (index == 2) & (head_command == INPUT)) | (self.holding & self.is_input)),
        ]
        self.sync += [
            self.unreadable.eq(0),
            If(
                take,
                index.eq(index + 1),
                If(index == 0, request.target.eq(word[:32])).Elif(index == 1, request.time.eq(word)),
                If(beats.failed, failed.eq(1)),
            ),
            If(head, self.posted.eq(head_command == POSTED)),
            If(
                complete,
                index.eq(0),
                failed.eq(0),
                self.number.eq(expected),
                self.limit.eq(expected + CREDIT),
                expected.eq(expected + 1),
                self.holding.eq(~bad),
                self.unreadable.eq(bad),
                first_beats.eq(Mux(extent.now_needed > FIRST_BEATS, extent.now_needed, FIRST_BEATS)),
            ),
            If(self.missed, index.eq(0), failed.eq(0)),
            If(request.valid & request.ready, self.holding.eq(0)),
            If(
                ~self.enable,
                expected.eq(1),
                first_beats.eq(FIRST_BEATS),
                index.eq(0),
                failed.eq(0),
                self.holding.eq(0),
                self.unreadable.eq(0),
            ),
        ]
        self.submodules.data = data = DataWords(word, index, take, head, complete, extent.now_words)
        self.comb += request.data.eq(data.words)


class SurplusBeats(Module):
    """Beats that belong to no request: of bursts that turned out useless, and of a burst beyond the
    end of its request. consume, complete, missed: a beat is consumed; it completes a request; its
    slot is skipped.

    `enable` (in): 0 clears all state. `skip` (out): the next beat is such a beat.
    """

    def __init__(self, reader, consume, complete, missed):
        self.enable, self.skip = Signal(), Signal()

        # # #

        last = reader.beats.last
        discard = Signal(max=SLOTS * 2)  # bursts to be discarded
        beyond = Signal()  # the request is complete, its burst is not
        self.comb += self.skip.eq((discard != 0) | beyond)
        self.sync += [
            If(consume, If(discard != 0, If(last, discard.eq(discard - 1))).Elif(beyond, beyond.eq(~last))),
            If(reader.flush, discard.eq(reader.others)),
            If(complete, beyond.eq(~last)),
            If(missed, discard.eq(reader.others + reader.first + Mux(last, 0, 1))),
            If(~self.enable, discard.eq(0), beyond.eq(0)),
        ]


class RequestExtent(Module):
    """The size of a request, from beat 2 on. command, words: fields of beat 2. at_head: this is the
    next beat.

    `head` (in): beat 2 is consumed in this cycle. `now_words` (out, 5 bits), `now_needed` (out, 4
    bits), `now_input` (out): data words, beats, and whether it is an input's, in this cycle; `needed`
    (out, 4 bits), `is_input` (out): the same in a register, of the beat 2 before.
    """

    def __init__(self, command, words, at_head):
        self.head = Signal()
        self.now_words = now_words = Signal(5)
        self.now_needed = now_needed = Signal(4)
        self.now_input = now_input = Signal()
        self.needed, self.is_input = Signal(4), Signal()

        # # #

        kept = Signal(5)
        self.comb += [
            If(words > MAX_WORDS, now_words.eq(MAX_WORDS)).Elif(words == 0, now_words.eq(1)).Else(now_words.eq(words)),
            If(~at_head, now_words.eq(kept)),
            now_input.eq(Mux(at_head, command == INPUT, self.is_input)),
            now_needed.eq(self.needed),
            If(
                at_head,
                If((now_words <= 2) | now_input, now_needed.eq(3)).Else(now_needed.eq(2 + ((now_words + 1) >> 1))),
            ),
        ]
        self.sync += If(self.head, self.is_input.eq(now_input), kept.eq(now_words), self.needed.eq(now_needed))


class DataWords(Module):
    """The data of an event: word 0 is in beat 0, word 1 in beat 2, then two in each beat. `words`:
    their values including the beat of this cycle."""

    def __init__(self, word, index, take, head, complete, count):
        parts = [Signal(64, name=f"data_{i}") for i in range(MAX_WORDS // 2)]
        now = [Signal(64, name=f"now_data_{i}") for i in range(MAX_WORDS // 2)]
        self.words = Cat(*now)

        # # #

        low, high = word[:32], word[32:]
        odd = complete & count[0]
        self.comb += now[0].eq(parts[0])
        self.comb += If(head, now[0][32:].eq(Mux(count == 1, 0, high)))
        self.sync += If(take & (index == 0), parts[0].eq(Cat(high, C(0, 32))))
        for i, (part, new) in enumerate(zip(parts[1:], now[1:], strict=True), 1):
            self.comb += new.eq(part)
            self.comb += If(take & (index == i + 2), new.eq(Cat(low, Mux(odd, 0, high))))
            self.sync += If(take & (index == 0), part.eq(0))
        for part, new in zip(parts, now, strict=True):
            self.sync += If(take & (index != 0), part.eq(new))
