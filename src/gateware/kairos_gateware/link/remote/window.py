"""Remote memory by plain pointers: an address window on a general-purpose port of the processing
system; loads and stores in it access another board's memory.

`END_BITS` bits of an address select one of the board's links; those below are an address in the
memory of the board at its other end. The last place can be assigned to any board of the tree, or to a block in this
board's logic. One access is in flight at a time. A failed load or store is a bus error, which raises an exception in
the processor: a slave error, or a decode error for a link that the board does not have. The cause
is in registers, since the bus cannot convey it.

Stores may be **posted**: answered as soon as they are accepted, while a slot of the initiator guards
each. If one fails later, there is an interrupt, and every further access is a slave error until
registers have been told that this is known.

Latency: address → request 1, answer → bus 1; each beat of a burst is an access of its own. A posted
store takes 5 cycles, a further one of its burst 3. Clock domain sys.
"""

from functools import reduce
from operator import and_, or_

from litex.soc.interconnect.axi import AXIInterface
from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ...csr import uses
from .words import ADDRESS_BITS, BOARD_BITS, DONE, NO_LINK, STATUS_BITS

__all__ = ["ADDRESS_LENGTH", "END_BITS", "Asker", "RemoteAskers", "RemoteWindow", "WindowRegisters"]

ADDRESS_LENGTH = 28
"""Address bits within the memory of a board."""
END_BITS = 2
FAR_PLACE = 2**END_BITS - 1
"""The last place, for a board that is not a neighbour."""
_COUNT_BITS = 16
_MASTER_IDS = 12
_SLAVE_ERROR, _DECODE_ERROR = 2, 3
_REQUEST = [("write", 1), ("address", ADDRESS_BITS), ("data", 64), ("strobes", 8)]
_REQUEST += [("far", 1), ("destination", BOARD_BITS)]


class Asker:
    """Port of one user of a `RemoteInitiator`. `request` (in): accepted if `valid` and `ready`, one at a
    time; `early`: a store is answered immediately; `answer` (out): valid for one cycle; `failed` (out):
    likewise, a store of this port that was answered immediately has failed. idle: nothing of its
    initiator is in flight; None: so it seems always."""

    def __init__(self, idle=None):
        self.idle = C(1) if idle is None else idle
        self.request = Record([("valid", 1), ("ready", 1), ("early", 1), *_REQUEST])
        self.answer = Record([("valid", 1), ("status", STATUS_BITS), ("data", 64)])
        self.failed = Record([("valid", 1), ("status", STATUS_BITS), ("address", ADDRESS_BITS), ("far", 1)])


class RemoteAskers(Module):
    """Shares `initiator`, a `RemoteInitiator`, among `count` ports in `askers`, in order of
    priority."""

    def __init__(self, initiator, count):
        self.askers = [Asker(initiator.idle) for _ in range(count)]

        # # #

        request, answer = initiator.request, initiator.answer
        for n, asker in reversed(list(enumerate(self.askers))):
            others = reduce(or_, [other.request.valid for other in self.askers[:n]], C(0))
            self.comb += [
                If(
                    asker.request.valid,
                    request.valid.eq(1),
                    request.tag.eq(n),
                    initiator.early.eq(asker.request.early),
                    [getattr(request, name).eq(getattr(asker.request, name)) for name, _ in _REQUEST],
                ),
                asker.request.ready.eq(request.ready & ~others),
                asker.answer.valid.eq(answer.valid & (answer.tag == n)),
                asker.answer.status.eq(answer.status),
                asker.answer.data.eq(answer.data),
                asker.failed.valid.eq(initiator.failed & (initiator.failed_tag == n)),
                asker.failed.status.eq(initiator.failed_status),
                asker.failed.address.eq(initiator.failed_address),
                asker.failed.far.eq(initiator.failed_far),
            ]


class _Access(Module):
    """An access to the place of an address, by the asker of the end that leads there. askers, way, own, changing: as
    of `RemoteWindow`. far, address: the board of the last place; the address.

    `now_end` (out, 2 bits): the end that leads to the board now. `rests` (in): there is no access, so another may
    be chosen. `ask` (in): the access is requested, until `taken` (out): a store of `word` (in, 32 bits) with
    `word_strobes` (in, 4 bits) if `write` (in), answered before it has arrived if `early` (in). `exists` (out): the
    board has that end. `answered` (out): for a cycle, `status` (out, 2 bits) and `data` (out, 64 bits) are
    valid.
    """

    def __init__(self, askers, way, far, address, own, changing):
        self.rests = Signal()
        self.ask, self.write, self.word, self.word_strobes = Signal(), Signal(), Signal(32), Signal(4)
        self.early = Signal()
        self.exists, self.taken, self.answered = Signal(), Signal(), Signal()
        self.status, self.data = Signal(STATUS_BITS), Signal(64)

        # # #

        place, end, to_far = Signal(END_BITS), Signal(max=max(2, len(askers) + len(own))), Signal()
        far_end, self.now_end = Signal.like(end), Signal(END_BITS)
        if changing:
            # An access ends where it has begun
            self.sync += If(self.rests, far_end.eq(self.now_end))
        else:
            self.comb += far_end.eq(self.now_end)
        there = {n: asker for n, asker in enumerate(askers) if asker is not None}
        self.comb += [
            place.eq(address[ADDRESS_LENGTH : ADDRESS_LENGTH + END_BITS]),
            to_far.eq((place == FAR_PLACE) & (len(askers) <= FAR_PLACE)),
            way(far, self.now_end),
            end.eq(Mux(to_far, far_end, place)),
            self.exists.eq(reduce(or_, [((place == n) | to_far) & (end == n) for n in there], C(0))),
        ]
        for number, asker in own:
            there[len(askers)] = asker
            self.comb += If(to_far & (far == number), end.eq(len(askers)), self.exists.eq(1))
        for n, asker in there.items():
            request = asker.request
            # No access overtakes a posted store that has left for the same board by another end
            others = [other.idle for m, other in there.items() if m != n] if changing else []
            free = reduce(and_, others, C(1)) | ~to_far
            self.comb += [
                request.valid.eq(self.ask & (end == n) & free),
                request.write.eq(self.write),
                request.early.eq(self.early),
                request.far.eq(to_far),
                request.destination.eq(far),
                request.address.eq(address[3:ADDRESS_LENGTH]),
                request.data.eq(Cat(self.word, self.word)),
                request.strobes.eq(Mux(address[2], Cat(C(0, 4), self.word_strobes), self.word_strobes)),
                If(
                    end == n,
                    self.taken.eq(request.ready & free),
                    self.answered.eq(asker.answer.valid),
                    self.status.eq(asker.answer.status),
                    self.data.eq(asker.answer.data),
                ),
            ]


class RemoteWindow(Module):
    """askers: one for each end of the board's links, in the order of their numbers; None where
    there is no remote memory. way: function from a board's number and the number of the end that
    leads to it, both signals, to statements. own: the number of this board and the asker of a block in its logic,
    in a tuple of such pairs, which is empty if it has none. changing: another end may lead to a board at any time.

    `axi`: the slave port. `count`: number of ends. `far` (in, 3 bits): the board assigned to the window's
    last place, if no link uses that; `far_end` (out, 2 bits): the end that leads to it now. `failed` (out): for a
    cycle, an access has failed, with the cause `why` (out, 3 bits, status or `NO_LINK`), at `address` (out, 32 bits), a
    store if `write` (out).
    `settled` (out): nothing is in flight. `posted` (in): stores are posted. `late` (out): one of them has
    failed, to `late_address` (out, 32 bits) with `late_status` (out, 2 bits); all accesses are errors
    until `late_clear` (in).
    """

    def __init__(self, askers, way, own=(), changing=False):
        self.far = Signal(BOARD_BITS)
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=_MASTER_IDS)
        self.failed, self.why, self.write, self.address = Signal(), Signal(3), Signal(), Signal(32)
        self.settled, self.count = Signal(), len(askers)
        self.posted, self.late, self.late_clear = Signal(), Signal(), Signal()
        self.late_address, self.late_status = Signal(32), Signal(STATUS_BITS)

        # # #

        if len(askers) > 1 << END_BITS:
            raise ValueError(f"the window has room for {1 << END_BITS} links of a board, not for {len(askers)}")
        left, id_ = Signal(4), Signal(_MASTER_IDS)
        worst, data, word = Signal(2), Signal(64), Signal(32)
        data_in, strobes = Signal(32), Signal(4)
        asks = Signal()
        self.submodules.fsm = fsm = FSM("IDLE")
        self.submodules.access = access = _Access(askers, way, self.far, self.address, own, changing)
        self.far_end = access.now_end
        self.comb += [
            access.ask.eq(asks),
            access.rests.eq(fsm.ongoing("IDLE")),
            access.write.eq(self.write),
            access.early.eq(self.posted & self.write),
            access.word.eq(data_in),
            access.word_strobes.eq(strobes),
            data.eq(access.data),
        ]
        exists, taken, answered, status = access.exists, access.taken, access.answered, access.status
        self._watch(askers)
        response, refuses = Signal(2), Signal()
        self.comb += [
            response.eq(Mux(exists, Mux((status == DONE) & ~refuses, 0, _SLAVE_ERROR), _DECODE_ERROR)),
            self.why.eq(Mux(exists, Mux(refuses, self.late_status, status), NO_LINK)),
            axi.r.id.eq(id_),
            axi.b.id.eq(id_),
            axi.r.data.eq(word),
            axi.r.resp.eq(worst),
            axi.b.resp.eq(worst),
            axi.r.last.eq(left == 0),
        ]
        fsm.act(
            "IDLE",
            self.settled.eq(~axi.ar.valid & ~axi.aw.valid & ~axi.w.valid),
            axi.ar.ready.eq(1),
            axi.aw.ready.eq(~axi.ar.valid),
            NextValue(worst, 0),
            If(
                axi.ar.valid,
                NextValue(self.address, axi.ar.addr),
                NextValue(left, axi.ar.len),
                NextValue(id_, axi.ar.id),
                NextValue(self.write, 0),
                NextState("ASK"),
            ).Elif(
                axi.aw.valid,
                NextValue(self.address, axi.aw.addr),
                NextValue(left, axi.aw.len),
                NextValue(id_, axi.aw.id),
                NextValue(self.write, 1),
                NextState("DATA"),
            ),
        )
        fsm.act(
            "DATA",
            axi.w.ready.eq(1),
            NextValue(data_in, axi.w.data),
            NextValue(strobes, axi.w.strb),
            If(axi.w.valid, NextState("ASK")),
        )
        fsm.act(
            "ASK",
            asks.eq(exists & ~self.late),
            NextValue(refuses, exists & self.late),
            If(~asks | taken, NextState("ANSWER")),
        )
        fsm.act(
            "ANSWER",
            If(
                answered | ~exists | refuses,
                self.failed.eq(response != 0),
                NextValue(word, Mux(self.address[2], data[32:], data[:32])),
                If(response != 0, NextValue(worst, response)),
                If(~self.write, NextState("LOADED"))
                .Elif(left == 0, NextState("STORED"))
                .Else(NextState("DATA"), NextValue(left, left - 1), NextValue(self.address, self.address + 4)),
            ),
        )
        fsm.act(
            "LOADED",
            axi.r.valid.eq(1),
            If(
                axi.r.ready,
                NextValue(worst, 0),
                If(left == 0, NextState("IDLE")).Else(
                    NextState("ASK"), NextValue(left, left - 1), NextValue(self.address, self.address + 4)
                ),
            ),
        )
        fsm.act("STORED", axi.b.valid.eq(1), If(axi.b.ready, NextState("IDLE")))

    def _watch(self, askers):
        """Keeps the first failure of a posted store."""
        self.sync += If(self.late_clear, self.late.eq(0))
        for n, asker in enumerate(askers):
            if asker is not None:
                failed = asker.failed
                place = Mux(failed.far, C(FAR_PLACE, END_BITS), C(n, END_BITS))
                address = Cat(C(0, 3), failed.address[: ADDRESS_LENGTH - 3], place)
                self.sync += If(
                    failed.valid & ~self.late,
                    self.late.eq(1),
                    self.late_status.eq(failed.status),
                    self.late_address.eq(Cat(address, C(2, 32 - ADDRESS_LENGTH - END_BITS))),
                )


class WindowRegisters(Module, AutoCSR):
    """window: `RemoteWindow`. idle: nothing is in flight at any link. others: failures of other kinds of
    access in the window, as (pulse, cause and store bit, address). `irq` (out): level of the interrupt: a
    posted store has failed."""

    USES = uses("window")

    def __init__(self, window, idle, others=()):
        self.links = CSRStatus(END_BITS + 1, name="links")
        self.fault = CSRStatus(4, name="fault")
        self.address = CSRStatus(32, name="address")
        self.failed = CSRStatus(_COUNT_BITS, name="failed")
        self.destination = CSRStorage(BOARD_BITS, name="destination")
        self.end = CSRStatus(END_BITS + 1, name="end")
        self.posted = CSRStorage(name="posted")
        self.late = CSRStatus(2 + STATUS_BITS, name="late")
        self.late_address = CSRStatus(32, name="late_address")
        self.late_clear = CSR(name="late_clear")
        self.irq = Signal()

        # # #

        self.comb += [
            self.links.status.eq(window.count),
            window.far.eq(self.destination.storage),
            self.end.status.eq(window.far_end),
            window.posted.eq(self.posted.storage),
            self.late.status.eq(Cat(window.late, idle, window.late_status)),
            self.late_address.status.eq(window.late_address),
            window.late_clear.eq(self.late_clear.re),
            self.irq.eq(window.late),
        ]
        for failed, fault, address in [(window.failed, Cat(window.why, window.write), window.address), *others]:
            self.sync += If(
                failed,
                self.fault.status.eq(fault),
                self.address.status.eq(address),
                If(self.failed.status != 2**_COUNT_BITS - 1, self.failed.status.eq(self.failed.status + 1)),
            )
