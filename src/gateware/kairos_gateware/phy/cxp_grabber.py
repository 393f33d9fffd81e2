"""CoaXPress frame grabber: triggers for a camera, sums of pixels over regions of its images, commands to the camera,
and a viewer (`coaxpress/`). Clock domain sys, but for what handles a camera's words, which is in that of its line.

Three channels. The first one sends the packet of a trigger: of its three bits bit 2 selects the falling edge, bit 0
the upper pair of triggers; bit 1 is not used. An event while another one's packet is being sent is refused as busy.
The second and third one are those of a `grabber` (grabber.py), with coordinates of 16 bits and at most 60 regions:
the addresses above theirs are those of `cxp_commands.py`.

    camera ─▶ Reception ─┬▶ Regions ─▶ GrabberGate ─▶ inputs
                         └▶ CxpCommands ─▶ inputs
    camera ◀─ Uplink ◀─┬─ triggers
                       └─ Command ◀─ CxpCommands

Pads: `tx`, the line to the camera (8B/10B at 20.83 Mbit/s). With a `cage` the camera's words come from a transceiver in
it (`boards/coaxpress.py`). Without, in the emulator, there are pads for them: in each cycle in which `valid` is high a
word that is not idle, four characters `d0` to `d31`, the first one lowest, and `k0` to `k3` for control characters: as
fast as a line of 5 Gbit/s. `lock`: words arrive. `rate0` to `rate2`: the rate at which the grabber receives.

In the emulator the sentinel comes 8 cycles after the last word of the packet that ends an image.
"""

from migen import *

from ..coaxpress.command import Command
from ..coaxpress.crossing import LOGIC
from ..coaxpress.image import COORDINATE_BITS
from ..coaxpress.reception import Reception, Regions
from ..coaxpress.uplink import Uplink
from ..contracts.coaxpress import RATES, REGIONS
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from .cxp_commands import CxpCommands
from .grabber import GrabberGate, result_bits
from .kind import Context, Figure, Kind, Parameter

__all__ = ["KINDS", "CxpGrabber", "CxpRegions"]

_FALLING, _UPPER = 2, 0
_RATE_BITS = 3
_CHARACTERS = 4
_WORD_PADS = (*(f"d{n}" for n in range(8 * _CHARACTERS)), *(f"k{n}" for n in range(_CHARACTERS)), "valid", "lock")
_CAGES = 4
_CORNERS = ("x0", "y0", "x1", "y1")


class CxpGrabber(Module):
    """tx: pad of the line to the camera; words: pads of the bits of a word, of its control bits, of `valid` and `lock`;
    rate_pads: of the number of the rate. domain: clock of the words if these are none. Then, for a transceiver:
    `reception.stb` and `reception.word`, in that domain; in sys `rate` (out, 3 bits): number of the rate; `rates` (in,
    5 bits): a bit for each that it has; `in_step` (in): words arrive; `level` (out): of the line to the camera.

    `reception`, `command`: the blocks, for `CxpRegions`. `probes`: width and height of the last image."""

    def __init__(self, number, tx, words=(), rate_pads=(), domain=LOGIC):
        link = OutputLink(data_width=3)
        self.domain = domain
        self.pads = [tx, *words, *rate_pads]
        self.rate, self.rates = Signal(_RATE_BITS), Signal(len(RATES), reset=2 ** len(RATES) - 1)
        self.in_step, self.level = Signal(), Signal()
        self.submodules.uplink = uplink = Uplink()
        self.channel = Channel(number, output=link, free_running=uplink.free_running)
        self.submodules.command = command = Command()
        self.submodules.reception = reception = Reception(domain)
        self.probes = [reception.image.width, reception.image.height]

        # # #

        settled = C(1)
        if words:
            *bits, valid, lock = [pad.i[-1] for pad in words]
            bytes_, controls = bits[: 8 * _CHARACTERS], bits[8 * _CHARACTERS :]
            self.sync += [
                reception.word.eq(Cat(*[Cat(*bytes_[8 * n : 8 * n + 8], controls[n]) for n in range(_CHARACTERS)])),
                reception.stb.eq(valid),
                self.in_step.eq(lock),
            ]
            for pad, bit in zip(rate_pads, self.rate, strict=True):
                self.comb += [pad.o.eq(Replicate(bit, len(pad.o))), pad.oe.eq(1)]
            settled = ~valid & reception.settled
        self.comb += [
            uplink.fire.eq(link.stb),
            uplink.fine.eq(link.fine),
            uplink.falling.eq(link.data[_FALLING]),
            uplink.upper.eq(link.data[_UPPER]),
            link.busy.eq(uplink.busy),
            uplink.character.eq(command.character),
            uplink.valid.eq(command.valid),
            command.ready.eq(uplink.ready),
            self.level.eq(uplink.output),
            tx.o.eq(Replicate(uplink.output, len(tx.o))),
            tx.oe.eq(1),
            self.channel.settled.eq(uplink.settled & ~command.busy & ~command.start & settled),
        ]


class CxpRegions(Module):
    """The second channel, with the commands. grabber: `CxpGrabber`; rois: number of regions. `results`, `end` (out),
    `count_bits`: for the `GrabberGate`, as those of a `Grabber`."""

    def __init__(self, number, grabber, rois=8):
        link, inputs = OutputLink(data_width=32, address_width=8), InputLink(data_width=32)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads, self.domain = [], grabber.domain
        self.count_bits = result_bits(COORDINATE_BITS, 0)

        # # #

        corners = [[Signal(COORDINATE_BITS, name=f"roi{n}_{name}") for name in _CORNERS] for n in range(rois)]
        for n, edges in enumerate(corners):
            self.sync += [If(link.stb & (link.address == 4 * n + i), c.eq(link.data)) for i, c in enumerate(edges)]
        self.submodules.regions = regions = Regions(grabber.reception.images, corners, self.count_bits, self.domain)
        self.results, self.end = regions.sums, regions.end
        self.submodules.commands = commands = CxpCommands(link, inputs, grabber)
        self.comb += self.channel.settled.eq(regions.settled & commands.settled)


def _make(context):
    tx, cage = context.pad("tx"), context["cage"]
    if cage != _CAGES:
        return CxpGrabber(context.number, tx, domain=f"camera{cage}_rx")
    rates = context.pads([f"rate{n}" for n in range(_RATE_BITS)])
    return CxpGrabber(context.number, tx, context.pads(list(_WORD_PADS), "in"), rates)


class _Whole(Module):
    """All channels; `channel` is the first one."""

    def __init__(self, rois):
        self.submodules.grabber = grabber = _make(Context(0, "cxp", {"cage": _CAGES}, {}))
        self.submodules.regions = regions = CxpRegions(1, grabber, rois)
        self.submodules.gate = gate = GrabberGate(2, regions)
        self.channel, self.pads = grabber.channel, grabber.pads
        self.others = [regions.channel, gate.channel]


KINDS = (
    Kind(
        ChannelKind.CXP_TRIGGER,
        _make,
        pads="`tx`, and without `cage` `d0`–`d31`, `k0`–`k3`, `valid`, `lock`, `rate0`–`rate2`",
        parameters=(
            Parameter(
                "cage",
                _CAGES,
                range(_CAGES + 1),
                f"cage of a CoaXPress grabber is 0 to {_CAGES}",
                f"of the camera's transceiver; {_CAGES}: none, its words come from pads",
            ),
        ),
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
