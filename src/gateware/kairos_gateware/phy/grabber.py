"""Frame grabber: sums of pixels over regions of interest (ROIs) of a Camera Link camera's frames.
Clock domain sys.

Two channels. Addresses 4 n to 4 n + 3 of the first set x0, y0, x1, y1 of ROI n: pixels with x0 <= x
< x1 and y0 <= y < y1 belong to it, columns and rows counted from 0. The second one accepts a mask
of ROIs (address 0) and returns the results: when a frame ends, those of the ROIs in the mask at
that time, lowest number first, one event per cycle, after an event with the sentinel, a single bit
above all bits of a result. Without a ROI in the mask there is no event. (Coordinates are effective
from their event's time on; the results of a frame during which they change are undefined.)

A result is the sum of the pixels, each shifted right by `count_shift`; it has min(31, 2 `res_width`
+
16 - `count_shift`) bits; a sum that does not fit wraps. A pixel has 16 bits: port B, then
port A, one for each pixel clock in which DVAL, LVAL and FVAL are set. A line ends with LVAL, a
frame with FVAL.

    cycle                 0      1      2      3      4      5
    receiver.stb          /‾‾‾‾‾‾\\______________________________   first word without FVAL
    input.stb                                  /‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾   sentinel, first result...

`receiver.stb` follows 4 cycles after the arrival of that word's last bit, so the sentinel is
stamped 5 cycles (40 ns) after it. The results are kept until the next frame's first pixel, which
must come at least 4 + number of ROIs cycles after the frame's end.
"""

from functools import reduce
from operator import or_

from migen import *

from ..contracts.cameralink import DATA_VALID, FRAME_VALID, LINE_VALID, PORTS, WORD_BITS
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from .cameralink import CameraLinkReceiver
from .kind import Context, Figure, Kind, Parameter

__all__ = ["KINDS", "FrameParser", "Roi", "Grabber", "GrabberGate", "result_bits"]

_PIXEL_BITS = 16


def result_bits(res_width, count_shift):
    """Bits of a result; the sentinel is the bit above."""
    return min(31, 2 * res_width + _PIXEL_BITS - count_shift)


class FrameParser(Module):
    """Converts words to pixels. `stb` (in), `word` (in, 28 bits): a word of the camera. One cycle later:
    `valid` (out), `pixel` (out, 16 bits), `x`, `y` (out, `res_width` bits), and `first` (out) with the
    frame's first pixel; or `end` (out), the frame is over. `width`, `height` (out, `res_width` bits): of
    the last frame. x and y saturate at all ones."""

    def __init__(self, res_width):
        self.stb = Signal()
        self.word = Signal(WORD_BITS)
        self.valid, self.first, self.end = Signal(), Signal(), Signal()
        self.pixel = Signal(_PIXEL_BITS)
        self.x, self.y = Signal(res_width), Signal(res_width)
        self.width, self.height = Signal(res_width), Signal(res_width)

        # # #

        frame, line = self.word[FRAME_VALID], self.word[LINE_VALID] & self.word[FRAME_VALID]
        most = 2**res_width - 1
        in_frame, in_line, fresh = Signal(), Signal(), Signal()
        x, y, widest = Signal(res_width), Signal(res_width), Signal(res_width)
        self.sync += [
            self.valid.eq(0),
            self.first.eq(0),
            self.end.eq(0),
            If(
                self.stb,
                in_frame.eq(frame),
                in_line.eq(line),
                self.end.eq(in_frame & ~frame),
                self.pixel.eq(Cat(*[self.word[n] for port in PORTS for n in port])),
                self.x.eq(x),
                self.y.eq(y),
                If(
                    line & self.word[DATA_VALID],
                    self.valid.eq(1),
                    self.first.eq(fresh),
                    fresh.eq(0),
                    If(x != most, x.eq(x + 1)),
                ),
                If(in_line & ~line, x.eq(0), widest.eq(x), If(y != most, y.eq(y + 1))),
                If(
                    ~frame,
                    y.eq(0),
                    fresh.eq(1),
                    # The line may end with the frame
                    If(in_frame, self.width.eq(Mux(in_line, x, widest)), self.height.eq(y + (in_line & (y != most)))),
                ),
            ),
        ]


class Roi(Module):
    """Sum of the pixels within the region: two cycles after the parser's. corners: x0, y0, x1,
    y1.

    `sum` (out, `bits` bits): of the pixels so far.
    """

    def __init__(self, parser, corners, bits, count_shift):
        self.sum = Signal(bits)

        # # #

        x0, y0, x1, y1 = corners
        inside, clear = Signal(), Signal()
        pixel = Signal(_PIXEL_BITS)
        self.sync += [
            clear.eq(parser.first),
            inside.eq(parser.valid & (parser.x >= x0) & (parser.x < x1) & (parser.y >= y0) & (parser.y < y1)),
            pixel.eq(parser.pixel >> count_shift),
        ]
        self.sync += self.sum.eq(Mux(clear, 0, self.sum) + Mux(inside, pixel, 0))


class Grabber(Module):
    """clock: pad of the clock lane; lanes: list of four pads; all serialised inputs. rois: number
    of ROIs, 1 to 64.

    `probes`: width and height of the last frame. For the `GrabberGate`: `results`, the sums of the ROIs;
    `end` (out): for a cycle, they are those of a whole frame; `count_bits`: bits of each.
    """

    def __init__(self, number, clock, lanes, res_width=12, count_shift=0, rois=16):
        link = OutputLink(data_width=res_width, address_width=8)
        self.channel = Channel(number, output=link)
        self.pads = [clock, *lanes]
        self.submodules.receiver = receiver = CameraLinkReceiver(clock, lanes)
        self.submodules.parser = parser = FrameParser(res_width)
        self.probes = [parser.width, parser.height]
        self.count_bits = result_bits(res_width, count_shift)
        self.results = []
        self.end = Signal()

        # # #

        for n in range(rois):
            corners = [Signal(res_width, name=f"roi{n}_{name}") for name in ["x0", "y0", "x1", "y1"]]
            self.sync += [If(link.stb & (link.address == 4 * n + i), c.eq(link.data)) for i, c in enumerate(corners)]
            roi = Roi(parser, corners, self.count_bits, count_shift)
            self.submodules += roi
            self.results.append(roi.sum)
        ended = Signal()
        self.sync += [ended.eq(parser.end), self.end.eq(ended)]
        self.comb += [
            parser.stb.eq(receiver.stb),
            parser.word.eq(receiver.word),
            self.channel.settled.eq(receiver.settled & ~parser.valid & ~parser.end & ~ended & ~self.end),
        ]


class GrabberGate(Module):
    """The second channel of `grabber`."""

    def __init__(self, number, grabber):
        rois = len(grabber.results)
        link = OutputLink(data_width=rois)
        inputs = InputLink(data_width=32)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = []

        # # #

        mask = Signal(rois)
        pending = Signal(rois)
        chosen = Signal(rois)
        picked = [Replicate(chosen[n], grabber.count_bits) & result for n, result in enumerate(grabber.results)]
        self.comb += [
            # x & -x is the lowest set bit
            chosen.eq(pending & (~pending + 1)),
            If(grabber.end & (mask != 0), inputs.stb.eq(1), inputs.data.eq(1 << grabber.count_bits)).Elif(
                pending != 0, inputs.stb.eq(1), inputs.data.eq(reduce(or_, picked))
            ),
            self.channel.settled.eq((pending == 0) & ~grabber.end),
        ]
        self.sync += [
            If(link.stb, mask.eq(link.data)),
            pending.eq(Mux(grabber.end, mask, pending & ~chosen)),
        ]


def _make(context):
    clock, *lanes = context.pads(["clk", "x0", "x1", "x2", "x3"], "in", True)
    return Grabber(context.number, clock, lanes, **context.parameters)


class _WithGate(Module):
    """Both channels; `channel` is the grabber's."""

    def __init__(self, rois):
        parameters = {"res_width": 12, "count_shift": 0, "rois": rois}
        self.submodules.grabber = grabber = _make(Context(0, "grabber", parameters, {}))
        self.submodules.gate = gate = GrabberGate(1, grabber)
        self.channel = grabber.channel
        self.pads = grabber.pads
        self.others = [gate.channel]


def _figure(rois):
    return Figure(f"{rois} regions, with the Camera Link receiver", lambda: _WithGate(rois))


KINDS = (
    Kind(
        ChannelKind.GRABBER,
        _make,
        pads="`clk`, `x0`–`x3`",
        parameters=(
            Parameter("res_width", 12, range(1, 17), "res_width of a grabber is 1 to 16"),
            Parameter("count_shift", 0, range(_PIXEL_BITS), "count_shift of a grabber is 0 to 15"),
            Parameter("rois", 16, range(1, 65), "rois of a grabber is 1 to 64"),
        ),
        figures={"grabber": _figure(16), "grabber_1": _figure(1)},
    ),
    Kind(
        ChannelKind.GRABBER_GATE,
        lambda context: GrabberGate(context.number, context.earlier("grabber", Grabber, "grabber")),
        parameters=(Parameter("grabber", meaning="channel of a `grabber`, the one before"),),
    ),
)
