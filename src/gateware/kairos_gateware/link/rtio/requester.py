"""RTIO over the link, the master's end: a CRI for the channels of a satellite and of the boards
behind it.

An output is rejected here, with a status of its own, if it cannot reach the satellite in time, if
the channel does not exist, or if the satellite cannot be reached. An accepted output is sent with
its timestamp, without waiting for an answer, once the other end of the link has room for it; until
then the command waits. While the satellite's lanes apply back-pressure, commands wait here too.
Corrupted words are retransmitted; an event that is late as a result is reported by the other end.

If the link is lost while events are in flight (or waiting to enter the satellite's core), the next
request is rejected as unreachable, even if the link has been re-established, and the channel of the
newest event is reported as busy. The same happens if the satellite's logic has restarted with
unexecuted events (`lost_outputs`).

Latency: accepted → word 5, if not delayed by others; least slack of an accepted output: `one_way_delay` +
SLACK. Throughput: four events of the short form in 5 cycles, two of the long form. Clock domain
sys.
"""

from functools import reduce
from operator import and_, or_

from migen import *
from migen.genlib.fifo import SyncFIFO

from ...rtio.cri import INPUT_TIMEOUT, INPUT_UNREACHABLE, OUTPUT_UNDERFLOW, OUTPUT_UNREACHABLE, Cri
from ...rtio.timing import COARSE_BITS, FINE_BITS, MIN_SLACK
from ..line.endpoint import Endpoint
from .lost_outputs import LostOutputs
from .time import DELAY_BITS, Phase, TimeTransfer
from .words import (
    CONTROL,
    LONG,
    MEDIUM,
    MORE_BITS,
    OFFSET_BITS,
    RELIABILITY,
    SHORT,
    SLACK_BITS,
    STATUS,
    fields,
    more_vectors,
    rtio_streams,
)

__all__ = ["ERRORS", "RtioRequester", "REST", "SLACK", "least_slack"]

ERRORS = ["collision", "busy", "sequence_error"]
"""In the order of their numbers in the stream `status`."""

_QUEUE = 2
"""Events between the CRI and the link."""
_OTHERS = 3
"""The link's own words that may precede an event: an acknowledgement of each lane, a start."""
_FRAME = RELIABILITY.lanes[0].frame
_PAUSES = 3
"""Cycles in which the line of a real board takes no word, which may occur here although they did
not when `one_way_delay` was measured: one where words cross to the line's clock, one in 33, one for the
scrambler's state."""


def _slack(words):
    """Least accepted distance of an output's coarse time from the counter, beyond `one_way_delay`, for
    events of up to `words` words: what the satellite's core needs, the latency of the blocks in
    between, earlier events, the ends of frames up to the event's own, and the link's own words.
    (`one_way_delay` is that of two words and the end of their frame.)"""
    before = words * (_QUEUE + 1)
    # `place`: position of the event's last word in its frame
    ends = max((before + words - 1 - place) // _FRAME + _FRAME - place for place in range(_FRAME))
    return MIN_SLACK + 4 + before + words - 2 + ends + _OTHERS


SLACK = _slack(2)
"""For events without wide data, to a satellite with no boards behind it."""
_RELAY = 8
"""Cycles that a satellite may need to forward an event to the next link, beyond those to its own
core."""


def least_slack(boards=1, data_width=32, relayed=False):
    """Returns the least accepted distance of an output's coarse time from the counter, beyond
    `one_way_delay`, for a satellite with so many boards, itself included, and events of so many bits.
    relayed: for a board behind the satellite, excluding what that board itself needs."""
    # With boards behind it, each event may follow a word that names its target
    slack = _slack(2 * (1 + more_vectors(data_width)) + (boards > 1))
    return slack + (_RELAY - MIN_SLACK if relayed else 0)


_ROOMY_VECTORS, _ROOMY_WORDS = 64, 160
"""Lower bounds of credits and of words that may be sent before an acknowledgement, for `roomy`:
more than an initiator has in flight, which is 15 events of one vector with data, one with more data
and one that names the target, or 7 of the widest. A vector has up to two words, and an end word
follows every fourth word."""
_AHEAD = 2 ** (LONG[1][1] - 2)
"""Cycles by which an event may be ahead of the counter when it is sent: a day and a half. Later
ones wait."""
_SHORT_AHEAD = SHORT[1][1] - 2
REST = 24
"""Cycles after which an endpoint that has received no word is quiescent."""
_AFTER_RESET = 8


class RtioRequester(Module):
    """timebase: the core's. data_width: bits of the widest event of the satellite and the boards
    behind it. destination: of the satellite, a number or a signal. boards: number of boards, the
    satellite and those behind it, which have the destinations following its own.

    `cri`: for all of them. `enable`: this board has the right time. `endpoint`: for the words;
    `line_up`: the line carries words; `joined`: the link is established. `reset` (a pulse) and
    `phy_reset` (a level) are passed to the satellite. `abort`: ends the read in flight. State:
    `up`, the satellite can be reached; `reaches`: for each board whether it can be reached, its
    number of output channels, and the least slack of an output; `slack`, the greatest least slack
    of the reachable boards; `one_way_delay`; `measured`, the phase that `measure` (a pulse) has requested
    is known; `blocked`; `roomy`, as many events as an initiator has in flight do not wait here, as
    far as is known; `sent`, events so far; `lost_outputs`, an `LostOutputs`. `errors`: as the core's,
    {name: (pulse, channel of 24 bits)}. For time skip: `settled`; `dues`, list of (flag, coarse
    time to which the counter may be advanced). `phase`: a `Phase`. phases: clocks may have any
    phase, and the transfer of time has to measure it.

    `destination` (out, 8 bits): of the satellite, in this cycle.
    """

    def __init__(self, timebase, data_width, destination, boards=1, more=((), ()), phases=False):
        self.phase, self.measure, self.measured = Phase(), Signal(), Signal()
        self.destination, self.boards = Signal(8), boards
        self.enable, self.abort = Signal(reset=1), Signal()
        self.cri = Cri(data_width)
        self.line_up = Signal()
        self.reset = Signal()
        self.phy_reset = Signal(reset=1)
        self.blocked = Signal()
        self.sent = Signal(16)
        away, back = rtio_streams(more)
        self.submodules.endpoint = endpoint = Endpoint(away, back, RELIABILITY)
        self.joined = endpoint.up
        self._event_tags, self._control_tags = away[0].forms.tags, away[1].forms.tags
        events, control, status = endpoint.sink["events"], endpoint.sink["control"], endpoint.source["status"]
        self._pauses = _PAUSES if phases else 0
        self.submodules.time = time = TimeTransfer(
            timebase, Record(control.layout), self._control_tags, status, self.phase if phases else None
        )
        self.up = time.agreed
        self.one_way_delay = time.one_way_delay

        # # #

        self._came = {name: Signal(name=f"came_{name}") for name in STATUS}
        self.comb += [
            [self._came[name].eq(status.valid & (status.form == tag)) for name, tag in back[0].forms.tags.items()],
            endpoint.line.eq(self.line_up),
            time.line_up.eq(self.joined & self.enable),
            self.destination.eq(destination),
            time.echoed.eq(self._came["echoed"]),
            self.phase.start.eq(time.measures | (self.measure & self.up)),
            self.measured.eq(self.phase.done & self.up),
        ]
        self.sync += If(self.phase.start, self.phase.runs.eq(1)).Elif(self.phase.done, self.phase.runs.eq(0))
        self._timebase, self._status = timebase, status.data
        self._resetting = Signal()  # nothing is accepted
        self._refuse_once, self._lost = Signal(), Signal()  # events were lost: reject the next request; in this cycle
        self.reaches = self._reaches(data_width)
        queue, entry = self._outputs(data_width)
        self._send_events(timebase, queue, entry, events, data_width)
        self._room(endpoint)
        newest = self._losses(queue)
        self._inputs()
        self._control(control)
        self._errors(newest)
        self._skip(control)

    def _outputs(self, data_width):
        """Decides whether an output is accepted. Returns the queue of accepted outputs and its
        output entry."""
        timebase, cri, reaches = self._timebase, self.cri, self.reaches
        output, coarse = cri.output, cri.output.timestamp[FINE_BITS:]
        offset = Signal(OFFSET_BITS)
        self.comb += offset.eq(output.channel[16:] - self.destination)
        earliest, self._latest = [Signal(COARSE_BITS) for _ in reaches], Signal(COARSE_BITS)
        up, outputs, self._least = [Array(values)[offset] for values in zip(*reaches, strict=True)]
        unreachable = ~up | self._refuse_once
        no_channel, underflow, refused, self._taken = Signal(), Signal(), Signal(), Signal()
        layout = [("timestamp", 64), ("channel", 16), ("address", 8), ("data", data_width)]
        layout += [("offset", OFFSET_BITS)] if self.boards > 1 else []
        self.submodules.queue = queue = ResetInserter()(SyncFIFO(sum(width for _, width in layout), _QUEUE))
        entry = Record(layout)
        free = queue.writable & ~self.blocked & (coarse < self._latest)
        self.comb += [
            no_channel.eq(output.channel[:16] >= outputs),
            underflow.eq(output.timestamp[63] | (coarse < Array(earliest)[offset])),
            refused.eq(unreachable | no_channel | underflow),
            output.ready.eq(~self._resetting & (refused | free)),
            self._taken.eq(output.valid & output.ready),
            queue.reset.eq(~self.joined),
            queue.we.eq(self._taken & ~refused),
            queue.din.eq(Cat(output.timestamp, output.channel[:16], output.address, output.data, offset)),
            entry.raw_bits().eq(queue.dout),
        ]
        self.sync += [
            [first.eq(timebase.coarse + least + 1) for first, (*_, least) in zip(earliest, reaches, strict=True)],
            self._latest.eq(timebase.coarse + _AHEAD),
            # Avoids stale values after a jump of time, which occurs only in simulation
            If(
                timebase.load,
                [first.eq(timebase.load_value + least) for first, (*_, least) in zip(earliest, reaches, strict=True)],
            ),
            cri.output_done.eq(self._taken),
            cri.output_status.eq(0),
            If(unreachable | no_channel, cri.output_status.eq(OUTPUT_UNREACHABLE)).Elif(
                underflow, cri.output_status.eq(OUTPUT_UNDERFLOW)
            ),
        ]
        return queue, entry

    def _losses(self, queue):
        """Tracks events that were sent and may be lost. Returns the channel of the newest event."""
        confirmed, newest = Signal(16), Signal(24)
        state = fields(STATUS["state"], self._status)
        request = self.cri.input
        self._asked = self._taken | (request.valid & request.ready)
        self.submodules.lost_outputs = lost_outputs = LostOutputs(self._timebase)
        self.comb += [
            lost_outputs.sent.eq(queue.we),
            lost_outputs.coarse.eq(self.cri.output.timestamp[FINE_BITS:]),
            lost_outputs.joined.eq(self.joined),
            lost_outputs.far_known.eq(self.time.far_known),
            lost_outputs.far.eq(self.time.far),
            lost_outputs.cleared.eq(self.reset),
            self._lost.eq((~self.joined & (self.sent != confirmed)) | lost_outputs.lost),
        ]
        self.sync += [
            If(queue.we, self.sent.eq(self.sent + 1), newest.eq(self.cri.output.channel)),
            If(self._came["state"], self.blocked.eq(state["blocked"]), confirmed.eq(state["count"])),
            If(self._asked & self.up, self._refuse_once.eq(0)),
            If(self._lost, self._refuse_once.eq(1)),
            If(~self.joined, self.sent.eq(0), confirmed.eq(0), self.blocked.eq(0)),
        ]
        return newest

    def _inputs(self):
        """One request at a time: `_read` is sent to the satellite while `_read_due`."""
        cri, request = self.cri, self.cri.input
        self._reading, self._read_due, self._number = Signal(), Signal(), Signal(4)
        self._read = read = {name: Signal(width) for name, width in CONTROL["read"]}
        offset = Signal(OFFSET_BITS)
        self.comb += offset.eq(request.channel[16:] - self.destination)
        unreachable = ~Array(up for up, *_ in self.reaches)[offset] | self._refuse_once
        answer = fields(STATUS["answer"], self._status)
        answered = self._came["answer"] & self._reading & (answer["number"] == self._number)
        self._refuse = Signal()
        ends = self._reading & (self.reset | self.abort)
        cut = self._reading & ~self.up
        self.comb += request.ready.eq(~self._reading & ~self._refuse & ~self._resetting)
        self.sync += [
            cri.input_done.eq(0),
            cri.response.timestamp.eq(2**64 - 1),
            cri.response.data.eq(0),
            self._refuse.eq(0),
            If(
                request.valid & request.ready,
                read["channel"].eq(request.channel[:16]),
                read["timeout"].eq(request.timeout),
                read["offset"].eq(offset),
                self._refuse.eq(unreachable),
                self._reading.eq(~unreachable),
                self._read_due.eq(~unreachable),
                self._number.eq(self._number + 1),
            ),
            If(
                answered,
                cri.input_status.eq(answer["status"]),
                cri.response.timestamp.eq(answer["timestamp"]),
                cri.response.data.eq(answer["data"]),
            ),
            If(ends, cri.input_status.eq(INPUT_TIMEOUT)),
            If(self._refuse | cut, cri.input_status.eq(INPUT_UNREACHABLE)),
            If(
                answered | self._refuse | ends | cut,
                cri.input_done.eq(1),
                self._reading.eq(0),
                self._read_due.eq(0),
            ),
        ]
        self.comb += [
            cri.response.done.eq(cri.output_done | cri.input_done),
            cri.response.status.eq(Mux(cri.output_done, cri.output_status, cri.input_status)),
        ]

    def _control(self, control):
        """Sends everything but events to the satellite: time first, then resets, then reads."""
        time, read, sink = self.time, self._read, self.time.sink
        reset_due, sent_reset, after = Signal(reset=1), Signal(reset=1), Signal(max=_AFTER_RESET + 1)
        abort_due = Signal()
        unsure = Signal(DELAY_BITS + 2)  # cycles in which a reset may be in transit
        levels_due = Signal()
        sends_levels, sends_read = Signal(), Signal()
        reads = self._read_due & self.up
        self.comb += [
            levels_due.eq(self.up & (reset_due | abort_due | (sent_reset != self.phy_reset))),
            self._resetting.eq((self.up & reset_due) | self.reset | (after != 0)),
            control.valid.eq(time.asks | levels_due | reads),
            sends_levels.eq(levels_due & control.ready),
            sends_read.eq(~levels_due & ~time.asks & reads & control.ready),
            sink.ready.eq(control.ready),
            If(time.asks, control.form.eq(sink.form), control.data.eq(sink.data))
            .Elif(
                levels_due,
                control.form.eq(self._control_tags["levels"]),
                control.data.eq(Cat(self.phy_reset, reset_due, self.sent, self.destination, abort_due)),
            )
            .Else(
                control.form.eq(self._control_tags["read"]),
                control.data.eq(Cat(read["channel"], read["timeout"], self._number, read["offset"])),
            ),
        ]
        self.sync += [
            # What follows a reset must not overtake it
            If((after != 0) & ~self.endpoint.leaving["control"], after.eq(after - 1)),
            If((unsure != 0) & self.joined, unsure.eq(Mux(self._came["state"], 0, unsure - 1))),
            If(
                sends_levels,
                sent_reset.eq(self.phy_reset),
                reset_due.eq(0),
                abort_due.eq(0),
                If(reset_due, after.eq(_AFTER_RESET), unsure.eq((self.one_way_delay << 1) + REST)),
            ),
            If(sends_read, self._read_due.eq(0)),
            If(self.reset, reset_due.eq(1)),
            If(self._reading & self.abort & ~self._read_due, abort_due.eq(1)),
            # The satellite may have restarted: its levels are sent again
            If(~self.joined, sent_reset.eq(~self.phy_reset), unsure.eq(0), If(unsure != 0, reset_due.eq(1))),
        ]

    def _errors(self, newest):
        """Errors reported by the satellite. newest: channel of the newest event, for lost
        events."""
        error = fields(STATUS["error"], self._status)
        self.errors = {}
        for kind, name in enumerate(ERRORS):
            pulse, channel = Signal(name=f"{name}_came"), Signal(24, name=f"{name}_channel")
            self.comb += [
                pulse.eq(self._came["error"] & (error["kind"] == kind)),
                channel.eq(Cat(error["channel"], (error["offset"] + self.destination)[:8])),
            ]
            if name == "busy":
                self.comb += If(self._lost, pulse.eq(1), channel.eq(newest))
            self.errors[name] = (pulse, channel)

    def _skip(self, control):
        """Time skip."""
        cri, output = self.cri, self.cri.output
        coarse = output.timestamp[FINE_BITS:]
        rest = Signal(max=REST + 1)
        moves = [self.endpoint.moving & self.line_up, self._taken, self._asked, control.valid, self.phase.runs]
        self.settled = Signal()
        self.sync += If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1))
        up = self.up | ~self.line_up | ~self.enable
        quiet = [rest == 0, ~self._resetting, ~self._lost, ~self._refuse, ~cri.input_done, up]
        self.comb += self.settled.eq(reduce(and_, quiet))
        stuck = output.valid & ~output.ready
        self.dues = [
            (stuck & (coarse < self._latest), coarse - self._least - 2),
            (stuck & (coarse >= self._latest), coarse - _AHEAD),
        ]

    def _reaches(self, data_width):
        """Returns (up, outputs, least slack) of each board, the satellite first."""
        first, one_way_delay = Signal(SLACK_BITS), self.one_way_delay + self._pauses
        self.comb += first.eq(one_way_delay + least_slack(self.boards, data_width))
        reaches = [(self.up, self.time.outputs, first)]
        sent_reset = fields(STATUS["reach"], self._status)
        for offset in range(1, self.boards):
            up, outputs, beyond, least = Signal(), Signal(16), Signal(SLACK_BITS), Signal(SLACK_BITS)
            self.comb += least.eq(one_way_delay + least_slack(self.boards, data_width, relayed=True) + beyond)
            self.sync += [
                If(
                    self._came["reach"] & (sent_reset["offset"] == offset),
                    up.eq(sent_reset["up"]),
                    outputs.eq(sent_reset["outputs"]),
                    beyond.eq(sent_reset["slack"]),
                ),
                If(~self.up, up.eq(0)),
            ]
            reaches.append((up, outputs, least))
        return reaches

    def _room(self, endpoint):
        """Provides `roomy` and `slack`, for initiators that do not wait for the status of an output
        (docs/interfaces.md, section 5)."""
        self.roomy, self.slack = Signal(reset=1), Signal(SLACK_BITS)
        lane, left = endpoint.channel.senders[0], endpoint.credits["events"]
        room = ~self.blocked & ~lane.repeating & (left >= _ROOMY_VECTORS) & (lane.space >= _ROOMY_WORDS)
        self.sync += self.roomy.eq(~self.joined | room)
        greatest = C(0, SLACK_BITS)
        for up, _, least in self.reaches:
            greater = Signal(SLACK_BITS)
            self.comb += greater.eq(Mux(up & (least > greatest), least, greatest))
            greatest = greater
        self.comb += self.slack.eq(greatest)

    def _send_events(self, timebase, queue, entry, events, data_width):
        """Converts events from the queue to vectors; data beyond 32 bits are sent first."""
        coarse, fine = entry.timestamp[FINE_BITS:], entry.timestamp[:FINE_BITS]
        delta = Signal(COARSE_BITS)
        medium, short, wide, aims = Signal(), Signal(), Signal(), Signal()
        count = more_vectors(data_width)
        part = Signal(max=count + 2)
        values = {"fine": fine, "coarse": coarse, "channel": entry.channel, "address": entry.address}
        data = {
            name: Cat(
                *[
                    Cat(Cat(value, C(0, 64))[:width])
                    for (_, width), value in zip(layout, [*values.values(), entry.data], strict=True)
                ]
            )
            for name, layout in (("short", SHORT), ("medium", MEDIUM), ("long", LONG))
        }
        tags = self._event_tags
        self.comb += [
            delta.eq(coarse - timebase.coarse),
            medium.eq((delta[_SHORT_AHEAD:] == 0) & (entry.channel[SHORT[2][1] :] == 0)),
            short.eq(medium & (entry.data[SHORT[4][1] :] == 0)),
            wide.eq((entry.data[32:] != 0) & (part != count) if count else 0),
            events.valid.eq(queue.readable),
            events.form.eq(tags["long"]),
            events.data.eq(data["long"]),
            If(medium, events.form.eq(tags["medium"]), events.data.eq(data["medium"])),
            If(short, events.form.eq(tags["short"]), events.data.eq(data["short"])),
            queue.re.eq(events.ready & ~wide & ~aims),
        ]
        if count:
            rest = Cat(entry.data[32:], C(0, MORE_BITS))
            cases = {n: events.data.eq(rest[n * MORE_BITS : (n + 1) * MORE_BITS]) for n in range(count)}
            self.comb += If(wide, events.form.eq(tags["more"]), Case(part, cases))
            self.sync += If(events.valid & events.ready & ~aims, If(wide, part.eq(part + 1)).Else(part.eq(0)))
        if self.boards > 1:
            aimed = Signal(OFFSET_BITS)
            self.comb += [
                aims.eq(entry.offset != aimed),
                If(aims, events.form.eq(tags["aim"]), events.data.eq(entry.offset)),
            ]
            self.sync += [
                If(events.valid & events.ready, aimed.eq(entry.offset)),
                If(~self.joined, aimed.eq(0)),
            ]
