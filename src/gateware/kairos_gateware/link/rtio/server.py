"""RTIO over the link, the satellite's end: an initiator of the core whose commands come from the
master.

    word in → events FIFO 4 … → command on offer 1 → accepted by the core

Events are credited for the FIFO at the receiving end, so none is lost; they wait in it if the
core's lanes have no room. Failures of an event here (late because of retransmission; collisions,
sequence errors) are reported with its channel, and again if the link is lost before the report was
received. When the link is lost, events that have reached the core are executed, except those that
this board drops by a reset of its own, which are reported likewise. Clock domain sys.
"""

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from migen import *

from ...rtio.core import AsyncError
from ...rtio.cri import Cri
from ...rtio.timing import COARSE_BITS, FINE_BITS
from ..line.coding import BEGIN_BITS
from ..line.endpoint import Endpoint
from ..line.phase import STEP_BITS
from .lost_outputs import Discarded, Taken
from .requester import ERRORS, REST
from .words import (
    CONTROL,
    ECHO,
    LONG,
    MEDIUM,
    MORE_BITS,
    OFFSET_BITS,
    RELIABILITY,
    SHORT,
    fields,
    more_vectors,
    rtio_streams,
)

__all__ = ["RtioServer"]

_BLOCKED_AFTER = 8
"""Cycles after which a command that waits for room is reported."""
_REPORT_AFTER, _REPORT_EVENTS = 32, 64
"""The count of events is reported after so many cycles without a new event, or after so many
events."""


class EventDecoder(Module):
    """Converts vectors to commands of the core, one on offer at a time. events: the received vectors,
    of the forms `tags`. output: that of the core's `Cri`.

    `dropping` (in): vectors are consumed and not offered. `joined` (in): the link is established.
    `popped` (out, 16 bits): events so far, dropped ones included.
    """

    def __init__(self, timebase, events, tags, output):
        self.dropping, self.joined = Signal(), Signal()
        self.popped = popped = Signal(16)

        # # #

        dropping = self.dropping
        count = more_vectors(len(output.data))
        wide = Signal(max(1, count * MORE_BITS))
        more, aim = events.form == tags["more"], events.form == tags["aim"]
        aimed = Signal(OFFSET_BITS)
        taken = events.valid & events.ready
        fine, channel, address = Signal(FINE_BITS), Signal(16), Signal(8)
        low, coarse, data = Signal(COARSE_BITS), Signal(COARSE_BITS), Signal(32)
        for form, layout in [("short", SHORT), ("medium", MEDIUM), ("long", LONG)]:
            part, size = fields(layout, events.data), layout[1][1]
            distance = Signal(size, name=f"{form}_distance")
            self.comb += [
                distance.eq(part["coarse"] - timebase.coarse[:size]),
                If(
                    events.form == tags[form],
                    low.eq(Cat(distance, Replicate(distance[-1], COARSE_BITS - size))),
                    fine.eq(part["fine"]),
                    channel.eq(part["channel"]),
                    address.eq(part["address"]),
                    data.eq(part["data"]),
                ),
            ]
        self.comb += [
            coarse.eq(timebase.coarse + low),
            events.ready.eq(~output.valid | output.ready | dropping),
        ]
        self.sync += [
            If(output.ready | dropping, output.valid.eq(0)),
            If(
                taken & ~more & ~aim,
                popped.eq(popped + 1),
                output.valid.eq(~dropping),
                output.channel.eq(Cat(channel, aimed)),
                output.address.eq(address),
                output.timestamp.eq(Cat(fine, coarse)),
                output.data.eq(Cat(data, wide)),
                wide.eq(0),
            ),
            If(taken & aim, aimed.eq(events.data[:OFFSET_BITS])),
            If(~self.joined, popped.eq(0), output.valid.eq(0), wide.eq(0), aimed.eq(0)),
        ]
        if count:
            self.sync += If(taken & more, wide.eq(Cat(wide, events.data[:MORE_BITS])[MORE_BITS:]))


class ReadExecutor(Module):
    """Executes the master's reads on `cri.input`, one at a time. read: fields of the command.

    `start` (in): the command is valid in this cycle. `abort_request` (in): the master ends the read.
    `joined` (in): the link is established. `abort` (out): to the core, ends the read in flight.
    `answered` (out): `answer` (out) is to be sent, until `sent` (in).
    """

    def __init__(self, cri, read):
        self.start, self.abort_request, self.joined = Signal(), Signal(), Signal()
        self.abort, self.answered, self.sent = Signal(), Signal(), Signal()
        self.answer = answer = Record([("status", 4), ("number", 4), ("timestamp", 64), ("data", 32)])

        # # #

        number, under_way = Signal(4), Signal()
        self.comb += self.abort.eq((~self.joined | self.abort_request) & under_way)
        self.sync += [
            If(cri.input.ready, cri.input.valid.eq(0)),
            If(cri.input.valid & cri.input.ready, under_way.eq(1)),
            If(
                self.start,
                cri.input.valid.eq(1),
                cri.input.channel.eq(Cat(read["channel"], read["offset"])),
                cri.input.timeout.eq(read["timeout"]),
                number.eq(read["number"]),
            ),
            If(~self.joined, cri.input.valid.eq(0)),
            If(
                cri.input_done,
                under_way.eq(0),
                self.answered.eq(1),
                answer.status.eq(cri.input_status),
                answer.number.eq(number),
                answer.timestamp.eq(cri.response.timestamp),
                answer.data.eq(cri.response.data),
            ),
            If(~self.joined | self.sent, self.answered.eq(0)),
        ]


class ProgressReport(Module):
    """Decides when the master is to learn how many events the core has accepted, and whether the
    newest one waits for room in the core. output: that of the core's `Cri`. events: the received
    vectors. popped: events taken from them.

    `joined` (in): the link is established. `counted` (out, 16 bits): events accepted. `blocked`
    (out): the newest one waits. `due` (out): both are to be sent, until `sent` (in). `counting` (out):
    the count has changed since it was sent.
    """

    def __init__(self, output, events, popped):
        self.joined, self.sent = Signal(), Signal()
        self.counted, self.blocked = counted, blocked = Signal(16), Signal()
        self.due, self.counting = Signal(), Signal()

        # # #

        waits, since = Signal(max=_BLOCKED_AFTER + 1), Signal(max=_REPORT_AFTER + 1)
        reported, reported_blocked = Signal(16), Signal()
        many = (since == _REPORT_AFTER) | (counted - reported >= _REPORT_EVENTS)
        stuck = output.valid & ~output.ready
        self.comb += [
            counted.eq(popped - output.valid),
            blocked.eq(waits == _BLOCKED_AFTER),
            self.counting.eq(counted != reported),
            self.due.eq((self.counting & many) | (blocked != reported_blocked)),
        ]
        self.sync += [
            If(stuck & ~blocked, waits.eq(waits + 1)),
            If(~output.valid & ~events.valid, waits.eq(0)),
            If(events.valid & events.ready | (counted == reported), since.eq(0)).Elif(
                since != _REPORT_AFTER, since.eq(since + 1)
            ),
            If(~self.joined, reported.eq(0), reported_blocked.eq(0), waits.eq(0)),
            If(self.sent, reported.eq(counted), reported_blocked.eq(blocked)),
        ]


class ErrorReport(Module):
    """Keeps the first error, with its channel, until the master has received it. pulse: an error
    occurs, in `channel`.

    `joined` (in): the link is established. `delivered` (in): whatever has been sent was received.
    `due` (out): the error of `channel` (out, 24 bits) is to be sent, until `sent` (in); again after a
    lost link.
    """

    def __init__(self, pulse, channel):
        self.joined, self.delivered = Signal(), Signal()
        self.due, self.sent = Signal(), Signal()
        self.submodules.error = error = AsyncError(pulse, channel)
        self.channel = error.channel

        # # #

        reported = Signal()
        self.comb += [error.clear.eq(reported & self.delivered), self.due.eq(error.flag & ~reported)]
        self.sync += [If(error.clear | ~self.joined, reported.eq(0)), If(self.sent, reported.eq(1))]


class ReachReport(Module):
    """Changes of `up`, which says that a board behind this one is reachable, seen from a master that
    knows of none when the link begins to be `live`. `changed` (out): to be sent, until `sent` (in); no
    change is missed."""

    def __init__(self, up, live):
        self.changed, self.sent = Signal(), Signal()

        # # #

        before = Signal()
        self.sync += [
            before.eq(up & live),
            If(self.sent, self.changed.eq(0)),
            If(live & (up != before), self.changed.eq(1)),
        ]


@dataclass
class Message:
    """A message to the master, of one of the status stream's forms: offered while `wanted`; `sent`, if
    any, is driven for the cycle in which it is accepted."""

    wanted: object
    form: str
    data: object
    sent: object = None


class MessageSender(Module):
    """Sends messages, a list of `Message` in order of priority, to the stream `status`, whose forms
    have the numbers `tags`."""

    def __init__(self, messages, status, tags):
        before = C(0)
        for message in messages:
            chosen = Signal()
            self.comb += [
                chosen.eq(message.wanted & ~before),
                If(chosen, status.form.eq(tags[message.form]), status.data.eq(message.data)),
            ]
            if message.sent is not None:
                self.comb += message.sent.eq(chosen & status.ready)
            before = before | message.wanted
        self.comb += status.valid.eq(before)


class RtioServer(Module):
    """core: `RtioCore` whose time base can be loaded. requesters: `RtioRequester`s of the boards behind this
    one, in the order of their destinations. more: as of `rtio_streams`.

    `cri`: for the core or its arbiter; bits 23..16 of channels are offsets (`rtio_words`). `destination`
    (out, 8 bits): the master's number for this board; `named` (out), for a cycle: it has just been
    received. `endpoint`, `line_up` (in), `joined`: as of `RtioRequester`. `phy_reset` (out): a level, 1
    until cleared by the master. `reset` (out): the core's, a level. `abort` (out): ends the read in flight.
    `discards` (in), for a cycle: this board resets the core itself. `played`: `Taken`, outputs that this
    board's player submits for the upstream board. `steps` (out, 10 bits, signed): shift of this board's clock
    (`phase`). `time_load`, `time_value`: of the time base. `live` (out): the counters agree, as confirmed
    by the master. `settled` (out): for time skip, nothing changes here or in the stream sent. phases: the
    clocks of boards may have any phase; then `begin` (in, 6 bits) is the bit of this board's receive cycles
    at which those of the upstream board begin, and `steady` means that its clock is that of the upstream board
    (`Steady`); otherwise `steady` is None. Until it is steady, no time is transferred; if it ceases to be,
    the link restarts.
    """

    def __init__(self, core, requesters=(), more=((), ()), phases=False):
        self.line_up = Signal()
        self.steady = Signal() if phases else None
        self.begin = Signal(BEGIN_BITS)
        self.destination, self.named = Signal(8), Signal()
        self.phy_reset = Signal(reset=1)
        self.reset = Signal()
        self.abort = Signal()
        self.discards, self.played = Signal(), Taken()
        self.steps = Signal((STEP_BITS, True))
        self._core = core
        self.cri = cri = Cri(len(core.cri.output.data))
        timebase = core.timebase
        downstream, upstream = rtio_streams(more)
        self.submodules.endpoint = endpoint = Endpoint(upstream, downstream, RELIABILITY)
        self.joined = endpoint.up
        events, control, status = endpoint.source["events"], endpoint.source["control"], endpoint.sink["status"]

        # # #

        came = {name: Signal(name=f"came_{name}") for name in CONTROL}
        self.live = live = Signal()  # the counters agree: the master sends more than the time
        # Prevents this board from continuing with a time that is no longer the master's
        self.comb += endpoint.line.eq(
            self.line_up if self.steady is None else self.line_up & (self.steady | ~self.live)
        )
        self.comb += [
            came[name].eq(control.valid & (control.form == tag)) for name, tag in downstream[1].forms.tags.items()
        ]

        # Resets: all events that were sent before are dropped
        levels = fields(CONTROL["levels"], control.data)
        dropping, until = Signal(), Signal(16)
        self.submodules.decoder = decoder = EventDecoder(timebase, events, downstream[0].forms.tags, cri.output)
        self.comb += [decoder.dropping.eq(dropping), decoder.joined.eq(self.joined)]
        self.sync += [
            self.named.eq(came["levels"]),
            If(
                came["levels"],
                live.eq(1),
                self.phy_reset.eq(levels["phy_reset"]),
                self.destination.eq(levels["destination"]),
                If(levels["reset"], dropping.eq(1), until.eq(levels["count"])),
            ).Elif(decoder.popped == until, dropping.eq(0)),
            If(~self.joined, live.eq(0), dropping.eq(0)),
        ]
        self.comb += self.reset.eq(dropping)

        # Time
        time = fields(ECHO, control.data)
        self.time_load = came["time"]
        self.time_value = time["coarse"]
        self.sync += If(came["move"], self.steps.eq(control.data[:STEP_BITS]))
        echo, echoed = Signal(), Signal(COARSE_BITS)
        asked = came["echo"] if self.steady is None else came["echo"] & self.steady
        self.sync += [echo.eq(asked), echoed.eq(timebase.coarse)]

        self.submodules.reads = reads = ReadExecutor(cri, fields(CONTROL["read"], control.data))
        self.submodules.progress = progress = ProgressReport(cri.output, events, decoder.popped)
        self.comb += [
            reads.start.eq(came["read"]),
            reads.abort_request.eq(came["levels"] & levels["abort"]),
            reads.joined.eq(self.joined),
            self.abort.eq(reads.abort),
            progress.joined.eq(self.joined),
        ]

        # Messages, in this order of priority
        messages = [
            Message(echo, "echoed", Cat(echoed, C(core.outputs, 16), self.begin)),
            Message(reads.answered & live, "answer", reads.answer.raw_bits(), reads.sent),
            *self._errors(dropping, requesters),
            *self._reaches(requesters),
            Message(live & progress.due, "state", Cat(progress.blocked, progress.counted), progress.sent),
        ]
        self.submodules.sender = MessageSender(messages, status, upstream[0].forms.tags)

        # Time skip
        rest = Signal(max=REST + 1)
        moves = [endpoint.moving & self.line_up, status.valid]
        moves += [cri.output.valid & cri.output.ready, came["levels"], dropping]
        self.settled = Signal()
        self.sync += If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1))
        quiet = [rest == 0, ~cri.input.valid, ~reads.answered | ~live, ~progress.counting]
        self.comb += self.settled.eq(reduce(and_, quiet))

    def _errors(self, dropping, requesters):
        """Messages about failed events: those of this board's core and of the boards behind it, events
        that a board behind this one rejects, and events that were dropped. dropping: by the master's
        request, so that nobody is to be informed."""
        core, output, channel = self._core, self.cri.output, Signal(24)
        accepted = output.valid & output.ready
        self.sync += If(accepted, channel.eq(output.channel))
        passed = Taken()
        self.comb += [
            passed.valid.eq(accepted),
            passed.coarse.eq(output.timestamp[FINE_BITS:]),
            passed.channel.eq(output.channel),
        ]
        self.submodules.discarded = discarded = Discarded(core.timebase, [passed, self.played])
        self.comb += [discarded.resets.eq(self.discards), discarded.upstream_resets.eq(dropping)]
        sources = [(name, *self._merged(name, source, requesters)) for name, source in core.errors.items()]
        sources.append(("busy", self.cri.output_done & (self.cri.output_status != 0), channel))
        sources.append(("busy", discarded.lost, discarded.channel))
        delivered = ~(self.endpoint.leaving["status"] | self.endpoint.transport.unacknowledged[0]) & self.live
        messages = []
        for name, pulse, number in sources:
            self.submodules += (report := ErrorReport(pulse, number))
            self.comb += [report.delivered.eq(delivered), report.joined.eq(self.joined)]
            data = Cat(C(ERRORS.index(name), 2), report.channel)
            messages.append(Message(report.due & self.live, "error", data, report.sent))
        return messages

    def _merged(self, name, own, requesters):
        """(pulse, channel with its offset) of an error here or on a board behind this one; if two
        occur in a cycle, the one here."""
        pulse, channel = own[0], Cat(own[1][:16], C(0, 8))
        for near in requesters:
            other, number = near.errors[name]
            channel = Mux(pulse, channel, Cat(number[:16], (number[16:] - self.destination)[:8]))
            pulse = pulse | other
        return pulse, channel

    def _reaches(self, requesters):
        """Messages about boards behind this one, one for each: sent when it becomes reachable or
        unreachable."""
        messages = []
        reaches = [reach for near in requesters for reach in near.reaches]
        for offset, (up, outputs, least) in enumerate(reaches, 1):
            self.submodules += (change := ReachReport(up, self.live))
            data = Cat(C(offset, OFFSET_BITS), up, outputs, least)
            messages.append(Message(change.changed & self.live, "reach", data, change.sent))
        return messages

    def alone(self, to=None):
        """Statements that make this the only initiator of the core, or of the Cri `to` in front of
        it."""
        core, cri = self._core, self.cri
        to = to or core.cri
        shifted = [(cri.output.channel, to.output.channel), (cri.input.channel, to.input.channel)]
        answers = ["output_done", "output_status", "input_done", "input_status"]
        return [
            cri.output.connect(to.output, omit={"channel"}),
            cri.input.connect(to.input, omit={"channel"}),
            [theirs.eq(Cat(ours[:16], (ours[16:] + self.destination)[:8])) for ours, theirs in shifted],
            cri.response.eq(to.response),
            [getattr(cri, name).eq(getattr(to, name)) for name in answers],
            core.reset.eq(self.reset | self.discards),
            core.abort_input.eq(self.abort),
        ]
