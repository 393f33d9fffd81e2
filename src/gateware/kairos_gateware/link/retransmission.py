"""A lane: words with numbers, kept until the other end has them, and sent again from the first that it lacks.

Words are counted, ends of frames included, modulo 2^14. A frame is up to `frame` words, and an end
with their CRC; it ends as soon as none waits. The receiver passes on a frame whose CRC is right and
whose end has the number that is its turn; anything else it forgets, and asks for all from the first
word that it lacks. The sender then begins a new **generation** with a start, and repeats all that
was sent since. A request counts only if it is about the generation that is being sent, so the many
requests that one gap can cause have one effect. A sender that waits for its words to be
acknowledged, and has sent nothing for some hundred cycles, sends a start with the number that comes
next: it tells the receiver if the end of the last frame has not come, and is answered. A lane
without such words sends nothing.

A lane's words are written to the buffer while they leave, so in a lane without errors they do not wait for it.
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
    """words: that can be under way or not yet acknowledged, a power of two. frame: words of the longest."""

    words: int = 1024
    frame: int = 64

    def __post_init__(self):
        if self.words & (self.words - 1) or not 4 * self.frame <= self.words <= _HALF:
            raise ValueError(f"{self.words} words are no power of two from 4 frames of {self.frame} to {_HALF}")


class LaneSender(Module):
    """Takes `word` in a cycle with `any` and `word_ready`. `valid`: there is something to send, of
    a `kind` (if `control`, else it is `entry`), with `number` and `generation`; `taken`: it leaves
    in this cycle.

    `acknowledged`, with `from_there`: words before that number have arrived. `again`, with
    `again_generation`: it asks for the others. beat: cycles after which it reminds. `repeating`:
    what leaves has left before. `awaiting`: not all have been acknowledged. `space`: words that may
    leave before some must be. `open`: the end of a frame is still to leave, or more of it.
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
        # Vectors are passed on with the end of their frame, so credits do not go before that
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
            # What leaves next
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
        heard, number, asked, about = Signal(), Signal(NUMBER_BITS), Signal(), Signal(2)
        self.sync += [
            heard.eq(self.acknowledged),
            number.eq(self.from_there),
            asked.eq(self.acknowledged & self.again),
            about.eq(self.again_generation),
            If(heard & ((number - tail)[:NUMBER_BITS] <= (head - tail)[:NUMBER_BITS]), tail.eq(number)),
            If(asked & (about == self.generation), self.generation.eq(self.generation + 1), restart.eq(1)),
        ]


class LaneReceiver(Module):
    """`data`: a word of the lane has come, `entry`. `start`, `end`: one of those has come, with
    `number` and `generation`; `right`: its CRC is. `word`: of good frames, in order; its stream is
    0 if there is none.

    `expected`: number of the next frame's first word. `again`: words are missing, until `told`;
    `seen`: the generation. `dropped`: how many words are forgotten in this cycle. `passing`: words
    are on their way out.
    """

    def __init__(self, lane):
        self.data, self.entry = Signal(), Signal(_BITS)
        self.start, self.end, self.right = Signal(), Signal(), Signal()
        self.number, self.generation = Signal(NUMBER_BITS), Signal(2)
        self.word = Record(word_layout())
        self.expected, self.again, self.seen, self.told = Signal(NUMBER_BITS), Signal(), Signal(2), Signal()
        self.dropped, self.passing = Signal(max=lane.frame + 1), Signal()

        # # #

        depth = 2 * lane.frame  # one frame that is passed on, one that comes
        memory = Memory(_BITS, depth)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        good, missing, crowded = Signal(), Signal(), Signal()
        at, passed, come = [Signal(max=depth) for _ in range(3)]  # to write, not to pass on yet, to pass on next
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
            # The CRC begins anew behind them, right or not: so must the frame
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
            If(missing, self.again.eq(1)).Elif(self.told, self.again.eq(0)),
        ]
