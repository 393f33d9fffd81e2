"""Inputs: a FIFO of stamped events for each input channel, and the reader that serves the CRI.

Timing: a pad sampled in cycle s (its stamp is coarse time s) is readable in cycle s +
INPUT_VISIBLE. A read request accepted in cycle 0 is answered in cycle 2 if an event is available. A
timeout T is reported in the first cycle in which an event stamped T would be readable (the answer
follows one cycle later): events stamped up to T are always returned. Clock domain sys.
"""

from functools import reduce
from operator import or_

from litex.soc.interconnect import stream
from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from .cri import INPUT_OVERFLOW, INPUT_TIMEOUT, INPUT_UNREACHABLE
from .timing import COARSE_BITS, FINE_BITS, INPUT_LATENCY, INPUT_VISIBLE

__all__ = ["InputFifo", "InputPorts", "InputReader"]


class InputFifo(Module):
    """Stamped events of one channel. `overflow` (out) is set when an event finds no room (it is lost) and
    cleared by `overflow_ack` (in); earlier events remain.

    `readable` (out): there is an event, of time `timestamp` (out, 64 bits) and with `data` (out,
    `link.data_width` bits); `re` (in) takes it. `settled` (out): none is being stored.
    """

    def __init__(self, link, timebase, depth):
        self.readable = Signal()
        self.re = Signal()
        self.timestamp = Signal(64)
        self.data = Signal(link.data_width)
        self.overflow = Signal()
        self.overflow_ack = Signal()
        self.settled = Signal()

        # # #

        stamp = timebase.shifted(-INPUT_LATENCY)
        self.submodules.fifo = fifo = SyncFIFOBuffered(COARSE_BITS + FINE_BITS + link.data_width, depth)
        self.comb += [
            fifo.we.eq(link.stb),
            fifo.din.eq(Cat(link.fine, stamp, link.data)),
            Cat(self.timestamp, self.data).eq(fifo.dout),
            self.readable.eq(fifo.readable),
            fifo.re.eq(self.re),
            self.settled.eq(~link.stb & (fifo.readable | (fifo.fifo.level == 0))),
        ]
        self.sync += [
            If(self.overflow_ack, self.overflow.eq(0)),
            If(link.stb & ~fifo.writable, self.overflow.eq(1)),
        ]


class InputPorts(Module):
    """Ports for serving read requests, one at a time. `done` (out), for one cycle: the answer is in
    `status` (out, 4 bits), `timestamp` (out, 64 bits), `data` (out, 32 bits). `abort` (in) ends a waiting
    read with the status "timeout". A timeout of all ones means none; any other negative one has already
    expired.

    `request` (in): stream of {channel, timeout, number}. For time skip: `settled` (out): nothing changes
    but by an input, or, while `waiting` (out), at time `due` (out, 61 bits, coarse).
    """

    def __init__(self):
        self.request = stream.Endpoint([("channel", 24), ("timeout", 64), ("number", 16)])
        self.abort = Signal()
        self.done = Signal()
        self.status = Signal(4)
        self.timestamp = Signal(64)
        self.data = Signal(32)
        # For time skip: waiting with nothing to return; waiting with a timeout; coarse time at
        # which it expires
        self.settled = Signal()
        self.waiting = Signal()
        self.due = Signal(COARSE_BITS)


class InputReader(InputPorts):
    """Serves read requests from FIFOs. fifos: {channel number: InputFifo}.

    Order of checks: overflow (clears it and cancels the read), event, timeout.
    """

    def __init__(self, timebase, fifos):
        super().__init__()
        request = self.request

        # # #

        channel = Signal(24)
        timeout = Signal(64)
        busy = Signal()
        progress = timebase.shifted(-INPUT_VISIBLE)

        selected = {number: Signal(name=f"selected_{number}") for number in fifos}
        readable = Signal()
        overflow = Signal()
        timestamp = Signal(64)
        data = Signal(32)
        self.comb += [selected[number].eq(channel == number) for number in fifos]
        for number, fifo in fifos.items():
            self.comb += If(
                selected[number],
                readable.eq(fifo.readable),
                overflow.eq(fifo.overflow),
                timestamp.eq(fifo.timestamp),
                data.eq(fifo.data),
            )
        exists = reduce(or_, selected.values(), C(0))
        forever = timeout == 2**64 - 1
        passed = Signal()
        finish = Signal()
        status = Signal(4)
        pop = Signal()
        clear = Signal()
        self.comb += [
            passed.eq(~forever & (timeout[63] | (progress >= timeout[FINE_BITS:]))),
            request.ready.eq(~busy),
            If(
                busy,
                finish.eq(1),
                If(self.abort, status.eq(INPUT_TIMEOUT))
                .Elif(~exists, status.eq(INPUT_UNREACHABLE))
                .Elif(overflow, status.eq(INPUT_OVERFLOW), clear.eq(1))
                .Elif(readable, status.eq(0), pop.eq(1))
                .Elif(passed, status.eq(INPUT_TIMEOUT))
                .Else(finish.eq(0)),
            ),
            [fifo.re.eq(pop & selected[number]) for number, fifo in fifos.items()],
            [fifo.overflow_ack.eq(clear & selected[number]) for number, fifo in fifos.items()],
            self.settled.eq(~finish & ~self.done),
            self.waiting.eq(busy & ~forever),
            self.due.eq(timeout[FINE_BITS:] + INPUT_VISIBLE),
        ]
        self.sync += [
            If(request.valid & request.ready, busy.eq(1), channel.eq(request.channel), timeout.eq(request.timeout)),
            self.done.eq(finish),
            self.status.eq(status),
            # A read without an event returns the timestamp -1 and data 0
            self.timestamp.eq(2**64 - 1),
            self.data.eq(0),
            If(pop, self.timestamp.eq(timestamp), self.data.eq(data)),
            If(finish, busy.eq(0)),
        ]
