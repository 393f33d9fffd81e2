"""Remote memory at one end of a link: the requesting and the serving part, with the memory port."""

from migen import *

from ..contracts.remote import REGIONS
from ..link.bulk.engine import BulkEngine
from ..link.bulk.server import BulkServer
from ..link.remote.registers import BulkRegisters, ExportRegisters, RemoteRegisters
from ..link.remote.requester import RemoteInitiator
from ..link.remote.server import RemoteServer
from ..link.remote.window import RemoteAskers
from .coherent import ServedWords

__all__ = ["RemoteMemory"]


class RemoteMemory(Module):
    """endpoint: of the link, with the streams of `remote_streams` in both directions. way: its
    replacement for loads and stores (`Forwarding`), or None. bulk_way: `BulkWay`. own: number of
    this board. engines: `BoardEngines`, if fetched data may come by other links. rights: `Rights`, if there is a `way`;
    None: the regions of the link apply to all that comes by it.

    `readers`, `writers`: halves of a memory port. `acp`: guest of the ACP, needed while `wants_acp` (out).
    `register_blocks`: by their names. `pointers`: `Asker` for a window; `idle`: no load or store is in flight.
    `done`: a copy with report is complete, or the engine has halted; `irq`: the resulting interrupt. `late_irq`: that
    of a store through the registers that has failed after its answer. `settled` (out): for time skip.
    """

    def __init__(self, endpoint, way, bulk_way, own, rights=None, engines=None):
        via = 0 if way is None else way.via
        way = endpoint if way is None else way
        line = bulk_way.line
        self.submodules.initiator = initiator = RemoteInitiator(
            way.sink["remote_requests"], way.source["remote_answers"], way.up, via=via
        )
        self.comb += initiator.board.eq(own)
        self.submodules.askers = askers = RemoteAskers(initiator, 2)
        by_registers, self.pointers = askers.askers
        seen = None if rights is None else lambda source: rights.seen_by(source, via, REGIONS)
        self.submodules.server = server = RemoteServer(
            way.source["remote_requests"], way.sink["remote_answers"], REGIONS, seen
        )
        if rights is not None:
            rights.add(via, server.regions)
        self.comb += server.board.eq(own)
        self.submodules.port = port = ServedWords(server)
        self.acp, self.wants_acp = port.port, port.wanted
        self.submodules.engine = engine = BulkEngine(bulk_way, servers=1 if engines is None else engines.count)
        brought = None if engines is None else engines.add(bulk_way, engine)
        self.submodules.bulk = bulk = BulkServer(bulk_way, seen or server.regions, engine, brought)
        self.comb += [engine.board.eq(own), bulk.board.eq(own)]
        self.readers = [port.read, engine.bus_ring, engine.bus_data]
        self.writers = [port.write, bulk.bus]
        self.register_blocks = {
            "remote": RemoteRegisters(initiator, by_registers, endpoint.up),
            "exports": ExportRegisters(server.regions, [server.refused, bulk.refused]),
            "bulk": BulkRegisters(engine, bulk),
        }
        self.settled, self.idle = Signal(), initiator.idle
        asked = self.register_blocks["remote"]
        self.late_irq = asked.irq
        self.irq, self.done = self.register_blocks["bulk"].irq, self.register_blocks["bulk"].notifies
        self.comb += self.settled.eq(
            initiator.idle
            & ~initiator.request.valid
            & asked.settled
            & server.settled
            & port.settled
            & engine.settled
            & ~self.done
            & bulk.settled
            & ~line.sending.moving
            & ~line.receiving.into.valid
        )
