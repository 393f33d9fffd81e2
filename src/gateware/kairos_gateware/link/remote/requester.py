"""Remote memory, requesting end: loads and stores of one board in the memory of the board at the
other end of a link.

Each request occupies one of `SLOTS` slots, with a timer, until it is answered. If no answer arrives
in time (the link was lost, or the board restarted), it is retransmitted with a new number; after
`attempts` attempts it has failed. An answer whose number is no longer expected is ignored and
counted.

A store may be answered **early**: immediately, while its slot guards it; if it fails later,
`failed` reports it with its address. A load of a word with a store in flight waits, and so does a
store to a word with any request in flight: so each word sees loads and stores in the order of the
requests, whatever is retransmitted. A store may be executed twice in a row. There is no order
between different words; `idle` means that nothing is in flight.

Latency: request → vector 1; answer's vector → answer 0. Throughput: one request per cycle. Clock
domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .words import (
    ADDRESS_BITS,
    ANSWER,
    BOARD_BITS,
    DONE,
    GENERATION_BITS,
    REQUEST,
    SLOT_BITS,
    SLOTS,
    STATUS_BITS,
    UNREACHABLE,
    fields,
)

__all__ = ["TAG_BITS", "RemoteInitiator"]

TAG_BITS = 8
_COUNT_BITS = 16


class RemoteInitiator(Module):
    """sink, source: of the endpoint, the streams of `remote_streams`. up: of the endpoint; while it
    is 0, vectors sent are lost, so requests eventually fail. timeout: cycles after which an answer
    is missing, more than a round trip. attempts: how often a request is sent at most.

    `request`: accepted if `valid` and `ready`; `tag` is returned with its answer; if `far`, it is
    for the board `destination`, otherwise for the one at the other end. `answer`: valid for a
    cycle; `status`; `data` of a load. `early`: accepted stores are answered immediately. `board`:
    number of this board. `idle`. For a cycle: `failed`, an early answered store has failed, with
    `failed_address` and `failed_status`. Saturating counts: `repeated`, retransmitted requests;
    `stale`, late answers.
    """

    def __init__(self, sink, source, up, timeout=4096, attempts=4):
        self.request = Record(
            [
                ("valid", 1),
                ("ready", 1),
                ("write", 1),
                ("address", ADDRESS_BITS),
                ("data", 64),
                ("strobes", 8),
                ("tag", TAG_BITS),
                ("far", 1),
                ("destination", BOARD_BITS),
            ]
        )
        self.answer = Record([("valid", 1), ("tag", TAG_BITS), ("status", STATUS_BITS), ("data", 64)])
        self.early, self.board, self.idle = Signal(), Signal(BOARD_BITS), Signal()
        self.failed, self.failed_address = Signal(), Signal(ADDRESS_BITS)
        self.failed_status = Signal(STATUS_BITS)
        self.repeated, self.stale = Signal(_COUNT_BITS), Signal(_COUNT_BITS)

        # # #

        self._timeout, self._attempts = timeout, attempts
        self._busy, self._writes, self._answered = Signal(SLOTS), Signal(SLOTS), Signal(SLOTS)
        self._address = Array(Signal(ADDRESS_BITS) for _ in range(SLOTS))
        self._tag = Array(Signal(TAG_BITS) for _ in range(SLOTS))
        self._generation = Array(Signal(GENERATION_BITS) for _ in range(SLOTS))
        self._again = Signal(SLOTS)  # to be retransmitted
        free, repeat = Signal(SLOT_BITS), self._again != 0
        accepted = self._accept(free, repeat)
        done, slot = self._take(source)
        self._send(sink, up, accepted, free, repeat)
        ended, late = self._watch(accepted, free)
        self.comb += self.idle.eq(self._busy == 0)
        for n in range(SLOTS):
            ends = (done & (slot == n)) | (ended & (late == n))
            self.sync += If(accepted & (free == n), self._busy[n].eq(1)).Elif(ends, self._busy[n].eq(0))

    def _count(self, count, event):
        self.sync += If(event & (count != 2**_COUNT_BITS - 1), count.eq(count + 1))

    def _accept(self, free, repeat):
        """Allocates a slot for a request, unless a request in flight conflicts with it."""
        request, accepted, hazard = self.request, Signal(), Signal()
        meets = [
            self._busy[n] & (self._address[n] == request.address) & (request.write | self._writes[n])
            for n in range(SLOTS)
        ]
        self._free_to_send = Signal()
        self.comb += [
            hazard.eq(reduce(or_, meets)),
            [If(~self._busy[n], free.eq(n)) for n in reversed(range(SLOTS))],
            request.ready.eq(self._free_to_send & ~repeat & ~hazard & (self._busy != 2**SLOTS - 1)),
            accepted.eq(request.valid & request.ready),
        ]
        for n in range(SLOTS):
            self.sync += If(
                accepted & (free == n),
                self._address[n].eq(request.address),
                self._tag[n].eq(request.tag),
                self._generation[n].eq(self._generation[n] + 1),
                self._writes[n].eq(request.write),
                self._answered[n].eq(request.write & self.early),
            )
        return accepted

    def _take(self, source):
        """Takes answers. Returns (an expected answer is taken, its slot)."""
        answer = fields(ANSWER["data"], source.data)
        slot, generation = answer["id"][:SLOT_BITS], answer["id"][SLOT_BITS:]
        expected, taken, done = Signal(), Signal(), Signal()
        self._comes = Signal()
        self._port_taken = Signal()  # by an early answer or a failure
        answered = Array(self._answered[n] for n in range(SLOTS))[slot]
        busy = Array(self._busy[n] for n in range(SLOTS))[slot]
        self.comb += [
            expected.eq(busy & (self._generation[slot] == generation) & (answer["source"] == self.board)),
            source.ready.eq(~expected | answered | ~self._port_taken),
            self._comes.eq(source.valid & expected),
            taken.eq(source.valid & source.ready),
            done.eq(taken & expected),
            If(
                done & ~answered,
                self.answer.valid.eq(1),
                self.answer.tag.eq(self._tag[slot]),
                self.answer.status.eq(answer["status"]),
                self.answer.data.eq(answer["data"]),
            ),
            If(
                done & answered & (answer["status"] != DONE),
                self.failed.eq(1),
                self.failed_address.eq(self._address[slot]),
                self.failed_status.eq(answer["status"]),
            ),
        ]
        self._count(self.stale, taken & ~expected)
        return done, slot

    def _watch(self, accepted, free):
        """Checks one slot's timer after the other. Returns (the slot is given up, its number)."""
        now, at = Signal(max=2 * self._timeout), Signal(SLOT_BITS)
        sent = Array(Signal.like(now) for _ in range(SLOTS))
        count = Array(Signal(max=self._attempts + 1) for _ in range(SLOTS))
        waited, overdue, ended, early = Signal.like(now), Signal(), Signal(), Signal()
        early_tag = Signal(TAG_BITS)
        busy = Array(self._busy[n] for n in range(SLOTS))[at]
        answered = Array(self._answered[n] for n in range(SLOTS))[at]
        self.comb += [
            waited.eq(now - sent[at]),
            overdue.eq(busy & (waited >= self._timeout) & ~self._comes),
            ended.eq(overdue & (count[at] == self._attempts) & ~early),
            self._port_taken.eq(early | ended),
            If(early, self.answer.valid.eq(1), self.answer.tag.eq(early_tag), self.answer.status.eq(DONE)),
            If(
                ended & ~answered,
                self.answer.valid.eq(1),
                self.answer.tag.eq(self._tag[at]),
                self.answer.status.eq(UNREACHABLE),
            ),
            If(
                ended & answered,
                self.failed.eq(1),
                self.failed_address.eq(self._address[at]),
                self.failed_status.eq(UNREACHABLE),
            ),
        ]
        again = Signal()
        self.comb += again.eq(overdue & (count[at] != self._attempts))
        self._count(self.repeated, again)
        self.sync += [
            now.eq(now + 1),
            early.eq(accepted & self.request.write & self.early),
            early_tag.eq(self.request.tag),
            # Restarts from the same slot after any idle time, which may be skipped
            at.eq(Mux(self._busy == 0, 0, at + 1)),
        ]
        for n in range(SLOTS):
            self.sync += [
                If(accepted & (free == n), sent[n].eq(now), count[n].eq(1)),
                If(again & (at == n), sent[n].eq(now), count[n].eq(count[n] + 1)),
                If(again & (at == n), self._generation[n].eq(self._generation[n] + 1), self._again[n].eq(1)),
                If(ended & (at == n), self._again[n].eq(0)),
            ]
        return ended, at

    def _send(self, sink, up, accepted, free, repeat):
        """The register before the link: new requests, and retransmissions from the copies of the
        slots."""
        layout = [("write", 1), ("address", ADDRESS_BITS), ("data", 64), ("strobes", 8)]
        layout += [("far", 1), ("destination", BOARD_BITS)]
        new, kept, out = Record(layout), Record(layout), Record([*layout, ("slot", SLOT_BITS), ("valid", 1)])
        generation = Signal(GENERATION_BITS)
        memory = Memory(len(new.raw_bits()), SLOTS)
        write, read = memory.get_port(write_capable=True), memory.get_port(async_read=True)
        self.specials += memory, write, read
        request, late = self.request, Signal(SLOT_BITS)
        leads, led = Signal(), Signal()  # a way must precede the request; it has been sent
        self.comb += [
            leads.eq(out.far & ~led),
            [If(self._again[n], late.eq(n)) for n in reversed(range(SLOTS))],
            self._free_to_send.eq(~out.valid | (sink.ready & ~leads) | ~up),
            [getattr(new, name).eq(getattr(request, name)) for name, _ in layout],
            write.adr.eq(free),
            write.we.eq(accepted),
            write.dat_w.eq(new.raw_bits()),
            read.adr.eq(late),
            kept.raw_bits().eq(read.dat_r),
        ]
        source = Mux(repeat, read.dat_r, new.raw_bits())
        self.sync += If(
            self._free_to_send,
            out.valid.eq(accepted | repeat),
            Cat(*[getattr(out, name) for name, _ in layout]).eq(source),
            out.slot.eq(Mux(repeat, late, free)),
            generation.eq(Mux(repeat, self._generation[late], self._generation[free] + 1)),
        )
        self.sync += [If(self._free_to_send & (late == n), self._again[n].eq(0)) for n in range(SLOTS)]
        self.sync += If(sink.valid & sink.ready, led.eq(leads)).Elif(~up, led.eq(0))
        values = {"id": Cat(out.slot, generation), "source": self.board, "address": out.address}
        values |= {"data": out.data, "strobes": out.strobes, "destination": out.destination}
        forms = {
            name: [sink.form.eq(tag), sink.data.eq(Cat(*[values[field] for field, _ in REQUEST[name]]))]
            for tag, name in enumerate(REQUEST, 1)
        }
        self.comb += [
            sink.valid.eq(out.valid),
            If(leads, *forms["way"])
            .Elif(~out.write, *forms["read"])
            .Elif(out.strobes == 255, *forms["write"])
            .Else(*forms["partial"]),
        ]
