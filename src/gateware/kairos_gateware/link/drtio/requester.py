"""The channels of a card that speaks DRTIO as a destination of this board's: a CRI, like that of another board of this
project (`link/rtio/requester.py`). Clock domain sys.

The card does not answer to outputs. It has said for how many it has room, and each one takes from that; when nothing is
left, outputs wait until all have left and the card has been asked again. So an accepted output waits for others in
front of it at most. It is refused if it would arrive late.

The card has one counter, which `set_time` sets to this board's as it was when the packet began, plus `correction`. An
output thus reaches it with its counter as late behind this board's as the line is long, and the least distance of an
output's time does not depend on that.

An input is asked for and answered, one at a time. Answers have no number: after a read that has ended here without its
answer, the next one waits until that answer has come, or the card was reset.
"""

from functools import reduce
from operator import and_, or_

from migen import *

from ...contracts.drtio import FRAME_GAP, TO_CARD_FIELDS
from ...rtio.cri import INPUT_OVERFLOW, INPUT_TIMEOUT, INPUT_UNREACHABLE, Cri
from ...rtio.lanes import ROOMY
from ...rtio.timing import FINE_BITS
from ..rtio.outputs import QUEUE, OutputQueue
from .packets import PacketReceiver, PacketSender, packet_words

__all__ = ["CARD_SLACK", "CORRECTION_BITS", "DrtioRequester", "REST", "TIMEOUT", "least_slack"]

TIMEOUT = 2**16
"""Cycles within which a card answers: 0.5 ms."""
PAUSE = 64
"""Cycles until a card without room is asked again."""
CARD_SLACK = 32
"""Cycles that a card needs from the last word of an output to its pins (no card has been measured)."""
CORRECTION_BITS = 16
REST = 8
"""Cycles without any movement after which everything here is quiescent."""
_SPACE_BITS = 16


def least_slack(characters, data_width):
    """Least distance of an output's coarse time from the counter, in cycles, if it is not to arrive late: its own
    words, those in front of it, a read and the packet that is leaving, and what the card needs."""
    of_write = packet_words("write", characters, data_width) + FRAME_GAP
    of_others = max(packet_words(name, characters) for name in TO_CARD_FIELDS if name != "write") + FRAME_GAP
    return (QUEUE + 2) * of_write + 2 * of_others + CARD_SLACK


class _Space(Module):
    """Room for outputs in the card. request: `space_request` of a `PacketSender`. reply: (came, space) of a
    `PacketReceiver`. patience: as of the `DrtioRequester`.

    `up` (in): the card can be reached. `queued` (in): an output was accepted; `left` (in): all of them have left.
    `space` (out, 16 bits): outputs for which there is room. `overdue` (out): for a cycle, the card has not
    answered. `counts` (out): for time skip, cycles are counted."""

    def __init__(self, request, reply, patience):
        self.up, self.queued, self.left = Signal(), Signal(), Signal()
        self.space, self.overdue, self.counts = Signal(_SPACE_BITS), Signal(), Signal()

        # # #

        came, space = reply
        asks, waits, time = Signal(), Signal(), Signal(max=max(patience, PAUSE) + 1)
        self.comb += [
            request.valid.eq(asks),
            self.overdue.eq(waits & (time == 0) & ~came),
            self.counts.eq(asks | waits | (time != 0)),
        ]
        self.sync += [
            If(time != 0, time.eq(time - 1)),
            If(~asks & ~waits & self.up & self.left & ~self.queued & (self.space == 0) & (time == 0), asks.eq(1)),
            If(asks & request.ready, asks.eq(0), waits.eq(1), time.eq(patience)),
            If(self.queued, self.space.eq(self.space - 1)),
            If(waits & came, waits.eq(0), self.space.eq(space), time.eq(Mux(space == 0, PAUSE, 0))),
            If(self.overdue, waits.eq(0), time.eq(PAUSE)),
            If(~self.up, self.space.eq(0), asks.eq(0), waits.eq(0), time.eq(0)),
        ]


class _Inputs(Module):
    """Reads. cri: whose `input` is served. timebase: of the board. packets, answers: `PacketSender`, `PacketReceiver`.
    destination, patience: as of the `DrtioRequester`.

    `up` (in): the card can be reached. `hold` (in): none is taken. `ends` (in): the read ends like a timeout. `cleared`
    (in): the card has been reset, so nothing that was asked for comes. `overdue` (out): for a cycle, the card has not
    answered. For time skip: `counts` (out), cycles are counted; `due`, as one of the `DrtioRequester`'s."""

    def __init__(self, cri, timebase, packets, answers, destination, patience):
        self.up, self.ends, self.cleared, self.overdue = Signal(), Signal(), Signal(), Signal()
        self.hold, self.counts = Signal(), Signal()

        # # #

        asked, request = cri.input, packets.requests["read_request"]
        event, none = answers.came["read_reply"], answers.came["read_none"]
        reading, due, owed, refusing = Signal(), Signal(), Signal(), Signal()
        channel, timeout, late = Signal(16), Signal(64), Signal(max=patience + 1)
        came = (event | none) & ~owed
        answered = reading & ~due & came
        asks = due & ~owed
        cut = reading & (~self.up | self.overdue)
        ended = reading & self.ends
        limited = reading & (timeout != 2**64 - 1)
        passed = timebase.coarse > timeout[FINE_BITS:]
        self.due = limited & ~passed, timeout[FINE_BITS:]
        self.comb += [
            self.counts.eq((limited & passed) | refusing | cri.input_done),
            asked.ready.eq(~reading & ~refusing & ~self.hold),
            request.valid.eq(asks),
            request.channel.eq(Cat(channel, destination)),
            request.timeout.eq(timeout),
            self.overdue.eq(reading & ~answered & (late == patience)),
            cri.response.done.eq(cri.output_done | cri.input_done),
            cri.response.status.eq(Mux(cri.output_done, cri.output_status, cri.input_status)),
        ]
        self.sync += [
            cri.input_done.eq(0),
            cri.response.timestamp.eq(2**64 - 1),
            cri.response.data.eq(0),
            refusing.eq(0),
            If(
                asked.valid & asked.ready,
                channel.eq(asked.channel[:16]),
                timeout.eq(asked.timeout),
                reading.eq(self.up),
                due.eq(self.up),
                refusing.eq(~self.up),
                late.eq(0),
            ),
            If(asks & request.ready, due.eq(0)),
            # Without a time limit the card may be silent
            If(limited & passed & (late != patience), late.eq(late + 1)),
            If(
                answered,
                cri.input_status.eq(0),
                cri.response.timestamp.eq(answers.values["read_reply"]["timestamp"]),
                cri.response.data.eq(answers.values["read_reply"]["data"]),
                If(
                    none,
                    cri.input_status.eq(Mux(answers.values["read_none"]["overflow"], INPUT_OVERFLOW, INPUT_TIMEOUT)),
                    cri.response.timestamp.eq(2**64 - 1),
                    cri.response.data.eq(0),
                ),
            )
            .Elif(ended, cri.input_status.eq(INPUT_TIMEOUT))
            .Elif(refusing | cut, cri.input_status.eq(INPUT_UNREACHABLE)),
            If(answered | ended | refusing | cut, cri.input_done.eq(1), reading.eq(0), due.eq(0)),
            If(event | none, owed.eq(0)),
            If((ended | cut) & ~answered & (~due | (asks & request.ready)), owed.eq(1)),
            If(self.cleared | ~self.up, owed.eq(0)),
        ]


class DrtioRequester(Module):
    """timebase: the core's. data_width: bits of the widest output of the card. outputs: number of its channels, the
    first ones, that take outputs. destination: of the card, a number or a signal. characters: of a word of the link.
    patience: cycles within which the card answers.

    `cri`: for the card's channels. packets, answers: `PacketSender` and `PacketReceiver`, to be connected to the link.

    `reachable` (in): the card is ready and its destination answers; while it is low, everything ends as unreachable and
    waiting outputs are lost. `set_time` (in, a pulse) sets the card's counter to this board's plus `correction` (in, 16
    bits, cycles), and `time_due` (out) is set until that has left. `echo` (in, a pulse) sends an echo request;
    `echo_due` (out) is set until it has come back, `round_trip` (out, 16 bits) then has the cycles that it took, at
    most 65535. `abort` (in) ends a read like a timeout; so does `reset` (in, a pulse), which also drops waiting
    outputs. The card is reset by its firmware: from then on until `cleared` (in, a pulse), its channels have been
    reset, or it is not reachable, `resetting` (out) is set, and nothing is taken.

    `slack` (out, 18 bits): least distance of an output's coarse time from the counter. `space` (out, 16 bits):
    outputs for which the card is known to have room. `blocked` (out): outputs wait for that. `newest` (out, 24 bits):
    channel of the output accepted last; `lost` (out): for a cycle, accepted outputs have been lost. Errors of the
    protocol, each for a cycle: `malformed` (out), a packet; `no_space_reply` (out), `no_read_reply` (out): no answer
    within `patience`. `errors`: as the core's, {name: (pulse, channel of 24 bits)}, of which only busy occurs here.

    As of an `RtioRequester`: `destination` (out, 8 bits), `line_up` (in), `up`, `boards`, `reaches`, `sent` (out, 16
    bits), `one_way_delay` (out, 16 bits), half of the round trip, `roomy` (out), `settled` (out), `dues`; `phy_reset`
    (in) and `enable` (in) are without effect.
    """

    def __init__(self, timebase, data_width, outputs, destination, characters=2, patience=TIMEOUT):
        self.cri = cri = Cri(data_width)
        self.reachable, self.set_time, self.echo = Signal(), Signal(), Signal()
        self.abort, self.reset, self.cleared, self.resetting = Signal(), Signal(), Signal(), Signal()
        self.correction = Signal(CORRECTION_BITS)
        self.time_due, self.echo_due, self.round_trip = Signal(), Signal(), Signal(16)
        self.slack, self.space, self.blocked = Signal(18), Signal(_SPACE_BITS), Signal()
        self.newest, self.lost = Signal(24), Signal()
        self.malformed, self.no_space_reply, self.no_read_reply = Signal(), Signal(), Signal()
        self.destination, self.line_up, self.up, self.boards = Signal(8), Signal(), self.reachable, 1
        self.sent, self.one_way_delay = Signal(16), Signal(16)
        self.phy_reset, self.enable = Signal(), Signal()
        self.roomy, self.settled = Signal(), Signal()
        self.submodules.packets = packets = PacketSender(characters, data_width)
        self.submodules.answers = answers = PacketReceiver(characters)
        self.errors = {name: (Signal(name=f"{name}_came"), self.newest) for name in ("collision", "sequence_error")}
        self.errors["busy"] = (self.lost, self.newest)

        # # #

        number = self.destination
        self.reaches = [(self.reachable, Constant(outputs, 16), self.slack)]
        self.submodules.queue = queue = OutputQueue(timebase, cri, self.reaches, number, data_width)
        reply = answers.came["space_reply"], answers.values["space_reply"]["space"]
        self.submodules.room = room = _Space(packets.requests["space_request"], reply, patience)
        self.submodules.inputs = inputs = _Inputs(cri, timebase, packets, answers, number, patience)
        readable, entry, write = queue.queue.readable, queue.entry, packets.requests["write"]
        self.dues = [*queue.dues, inputs.due]
        self.comb += [
            number.eq(destination),
            self.slack.eq(least_slack(characters, data_width) + self.correction),
            queue.joined.eq(self.reachable & ~self.reset),
            queue.hold.eq(self.reset | self.resetting | self.time_due),
            queue.blocked.eq(self.blocked),
            self.blocked.eq(room.space == 0),
            self.space.eq(room.space),
            packets.requests["space_request"].destination.eq(number),
            room.up.eq(self.reachable & ~self.cleared),
            room.queued.eq(queue.queued),
            room.left.eq(~readable & ~packets.busy),
            inputs.up.eq(self.reachable),
            inputs.hold.eq(self.resetting),
            inputs.ends.eq(self.abort | self.reset),
            inputs.cleared.eq(self.cleared),
            write.valid.eq(readable),
            write.timestamp.eq(entry.timestamp),
            write.channel.eq(Cat(entry.channel, number)),
            write.address.eq(entry.address),
            write.data.eq(entry.data),
            queue.queue.re.eq(write.ready & write.valid),
            self.malformed.eq(answers.malformed),
            self.no_space_reply.eq(room.overdue),
            self.no_read_reply.eq(inputs.overdue),
            self.lost.eq(readable & ~self.reachable),
            self.roomy.eq(~self.reachable | (room.space >= ROOMY)),
            self.one_way_delay.eq(self.round_trip[1:]),
        ]
        self.sync += [
            If(queue.queued, self.newest.eq(Cat(cri.output.channel[:16], number)), self.sent.eq(self.sent + 1)),
            If(self.reset & self.reachable, self.resetting.eq(1)),
            If(self.cleared | ~self.reachable, self.resetting.eq(0)),
        ]
        self._time(timebase, packets, answers)
        self._stillness([queue.taken, readable, packets.busy, cri.input.valid, room.counts, inputs.counts])

    def _stillness(self, moves):
        """For time skip: something changes while one of these is set."""
        moves = [*moves, self.reset, self.time_due, self.echo_due, self.cri.output_done]
        rest = Signal(max=REST + 1)
        self.sync += If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1))
        self.comb += self.settled.eq(reduce(and_, [~signal for signal in moves], rest == 0))

    def _time(self, timebase, packets, answers):
        """Sets the card's counter, and measures the round trip."""
        sets, echoes, asked = packets.requests["set_time"], packets.requests["echo_request"], Signal()
        self.comb += [
            sets.valid.eq(self.time_due),
            sets.timestamp.eq(Cat(C(0, FINE_BITS), (timebase.coarse + self.correction)[: 64 - FINE_BITS])),
            echoes.valid.eq(asked),
        ]
        count = self.round_trip
        self.sync += [
            If(self.time_due & sets.ready, self.time_due.eq(0)),
            If(self.set_time, self.time_due.eq(1)),
            If(asked & echoes.ready, asked.eq(0), count.eq(0)),
            If(self.echo_due & ~asked & (count != 2 ** len(count) - 1), count.eq(count + 1)),
            If(self.echo_due & ~asked & answers.came["echo_reply"], self.echo_due.eq(0)),
            If(self.echo, asked.eq(1), self.echo_due.eq(1)),
        ]
