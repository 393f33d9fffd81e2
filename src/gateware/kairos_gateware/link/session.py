"""Whether the link is up: both ends know each other, and go on from a common beginning.

An end that is down says hello: who it is, and whom it has heard. It is up once it hears hello from
one that has heard it. While it waits for an acknowledgement, a word that is right must come every
`hold` cycles; otherwise, or if the line says that it carries nothing, or the other end says hello
as somebody else or as one that knows nobody, the link goes down here, and this end takes a new
name. So both begin anew if one does, and since words stay in order on the line, none of an earlier
session can come behind the hello of a later one.

An end that is up and waits for nothing says nothing, and no count goes on in it (docs/gateware/time.md).
"""

from migen import *

__all__ = ["Session"]

_HELLO_EVERY = 64
"""Cycles between hellos of an end that is down."""


class Session(Module):
    """`line`: it carries words. `awaiting`: an acknowledgement. `up`: of this end. hello:
    `ControlWord` of the one that has come, if `heard`; `alive`: any right control word. `due`: a
    hello is to be sent, `greeting` says what; `sent`. `ended`: the link goes down in this cycle.
    """

    def __init__(self, hello, hold):
        self.up, self.heard, self.alive, self.due, self.sent = [Signal() for _ in range(5)]
        self.line, self.awaiting, self.ended = Signal(reset=1), Signal(), Signal()
        mine, seen, knows = Signal.like(hello.mine), Signal.like(hello.seen), Signal()
        self.greeting = {"mine": mine, "seen": seen, "knows": knows, "up": self.up}

        # # #

        silence, pause = Signal(max=hold + 1), Signal(max=_HELLO_EVERY)
        known, other = Signal(), Signal()
        self.comb += [
            known.eq(hello.knows & (hello.seen == mine)),
            other.eq(self.heard & ~(known & (hello.mine == seen))),
            self.ended.eq(self.up & (other | (silence == hold) | ~self.line)),
        ]
        self.sync += [
            If(self.sent, self.due.eq(0)),
            If(self.alive | ~self.up | ~self.awaiting, silence.eq(0)).Elif(silence != hold, silence.eq(silence + 1)),
            If(self.up | ~self.line, pause.eq(0)).Else(pause.eq(pause + 1)),
            If(self.heard, seen.eq(hello.mine), knows.eq(1)),
            If(
                self.ended,
                self.up.eq(0),
                mine.eq(mine + 1),
                If(~self.heard, knows.eq(0)),
            ).Elif(self.heard & known, self.up.eq(1)),
            If((self.heard & ~(self.up & hello.up)) | (~self.up & (pause == 0)), self.due.eq(1)),
            # What comes from here on is of a line that has been mended
            If(~self.line, self.due.eq(0), knows.eq(0)),
        ]
