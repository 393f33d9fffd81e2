"""Inputs pushed into memory: each event goes, as soon as it is in its channel's FIFO, into a ring in the processor's
cache, where the kernel core finds it without asking the logic. In place of `InputReader`, with the same ports.

Ring layout and rules: docs/interfaces.md section 5. A channel's entries are numbered from 1 after `reset`, modulo
65536. A ring that holds ENTRIES entries which the processor has not consumed takes no more; events then stay in the
FIFO. An entry says whether there were more behind it: whoever has consumed it knows that a ring which is empty, and had
room, is not so for want of time. A FIFO that is full loses events; an entry "lost" stands between the events before and
behind the gap.

    cycle   0     event readable in the FIFO (INPUT_VISIBLE after the pad was sampled)
            1     chosen
            2     on offer in `push`, until both beats are written

A request names a channel, a timeout, and the number of the newest entry that the processor has consumed. It is answered
when the next entry is written, or else when the counter has passed the timeout and nothing stamped before is left to be
written: so the answer never comes before the entry, and the events come only by the ring. With the answer goes
`timestamp`: up to this time, all events of all channels have been written (0: not known).

Latency: request accepted → answer 2 if the entry is written or the timeout has passed; entry written → answer 2.
Throughput: one event in 3 cycles, channels in turn. Clock domain sys.
"""

from functools import reduce
from operator import or_

from litex.soc.interconnect import stream
from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ..contracts.initiator import INPUT_CHANNELS as MAX_CHANNELS
from ..contracts.initiator import INPUT_ENTRIES as ENTRIES
from .cri import INPUT_TIMEOUT, INPUT_UNREACHABLE
from .inputs import InputPorts
from .timing import COARSE_BITS, FINE_BITS, INPUT_LATENCY, INPUT_VISIBLE

__all__ = ["MarkingFifo", "InputPusher", "ENTRIES", "MAX_CHANNELS"]


class MarkingFifo(Module):
    """Stamped events of one channel, and where some were lost. `readable`: there is something; `lost`: what comes next
    is not an event, it says that some were lost here; `more`: something else is behind it; `re` takes it."""

    def __init__(self, link, timebase, depth):
        self.readable = Signal()
        self.lost = Signal()
        self.more = Signal()
        self.re = Signal()
        self.timestamp = Signal(64)
        self.data = Signal(link.data_width)
        self.settled = Signal()

        # # #

        stamp = timebase.shifted(-INPUT_LATENCY)
        self.submodules.fifo = fifo = SyncFIFOBuffered(COARSE_BITS + FINE_BITS + link.data_width + 1, depth)
        gap = Signal()  # events were lost, none has been kept since
        behind = Signal()  # the event at the head is the first one behind a gap
        told = Signal()  # and this has been said
        empty = ~fifo.readable & (fifo.fifo.level == 0)
        self.comb += [
            fifo.we.eq(link.stb),
            fifo.din.eq(Cat(link.fine, stamp, link.data, gap & ~(self.re & empty))),
            Cat(self.timestamp, self.data, behind).eq(fifo.dout),
            self.readable.eq(fifo.readable | (gap & empty)),
            self.lost.eq(~fifo.readable | (behind & ~told)),
            self.more.eq(fifo.readable & ((fifo.fifo.level != 0) | gap | self.lost)),
            fifo.re.eq(self.re & ~self.lost),
            self.settled.eq(~link.stb & (fifo.readable | (fifo.fifo.level == 0))),
        ]
        self.sync += [
            If(self.re, told.eq(fifo.readable & self.lost)),
            If(self.re & empty, gap.eq(0)),
            If(link.stb, gap.eq(~fifo.writable)),
        ]


class InputPusher(InputPorts):
    """fifos: {channel number: `MarkingFifo`}.

    `push`: stream of entries {channel, number, timestamp, data, lost, more}. `enable`: else nothing more is taken from
    the FIFOs. `reset`: with the FIFOs'; all rings begin anew. `busy`: an entry is on its way, or the rings are being
    reset. `taken`: an entry was taken from a FIFO in the cycle before, it is the one on offer in `push`. Requests and
    time skip: as `InputReader`; a request also has `number`.
    """

    def __init__(self, timebase, fifos):
        if not fifos or max(fifos) >= MAX_CHANNELS:
            raise ValueError(
                f"inputs are pushed on channels 0 to {MAX_CHANNELS - 1} only: renumber, or build without pushed inputs"
            )
        super().__init__()
        request = self.request
        self.push = push = stream.Endpoint(
            [("channel", 8), ("number", 16), ("timestamp", 64), ("data", 32), ("lost", 1), ("more", 1)]
        )
        self.enable = Signal()
        self.reset = Signal()
        self.busy = Signal()
        self.taken = Signal()

        # # #

        count = len(fifos)
        numbers, fifos = zip(*sorted(fifos.items()), strict=True)
        slots = range(count)
        fill_bits = (2 * ENTRIES - 1).bit_length()

        # Of each channel, by slot: number of the newest entry written, and of the newest one consumed
        written = Memory(16, max(2, count))
        consumed = Memory(fill_bits, max(2, count))
        self.specials += written, consumed
        newest = written.get_port(async_read=True)
        asked = written.get_port(async_read=True)
        write = written.get_port(write_capable=True)
        credit = consumed.get_port(async_read=True)
        grant = consumed.get_port(write_capable=True)
        self.specials += newest, asked, write, credit, grant

        # Reset of these memories
        sweeping = Signal()
        sweep = Signal(max=max(2, count))
        self.sync += [
            If(sweeping, sweep.eq(sweep + 1)),
            If(sweep == count - 1, sweeping.eq(0)),
            If(self.reset, sweeping.eq(1), sweep.eq(0)),
        ]

        # Choice: the next channel, cyclically, that has something and room for it
        readable, full, later = Signal(count), Signal(count), Signal(count)
        candidates = Signal(count)
        choice = Signal(max=max(2, count))
        slot = Signal(max=max(2, count))
        chosen = Signal()
        self.comb += [
            readable.eq(Cat(*[fifo.readable for fifo in fifos])),
            candidates.eq(readable & ~full & Replicate(self.enable & ~sweeping, count)),
        ]
        for mask in [candidates, candidates & later]:
            self.comb += [If(mask[n], choice.eq(n)) for n in reversed(slots)]

        # The chosen one goes on offer
        has, lost, more, timestamp, data = Signal(), Signal(), Signal(), Signal(64), Signal(32)
        room, move, take = Signal(), Signal(), Signal()
        fill = Signal(fill_bits)
        taken_from = Signal(max=max(2, count))
        self.comb += [
            Case(
                slot,
                {
                    n: [
                        has.eq(fifo.readable),
                        lost.eq(fifo.lost),
                        more.eq(fifo.more),
                        timestamp.eq(fifo.timestamp),
                        data.eq(fifo.data),
                        fifo.re.eq(take),
                    ]
                    for n, fifo in enumerate(fifos)
                },
            ),
            newest.adr.eq(slot),
            credit.adr.eq(slot),
            fill.eq(newest.dat_r[:fill_bits] - credit.dat_r),
            room.eq(fill != ENTRIES),
            move.eq(chosen & ~push.valid),
            take.eq(move & has & room & ~self.reset),
            write.adr.eq(Mux(sweeping, sweep, slot)),
            write.dat_w.eq(Mux(sweeping, 0, newest.dat_r + 1)),
            write.we.eq(sweeping | take),
        ]
        self.sync += [
            If(move, chosen.eq(0)),
            If(~chosen & (candidates != 0), chosen.eq(1), slot.eq(choice)),
            If(push.ready, push.valid.eq(0)),
            If(
                take,
                push.valid.eq(1),
                push.channel.eq(Array(numbers)[slot] if count > 1 else numbers[0]),
                push.number.eq(newest.dat_r + 1),
                push.timestamp.eq(timestamp),
                push.data.eq(data),
                push.lost.eq(lost),
                push.more.eq(more),
                taken_from.eq(slot),
            ),
            self.taken.eq(take),
            [If(move & (slot == n), full[n].eq(~room)) for n in slots],
            [If(move, later[n].eq(slot < n)) for n in slots[1:]],
        ]

        # Requests
        timeout, number = Signal(64), Signal(16)
        active, begins = Signal(), Signal()
        progress = timebase.shifted(-INPUT_VISIBLE)
        selected = [Signal(name=f"selected_{n}") for n in numbers]
        asked_slot = Signal(max=max(2, count))
        left, offered, there, passed, finish = Signal(), Signal(), Signal(), Signal(), Signal()
        status = Signal(4)
        exists = Signal()
        forever = timeout == 2**64 - 1
        self.comb += [
            request.ready.eq(~active & ~sweeping & ~self.reset),
            [here.eq(request.channel == n) for n, here in zip(numbers, selected, strict=True)],
            left.eq(Array(fifo.readable for fifo in fifos)[asked_slot]),
            asked.adr.eq(asked_slot),
            offered.eq(push.valid & (taken_from == asked_slot)),
            there.eq((asked.dat_r != number) & ~offered),
            passed.eq(~forever & (timeout[63] | (progress >= timeout[FINE_BITS:])) & ~left & ~offered),
            If(
                active,
                finish.eq(1),
                If(self.abort, status.eq(INPUT_TIMEOUT))
                .Elif(~exists, status.eq(INPUT_UNREACHABLE))
                .Elif(there, status.eq(0))
                .Elif(passed, status.eq(INPUT_TIMEOUT))
                .Else(finish.eq(0)),
            ),
            grant.adr.eq(Mux(sweeping, sweep, asked_slot)),
            grant.dat_w.eq(Mux(sweeping, 0, number)),
            grant.we.eq(sweeping | (begins & exists)),
            self.waiting.eq(active & ~forever),
            self.due.eq(timeout[FINE_BITS:] + INPUT_VISIBLE),
        ]
        self.sync += [
            begins.eq(request.valid & request.ready),
            If(
                request.valid & request.ready,
                active.eq(1),
                exists.eq(reduce(or_, selected)),
                [If(selected[n], asked_slot.eq(n)) for n in slots],
                timeout.eq(request.timeout),
                number.eq(request.number),
            ),
            If(begins & exists, [If(asked_slot == n, full[n].eq(0)) for n in slots]),
            self.done.eq(finish),
            self.status.eq(status),
            self.timestamp.eq(0),
            If((readable == 0) & ~push.valid, self.timestamp.eq(Cat(C(2**FINE_BITS - 1, FINE_BITS), progress))),
            If(finish, active.eq(0)),
            If(self.reset, full.eq(0), chosen.eq(0)),
        ]
        self.comb += [
            self.busy.eq(chosen | push.valid | sweeping | self.reset),
            self.settled.eq(~finish & ~self.done & ~begins & ~self.busy & ~self.taken & (candidates == 0)),
        ]
