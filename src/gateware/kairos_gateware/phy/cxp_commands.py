"""Commands to the camera of a CoaXPress grabber, its answers, and the viewer: a part of the channel with the regions.
Clock domain sys.

RTIO addresses: the constants `PORT_...` of src/contracts/chips/coaxpress.toml. Each answer of the camera is an input
event with its code, its tag and flags; its words are kept until the next answer and can be read. A read gives an input
event three cycles later; if one comes before the event of the read before it, that one has none. An answer whose event
cannot be given at once waits for the read's.
"""

from migen import *

from ..contracts import coaxpress as facts

__all__ = ["CxpCommands"]

_READ = 3
"""Bit of the addresses that are read."""


class CxpCommands(Module):
    """link, inputs: of the channel. grabber: `CxpGrabber`. `settled` (out): there is no read, nor an answer to be
    given."""

    def __init__(self, link, inputs, grabber):
        self.settled = Signal()

        # # #

        command, reception = grabber.command, grabber.reception
        answer, image, viewer = reception.answer, reception.image, reception.viewer
        accepted, starts, viewing = Signal(), Signal(), Signal()
        reads, waiting, value = Signal(2), Signal(), Signal(32)
        address, asked = Signal(_READ + 1), Signal()
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
            If(at(facts.PORT_RATE), grabber.rate.eq(link.data)),
            If(at(facts.PORT_WORD), answer.index.eq(link.data)),
            If(at(facts.PORT_PIXELS), viewer.index.eq(link.data[1:])),
            starts.eq(accepted),
            viewing.eq(at(facts.PORT_VIEWER_START)),
            If(asked, address.eq(Cat(link.address[:_READ], link.data[0]))),
            reads.eq(Cat(asked, reads[0] & ~asked)),
            waiting.eq((waiting | answer.answered) & reads[1]),
            inputs.stb.eq(reads[1] | waiting | answer.answered),
            inputs.data.eq(Mux(reads[1], value, event)),
        ]
        unused = facts.LINE_RATES - facts.LINE_IN_STEP.bit_length()
        state = Cat(viewer.waiting, viewer.kept, grabber.in_step, C(0, unused), grabber.rates)
        values = {
            facts.PORT_WORD: value.eq(answer.word),
            facts.PORT_VIEWER_STATE: value.eq(state),
            facts.PORT_SIZE: value.eq(Cat(image.width, image.height)),
            facts.PORT_FORMAT: value.eq(image.format),
            facts.PORT_FRAMES: value.eq(image.frames),
            facts.PORT_SPOILT: value.eq(image.spoilt),
            facts.PORT_REGION: value.eq(Mux(address[_READ], Cat(viewer.x1, viewer.y1), Cat(viewer.x0, viewer.y0))),
            facts.PORT_PIXELS: value.eq(Mux(address[_READ], viewer.word[32:], viewer.word[:32])),
        }
        above = facts.PORT_WORD >> _READ
        self.comb += [
            asked.eq(link.stb & (link.address[_READ:] == above)),
            command.start.eq(starts),
            viewer.start.eq(viewing),
            accepted.eq(at(facts.PORT_COMMAND) & ~command.busy & ~starts),
            link.busy.eq(at(facts.PORT_COMMAND) & ~accepted),
            Case(Cat(address[:_READ], C(above, 8 - _READ)), values),
            self.settled.eq(~starts & ~viewing & (reads == 0) & ~waiting & ~answer.answered & ~inputs.stb),
        ]
