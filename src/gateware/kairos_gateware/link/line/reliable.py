"""Lossless words from end to end: lanes with CRC, error correction, and the state of the link.

    lane 0 ─▶ LaneSender ─┐                                            ┌─▶ LaneReceiver ─▶ lane 0
    lane 1 ─▶ LaneSender ─┼─▶ CRC ─▶ check bits ═══▶ correction ─▶ CRC ┼─▶ LaneReceiver ─▶ lane 1
       hello, acknowledge ┘                                            └─▶ Session, LaneSenders

Lane 0 has priority over lane 1, and neither waits for the other's retransmissions. The link's own
words have priority over both, but are never sent back to back, nor is an acknowledgement sent
within a frame of lane 0: a vector of rank 0, including the end of its frame, waits for one word at
most.

`Plain` has the same ports and one lane, without CRC or retransmission.

Latency: `Plain` word → out 1, in → word 1; `Reliable` word → out 3, in → word 4 after the end of
its frame.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_

from migen import *

from .control import CONTROL, ControlWord, Kind
from .crc import CRC_BITS, CRC_START, Crc
from .retransmission import Lane, LaneReceiver, LaneSender
from .secded import Decoder, Encoder
from .session import Session
from .word import CHECK_BITS, PAYLOAD_BITS, STREAM_BITS, WORD_BITS, word_layout

__all__ = ["Plain", "Reliability", "Reliable"]

_BITS = PAYLOAD_BITS + STREAM_BITS


@dataclass(frozen=True)
class Reliability:
    """lanes: of real time and credits, and of data. patience: cycles after which received words are
    acknowledged; acknowledge: words after which they are acknowledged at once. beat: cycles after
    which a sender that waits for an acknowledgement reminds the other end. hold: cycles of silence
    after which an end that waits takes the link for down: more than a round trip."""

    lanes: tuple[Lane, Lane] = (Lane(words=512, frame=16), Lane(words=1024, frame=64))
    patience: int = 32
    acknowledge: int = 128
    beat: int = 512
    hold: int = 131_072


class _Transport(Module):
    """lanes: number of lanes. Each of `sinks`: (`word`, `any`, `word_ready`), as of a `Multiplexer`;
    `sources`: received word, stream 0 if there is none. `out` (out): word to the line coder, with `ready`;
    `into` (in): word from it. `line` (in): the line carries words. For a cycle each: `corrected`, `broken`,
    `repeated` (out); `dropped` (out, below `2 * frame + 2`): number of words discarded in this cycle. `up`
    (out): the link is established. `moving` (out): words are in transit here, or will be without further
    input. `space`: words that each lane may send before an acknowledgement is needed; `unacknowledged`:
    some of its words are.

    `ended` (out): for a cycle, the link has gone down.
    """

    def __init__(self, lanes, frame):
        self.out = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.into = Record([("valid", 1), ("word", WORD_BITS)])
        self.sinks = [(Record(word_layout()), Signal(), Signal()) for _ in range(lanes)]
        self.sources = [Record(word_layout()) for _ in range(lanes)]
        self.line = Signal(reset=1)
        self.up, self.ended, self.repeated, self.moving = Signal(), Signal(), Signal(), Signal()
        self.space, self.unacknowledged = [], []
        self.corrected, self.broken, self.dropped = Signal(), Signal(), Signal(max=2 * frame + 2)

    def _encode(self, word, present, step):
        self.submodules.encoder = encoder = Encoder(_BITS, CHECK_BITS)
        self.comb += [encoder.data.eq(word), step.eq(~self.out.valid | self.out.ready)]
        self.sync += If(step, self.out.valid.eq(present), self.out.word.eq(encoder.word))

    def _decode(self, word, present):
        self.submodules.decoder = decoder = Decoder(_BITS, CHECK_BITS)
        self.comb += decoder.word.eq(self.into.word)
        self.sync += [
            self.corrected.eq(self.into.valid & decoder.corrected),
            self.broken.eq(self.into.valid & decoder.broken),
            present.eq(self.into.valid & ~decoder.broken),
            word.eq(decoder.data),
        ]


class Plain(_Transport):
    """Broken words are lost."""

    def __init__(self):
        super().__init__(1, 1)

        # # #

        (word, any_, ready), come, present = self.sinks[0], Record(word_layout()), Signal()
        self._encode(word.raw_bits(), any_, ready)
        self._decode(come.raw_bits(), present)
        self.comb += [
            self.up.eq(self.line),
            self.moving.eq(any_ | self.out.valid | self.into.valid | present),
            self.dropped.eq(self.broken),
            self.sources[0].payload.eq(come.payload),
            If(present, self.sources[0].stream.eq(come.stream)),
        ]


class Reliable(_Transport):
    """reliability: `Reliability`. second: numbers of the incoming streams on lane 1; the others are
    on lane 0."""

    def __init__(self, reliability, second):
        lanes = reliability.lanes
        super().__init__(len(lanes), max(lane.frame for lane in lanes))
        reset = ResetInserter()
        self.senders = [reset(LaneSender(lane, reliability.beat)) for lane in lanes]
        self.receivers = [reset(LaneReceiver(lane)) for lane in lanes]
        self.submodules += self.senders, self.receivers
        received = Signal(PAYLOAD_BITS)
        self.submodules.session = Session(ControlWord(received), reliability.hold)

        # # #

        session = self.session
        self.unacknowledged = [sender.awaiting for sender in self.senders]
        awaiting = reduce(or_, self.unacknowledged)
        self.comb += [
            self.up.eq(session.up),
            self.ended.eq(session.ended),
            session.line.eq(self.line),
            session.awaiting.eq(awaiting),
        ]
        self.space = [sender.space for sender in self.senders]
        for end, (word, any_, ready) in zip(self.senders, self.sinks, strict=True):
            self.comb += [end.word.eq(word), end.any.eq(any_), ready.eq(end.word_ready), end.reset.eq(~self.up)]
        for end, source in zip(self.receivers, self.sources, strict=True):
            self.comb += [source.eq(end.word), end.reset.eq(~self.up)]
        self._receive(received, second)
        answers = [self._answer(receiver, reliability) for receiver in self.receivers]
        under_way = self._transmit([due for due, _ in answers])
        moving = [awaiting, session.due, under_way, self.into.valid, self.line & ~self.up]
        moving += [pending for _, pending in answers] + [receiver.passing for receiver in self.receivers]
        self.comb += self.moving.eq(reduce(or_, moving + [any_ for _, any_, _ in self.sinks]))

    def _answer(self, receiver, reliability):
        """(whether to acknowledge a lane now, whether it has to be acknowledged at all)."""
        due, pending = Signal(), Signal()
        count, waited = Signal(max=reliability.acknowledge + 1), Signal(max=reliability.patience)
        full = count == reliability.acknowledge
        self.sync += [
            If(pending & ~due, waited.eq(waited + 1)).Else(waited.eq(0)),
            If(receiver.acknowledged, due.eq(0), count.eq(0), pending.eq(0), waited.eq(0)),
            If((receiver.data | receiver.end) & ~full, count.eq(count + 1)),
            If(receiver.end | receiver.start, pending.eq(1)),
            If((waited == reliability.patience - 1) | full | receiver.again, due.eq(~receiver.acknowledged)),
            If(~self.up, due.eq(0), count.eq(0), pending.eq(0)),
        ]
        return due, pending | due

    def _choices(self, due, payload, stream, step, lane):
        """Returns a list of (request, statements to send), in order of priority; and flags for
        words that carry a CRC, for those that restart it, and for those after which it restarts."""
        own, alone, ends = Signal(), Signal(), Signal()
        fields, pausing = ControlWord(payload), Signal()
        greeting = [getattr(fields, name).eq(value) for name, value in self.session.greeting.items()]
        greeting += [fields.kind.eq(Kind.HELLO), own.eq(1), alone.eq(1), self.session.sent.eq(step)]
        choices = [(self.session.due & ~pausing, greeting)]
        for n, receiver in enumerate(self.receivers):
            acknowledgement = [fields.number.eq(receiver.expected), fields.generation.eq(receiver.seen), lane.eq(n)]
            acknowledgement += [fields.again.eq(receiver.again), fields.lane.eq(n), fields.kind.eq(Kind.ACKNOWLEDGE)]
            may = self.up & ~pausing & ~self.senders[0].open
            choices.append((due[n] & may, [*acknowledgement, own.eq(1), alone.eq(1), receiver.acknowledged.eq(step)]))
        pauses = reduce(or_, [asks for asks, _ in choices])
        self.sync += If(step, pausing.eq(pauses))
        for n, sender in enumerate(self.senders):
            marks = [fields.kind.eq(sender.kind), fields.lane.eq(n), fields.number.eq(sender.number), own.eq(1)]
            marks += [fields.generation.eq(sender.generation), alone.eq(sender.kind == Kind.START), ends.eq(1)]
            word = Cat(payload, stream).eq(sender.entry)
            sends = [lane.eq(n), If(sender.control, *marks).Else(word), sender.taken.eq(step)]
            choices.append((sender.valid & self.up & ~self.session.due, sends))
        return choices, own, alone, ends

    def _transmit(self, due):
        """due: of the lanes' acknowledgements. Returns whether a word is on its way out."""
        payload, stream, step, lane = Signal(PAYLOAD_BITS), Signal(STREAM_BITS), Signal(), Signal()
        choices, *marks = self._choices(due, payload, stream, step, lane)
        present = reduce(or_, [asks for asks, _ in choices])
        chain = If(*[choices[0][0], *choices[0][1]])
        for asks, sends in choices[1:]:
            chain = chain.Elif(asks, *sends)
        self.comb += chain
        # First the word, then the same word with the CRC that it updates or carries
        chosen, word, behind = Signal(), Signal(_BITS), Signal(_BITS)
        first, own, alone, ends = [Signal() for _ in range(4)]
        summed, has_crc, crcs = Signal(), Signal(), Array(Signal(CRC_BITS, reset=CRC_START) for _ in self.senders)
        self.submodules.crc_out = crc = Crc(_BITS)
        self.comb += [crc.before.eq(Mux(alone, CRC_START, crcs[first])), crc.data.eq(word)]
        after = Signal(CRC_BITS)
        self.sync += If(
            step,
            chosen.eq(present),
            word.eq(Cat(payload, stream)),
            first.eq(lane),
            [kept.eq(mark) for kept, mark in zip([own, alone, ends], marks, strict=True)],
            summed.eq(chosen),
            behind.eq(word),
            after.eq(crc.after),
            has_crc.eq(own),
            [
                If(chosen & (first == number), If(ends, kept.eq(CRC_START)).Elif(~alone, kept.eq(crc.after)))
                for number, kept in enumerate(crcs)
            ],
        )
        self.sync += If(~self.up, [crc.eq(CRC_START) for crc in crcs])
        place = PAYLOAD_BITS - CRC_BITS
        self._encode(behind | Cat(C(0, place), Mux(has_crc, after, 0)), summed, step)
        return present | chosen | summed | self.out.valid

    def _receive(self, received, second):
        come, present, lane, crcs = Signal(_BITS), Signal(), Signal(), Array()
        self._decode(come, present)
        fields = ControlWord(come)  # the payload is lowest in its word
        stream = come[PAYLOAD_BITS:]
        own, alone = Signal(), Signal()
        crcs = Array(Signal(CRC_BITS, reset=CRC_START) for _ in self.receivers)
        self.submodules.crc_in = crc = Crc(_BITS)
        place = PAYLOAD_BITS - CRC_BITS
        later, later_stream, later_lane = Signal(), Signal(STREAM_BITS), Signal()
        after = Signal(CRC_BITS)
        self.comb += [
            own.eq(stream == CONTROL),
            alone.eq(own & (fields.kind != Kind.END)),
            lane.eq(Mux(own, fields.lane, reduce(or_, [stream == number for number in second], 0))),
            crc.before.eq(Mux(alone, CRC_START, crcs[lane])),
            crc.data.eq(Cat(come[:place], Mux(own, 0, come[place:PAYLOAD_BITS]), stream)),
        ]
        self.sync += [
            later.eq(present),
            Cat(received, later_stream).eq(come),
            later_lane.eq(lane),
            after.eq(crc.after),
            If(
                present,
                [
                    If(
                        lane == number,
                        If(own & ((fields.kind == Kind.END) | (fields.kind == Kind.START)), kept.eq(CRC_START)).Elif(
                            ~own, kept.eq(crc.after)
                        ),
                    )
                    for number, kept in enumerate(crcs)
                ],
            ),
            If(~self.up, [crc.eq(CRC_START) for crc in crcs]),
        ]
        self._distribute(ControlWord(received), Cat(received, later_stream), later, later_stream, later_lane, after)

    def _distribute(self, fields, word, present, stream, lane, crc):
        own, right = Signal(), Signal()
        session, discarded = self.session, C(0)
        self.comb += [
            own.eq(present & (stream == CONTROL)),
            right.eq(crc == fields.crc),
            session.alive.eq(own & right),
            session.received.eq(own & right & (fields.kind == Kind.HELLO)),
        ]
        for n, (sender, receiver) in enumerate(zip(self.senders, self.receivers, strict=True)):
            here = present & (lane == n)
            self.comb += [
                receiver.data.eq(here & (stream != CONTROL)),
                receiver.entry.eq(word),
                receiver.start.eq(here & own & (fields.kind == Kind.START)),
                receiver.end.eq(here & own & (fields.kind == Kind.END)),
                receiver.right.eq(right),
                receiver.number.eq(fields.number),
                receiver.generation.eq(fields.generation),
                sender.acknowledged.eq(here & session.alive & (fields.kind == Kind.ACKNOWLEDGE)),
                sender.from_there.eq(fields.number),
                sender.again.eq(fields.again),
                sender.again_generation.eq(fields.generation),
            ]
            discarded = discarded + receiver.dropped
        self.comb += self.repeated.eq(reduce(or_, [s.repeating & s.taken & ~s.control for s in self.senders]))
        self.sync += self.dropped.eq(discarded + self.broken)
