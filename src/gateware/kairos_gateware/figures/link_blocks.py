"""The blocks of links between boards whose area is measured, like those of `blocks.py`."""

from migen import *

from ..link.line.bridge import BridgeRequester, bridge_streams
from ..link.line.endpoint import Endpoint
from ..link.line.gearbox import Packetiser
from ..link.remote.requester import RemoteInitiator
from ..link.remote.server import RemoteServer
from ..link.remote.words import remote_streams
from ..link.switch.routes import tree_route
from ..link.switch.switch import Switch

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
    names = "early board idle failed failed_address failed_status failed_tag failed_far repeated stale"
    ios = [*sink.flatten(), *source.flatten(), end.up, *block.request.flatten(), *block.answer.flatten()]
    return "requests of remote memory, 16 slots", block, [*ios, *[getattr(block, name) for name in names.split()]]


def _remote_server():
    asks, answers = remote_streams()
    end = Endpoint([answers], [asks])
    source, sink = end.source["remote_requests"], end.sink["remote_answers"]
    block = RemoteServer(source, sink)
    ios = [*sink.flatten(), *source.flatten(), *block.bus.flatten(), *block.reply.flatten()]
    ios += [block.refused, block.settled, block.board, block.coherent]
    for region in block.regions:
        ios += [region.enable, region.writable, region.coherent, region.first, region.last]
    return "requests of another board, four regions, a table of 8", block, ios


def _switch():
    block = Switch(4, tree_route(0, [1, 1]), longest=2, depth=16)
    flits = [signal for flit in [*block.into, *block.out] for signal in flit.flatten()]
    return "four ports, queues of 16 flits", block, [*flits, block.empty]


LINK_BLOCKS = {
    "bridge": _bridge,
    "packetiser": _packetiser,
    "remote_initiator": _remote_initiator,
    "remote_server": _remote_server,
    "switch": _switch,
}
