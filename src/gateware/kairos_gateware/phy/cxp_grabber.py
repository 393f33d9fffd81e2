"""CoaXPress frame grabber: triggers for a camera, sums of pixels over regions of its images, commands to the camera,
and a viewer (`coaxpress/`). Clock domain sys.

Three channels. The first one sends the packet of a trigger: of its three bits bit 2 selects the falling edge, bit 0
the upper pair of triggers; bit 1 is not used. An event while another one's packet is being sent is refused as busy.
The second and third one are those of a `grabber` (grabber.py), with coordinates of 16 bits and at most 60 regions:
the addresses above theirs are those of `cxp_commands.py`.

    camera ─▶ Words ─▶ PacketReader ─┬▶ Images ─┬▶ Roi ... ─▶ GrabberGate ─▶ inputs
                                     │          └▶ Viewer ─▶ CxpCommands
                                     └▶ Answer ─▶ CxpCommands ─▶ inputs
    camera ◀─ Uplink ◀─┬─ triggers
                       └─ Command ◀─ CxpCommands

Pads: `tx`, the line to the camera (8B/10B at 20.83 Mbit/s); from the transceiver of the line from the camera a decoded
character in each cycle in which `valid` is high, `d0` to `d7`, and `k` for control characters: 1.25 Gbit/s. Idle words
need not be among them. No board has such a transceiver; the emulator has the pads.

The sentinel comes 3 cycles after the last character of the packet that ends an image.
"""

from migen import *

from ..coaxpress.answer import Answer
from ..coaxpress.command import Command
from ..coaxpress.downlink import PacketReader, Words
from ..coaxpress.image import COORDINATE_BITS, Images
from ..coaxpress.uplink import Uplink
from ..coaxpress.viewer import Viewer
from ..contracts.coaxpress import REGIONS
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from .cxp_commands import CxpCommands
from .grabber import GrabberGate, Roi, result_bits
from .kind import Context, Figure, Kind, Parameter

__all__ = ["KINDS", "CxpGrabber", "CxpRegions"]

_FALLING, _UPPER = 2, 0


class CxpGrabber(Module):
    """tx: pad of the line to the camera; characters: pads of the eight bits of a character, of its control bit, and of
    `valid`. `answer`, `command`, `images`, `viewer`: the blocks, for `CxpRegions`. `probes`: width and height of the
    last image."""

    def __init__(self, number, tx, characters):
        link = OutputLink(data_width=3)
        self.pads = [tx, *characters]
        self.submodules.uplink = uplink = Uplink()
        self.channel = Channel(number, output=link, free_running=uplink.free_running)
        self.submodules.command = command = Command()
        self.submodules.words = words = Words()
        self.submodules.packets = packets = PacketReader(words)
        self.submodules.answer = Answer(words, packets)
        self.submodules.images = images = Images(words, packets)
        self.submodules.viewer = Viewer(images)
        self.probes = [images.width, images.height]

        # # #

        *bits, valid = [pad.i[-1] for pad in characters]
        self.sync += [words.character.eq(Cat(*bits)), words.valid.eq(valid)]
        self.comb += [
            uplink.fire.eq(link.stb),
            uplink.fine.eq(link.fine),
            uplink.falling.eq(link.data[_FALLING]),
            uplink.upper.eq(link.data[_UPPER]),
            link.busy.eq(uplink.busy),
            uplink.character.eq(command.character),
            uplink.valid.eq(command.valid),
            command.ready.eq(uplink.ready),
            tx.o.eq(Replicate(uplink.output, len(tx.o))),
            tx.oe.eq(1),
            self.channel.settled.eq(uplink.settled & ~command.busy & ~command.start & ~valid & images.settled),
        ]


class CxpRegions(Module):
    """The second channel, with the commands. grabber: `CxpGrabber`; rois: number of regions. `results`, `end` (out),
    `count_bits`: for the `GrabberGate`, as those of a `Grabber`."""

    def __init__(self, number, grabber, rois=8):
        link, inputs = OutputLink(data_width=32, address_width=8), InputLink(data_width=32)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = []
        self.count_bits = result_bits(COORDINATE_BITS, 0)
        self.results = []
        self.end = Signal()

        # # #

        images = grabber.images
        for n in range(rois):
            corners = [Signal(COORDINATE_BITS, name=f"roi{n}_{name}") for name in ["x0", "y0", "x1", "y1"]]
            self.sync += [If(link.stb & (link.address == 4 * n + i), c.eq(link.data)) for i, c in enumerate(corners)]
            self.submodules += (roi := Roi(images, corners, self.count_bits, 0))
            self.results.append(roi.sum)
        self.submodules.commands = commands = CxpCommands(
            link, inputs, grabber.command, grabber.answer, images, grabber.viewer
        )
        self.sync += self.end.eq(images.end)
        self.comb += self.channel.settled.eq(~images.end & ~self.end & commands.settled)


def _make(context):
    return CxpGrabber(
        context.number,
        context.pad("tx"),
        context.pads([*(f"d{n}" for n in range(8)), "k", "valid"], "in"),
    )


class _Whole(Module):
    """All channels; `channel` is the first one."""

    def __init__(self, rois):
        self.submodules.grabber = grabber = _make(Context(0, "cxp", {}, {}))
        self.submodules.regions = regions = CxpRegions(1, grabber, rois)
        self.submodules.gate = gate = GrabberGate(2, regions)
        self.channel, self.pads = grabber.channel, grabber.pads
        self.others = [regions.channel, gate.channel]


KINDS = (
    Kind(
        ChannelKind.CXP_TRIGGER,
        _make,
        pads="`tx`, `d0`–`d7`, `k`, `valid`",
        figures={"cxp": Figure("a CoaXPress grabber with 8 regions", lambda: _Whole(8))},
    ),
    Kind(
        ChannelKind.CXP_REGIONS,
        lambda context: CxpRegions(
            context.number, context.earlier("grabber", CxpGrabber, "cxp_trigger"), context["rois"]
        ),
        parameters=(
            Parameter("grabber", meaning="channel of a `cxp_trigger`, the one before"),
            Parameter("rois", 8, range(1, REGIONS + 1), f"rois of a CoaXPress grabber is 1 to {REGIONS}"),
        ),
    ),
    Kind(
        ChannelKind.CXP_GATE,
        lambda context: GrabberGate(context.number, context.earlier("regions", CxpRegions, "cxp_regions")),
        parameters=(Parameter("regions", meaning="channel of `cxp_regions`, the one before"),),
    ),
)
