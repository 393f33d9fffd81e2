"""The streams of a bridge on a link between two boards, beside those of RTIO.

A link without remote memory has three numbers free downstream, and three upstream, or four. Addresses of
writes therefore share a stream with their data, which follow them; interrupts have a stream in each
direction. Accesses go in one of the directions, their answers in the other, with the same numbers.
"""

from litex.soc.interconnect.axi import AXIInterface

from ..line.bridge import bridge_streams
from ..line.endpoint import Stream
from ..line.gearbox import Forms

__all__ = ["ADDRESS_FORM", "DATA_BITS", "INTERRUPTS", "bridge_axi", "bridge_both", "tags"]

DATA_BITS = 64
INTERRUPTS = 16
"""Levels in each direction."""
ADDRESS_FORM = "address"
"""In the stream of writes: the address of a burst, whose beats follow."""
_RANK, _DEPTH = 2, 32
_ID_BITS = 6


def bridge_axi():
    """The bus that crosses the link."""
    return AXIInterface(data_width=DATA_BITS, address_width=32, id_width=_ID_BITS)


def _streams(packetiser):
    packed = packetiser == "gearbox"
    downstream, upstream = bridge_streams(bridge_axi(), INTERRUPTS + 1, _DEPTH, packed)
    return {stream.name: stream for stream in downstream + upstream}, packed


def bridge_both(packetiser="gearbox", master="upstream"):
    """Additional streams of a link with a bridge: (downstream, upstream). packetiser: "gearbox" or "simple". master:
    the board at which accesses enter, "upstream" or "downstream"."""
    of, packed = _streams(packetiser)
    writes = Forms(**of["w"].forms.widths, **{ADDRESS_FORM: of["aw"].forms.data_bits})

    def stream(name, number, forms, depth=_DEPTH):
        return Stream(f"bridge_{name}", number, forms, _RANK, depth)

    accesses = [stream("writes", 4, writes if packed else writes.unpacked()), stream("ar", 5, of["ar"].forms)]
    answers = [stream("b", 4, of["b"].forms), stream("r", 5, of["r"].forms)]
    downstream, upstream = (accesses, answers) if master == "upstream" else (answers, accesses)
    levels = [stream("levels", number, of["interrupts"].forms, 0) for number in (6, 3)]
    return [*downstream, levels[0]], [*upstream, levels[1]]


def tags():
    """Tags of each channel's forms, by channel."""
    return {name: stream.forms.tags for name, stream in _streams("gearbox")[0].items()}
