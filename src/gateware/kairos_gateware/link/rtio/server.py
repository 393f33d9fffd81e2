"""RTIO over the link, the satellite's end: an initiator of the core whose commands come from the
master.

    word in → events FIFO 4 … → command on offer 1 → accepted by the core

Events are credited for the FIFO at the receiving end, so none is lost; they wait in it if the
core's lanes have no room. Failures of an event here (late because of retransmission; collisions,
sequence errors) are reported with its channel, and again if the link is lost before the report was
received. When the link is lost, events that have reached the core are executed, except those that
this board drops by a reset of its own, which are reported likewise. Clock domain sys.
"""

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


class RtioServer(Module):
    """core: `RtioCore` whose time base can be loaded. below: `RtioRequester`s of the boards behind this
    one, in the order of their destinations. more: as of `rtio_streams`.

    `cri`: for the core or its arbiter; bits 23..16 of channels are offsets (`rtio_words`).
    `destination`: the master's number for this board; `named`, for a cycle: it has just been
    received. `endpoint`, `line_up`, `joined`: as of `RtioRequester`. `phy_reset`: a level, 1 until
    cleared by the master. `reset`: the core's, a level. `abort`: ends the read in flight.
    `discards`, for a cycle: this board resets the core itself. `played`: `Taken`, outputs that this
    board's player submits for the board above. `steps`: shift of this board's clock (`phase`).
    `time_load`, `time_value`: of the time base. `live`: the counters agree, as confirmed by the
    master. `settled`: for time skip, nothing changes here or in the stream sent. phases: the clocks
    of boards may have any phase; then `begin` is the bit of this board's receive cycles at which
    those of the board above begin, and `steady` means that its clock is that of the board above
    (`Steady`); otherwise `steady` is None. Until it is steady, no time is transferred; if it ceases
    to be, the link restarts.
    """

    def __init__(self, core, below=(), more=((), ()), phases=False):
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
        away, back = rtio_streams(more)
        self.submodules.endpoint = endpoint = Endpoint(back, away, RELIABILITY)
        self.joined = endpoint.up
        events, control, status = endpoint.source["events"], endpoint.source["control"], endpoint.sink["status"]

        # # #

        came = {name: Signal(name=f"came_{name}") for name in CONTROL}
        self.live = live = Signal()  # the counters agree: the master sends more than the time
        # Prevents this board from continuing with a time that is no longer the master's
        self.comb += endpoint.line.eq(
            self.line_up if self.steady is None else self.line_up & (self.steady | ~self.live)
        )
        self.comb += [came[name].eq(control.valid & (control.form == tag)) for name, tag in away[1].forms.tags.items()]

        # Resets: all events that were sent before are dropped
        levels = fields(CONTROL["levels"], control.data)
        dropping, until, popped = Signal(), Signal(16), Signal(16)
        self.sync += [
            self.named.eq(came["levels"]),
            If(
                came["levels"],
                live.eq(1),
                self.phy_reset.eq(levels["phy_reset"]),
                self.destination.eq(levels["destination"]),
                If(levels["reset"], dropping.eq(1), until.eq(levels["count"])),
            ).Elif(popped == until, dropping.eq(0)),
            If(~self.joined, live.eq(0), dropping.eq(0)),
        ]
        self.comb += self.reset.eq(dropping)

        self._events(timebase, events, away[0].forms.tags, cri.output, dropping, popped)

        # Time
        time = fields(ECHO, control.data)
        self.time_load = came["time"]
        self.time_value = time["coarse"]
        self.sync += If(came["move"], self.steps.eq(control.data[:STEP_BITS]))
        echo, echoed = Signal(), Signal(COARSE_BITS)
        asked = came["echo"] if self.steady is None else came["echo"] & self.steady
        self.sync += [echo.eq(asked), echoed.eq(timebase.coarse)]

        # Inputs
        read = fields(CONTROL["read"], control.data)
        number, under_way, answered = Signal(4), Signal(), Signal()
        answer = Record([("status", 4), ("number", 4), ("timestamp", 64), ("data", 32)])
        self.comb += self.abort.eq((~self.joined | (came["levels"] & levels["abort"])) & under_way)
        self.sync += [
            If(cri.input.ready, cri.input.valid.eq(0)),
            If(cri.input.valid & cri.input.ready, under_way.eq(1)),
            If(
                came["read"],
                cri.input.valid.eq(1),
                cri.input.channel.eq(Cat(read["channel"], read["offset"])),
                cri.input.timeout.eq(read["timeout"]),
                number.eq(read["number"]),
            ),
            If(~self.joined, cri.input.valid.eq(0)),
            If(
                cri.input_done,
                under_way.eq(0),
                answered.eq(1),
                answer.status.eq(cri.input_status),
                answer.number.eq(number),
                answer.timestamp.eq(cri.response.timestamp),
                answer.data.eq(cri.response.data),
            ),
        ]

        # Messages, in this order
        channel = Signal(24)
        self.sync += If(cri.output.valid & cri.output.ready, channel.eq(cri.output.channel))
        # Events that a board behind this one rejects are lost, too
        self.submodules.late = late = AsyncError(cri.output_done & (cri.output_status != 0), channel)
        passed = Taken()
        self.comb += [
            passed.valid.eq(cri.output.valid & cri.output.ready),
            passed.coarse.eq(cri.output.timestamp[FINE_BITS:]),
            passed.channel.eq(cri.output.channel),
        ]
        self.submodules.discarded = discarded = Discarded(timebase, [passed, self.played])
        self.comb += [discarded.resets.eq(self.discards), discarded.forgets.eq(dropping)]
        self.submodules.dropped = dropped = AsyncError(discarded.lost, discarded.channel)
        state_due, counted, reported_blocked = Signal(), Signal(16), Signal()
        blocked, reported = self._state(cri.output, events, popped, counted)
        self.comb += state_due.eq(live & (reported | (blocked != reported_blocked)))
        tags = back[0].forms.tags
        # (condition, form, data, statements executed once it is sent)
        messages = [
            (echo, "echoed", Cat(echoed, C(core.outputs, 16), self.begin), []),
            (answered & live, "answer", answer.raw_bits(), [answered.eq(0)]),
        ]
        under_way = endpoint.leaving["status"] | endpoint.channel.unacknowledged[0]
        errors = [(AsyncError(*self._merged(name, source, below)), name) for name, source in core.errors.items()]
        self.submodules += [error for error, _ in errors]
        for error, name in [*errors, (late, "busy"), (dropped, "busy")]:
            reported = Signal()
            self.comb += error.clear.eq(reported & ~under_way & live)
            self.sync += If(error.clear | ~self.joined, reported.eq(0))
            data = Cat(C(ERRORS.index(name), 2), error.channel)
            messages.append((error.flag & live & ~reported, "error", data, [reported.eq(1)]))
        messages += self._reaches(below, live)
        messages.append(
            (state_due, "state", Cat(blocked, counted), [self._reported.eq(counted), reported_blocked.eq(blocked)])
        )
        before = C(0)
        self.sync += If(~self.joined, reported_blocked.eq(0), answered.eq(0))
        for wanted, form, data, done in messages:
            mine = Signal()
            self.comb += [
                mine.eq(wanted & ~before),
                If(mine, status.form.eq(tags[form]), status.data.eq(data)),
            ]
            self.sync += If(mine & status.ready, *done)
            before = before | wanted
        # Assigned after the messages' own statements, so that no change is missed
        self.sync += [If(now, changed.eq(1)) for changed, now in self._changes]
        self.comb += status.valid.eq(before)

        # Time skip
        rest = Signal(max=REST + 1)
        moves = [endpoint.moving & self.line_up, status.valid]
        moves += [cri.output.valid & cri.output.ready, came["levels"], dropping]
        self.settled = Signal()
        self.sync += If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1))
        quiet = [rest == 0, ~cri.input.valid, ~answered | ~live, ~self._counting]
        self.comb += self.settled.eq(reduce(and_, quiet))

    def _merged(self, name, own, below):
        """(pulse, channel with its offset) of an error here or on a board behind this one; if two
        occur in a cycle, the one here."""
        pulse, channel = own[0], Cat(own[1][:16], C(0, 8))
        for near in below:
            other, number = near.errors[name]
            channel = Mux(pulse, channel, Cat(number[:16], (number[16:] - self.destination)[:8]))
            pulse = pulse | other
        return pulse, channel

    def _reaches(self, below, live):
        """Messages about boards behind this one, one for each: sent when it becomes reachable or
        unreachable."""
        messages, self._changes = [], []
        reaches = [reach for near in below for reach in near.reaches]
        for offset, (up, outputs, least) in enumerate(reaches, 1):
            changed, before = Signal(), Signal()
            self.sync += before.eq(up & live)
            data = Cat(C(offset, OFFSET_BITS), up, outputs, least)
            messages.append((changed & live, "reach", data, [changed.eq(0)]))
            self._changes.append((changed, live & (up != before)))
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

    def _events(self, timebase, events, tags, output, dropping, popped):
        """Converts vectors to commands of the core, one on offer at a time. `popped`: events so
        far, dropped ones included."""
        width = len(output.data)
        count = more_vectors(width)
        wide = Signal(max(1, count * MORE_BITS))
        more, aim = events.form == tags["more"], events.form == tags["aim"]
        aimed = Signal(OFFSET_BITS)
        taken = events.valid & events.ready
        parts = {
            "short": fields(SHORT, events.data),
            "medium": fields(MEDIUM, events.data),
            "long": fields(LONG, events.data),
        }
        low, data, bits = (
            Signal(COARSE_BITS),
            Signal(32),
            dict(zip(parts, [SHORT[1][1], MEDIUM[1][1], LONG[1][1]], strict=True)),
        )
        fine, channel, address = Signal(FINE_BITS), Signal(16), Signal(8)
        coarse = Signal(COARSE_BITS)
        for form, part in parts.items():
            size = bits[form]
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

    def _state(self, output, events, popped, counted):
        """(the newest event waits for room, the count is to be reported)."""
        waits, blocked = Signal(max=_BLOCKED_AFTER + 1), Signal()
        since, self._reported, due = Signal(max=_REPORT_AFTER + 1), Signal(16), Signal()
        self._counting = Signal()
        self.comb += [
            counted.eq(popped - output.valid),
            blocked.eq(waits == _BLOCKED_AFTER),
            due.eq(
                (counted != self._reported) & ((since == _REPORT_AFTER) | (counted - self._reported >= _REPORT_EVENTS))
            ),
            self._counting.eq(counted != self._reported),
        ]
        stuck = output.valid & ~output.ready
        self.sync += [
            If(stuck & ~blocked, waits.eq(waits + 1)),
            If(~output.valid & ~events.valid, waits.eq(0)),
            If(events.valid & events.ready | (counted == self._reported), since.eq(0)).Elif(
                since != _REPORT_AFTER, since.eq(since + 1)
            ),
            If(~self.joined, self._reported.eq(0), waits.eq(0)),
        ]
        return blocked, due
