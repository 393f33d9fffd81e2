"""Registers of remote memory, for each end of a link; for their use see
src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ...csr import uses
from .words import BOARD_BITS, STATUS_BITS

__all__ = ["BulkRegisters", "ExportRegisters", "RemoteRegisters"]

_COUNT_BITS = 16


class RemoteRegisters(Module, AutoCSR):
    """initiator: `RemoteInitiator`. asker: one of its `RemoteAskers`; the registers issue loads and
    stores one at a time. up: of the link.

    `irq` (out, 1 bit): level of the interrupt: a store that was answered early has failed, and nothing is loaded or
    stored until that is known. `settled` (out, 1 bit): for time skip, no load or store is about to be issued.
    """

    USES = uses("remote")

    def __init__(self, initiator, asker, up):
        self.address = CSRStorage(32, name="address")
        self.data = CSRStorage(64, name="data")
        self.strobes = CSRStorage(8, name="strobes", reset=255)
        self.destination = CSRStorage(BOARD_BITS + 1, name="destination")
        self.load = CSR(name="load")
        self.store = CSR(name="store")
        self.state = CSRStatus(3 + STATUS_BITS, name="state")
        self.value = CSRStatus(64, name="value")
        self.early_acknowledge = CSRStorage(name="early_acknowledge")
        self.failed = CSRStatus(_COUNT_BITS, name="failed")
        self.late = CSRStatus(2 + STATUS_BITS, name="late")
        self.late_address = CSRStatus(32, name="late_address")
        self.late_clear = CSR(name="late_clear")
        self.repeated = CSRStatus(_COUNT_BITS, name="repeated")
        self.stale = CSRStatus(_COUNT_BITS, name="stale")
        self.timeout = CSRStatus(_COUNT_BITS, name="timeout")
        self.irq, self.settled = Signal(), Signal()

        # # #

        request, answer, failed = asker.request, asker.answer, asker.failed
        wanted, waits, status = Signal(), Signal(), Signal(STATUS_BITS)
        late, late_status, late_other = Signal(), Signal(STATUS_BITS), Signal()
        asks = self.load.re | self.store.re
        self.comb += [
            request.address.eq(self.address.storage[3:]),
            request.data.eq(self.data.storage),
            request.strobes.eq(self.strobes.storage),
            request.early.eq(self.early_acknowledge.storage),
            request.far.eq(self.destination.storage[BOARD_BITS]),
            request.destination.eq(self.destination.storage[:BOARD_BITS]),
            request.valid.eq(wanted & ~late),
            self.state.status.eq(Cat(up, wanted | waits, initiator.idle, status)),
            self.late.status.eq(Cat(late, late_status, late_other)),
            self.irq.eq(late),
            self.settled.eq(~asks & ~wanted),
            self.repeated.status.eq(initiator.repeated),
            self.stale.status.eq(initiator.stale),
            self.timeout.status.eq(initiator.timeout),
        ]
        self.sync += [
            If(asks & ~wanted & ~waits, wanted.eq(1), request.write.eq(self.store.re)),
            If(request.valid & request.ready, wanted.eq(0), waits.eq(1)),
            If(wanted & late, wanted.eq(0), status.eq(late_status)),
            If(answer.valid, waits.eq(0), status.eq(answer.status), self.value.status.eq(answer.data)),
            If(self.late_clear.re, late.eq(0)),
            If(
                failed.valid,
                If(self.failed.status != 2**_COUNT_BITS - 1, self.failed.status.eq(self.failed.status + 1)),
                If(
                    ~late,
                    late.eq(1),
                    late_status.eq(failed.status),
                    late_other.eq(failed.far),
                    self.late_address.status.eq(Cat(C(0, 3), failed.address)),
                ),
            ),
        ]


class ExportRegisters(Module, AutoCSR):
    """regions: list of `Region`, configured here. refused: signals, the counts of refused accesses
    and packets."""

    USES = uses("exports")

    def __init__(self, regions, refused):
        self.region = CSRStorage(log2_int(len(regions)), name="region")
        self.first = CSRStorage(32, name="first")
        self.last = CSRStorage(32, name="last")
        self.rights = CSRStorage(3, name="rights")
        self.offset = CSRStorage(32, name="offset", write_from_dev=True)
        self.board = CSRStorage(BOARD_BITS + 1, name="board", write_from_dev=True)
        self.set = CSR(name="set")
        loads, packets = refused
        self.refused = CSRStatus(_COUNT_BITS, name="refused")
        self.packets = CSRStatus(_COUNT_BITS, name="packets")

        # # #

        self.comb += [
            self.refused.status.eq(loads),
            self.packets.status.eq(packets),
            # 0 for the next region, unless they are written again
            self.offset.we.eq(self.set.re),
            self.board.we.eq(self.set.re),
        ]
        for n, region in enumerate(regions):
            self.sync += If(
                self.set.re & (self.region.storage == n),
                region.first.eq(self.first.storage[3:]),
                region.last.eq(self.last.storage[3:]),
                region.enable.eq(self.rights.storage[0]),
                region.writable.eq(self.rights.storage[1]),
                region.coherent.eq(self.rights.storage[2]),
                region.offset.eq(self.offset.storage[3:]),
                Cat(region.board, region.only).eq(self.board.storage),
            )


class BulkRegisters(Module, AutoCSR):
    """engine: `BulkEngine`. server: `BulkServer`. `irq` (out): level of the interrupt to this board's
    processors; `notifies` (out): for a cycle, there is an event to report to them."""

    USES = uses("bulk")

    def __init__(self, engine, server):
        self.base = CSRStorage(32, name="base")
        self.posted = CSRStorage(_COUNT_BITS, name="posted")
        self.pipelined = CSRStorage(name="pipelined", reset=1)
        self.clear = CSR(name="clear")
        self.notification = CSRStatus(name="notification")
        self.notification_clear = CSR(name="notification_clear")
        self.interrupt = CSRStorage(name="interrupt")
        self.completed = CSRStatus(_COUNT_BITS, name="completed")
        self.state = CSRStatus(2 + len(engine.reason), name="state")
        self.repeated = CSRStatus(_COUNT_BITS, name="repeated")
        self.broken = CSRStatus(_COUNT_BITS, name="broken")
        self.dropped = CSRStatus(_COUNT_BITS, name="dropped")
        self.timeout = CSRStatus(_COUNT_BITS, name="timeout")
        self.irq, self.notifies = Signal(), Signal()

        # # #

        notification, halted = Signal(), Signal()
        self.sync += [
            halted.eq(engine.halted),
            If(self.notifies, notification.eq(1)).Elif(self.notification_clear.re, notification.eq(0)),
        ]
        self.comb += [
            self.notifies.eq(engine.done | (engine.halted & ~halted)),
            self.notification.status.eq(notification),
            self.irq.eq(notification & self.interrupt.storage),
            engine.base.eq(self.base.storage),
            engine.posted.eq(self.posted.storage),
            engine.early.eq(self.pipelined.storage),
            engine.clear.eq(self.clear.re),
            self.completed.status.eq(engine.completed),
            self.state.status.eq(Cat(engine.halted, engine.idle, engine.reason)),
            self.repeated.status.eq(engine.repeated),
            self.broken.status.eq(server.broken),
            self.dropped.status.eq(server.dropped),
            self.timeout.status.eq(engine.timeout),
        ]
