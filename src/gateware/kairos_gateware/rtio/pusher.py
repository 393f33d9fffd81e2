"""Pushed inputs: writes each event, as soon as it is in its channel's FIFO, to a ring in the
processor's cache, where the kernel core finds it without accessing the logic. Replaces
`InputReader`, with the same ports.

Ring layout and rules: docs/interfaces.md section 5. A channel's entries are numbered from 1 after
`reset`, modulo 65536. A ring with ENTRIES entries that the processor has not consumed takes no
more; events then stay in the FIFO. An entry has a flag whether more followed it: after consuming
it, the processor knows that a ring which is empty and had room is not merely awaiting entries in
transit. A full FIFO loses events; a "lost" entry marks the gap between the events before and after
it.

    cycle   0     event readable in the FIFO (INPUT_VISIBLE after the pad was sampled)
            1     chosen
            2     on offer in `push`, until both beats are written

An answer never precedes the entry that it reports, and events arrive only through the ring. The
answer has a `timestamp`: all events of all channels up to this time have been written (0: not
known).

Blocks: `marking.py` (a channel's FIFO) → `choice.py` (channel arbitration) → here the entry on
offer; `ledger.py` (room in the rings), `waiter.py` (requests).

Throughput: one event per 3 cycles, channels in turn. Clock domain sys.
"""

from litex.soc.interconnect import stream
from migen import *

from ..contracts.initiator import INPUT_CHANNELS as MAX_CHANNELS
from ..contracts.initiator import INPUT_ENTRIES as ENTRIES
from .choice import ChannelChoice
from .ledger import RingLedger
from .marking import MarkingFifo
from .waiter import RequestWaiter

__all__ = ["MarkingFifo", "InputPusher", "ENTRIES", "MAX_CHANNELS"]

_REQUEST_PORTS = "request abort done status timestamp data waiting due".split()


class InputPusher(Module):
    """fifos: {channel number: `MarkingFifo`}.

    `push` (out): stream of entries {channel, number, timestamp, data, lost, more}. `enable` (in):
    if 0, no further entries are taken from the FIFOs. `reset` (in): together with that of the FIFOs; all
    rings restart. `moving` (out): 4 cycles after it falls, everything is at rest. `busy` (out): an entry is
    in transit, or the rings are being reset. `taken` (out): an entry was taken from a FIFO in the previous
    cycle, and is the one on offer in `push`. Requests and time skip: as `InputReader`; a request also has
    `number`.

    `settled` (out): nothing changes without an input or a request.
    """

    def __init__(self, timebase, fifos):
        if not fifos or max(fifos) >= MAX_CHANNELS:
            raise ValueError(
                f"inputs are pushed on channels 0 to {MAX_CHANNELS - 1} only: renumber, or build without pushed inputs"
            )
        self.push = push = stream.Endpoint(
            [("channel", 8), ("number", 16), ("timestamp", 64), ("data", 32), ("lost", 1), ("more", 1)]
        )
        self.enable = Signal()
        self.reset = Signal()
        self.busy = Signal()
        self.taken = Signal()
        self.settled = Signal()
        self.moving = Signal()
        count = len(fifos)
        numbers, fifos = zip(*sorted(fifos.items()), strict=True)
        self.submodules.ledger = ledger = RingLedger(count)
        self.submodules.choice = choice = ChannelChoice(count)
        self.submodules.waiter = waiter = RequestWaiter(timebase, numbers)
        for name in _REQUEST_PORTS:
            setattr(self, name, getattr(waiter, name))

        # # #

        # Offers the entry of the chosen channel
        has, lost, more, timestamp, data = Signal(), Signal(), Signal(), Signal(64), Signal(32)
        take = Signal()
        taken_from = Signal(len(choice.slot))
        cases = {
            n: [
                has.eq(fifo.readable),
                lost.eq(fifo.lost),
                more.eq(fifo.more),
                timestamp.eq(fifo.timestamp),
                data.eq(fifo.data),
                fifo.re.eq(take),
            ]
            for n, fifo in enumerate(fifos)
        }
        self.comb += [
            choice.readable.eq(Cat(*[fifo.readable for fifo in fifos])),
            choice.enable.eq(self.enable & ~ledger.sweeping),
            choice.reset.eq(self.reset),
            choice.move.eq(choice.chosen & ~push.valid),
            choice.room.eq(ledger.room),
            Case(choice.slot, cases),
            ledger.reset.eq(self.reset),
            ledger.slot.eq(choice.slot),
            take.eq(choice.move & has & ledger.room & ~self.reset),
            ledger.take.eq(take),
        ]
        self.sync += [
            If(push.ready, push.valid.eq(0)),
            If(
                take,
                push.valid.eq(1),
                push.channel.eq(Array(numbers)[choice.slot] if count > 1 else numbers[0]),
                push.number.eq(ledger.number),
                push.timestamp.eq(timestamp),
                push.data.eq(data),
                push.lost.eq(lost),
                push.more.eq(more),
                taken_from.eq(choice.slot),
            ),
            self.taken.eq(take),
        ]

        # Requests
        self.comb += [
            waiter.hold.eq(ledger.sweeping | self.reset),
            waiter.left.eq(Array(fifo.readable for fifo in fifos)[waiter.slot]),
            waiter.newest.eq(ledger.newest),
            waiter.offered.eq(push.valid & (taken_from == waiter.slot)),
            waiter.all_written.eq((choice.readable == 0) & ~push.valid),
            ledger.asked.eq(waiter.slot),
            ledger.grant.eq(waiter.begins),
            ledger.consumed.eq(waiter.number),
            choice.freed.eq(waiter.begins),
            choice.freed_slot.eq(waiter.slot),
            self.moving.eq(waiter.busy | self.busy | choice.waiting),
            self.busy.eq(choice.chosen | push.valid | ledger.sweeping | self.reset),
            self.settled.eq(waiter.settled & ~self.busy & ~self.taken & ~choice.waiting),
        ]
