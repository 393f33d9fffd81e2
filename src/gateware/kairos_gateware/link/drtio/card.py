"""The card's end of a link that speaks DRTIO, for simulation: an initiator of the card's RTIO core, and answers to the
auxiliary packets that a master needs, which on a card its firmware gives. Clock domain sys.

    real time ─▶ packets ─▶ ROOM outputs ─▶ core          auxiliary ─▶ mailbox ─▶ answers
              ◀─ packets ◀─ inputs ◀──────                          ◀─         ◀─

It is written from the same tables as the master's end (`contracts/drtio.py`): the model that the master's end is tested
with is not (`testbenches/drtio_card.py`). Where real cards may differ is in docs/gateware/drtio.md.
"""

from functools import reduce
from operator import and_, or_

from migen import *
from migen.genlib.fifo import SyncFIFO
from migen.genlib.fsm import FSM, NextState, NextValue

from ...contracts.drtio import FROM_CARD_FIELDS, TO_CARD_FIELDS, AuxiliaryPacket, FromCard, ToCard
from ...rtio.core import AsyncError
from ...rtio.cri import INPUT_OVERFLOW, Cri
from ...rtio.timing import FINE_BITS
from ..rtio.lost_outputs import Taken
from .auxiliary import auxiliary_mailbox
from .end import CHARACTERS, LinkLayer
from .packets import PacketReceiver, PacketSender
from .requester import REST

__all__ = ["ROOM", "CardServer"]

ROOM = 64
"""Outputs that wait for room in the core."""
_READING = 2
"""Cycles until a word of the mailbox can be read."""
_ANSWERS = {
    AuxiliaryPacket.ECHO_REQUEST: AuxiliaryPacket.ECHO_REPLY,
    AuxiliaryPacket.RESET_REQUEST: AuxiliaryPacket.RESET_ACK,
    AuxiliaryPacket.ROUTING_SET_PATH: AuxiliaryPacket.ROUTING_ACK,
    AuxiliaryPacket.ROUTING_SET_RANK: AuxiliaryPacket.ROUTING_ACK,
}
"""Those without fields."""
_OF_BUS = {
    AuxiliaryPacket.I2C_START_REQUEST: AuxiliaryPacket.I2C_BASIC_REPLY,
    AuxiliaryPacket.I2C_RESTART_REQUEST: AuxiliaryPacket.I2C_BASIC_REPLY,
    AuxiliaryPacket.I2C_STOP_REQUEST: AuxiliaryPacket.I2C_BASIC_REPLY,
    AuxiliaryPacket.I2C_SWITCH_SELECT_REQUEST: AuxiliaryPacket.I2C_BASIC_REPLY,
    AuxiliaryPacket.I2C_WRITE_REQUEST: AuxiliaryPacket.I2C_WRITE_REPLY,
    AuxiliaryPacket.I2C_READ_REQUEST: AuxiliaryPacket.I2C_READ_REPLY,
}
"""Bus 0 has nothing on it: no byte is acknowledged, and what is read are ones. There is no other bus."""
_NOTHING = {
    AuxiliaryPacket.I2C_BASIC_REPLY: 1,
    AuxiliaryPacket.I2C_WRITE_REPLY: 1,
    AuxiliaryPacket.I2C_READ_REPLY: 0xFF01,
}
"""Fields of these answers: whether it has succeeded, and the acknowledge bit or the byte."""
_OF_PROBES = (
    AuxiliaryPacket.MONITOR_REQUEST,
    AuxiliaryPacket.INJECTION_REQUEST,
    AuxiliaryPacket.INJECTION_STATUS_REQUEST,
)
_ERRORS = {
    "sequence_error": AuxiliaryPacket.DESTINATION_SEQUENCE_ERROR,
    "collision": AuxiliaryPacket.DESTINATION_COLLISION,
    "busy": AuxiliaryPacket.DESTINATION_BUSY,
}


class _Requests(PacketReceiver):
    """Packets to the card, as it reads them."""

    kinds, fields = ToCard, TO_CARD_FIELDS


class _Answers(PacketSender):
    """Packets from the card, as it sends them."""

    kinds, fields = FromCard, FROM_CARD_FIELDS
    punctual, first = (), ("read_reply", "read_none", "space_reply", "echo_reply")


class _Probes(Module):
    """Requests for probes and overrides, which need their second word and may have an answer of several. mailbox: of
    the card.

    `begin` (in): the receiver's word is the first one of such a packet; nothing else may be read until it is `idle`
    (out) again. `append` (out), `last` (out), `word` (out, 32 bits): of the answer. `update` (out), `write` (out): for
    a cycle, as of the monitor, as are `value` (in, 64 bits) and `current` (in, 8 bits). `channel`, `place`, `new`: what
    the packet says."""

    def __init__(self, mailbox):
        self.begin, self.idle = Signal(), Signal()
        self.append, self.last, self.word = Signal(), Signal(), Signal(32)
        self.update, self.write = Signal(), Signal()
        self.value, self.current = Signal(64), Signal(8)

        # # #

        receiver, first, second = mailbox.receiver, Signal(32), Signal(16)
        self.channel, self.place, self.new = first[16:], second[:8], second[8:]
        wait, part, injects, probes = Signal(max=_READING), Signal(2), Signal(), Signal()
        reply = Cat(C(AuxiliaryPacket.MONITOR_REPLY, 8), self.value, C(0, 24))
        status = Cat(C(AuxiliaryPacket.INJECTION_STATUS_REPLY, 8), self.current)
        self.comb += [
            injects.eq(first[:8] == AuxiliaryPacket.INJECTION_REQUEST),
            probes.eq(first[:8] == AuxiliaryPacket.MONITOR_REQUEST),
            Case(part, {n: self.word.eq(reply[32 * n : 32 * n + 32]) for n in range(3)}),
            If(~probes, self.word.eq(status)),
        ]
        self.submodules.fsm = fsm = FSM()
        self.comb += self.idle.eq(fsm.ongoing("IDLE"))
        fsm.act(
            "IDLE",
            If(
                self.begin,
                receiver.take.eq(1),
                NextValue(first, receiver.word),
                NextValue(wait, _READING - 1),
                NextState("SECOND"),
            ),
        )
        fsm.act(
            "SECOND",
            NextValue(wait, wait - 1),
            If(wait == 0, NextValue(second, receiver.word), NextState("ACT")),
        )
        fsm.act(
            "ACT",
            receiver.release.eq(1),
            self.update.eq(probes),
            self.write.eq(injects),
            NextValue(part, 0),
            If(injects, NextState("IDLE")).Else(NextState("ANSWER")),
        )
        fsm.act(
            "ANSWER",
            self.append.eq(1),
            self.last.eq(~probes | (part == 2)),
            NextValue(part, part + 1),
            If(self.last, NextState("IDLE")),
        )


class _Auxiliary(Module):
    """Answers auxiliary packets. mailbox: of the card. errors: as the core's.

    `time_set` (in): the counter has been set. `reset` (out): for a cycle, the channels are to be reset. `settled`
    (out): for time skip. `probes`: `_Probes`."""

    def __init__(self, mailbox, errors):
        self.time_set, self.reset, self.settled = Signal(), Signal(), Signal()
        self.submodules.probes = probes = _Probes(mailbox)

        # # #

        sender, receiver = mailbox.sender, mailbox.receiver
        latched = {name: AsyncError(*errors[name]) for name in _ERRORS}
        self.submodules += latched.values()
        owed, wait, goes, answer = Signal(), Signal(max=_READING + 1), Signal(), Signal(24)
        kind, free, ready = receiver.word[:8], Signal(), Signal()
        asks = kind == AuxiliaryPacket.DESTINATION_STATUS_REQUEST
        of_probes = reduce(or_, [kind == int(packet) for packet in _OF_PROBES])
        answers = {int(request): answer.eq(reply) for request, reply in _ANSWERS.items()}
        for request, reply in _OF_BUS.items():
            succeeds = receiver.word[16:24] == 0
            answers[int(request)] = answer.eq(Cat(C(reply, 8), Mux(succeeds, C(_NOTHING[reply], 16), 0)))
        status, cleared = C(AuxiliaryPacket.DESTINATION_OK, 24), []
        for name, packet in reversed(_ERRORS.items()):
            status = Mux(latched[name].flag, Cat(C(packet, 8), latched[name].channel[:16]), status)
        before = C(0)
        for error in latched.values():
            cleared.append(error.clear.eq(ready & asks & error.flag & ~before))
            before = before | error.flag
        self.comb += [
            free.eq(~sender.busy & ~goes & probes.idle),
            ready.eq((receiver.waiting != 0) & (wait == _READING) & free & ~of_probes),
            probes.begin.eq((receiver.waiting != 0) & (wait == _READING) & free & of_probes),
            Case(kind, answers | {"default": []}),
            *cleared,
            sender.word.eq(Mux(ready, Mux(asks, status, answer), AuxiliaryPacket.TIME_ACK)),
            sender.append.eq((ready & (asks | (answer != 0))) | (~ready & ~probes.begin & free & owed)),
            If(probes.append, sender.word.eq(probes.word), sender.append.eq(1)),
            If(ready, receiver.release.eq(1)),
            self.reset.eq(ready & (kind == AuxiliaryPacket.RESET_REQUEST)),
            sender.go.eq(goes),
            self.settled.eq((receiver.waiting == 0) & ~owed & ~sender.busy & ~goes & probes.idle),
        ]
        self.sync += [
            If((receiver.waiting == 0) | receiver.release, wait.eq(0)).Elif(wait != _READING, wait.eq(wait + 1)),
            goes.eq(sender.append & (probes.idle | probes.last)),
            If(sender.append & ~ready & probes.idle, owed.eq(0)),
            If(self.time_set, owed.eq(1)),
        ]


class CardServer(LinkLayer):
    """core: `RtioCore` of the card, whose time base can be loaded. plain, signals of the line: as of the `LinkLayer`.

    As of an `RtioServer`: `cri`, `line_up` (in), `reset` (out), `time_load` (out), `time_value` (out, 61 bits), `live`
    (out), `abort` (out), when the line is lost, `settled` (out). Without effect here: `phy_reset` (out), `destination`
    (out, 8 bits), `named` (out), `discards` (in), `played`."""

    def __init__(self, core, plain=True):
        super().__init__(CHARACTERS, plain)
        width = len(core.cri.output.data)
        self.line_up, self.cri = self.up, Cri(width)
        self.reset, self.live = Signal(), Signal()
        self.phy_reset, self.abort, self.named, self.discards = [Signal() for _ in range(4)]
        self.destination, self.played = Signal(8), Taken()
        self.submodules.requests = requests = _Requests(CHARACTERS, width)
        self.submodules.answers = answers = _Answers(CHARACTERS)
        self.time_load = requests.came["set_time"]
        self.time_value = requests.values["set_time"]["timestamp"][FINE_BITS:]
        mailbox = auxiliary_mailbox(self.auxiliary, self.receiver, self.up)
        output, rejected, newest = self.cri.output, Signal(), Signal(24)
        self.comb += rejected.eq(self.cri.output_done & (self.cri.output_status != 0))
        # One that comes too late, for example, counts as busy, as on this project's satellites
        busy, number = core.errors["busy"]
        errors = core.errors | {"busy": (busy | rejected, Mux(busy, number, newest))}
        self.submodules.replies = replies = _Auxiliary(mailbox, errors)
        self.submodules += mailbox
        of_words, self.settled = self.settled, Signal()

        # # #

        moves = [output.valid & output.ready, self.cri.input.valid, self.reset, self.time_load]
        rest = Signal(max=REST + 1)
        self.comb += [
            *self.carry(answers, requests),
            self.reset.eq(replies.reset),
            replies.time_set.eq(self.time_load),
            self.settled.eq(reduce(and_, [of_words, replies.settled, ~answers.busy, rest == 0])),
        ]
        self.sync += [
            If(output.valid & output.ready, newest.eq(output.channel)),
            If(self.time_load, self.live.eq(1)),
            If(~self.up, self.live.eq(0)),
            If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1)),
        ]
        self._outputs(requests, answers)
        self._inputs(requests, answers)
        echo = answers.requests["echo_reply"]
        self.sync += [If(echo.ready, echo.valid.eq(0)), If(requests.came["echo_request"], echo.valid.eq(1))]

    def watches(self, monitor):
        """Statements: the probes and overrides are those of this `MonitorInjector`."""
        probes = self.replies.probes
        return [
            Cat(monitor.channel, monitor.inject_channel).eq(Replicate(probes.channel, 2)),
            Cat(monitor.probe, monitor.override).eq(Replicate(probes.place, 2)),
            monitor.update.eq(probes.update),
            monitor.write.eq(probes.write),
            monitor.inject_value.eq(probes.new),
            probes.value.eq(monitor.value),
            probes.current.eq(monitor.inject_current),
        ]

    def _outputs(self, requests, answers):
        """Outputs wait here for room in the core; tells for how many there is room."""
        output, write, reply = self.cri.output, requests.values["write"], answers.requests["space_reply"]
        row = Cat(write["timestamp"], write["channel"][:16], write["address"], write["data"])
        self.submodules.fifo = fifo = ResetInserter()(SyncFIFO(len(row), ROOM))
        self.comb += [
            fifo.reset.eq(self.reset),
            fifo.we.eq(requests.came["write"]),
            fifo.din.eq(row),
            output.valid.eq(fifo.readable & ~self.reset),
            # The master's number for this board is of no concern here
            Cat(output.timestamp, output.channel[:16], output.address, output.data).eq(fifo.dout),
            fifo.re.eq(output.valid & output.ready),
        ]
        self.sync += [
            If(reply.ready, reply.valid.eq(0)),
            If(requests.came["space_request"], reply.valid.eq(1), reply.space.eq(ROOM - fifo.level)),
        ]

    def _inputs(self, requests, answers):
        """Reads, one at a time, as the master asks for them."""
        cri, asked, reading = self.cri, requests.values["read_request"], Signal()
        event, none = answers.requests["read_reply"], answers.requests["read_none"]
        self.comb += self.abort.eq(reading & ~self.up)
        self.sync += [
            If(cri.input.valid & cri.input.ready, cri.input.valid.eq(0), reading.eq(1)),
            If(cri.input_done, reading.eq(0)),
            If(
                requests.came["read_request"],
                cri.input.valid.eq(1),
                cri.input.channel.eq(asked["channel"][:16]),
                cri.input.timeout.eq(asked["timeout"]),
            ),
            If(event.ready, event.valid.eq(0)),
            If(none.ready, none.valid.eq(0)),
            If(
                cri.input_done,
                event.valid.eq(cri.input_status == 0),
                none.valid.eq(cri.input_status != 0),
                none.overflow.eq(cri.input_status == INPUT_OVERFLOW),
                event.timestamp.eq(cri.response.timestamp),
                event.data.eq(cri.response.data),
            ),
        ]
