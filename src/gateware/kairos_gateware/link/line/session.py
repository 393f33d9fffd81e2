"""Session state of the link: it is up once each end has identified the other.

An end that is down sends hello with its own session name and the name that it has last received. It
goes up when it receives a hello that carries its own name. While it waits for an acknowledgement, a
valid control word must arrive every `hold` cycles. If none does, if the line stops carrying words,
or if the other end sends hello under a different name or without knowing this end, the link goes
down at this end, which then takes a new name. So both ends restart if one does; and since the line
keeps words in order, no word of an earlier session can follow the hello of a later one.

An end that is up and waits for nothing sends nothing, and none of its counters run
(docs/gateware/time.md).
"""

from migen import *

__all__ = ["Session"]

_HELLO_EVERY = 64
"""Cycles between hellos while the link is down."""


class Session(Module):
    """`line` (in): the line carries words. `awaiting` (in): an acknowledgement is pending. `up` (out): the
    link is up at this end. hello: `ControlWord` of the received hello, valid with `received` (in); `alive`
    (in): any valid control word was received. `due` (out): a hello is to be sent, with the contents
    `greeting`; `sent` (in): it was. `ended` (out): the link goes down in this cycle."""

    def __init__(self, hello, hold):
        self.up, self.received, self.alive, self.due, self.sent = [Signal() for _ in range(5)]
        self.line, self.awaiting, self.ended = Signal(reset=1), Signal(), Signal()
        mine, seen, knows = Signal.like(hello.mine), Signal.like(hello.seen), Signal()
        self.greeting = {"mine": mine, "seen": seen, "knows": knows, "up": self.up}

        # # #

        silence, pause = Signal(max=hold + 1), Signal(max=_HELLO_EVERY)
        known, other = Signal(), Signal()
        self.comb += [
            known.eq(hello.knows & (hello.seen == mine)),
            other.eq(self.received & ~(known & (hello.mine == seen))),
            self.ended.eq(self.up & (other | (silence == hold) | ~self.line)),
        ]
        self.sync += [
            If(self.sent, self.due.eq(0)),
            If(self.alive | ~self.up | ~self.awaiting, silence.eq(0)).Elif(silence != hold, silence.eq(silence + 1)),
            If(self.up | ~self.line, pause.eq(0)).Else(pause.eq(pause + 1)),
            If(self.received, seen.eq(hello.mine), knows.eq(1)),
            If(
                self.ended,
                self.up.eq(0),
                mine.eq(mine + 1),
                If(~self.received, knows.eq(0)),
            ).Elif(self.received & known, self.up.eq(1)),
            If((self.received & ~(self.up & hello.up)) | (~self.up & (pause == 0)), self.due.eq(1)),
            # Everything received from here on belongs to the restored line
            If(~self.line, self.due.eq(0), knows.eq(0)),
        ]
