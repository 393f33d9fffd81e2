"""A lane: numbered words, buffered until the other end acknowledges them, and retransmitted from
the first missing one.

Words, ends of frames included, are numbered modulo 2^14. A frame has up to `frame` words and an end
word with their CRC; it ends as soon as no further word is waiting. The receiver passes on a frame
if its CRC is right and its end has the expected number; it discards anything else and requests
everything from the first missing word. The sender then begins a new **generation** with a start
word and retransmits all that was sent since. A request counts only if it names the generation being
sent, so the many requests that one gap can cause have a single effect. A sender whose words are
unacknowledged and that has sent nothing for some hundred cycles sends a start word with the next
number: it reveals to the receiver that the end of the last frame was lost, and it is acknowledged.
A lane without unacknowledged words sends nothing.

Words are written to the buffer as they leave, so the buffer adds no latency to a lane without
errors.
"""

from dataclasses import dataclass

from migen import *

from .control import NUMBER_BITS, Kind
from .word import CREDITS, PAYLOAD_BITS, STREAM_BITS, word_layout

__all__ = ["Lane", "LaneReceiver", "LaneSender"]

_BITS = PAYLOAD_BITS + STREAM_BITS
_HALF = 2 ** (NUMBER_BITS - 1)
_MARGIN = 8
"""Words of a lane's memory that are kept free."""


@dataclass(frozen=True)
class Lane:
    """words: limit of words in flight or unacknowledged, a power of two. frame: words of the
    longest frame."""

    words: int = 1024
    frame: int = 64

    def __post_init__(self):
        if self.words & (self.words - 1) or not 4 * self.frame <= self.words <= _HALF:
            raise ValueError(f"{self.words} words are no power of two from 4 frames of {self.frame} to {_HALF}")


class LaneSender(Module):
    """Takes `word` (in) in a cycle with `any` (in) and `word_ready` (out). `valid` (out): there is a word
    to send: a control word of type `kind` (out, 2 bits) if `control` (out), else `entry` (out, 57 bits);
    with `number` (out, 14 bits) and `generation` (out, 2 bits). `taken` (in): it leaves in this cycle.

    `acknowledged` (in), with `from_there` (in, 14 bits): words before that number have been received.
    `again` (in), with `again_generation` (in, 2 bits): retransmission of the others is requested. beat:
    idle cycles before a reminder is sent. `repeating` (out): the word that leaves is a retransmission.
    `awaiting` (out): some words are unacknowledged. `space` (out, below `lane.words + 1`): words that may
    be sent before an acknowledgement is needed. `open` (out): a frame is open; its end is still to be sent.
    """

    def __init__(self, lane, beat):
        self.word, self.any, self.word_ready = Record(word_layout()), Signal(), Signal()
        self.valid, self.control, self.kind, self.taken = Signal(), Signal(), Signal(2), Signal()
        self.entry, self.number, self.generation = Signal(_BITS), Signal(NUMBER_BITS), Signal(2)
        self.acknowledged, self.from_there = Signal(), Signal(NUMBER_BITS)
        self.again, self.again_generation = Signal(), Signal(2)
        self.repeating, self.awaiting, self.open = Signal(), Signal(), Signal()
        self.space = Signal(max=lane.words + 1)

        # # #

        head, tail, place = Signal(NUMBER_BITS), Signal(NUMBER_BITS), Signal(NUMBER_BITS)
        length, room = Signal(max=lane.frame + 1), Signal(reset=1)
        restart, remind, is_end = Signal(), Signal(), Signal()
        still = Signal(max=beat)
        # The receiver passes on vectors only at the end of their frame; credits in the same frame
        # must wait for it
        vectors, waits = Signal(), Signal()
        self.comb += waits.eq(vectors & (self.word.stream == CREDITS))
        memory = Memory(_BITS + 1, lane.words)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        after = Signal(NUMBER_BITS)
        kept, held = Signal(_BITS + 1), Signal(NUMBER_BITS)
        address = slice(0, log2_int(lane.words))
        self.comb += [
            kept.eq(read.dat_r),
            read.adr.eq(after[address]),
            write.adr.eq(head[address]),
            write.dat_w.eq(Cat(self.word.raw_bits(), self.control)),
            # The next word to leave
            self.control.eq(1),
            self.number.eq(place),
            self.entry.eq(self.word.raw_bits()),
            If(
                restart | (remind & (length == 0) & ~self.repeating),
                self.valid.eq(1),
                self.kind.eq(Kind.START),
                If(restart, self.number.eq(tail)),
            )
            .Elif(
                self.repeating,
                self.valid.eq(1),
                self.kind.eq(Kind.END),
                self.control.eq(kept[-1]),
                is_end.eq(kept[-1]),
                self.entry.eq(kept[:-1]),
            )
            .Elif(
                (length == lane.frame) | ((length != 0) & ~(self.any & room & ~waits)),
                self.valid.eq(1),
                self.kind.eq(Kind.END),
                is_end.eq(1),
                write.we.eq(self.taken),
            )
            .Else(
                self.control.eq(0),
                self.valid.eq(self.any & room),
                self.word_ready.eq(room & self.taken),
                write.we.eq(self.any & room & self.taken),
            ),
            after.eq(place),
            If(self.taken, If(restart, after.eq(tail)).Elif(is_end | ~self.control, after.eq(place + 1))),
        ]
        self.sync += [
            place.eq(after),
            If(write.we, head.eq(head + 1)),
            If(
                self.taken,
                restart.eq(0),
                If(self.control, length.eq(0), remind.eq(0), vectors.eq(0)).Else(
                    length.eq(length + 1), vectors.eq(vectors | (self.word.stream != CREDITS))
                ),
                If(restart, self.repeating.eq(tail != head)).Elif(after == head, self.repeating.eq(0)),
            ),
            If(self.taken | ~self.awaiting, still.eq(0)).Else(still.eq(still + 1)),
            If(~self.awaiting, remind.eq(0)).Elif(still == beat - 1, still.eq(0), remind.eq(1)),
            room.eq(held < lane.words - _MARGIN),
        ]
        self.comb += [
            self.awaiting.eq(head != tail),
            self.open.eq(length != 0),
            held.eq(head - tail),
            If(held < lane.words - _MARGIN, self.space.eq(lane.words - _MARGIN - held)),
        ]
        self._answers(head, tail, restart)

    def _answers(self, head, tail, restart):
        received, number, asked, about = Signal(), Signal(NUMBER_BITS), Signal(), Signal(2)
        self.sync += [
            received.eq(self.acknowledged),
            number.eq(self.from_there),
            asked.eq(self.acknowledged & self.again),
            about.eq(self.again_generation),
            If(received & ((number - tail)[:NUMBER_BITS] <= (head - tail)[:NUMBER_BITS]), tail.eq(number)),
            If(asked & (about == self.generation), self.generation.eq(self.generation + 1), restart.eq(1)),
        ]


class LaneReceiver(Module):
    """`data` (in): a word of the lane has been received, in `entry` (in, 57 bits). `start`, `end` (in): a
    start or end word has been received, with `number` (in, 14 bits) and `generation` (in, 2 bits); `right`
    (in): its CRC is correct. `word` (out): words of good frames, in order; stream 0 if there is none.

    `expected` (out, 14 bits): number of the next frame's first word. `again` (out): words are missing; held
    until `acknowledged` (in). `seen` (out, 2 bits): the generation last received. `dropped` (out, below
    `lane.frame + 1`): number of words discarded in this cycle. `passing` (out): words are being output.
    """

    def __init__(self, lane):
        self.data, self.entry = Signal(), Signal(_BITS)
        self.start, self.end, self.right = Signal(), Signal(), Signal()
        self.number, self.generation = Signal(NUMBER_BITS), Signal(2)
        self.word = Record(word_layout())
        self.expected, self.again, self.seen, self.acknowledged = Signal(NUMBER_BITS), Signal(), Signal(2), Signal()
        self.dropped, self.passing = Signal(max=lane.frame + 1), Signal()

        # # #

        depth = 2 * lane.frame  # one frame being passed on, one being received
        memory = Memory(_BITS, depth)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        good, missing, crowded = Signal(), Signal(), Signal()
        at, passed, come = [Signal(max=depth) for _ in range(3)]  # to write, to pass on up to, to pass on next
        count, position = Signal(max=lane.frame + 1), Signal(NUMBER_BITS)
        ahead = Signal()
        shown = Signal()
        self.comb += [
            write.adr.eq(at),
            write.dat_w.eq(self.entry),
            write.we.eq(self.data & (count != lane.frame)),
            good.eq(self.right & (self.number == position) & ~crowded),
            ahead.eq(~(self.number - self.expected)[NUMBER_BITS - 1]),
            If(self.end, missing.eq(~good & (~self.right | ahead))),
            If(self.start & self.right, missing.eq((self.number != self.expected) & ahead)),
            # The CRC restarts after these words, right or wrong, so the frame must restart as well
            If((self.end & ~good) | self.start, self.dropped.eq(count)),
            read.adr.eq(come),
            self.passing.eq(shown | (come != passed)),
            If(shown, self.word.raw_bits().eq(read.dat_r)),
        ]
        self.sync += [
            shown.eq(come != passed),
            If(come != passed, come.eq(come + 1)),
            If(write.we, at.eq(at + 1), count.eq(count + 1), position.eq(position + 1)),
            If(self.data & ~write.we, crowded.eq(1)).Elif(self.end | self.start, crowded.eq(0)),
            If(
                self.end & good,
                passed.eq(at),
                count.eq(0),
                position.eq(self.number + 1),
                self.expected.eq(self.number + 1),
            ).Elif(self.end | self.start, at.eq(passed), count.eq(0), position.eq(self.expected)),
            If((self.end | self.start) & self.right, self.seen.eq(self.generation)),
            If(missing, self.again.eq(1)).Elif(self.acknowledged, self.again.eq(0)),
        ]
