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

from ...rtio.cri import INPUT_TIMEOUT, INPUT_UNREACHABLE, Cri
from ...rtio.timing import FINE_BITS, MIN_SLACK
from ..line.eem_words import WORDS
from ..line.endpoint import Endpoint
from .lost_outputs import LostOutputs
from .outputs import QUEUE, EventSender, OutputQueue
from .time import DELAY_BITS, Phase, TimeTransfer
from .words import (
    CONTROL,
    OFFSET_BITS,
    RELIABILITY,
    SLACK_BITS,
    STATUS,
    fields,
    more_vectors,
    rtio_streams,
)

__all__ = ["ERRORS", "RtioRequester", "REST", "SLACK", "least_slack"]

ERRORS = ["collision", "busy", "sequence_error"]
"""In the order of their numbers in the stream `status`."""

_OTHERS = 3
"""The link's own words that may precede an event: an acknowledgement of each lane, a start."""
_FRAME = RELIABILITY.lanes[0].frame
_PAUSES = 3
"""Cycles in which the line of a real board takes no word, which may occur here although they did
not when `one_way_delay` was measured: one where words cross to the line's clock, one in 33, one for the
scrambler's state."""


def _slack(words, word_cycles=1):
    """Least accepted distance of an output's coarse time from the counter, beyond `one_way_delay`, for
    events of up to `words` words, on a line on which each takes `word_cycles`: what the satellite's core needs, the
    latency of the blocks in between, earlier events, the ends of frames up to the event's own, and the link's own
    words.
    (`one_way_delay` is that of two words and the end of their frame.)"""
    before = words * (QUEUE + 1)
    # `place`: position of the event's last word in its frame
    ends = max((before + words - 1 - place) // _FRAME + _FRAME - place for place in range(_FRAME))
    waits = word_cycles * (before + words - 2 + ends + _OTHERS)
    if word_cycles > 1:
        # A word that is just leaving, and pauses of the line after every `WORDS`
        waits += word_cycles + waits // (WORDS * word_cycles) + 1
    return MIN_SLACK + 4 + waits


SLACK = _slack(2)
"""For events without wide data, to a satellite with no boards behind it."""
_RELAY = 8
"""Cycles that a satellite may need to forward an event to the next link, beyond those to its own
core."""


def least_slack(boards=1, data_width=32, relayed=False, word_cycles=1):
    """Returns the least accepted distance of an output's coarse time from the counter, beyond
    `one_way_delay`, for a satellite with so many boards, itself included, and events of so many bits.
    relayed: for a board behind the satellite, excluding what that board itself needs. word_cycles: of a word on the
    line."""
    # With boards behind it, each event may follow a word that names its target
    slack = _slack(2 * (1 + more_vectors(data_width)) + (boards > 1), word_cycles)
    return slack + (_RELAY - MIN_SLACK if relayed else 0)


_ROOMY_VECTORS, _ROOMY_WORDS = 64, 160
"""Lower bounds of credits and of words that may be sent before an acknowledgement, for `roomy`:
more than an initiator has in flight, which is 15 events of one vector with data, one with more data
and one that names the target, or 7 of the widest. A vector has up to two words, and an end word
follows every fourth word."""
REST = 24
"""Cycles after which an endpoint that has received no word is quiescent."""
_AFTER_RESET = 8


class _Status(Module):
    """What the satellite reports. source: of the stream `status`. tags: of its forms.

    came: by form, whether a vector of it is received in this cycle. values: by form, its fields.
    """

    def __init__(self, source, tags):
        self.came = {name: Signal(name=f"came_{name}") for name in STATUS}
        self.values = {name: fields(layout, source.data) for name, layout in STATUS.items()}
        self.comb += [self.came[name].eq(source.valid & (source.form == tag)) for name, tag in tags.items()]


class _Reaches(Module):
    """Which boards can be reached. time: `TimeTransfer`. status: `_Status`. boards, data_width: as of the
    `RtioRequester`. pauses: cycles to be added to the measured delay.
    word_cycles: of the line.

    boards: of each, the satellite first, whether it can be reached, its number of output channels, and the
    least slack of an output. `slack` (out, 18 bits): the greatest least slack of those that can.
    """

    def __init__(self, time, status, boards, data_width, pauses, word_cycles):
        self.slack = Signal(SLACK_BITS)

        # # #

        first, one_way_delay = Signal(SLACK_BITS), time.one_way_delay + pauses
        self.comb += first.eq(one_way_delay + least_slack(boards, data_width, word_cycles=word_cycles))
        self.boards = [(time.agreed, time.outputs, first)]
        reach = status.values["reach"]
        for offset in range(1, boards):
            up, outputs, beyond, least = Signal(), Signal(16), Signal(SLACK_BITS), Signal(SLACK_BITS)
            relayed = least_slack(boards, data_width, relayed=True, word_cycles=word_cycles)
            self.comb += least.eq(one_way_delay + relayed + beyond)
            self.sync += [
                If(
                    status.came["reach"] & (reach["offset"] == offset),
                    up.eq(reach["up"]),
                    outputs.eq(reach["outputs"]),
                    beyond.eq(reach["slack"]),
                ),
                If(~time.agreed, up.eq(0)),
            ]
            self.boards.append((up, outputs, least))
        greatest = C(0, SLACK_BITS)
        for up, _, least in self.boards:
            greater = Signal(SLACK_BITS)
            self.comb += greater.eq(Mux(up & (least > greatest), least, greatest))
            greatest = greater
        self.comb += self.slack.eq(greatest)


class _Losses(Module):
    """Tracks events that were sent and may be lost. status: `_Status`. output: of the CRI.

    `queued` (in): the output on offer is accepted. `asked` (in): a command is taken, while the satellite is
    `up` (in). `joined` (in): the link is established. `sent` (out, 16 bits): events accepted since then;
    `blocked` (out): the satellite takes none at present. `lost` (out): in this cycle, some are lost; `refuse`
    (out): since then no command has been taken, so the next one is rejected. `newest` (out, 24 bits): channel
    of the newest event. tracked: `LostOutputs`.
    """

    def __init__(self, timebase, status, output):
        self.queued, self.asked, self.up, self.joined = Signal(), Signal(), Signal(), Signal()
        self.sent, self.blocked, self.newest = Signal(16), Signal(), Signal(24)
        self.lost, self.refuse = Signal(), Signal()
        self.submodules.tracked = tracked = LostOutputs(timebase)

        # # #

        confirmed, state = Signal(16), status.values["state"]
        self.comb += [
            tracked.sent.eq(self.queued),
            tracked.coarse.eq(output.timestamp[FINE_BITS:]),
            tracked.joined.eq(self.joined),
            self.lost.eq((~self.joined & (self.sent != confirmed)) | tracked.lost),
        ]
        self.sync += [
            If(self.queued, self.sent.eq(self.sent + 1), self.newest.eq(output.channel)),
            If(status.came["state"], self.blocked.eq(state["blocked"]), confirmed.eq(state["count"])),
            If(self.asked & self.up, self.refuse.eq(0)),
            If(self.lost, self.refuse.eq(1)),
            If(~self.joined, self.sent.eq(0), confirmed.eq(0), self.blocked.eq(0)),
        ]


class _Inputs(Module):
    """Requests for inputs, one at a time. cri: whose `input` is served. status: `_Status`. reaches: `boards` of
    `_Reaches`. destination: of the satellite.

    `hold` (in): none is taken. `refuse` (in): the next one is rejected as unreachable. `reading` (out): one is
    in flight: `due` (out) until `sent` (in) to the satellite, with the fields `read` and its `number` (out, 4
    bits). `ends` (in): it ends like a timeout; `up` (in): the satellite can be reached, otherwise it ends.
    `refusing` (out): it is being rejected.
    """

    def __init__(self, cri, status, reaches, destination):
        self.hold, self.refuse, self.ends, self.up = Signal(), Signal(), Signal(), Signal()
        self.reading, self.due, self.sent, self.number = Signal(), Signal(), Signal(), Signal(4)
        self.refusing = Signal()
        self.read = {name: Signal(width) for name, width in CONTROL["read"]}

        # # #

        read, request, offset = self.read, cri.input, Signal(OFFSET_BITS)
        self.comb += offset.eq(request.channel[16:] - destination)
        unreachable = ~Array(up for up, *_ in reaches)[offset] | self.refuse
        answer = status.values["answer"]
        answered = status.came["answer"] & self.reading & (answer["number"] == self.number)
        ends = self.reading & self.ends
        cut = self.reading & ~self.up
        self.comb += request.ready.eq(~self.reading & ~self.refusing & ~self.hold)
        self.sync += [
            cri.input_done.eq(0),
            cri.response.timestamp.eq(2**64 - 1),
            cri.response.data.eq(0),
            self.refusing.eq(0),
            If(
                request.valid & request.ready,
                read["channel"].eq(request.channel[:16]),
                read["timeout"].eq(request.timeout),
                read["offset"].eq(offset),
                self.refusing.eq(unreachable),
                self.reading.eq(~unreachable),
                self.due.eq(~unreachable),
                self.number.eq(self.number + 1),
            ),
            If(
                answered,
                cri.input_status.eq(answer["status"]),
                cri.response.timestamp.eq(answer["timestamp"]),
                cri.response.data.eq(answer["data"]),
            ),
            If(ends, cri.input_status.eq(INPUT_TIMEOUT)),
            If(self.refusing | cut, cri.input_status.eq(INPUT_UNREACHABLE)),
            If(
                answered | self.refusing | ends | cut,
                cri.input_done.eq(1),
                self.reading.eq(0),
                self.due.eq(0),
            ),
            If(self.sent, self.due.eq(0)),
        ]
        self.comb += [
            cri.response.done.eq(cri.output_done | cri.input_done),
            cri.response.status.eq(Mux(cri.output_done, cri.output_status, cri.input_status)),
        ]


class _Control(Module):
    """Sends everything but events to the satellite: time first, then resets, then reads. time: `TimeTransfer`.
    status: `_Status`. inputs: `_Inputs`. control: the stream to the satellite, tags: of its forms.

    `reset` (in), `abort` (in), `phy_reset` (in), `destination` (in, 8 bits): as of the `RtioRequester`. `sent`
    (in, 16 bits): number of events before a reset. `joined` (in): the link is established; `leaving` (in):
    words of this stream are still to be passed to it. `resetting` (out): nothing must be accepted, since it
    could overtake a reset.
    """

    def __init__(self, time, status, inputs, control, tags):
        self.reset, self.abort, self.phy_reset = Signal(), Signal(), Signal()
        self.destination, self.sent = Signal(8), Signal(16)
        self.joined, self.leaving, self.resetting = Signal(), Signal(), Signal()

        # # #

        read, sink, up = inputs.read, time.sink, time.agreed
        reset_due, sent_reset, after = Signal(reset=1), Signal(reset=1), Signal(max=_AFTER_RESET + 1)
        abort_due = Signal()
        unsure = Signal(DELAY_BITS + 2)  # cycles in which a reset may be in transit
        levels_due = Signal()
        sends_levels = Signal()
        reads = inputs.due & up
        self.comb += [
            levels_due.eq(up & (reset_due | abort_due | (sent_reset != self.phy_reset))),
            self.resetting.eq((up & reset_due) | self.reset | (after != 0)),
            control.valid.eq(time.asks | levels_due | reads),
            sends_levels.eq(levels_due & control.ready),
            inputs.sent.eq(~levels_due & ~time.asks & reads & control.ready),
            sink.ready.eq(control.ready),
            If(time.asks, control.form.eq(sink.form), control.data.eq(sink.data))
            .Elif(
                levels_due,
                control.form.eq(tags["levels"]),
                control.data.eq(Cat(self.phy_reset, reset_due, self.sent, self.destination, abort_due)),
            )
            .Else(
                control.form.eq(tags["read"]),
                control.data.eq(Cat(read["channel"], read["timeout"], inputs.number, read["offset"])),
            ),
        ]
        self.sync += [
            # What follows a reset must not overtake it
            If((after != 0) & ~self.leaving, after.eq(after - 1)),
            If((unsure != 0) & self.joined, unsure.eq(Mux(status.came["state"], 0, unsure - 1))),
            If(
                sends_levels,
                sent_reset.eq(self.phy_reset),
                reset_due.eq(0),
                abort_due.eq(0),
                If(reset_due, after.eq(_AFTER_RESET), unsure.eq((time.one_way_delay << 1) + REST)),
            ),
            If(self.reset, reset_due.eq(1)),
            If(inputs.reading & self.abort & ~inputs.due, abort_due.eq(1)),
            # The satellite may have restarted: its levels are sent again
            If(~self.joined, sent_reset.eq(~self.phy_reset), unsure.eq(0), If(unsure != 0, reset_due.eq(1))),
        ]


class RtioRequester(Module):
    """timebase: the core's. data_width: bits of the widest event of the satellite and the boards
    behind it. destination: of the satellite, a number or a signal. boards: number of boards, the
    satellite and those behind it, which have the destinations following its own. phases: clocks may have any
    phase, and the transfer of time has to measure it. word_cycles: that a word takes on the line.

    `cri`: for all of them. `endpoint`: for the words. `phase`: a `Phase`. `destination` (out, 8 bits): of the
    satellite, in this cycle. `enable` (in): this board has the right time. `line_up` (in): the line carries
    words; `joined` (out): the link is established. `reset` (in, a pulse) and `phy_reset` (in, a level) are
    passed to the satellite. `abort` (in): ends the read in flight. `measure` (in, a pulse): requests the phase;
    `measured` (out): it is known.

    State: `up` (out), the satellite can be reached; `reaches`: for each board whether it can be reached, its
    number of output channels, and the least slack of an output; `slack` (out, 18 bits), the greatest
    least slack of the reachable boards; `one_way_delay` (out); `blocked` (out): the satellite takes no events at
    present; `roomy` (out), as many events as an initiator has in flight do not wait here, as far as is known;
    `sent` (out, 16 bits), events so far; `lost_outputs`, a `LostOutputs`. `errors`: as the core's, {name:
    (pulse, channel of 24 bits)}. For time skip: `settled` (out): nothing changes but time; `dues`, list of
    (flag, coarse time to which the counter may be advanced).
    """

    def __init__(self, timebase, data_width, destination, boards=1, more=((), ()), phases=False, word_cycles=1):
        self.phase, self.measure, self.measured = Phase(), Signal(), Signal()
        self.destination, self.boards = Signal(8), boards
        self.enable, self.abort = Signal(reset=1), Signal()
        self.cri = cri = Cri(data_width)
        self.line_up = Signal()
        self.reset = Signal()
        self.phy_reset = Signal(reset=1)
        self.roomy, self.settled = Signal(reset=1), Signal()

        # # #

        downstream, upstream = rtio_streams(more)
        self.submodules.endpoint = endpoint = Endpoint(downstream, upstream, RELIABILITY)
        self.joined = endpoint.up
        events, control, source = endpoint.sink["events"], endpoint.sink["control"], endpoint.source["status"]
        self.submodules.time = time = TimeTransfer(
            timebase, Record(control.layout), downstream[1].forms.tags, source, self.phase if phases else None
        )
        self.up, self.one_way_delay = time.agreed, time.one_way_delay
        self.submodules.status = status = _Status(source, upstream[0].forms.tags)
        self.submodules.reach = reach = _Reaches(
            time, status, boards, data_width, _PAUSES if phases else 0, word_cycles
        )
        self.reaches, self.slack = reach.boards, reach.slack
        self.submodules.outputs = outputs = OutputQueue(timebase, cri, reach.boards, self.destination, data_width)
        self.submodules.events = EventSender(timebase, outputs, events, downstream[0].forms.tags, boards, data_width)
        self.submodules.losses = losses = _Losses(timebase, status, cri.output)
        self.blocked, self.sent, self.lost_outputs = losses.blocked, losses.sent, losses.tracked
        self.submodules.inputs = inputs = _Inputs(cri, status, reach.boards, self.destination)
        self.submodules.control = controls = _Control(time, status, inputs, control, downstream[1].forms.tags)
        self.errors = self._errors(status, losses)
        self.dues = outputs.dues
        self.comb += [
            endpoint.line.eq(self.line_up),
            time.line_up.eq(self.joined & self.enable),
            self.destination.eq(destination),
            time.echoed.eq(status.came["echoed"]),
            self.phase.start.eq(time.measures | (self.measure & self.up)),
            self.measured.eq(self.phase.done & self.up),
            [part.joined.eq(self.joined) for part in (outputs, self.events, losses, controls)],
            [part.hold.eq(controls.resetting) for part in (outputs, inputs)],
            [part.refuse.eq(losses.refuse) for part in (outputs, inputs)],
            outputs.blocked.eq(self.blocked),
            losses.queued.eq(outputs.queued),
            losses.asked.eq(outputs.taken | (cri.input.valid & cri.input.ready)),
            losses.up.eq(self.up),
            losses.tracked.far_known.eq(time.far_known),
            losses.tracked.far.eq(time.far),
            losses.tracked.cleared.eq(self.reset),
            inputs.ends.eq(self.reset | self.abort),
            inputs.up.eq(self.up),
            controls.reset.eq(self.reset),
            controls.abort.eq(self.abort),
            controls.phy_reset.eq(self.phy_reset),
            controls.destination.eq(self.destination),
            controls.sent.eq(self.sent),
            controls.leaving.eq(endpoint.leaving["control"]),
        ]
        # For initiators that do not wait for the status of an output (docs/interfaces.md, section 5)
        lane, left = endpoint.transport.senders[0], endpoint.credits["events"]
        room = ~self.blocked & ~lane.repeating & (left >= _ROOMY_VECTORS) & (lane.space >= _ROOMY_WORDS)
        rest = Signal(max=REST + 1)
        moves = [endpoint.moving & self.line_up, losses.asked, control.valid, self.phase.runs]
        self.sync += [
            If(self.phase.start, self.phase.runs.eq(1)).Elif(self.phase.done, self.phase.runs.eq(0)),
            self.roomy.eq(~self.joined | room),
            If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1)),
        ]
        up = self.up | ~self.line_up | ~self.enable
        quiet = [rest == 0, ~controls.resetting, ~losses.lost, ~inputs.refusing, ~cri.input_done, up]
        self.comb += self.settled.eq(reduce(and_, quiet))

    def _errors(self, status, losses):
        """Errors reported by the satellite; lost events count as busy, with the channel of the newest one."""
        error, errors = status.values["error"], {}
        for kind, name in enumerate(ERRORS):
            pulse, channel = Signal(name=f"{name}_came"), Signal(24, name=f"{name}_channel")
            self.comb += [
                pulse.eq(status.came["error"] & (error["kind"] == kind)),
                channel.eq(Cat(error["channel"], (error["offset"] + self.destination)[:8])),
            ]
            if name == "busy":
                self.comb += If(losses.lost, pulse.eq(1), channel.eq(losses.newest))
            errors[name] = (pulse, channel)
        return errors
