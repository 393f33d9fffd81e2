"""The blocks of links between boards whose area is measured, like those of `blocks.py`."""

from migen import *

from ..boards.eem import EemEnd
from ..coaxpress.line import LineReceiver
from ..contracts.remote import REGIONS
from ..hp import HpRead, HpWrite
from ..link.bulk.engine import BulkEngine
from ..link.bulk.forward import BulkWay
from ..link.bulk.line import BulkLine
from ..link.bulk.server import BulkServer
from ..link.line.bridge import BridgeRequester, bridge_streams
from ..link.line.endpoint import Endpoint
from ..link.line.gearbox import Packetiser
from ..link.remote.requester import RemoteInitiator
from ..link.remote.server import Region, RemoteServer
from ..link.remote.words import remote_streams
from ..link.switch.routes import RING_LANES, RingReach, short_ring_route, short_ring_turn, tree_route
from ..link.switch.switch import Switch
from ..soc.block import BoardBlock

__all__ = ["LINK_BLOCKS"]


def _bridge():
    near = BridgeRequester()
    ios = [signal for name in ["aw", "w", "b", "ar", "r"] for signal in getattr(near.axi, name).flatten()]
    ios += [*near.endpoint.out.flatten(), *near.endpoint.into.flatten(), near.interrupts]
    return "near end of the bridge, AXI4 of 64 bits", near, [*ios, near.endpoint.corrected, near.endpoint.broken]


def _packetiser():
    forms = bridge_streams(BridgeRequester().axi, 16, 512)[0][1].forms
    packetiser = Packetiser(forms)
    ios = [*packetiser.vector.flatten(), *packetiser.word.flatten(), packetiser.vector_ready, packetiser.word_ready]
    return "packetiser of the write data", packetiser, ios


def _remote_initiator():
    asks, answers = remote_streams()
    # Only its ports are used
    end = Endpoint([asks], [answers])
    sink, source = end.sink["remote_requests"], end.source["remote_answers"]
    block = RemoteInitiator(sink, source, end.up)
    names = "early board idle failed failed_address failed_status failed_tag failed_far repeated stale timeout"
    ios = [*sink.flatten(), *source.flatten(), end.up, *block.request.flatten(), *block.answer.flatten()]
    return "requests of remote memory, 16 slots", block, [*ios, *[getattr(block, name) for name in names.split()]]


def _remote_server():
    asks, answers = remote_streams()
    end = Endpoint([answers], [asks])
    source, sink = end.source["remote_requests"], end.sink["remote_answers"]
    block = RemoteServer(source, sink, REGIONS)
    ios = [*sink.flatten(), *source.flatten(), *block.bus.flatten(), *block.reply.flatten()]
    ios += [block.refused, block.settled, block.board, block.coherent]
    ios += _signals(block.regions)
    return "requests of another board, four regions, a table of 8", block, ios


def _signals(interfaces):
    return [signal for interface in interfaces for signal in vars(interface).values()]


def _bulk():
    # Only its ports are used: what is between packets and the line is a block of its own
    way, block = BulkWay(BulkLine(Endpoint([], []))), Module()
    block.submodules.engine = engine = BulkEngine(way)
    regions = [Region() for _ in range(4)]
    block.submodules.server = server = BulkServer(way, regions, engine)
    received = "head data word end good busy answer answer_key answer_status"
    named = "early clear halted reason repeated idle settled base posted board completed done timeout"
    ios = [getattr(way.receiving, name) for name in received.split()] + [
        getattr(engine, name) for name in named.split()
    ]
    ios += [signal for record in (way.receiving.head_of, way.packet, way.answer) for signal in record.flatten()]
    ios += _signals([engine.bus_ring, engine.bus_data, server.bus, *regions])
    ios += [server.board, server.refused, server.broken, server.dropped, server.settled]
    return (
        "copies and fetches at one end of a link: 16 slots, four regions, buffer of 16 packets",
        block,
        ios,
    )


def _bulk_line():
    end = Endpoint([], [])
    block = BulkLine(end)
    sending, receiving = block.sending, block.receiving
    records = end.out, end.into, sending.out, sending.packet, sending.answer, receiving.into, receiving.head_of
    ios = [signal for record in records for signal in record.flatten()]
    received = "head data word end good busy answer answer_key answer_status"
    ios += [sending.moving, *[getattr(receiving, name) for name in received.split()]]
    return "raw words of packets between those of a link, with their CRCs", block, ios


def _switch():
    block = Switch(4, tree_route(0, [1, 1]), longest=2, depth=16)
    flits = [signal for flit in [*block.into, *block.out] for signal in flit.flatten()]
    return "four ports, queues of 16 flits", block, [*flits, block.empty]


def _switch_ring():
    knows = RingReach(4)
    block = Switch(
        len(RING_LANES),
        short_ring_route(1, 4, knows.reach),
        longest=2,
        depth=16,
        choice=True,
        turn=short_ring_turn,
    )
    block.submodules.knows = knows
    flits = [signal for flit in [*block.into, *block.out] for signal in flit.flatten()]
    what = "of a ring of four boards, two lanes each way, queues of 16 flits"
    return what, block, [*flits, block.empty, block.dropped, *knows.up, *knows.far]


def _region_block():
    reads, writes = [HpRead() for _ in range(2)], [HpWrite() for _ in range(2)]
    block = BoardBlock("adder", reads, writes)
    ports = [*reads, *writes, *block.readers, *block.writers]
    ios = [getattr(port, name) for port in ports for name in port.INPUTS + port.OUTPUTS]
    ios += [*block.own.request.flatten(), *block.own.answer.flatten(), block.settled]
    return "vector adder in the logic, shown by regions of one link", block, ios


def _eem_line():
    end = EemEnd()
    ios = [signal for record in (end.out, end.into) for signal in record.flatten()]
    ios += [end.up, end.ready, end.load, *end.levels, *end.samples, *end.taps]
    return "an end of a link over an EEM connector, without cells", end, ios


def _cxp_line():
    receiver = LineReceiver()
    ios = [receiver.line, receiver.in_step, receiver.word, receiver.stb]
    return "words of a CoaXPress camera from the bits of its line", receiver, ios


LINK_BLOCKS = {
    "bridge": _bridge,
    "bulk": _bulk,
    "bulk_line": _bulk_line,
    "cxp_line": _cxp_line,
    "eem_line": _eem_line,
    "packetiser": _packetiser,
    "region_block": _region_block,
    "remote_initiator": _remote_initiator,
    "remote_server": _remote_server,
    "switch": _switch,
    "switch_ring": _switch_ring,
}
