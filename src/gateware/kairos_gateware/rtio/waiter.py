"""Read requests with pushed inputs: they wait for an entry, or for the time after which none can
arrive.

A request names a channel, a timeout, and the number of the newest entry that the processor has
consumed. It is answered when the next entry has been written, or when the counter has passed the
timeout and no entry stamped before remains to be written.

Latency: request accepted → answer 2 if the entry is written or the timeout has passed; entry
written → answer 2. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .cri import INPUT_TIMEOUT, INPUT_UNREACHABLE
from .inputs import InputPorts
from .timing import FINE_BITS, INPUT_VISIBLE

__all__ = ["RequestWaiter"]


class RequestWaiter(InputPorts):
    """numbers: of the channels, by slot. Ports for the CRI: as `InputPorts`.

    `hold` (in): no request is accepted. `slot` (out, below `max(2, len(numbers))`): of the request.
    `begins` (out): a request has begun on an existing channel, with `number` (out, 16 bits), that of its
    newest consumed entry. `busy` (out): there is a request. Inputs for the slot: `newest` (in, 16 bits),
    number of the newest entry; `left` (in), its FIFO is not empty; `offered` (in), one of its entries is
    still being written. `all_written` (in): no channel has anything left.
    """

    def __init__(self, timebase, numbers):
        super().__init__()
        request = self.request
        self.hold = Signal()
        self.slot = Signal(max=max(2, len(numbers)))
        self.begins = Signal()
        self.number = Signal(16)
        self.newest = Signal(16)
        self.left = Signal()
        self.offered = Signal()
        self.all_written = Signal()
        self.busy = Signal()

        # # #

        timeout = Signal(64)
        active, began, exists = Signal(), Signal(), Signal()
        progress = timebase.shifted(-INPUT_VISIBLE)
        selected = [Signal(name=f"selected_{n}") for n in numbers]
        there, passed, finish = Signal(), Signal(), Signal()
        status = Signal(4)
        forever = timeout == 2**64 - 1
        self.comb += [
            request.ready.eq(~active & ~self.hold),
            [here.eq(request.channel == n) for n, here in zip(numbers, selected, strict=True)],
            self.begins.eq(began & exists),
            there.eq((self.newest != self.number) & ~self.offered),
            passed.eq(~forever & (timeout[63] | (progress >= timeout[FINE_BITS:])) & ~self.left & ~self.offered),
            If(
                active,
                finish.eq(1),
                If(self.abort, status.eq(INPUT_TIMEOUT))
                .Elif(~exists, status.eq(INPUT_UNREACHABLE))
                .Elif(there, status.eq(0))
                .Elif(passed, status.eq(INPUT_TIMEOUT))
                .Else(finish.eq(0)),
            ),
            self.busy.eq(request.valid | active),
            self.waiting.eq(active & ~forever),
            self.due.eq(timeout[FINE_BITS:] + INPUT_VISIBLE),
            self.settled.eq(~finish & ~self.done & ~began),
        ]
        self.sync += [
            began.eq(request.valid & request.ready),
            If(
                request.valid & request.ready,
                active.eq(1),
                exists.eq(reduce(or_, selected)),
                [If(here, self.slot.eq(n)) for n, here in enumerate(selected)],
                timeout.eq(request.timeout),
                self.number.eq(request.number),
            ),
            self.done.eq(finish),
            self.status.eq(status),
            self.timestamp.eq(0),
            If(self.all_written, self.timestamp.eq(Cat(C(2**FINE_BITS - 1, FINE_BITS), progress))),
            If(finish, active.eq(0)),
        ]
