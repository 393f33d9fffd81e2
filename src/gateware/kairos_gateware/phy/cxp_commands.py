"""The fourth channel of a CoaXPress grabber: commands to the camera, its answers, and the viewer. Clock domain sys.

RTIO addresses: the constants `PORT_...` of src/contracts/chips/coaxpress.toml. Each answer of the camera is an input
event with its code, its tag and flags; its words are kept until the next answer and can be read. A read gives an input
event three cycles later; if one comes before the event of the read before it, that one has none. An answer whose event
cannot be given at once waits for the read's.
"""

from migen import *

from ..contracts import coaxpress as facts
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from .cxp_grabber import CxpGrabber
from .kind import Kind, Parameter

__all__ = ["KINDS", "CxpCommands"]

_READ = 8
"""Bit of the addresses that are read."""


class CxpCommands(Module):
    """grabber: `CxpGrabber`."""

    def __init__(self, number, grabber):
        link = OutputLink(data_width=32, address_width=4)
        inputs = InputLink(data_width=32)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = []

        # # #

        command, answer, viewer = grabber.command, grabber.answer, grabber.viewer
        accepted, starts, viewing = Signal(), Signal(), Signal()
        reads, waiting, value = Signal(2), Signal(), Signal(32)
        address = Signal(4)
        event = Cat(answer.code, answer.tag, answer.tagged, answer.good)

        def at(port):
            return link.stb & (link.address == port)

        self.sync += [
            If(at(facts.PORT_ADDRESS), command.address.eq(link.data)),
            If(at(facts.PORT_VALUE), command.value.eq(link.data)),
            If(at(facts.PORT_TAG), Cat(command.tag, command.tagged).eq(link.data)),
            If(accepted, Cat(command.length, command.write).eq(link.data)),
            If(at(facts.PORT_VIEWER_FIRST), Cat(viewer.x0, viewer.y0).eq(link.data)),
            If(at(facts.PORT_VIEWER_LAST), Cat(viewer.x1, viewer.y1).eq(link.data)),
            If(at(facts.PORT_WORD), answer.index.eq(link.data)),
            If(at(facts.PORT_PIXELS), viewer.index.eq(link.data[1:])),
            starts.eq(accepted),
            viewing.eq(at(facts.PORT_VIEWER_START)),
            If(link.stb & link.address[3], address.eq(Cat(link.address[:3], link.data[0]))),
            reads.eq(Cat(link.stb & link.address[3], reads[0] & ~(link.stb & link.address[3]))),
            waiting.eq((waiting | answer.answered) & reads[1]),
            inputs.stb.eq(reads[1] | waiting | answer.answered),
            inputs.data.eq(Mux(reads[1], value, event)),
        ]
        images = grabber.images
        values = {
            facts.PORT_WORD: value.eq(answer.word),
            facts.PORT_VIEWER_STATE: value.eq(Cat(viewer.waiting, viewer.kept)),
            facts.PORT_SIZE: value.eq(Cat(images.width, images.height)),
            facts.PORT_FORMAT: value.eq(images.format),
            facts.PORT_FRAMES: value.eq(images.frames),
            facts.PORT_SPOILT: value.eq(images.spoilt),
            facts.PORT_REGION: value.eq(Mux(address[3], Cat(viewer.x1, viewer.y1), Cat(viewer.x0, viewer.y0))),
            facts.PORT_PIXELS: value.eq(Mux(address[3], viewer.word[32:], viewer.word[:32])),
        }
        self.comb += [
            command.start.eq(starts),
            viewer.start.eq(viewing),
            accepted.eq(at(facts.PORT_COMMAND) & ~command.busy & ~starts),
            link.busy.eq(at(facts.PORT_COMMAND) & ~accepted),
            Case(address[:3] | _READ, values),
            self.channel.settled.eq(~starts & ~viewing & (reads == 0) & ~waiting & ~answer.answered & ~inputs.stb),
        ]


KINDS = (
    Kind(
        ChannelKind.CXP_COMMANDS,
        lambda context: CxpCommands(context.number, context.earlier("grabber", CxpGrabber, "cxp_trigger")),
        parameters=(Parameter("grabber", meaning="channel of a `cxp_trigger`, before it"),),
    ),
)
