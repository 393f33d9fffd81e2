"""Images from the stream of a camera: packets to lines, lines to pixels, one per cycle. Clock domain sys.

    packet      stream's number | packet's number | words, high byte | words, low byte | words of the stream | CRC
    stream      mark | IMAGE_HEADER | 23 bytes      mark | IMAGE_LINE | words of the line      mark | IMAGE_LINE ...

Bytes of headers are sent four times each. The stream continues in the next packet where one ends. Pixels of a line
follow each other without a gap, the lowest bit first, from the lowest bit of the first character on; the rest of a
line's last word is not used.
"""

from migen import *

from ..contracts import coaxpress as facts
from .downlink import PacketReader, Words

__all__ = ["COORDINATE_BITS", "PIXEL_BITS", "Images", "Pixels", "StreamReader"]

COORDINATE_BITS = 16
PIXEL_BITS = 16
_DEPTHS = (8, 10, 12, 14, 16)
_PACKET_HEADER = 4
"""Words of a packet of the stream before those of the stream."""
_BUFFER = 64


class StreamReader(Module):
    """The words of the stream, from its packets. words, packets: of the camera.

    `stb` (out): `words` has one, also a mark. `end` (out): the packet that had the words so far has ended; `good`
    (out): as a whole and with a correct CRC.
    """

    def __init__(self, words: Words, packets: PacketReader):
        self.stb, self.end, self.good = Signal(), Signal(), Signal()

        # # #

        place = Signal(max=_PACKET_HEADER + 1)
        left = Signal(17)  # of the packet, with its CRC
        self.comb += [
            self.stb.eq(packets.streams & (place == _PACKET_HEADER) & (left > 1)),
            self.end.eq(packets.end_stream),
            self.good.eq(packets.good & (place == _PACKET_HEADER) & (left == 0)),
        ]
        self.sync += [
            If(packets.begin_stream, place.eq(0), left.eq(1)),
            If(
                packets.streams,
                If(
                    place != _PACKET_HEADER,
                    place.eq(place + 1),
                    If(place == 2, left[8:16].eq(words.value)),
                    If(place == 3, left.eq(Cat(words.value, left[8:16]) + 1)),
                ).Elif(left != 0, left.eq(left - 1)),
            ),
        ]


class Pixels(Module):
    """Words to pixels. `clear` (in): a line begins. `stb` (in), `word` (in, 32 bits): the next word of the line, whose
    highest byte is the first character; `depth` (in, 3 bits): number of bits of a pixel, 8, 10, 12, 14, 16. `valid`
    (out), `pixel` (out, 16 bits): a pixel. `settled` (out): none is left."""

    def __init__(self):
        self.clear, self.stb, self.word, self.depth = Signal(), Signal(), Signal(32), Signal(max=len(_DEPTHS))
        self.valid, self.pixel = Signal(), Signal(PIXEL_BITS)
        self.settled = Signal()

        # # #

        bits, count = Signal(_BUFFER), Signal(max=_BUFFER + 1)
        rest, left = Signal(_BUFFER), Signal.like(count)
        in_order = Cat(*[self.word[n : n + 8] for n in (24, 16, 8, 0)])
        taken = {
            n: [
                self.valid.eq(count >= depth),
                self.pixel.eq(bits[:depth]),
                rest.eq(Mux(self.valid, bits[depth:], bits)),
                left.eq(Mux(self.valid, count - depth, count)),
            ]
            for n, depth in enumerate(_DEPTHS)
        }
        self.comb += [Case(self.depth, taken), self.settled.eq(~self.valid & ~self.stb)]
        self.sync += [
            bits.eq(rest | Mux(self.stb, in_order << left[:6], 0)),
            count.eq(left + Mux(self.stb, 32, 0)),
            If(self.clear, bits.eq(0), count.eq(0)),
        ]


class Images(Module):
    """words, packets: of the camera.

    `valid` (out): a `pixel` (out, 16 bits) at column `x` (out, 16 bits) and row `y` (out, 16 bits), `first` (out): of
    an image. `end` (out): the image has arrived as a whole, at least eight cycles after its last pixel; without if a
    packet of it had a wrong CRC or was not whole, or the format is unknown, which counts as `spoilt` (out, 32 bits).
    `frames` (out, 32 bits): those with an end. `width`, `height` (out, 16 bits), `format` (out, 16 bits): of the last
    header. `settled` (out): nothing is in between.
    """

    def __init__(self, words: Words, packets: PacketReader):
        self.valid, self.first, self.end = Signal(), Signal(), Signal()
        self.pixel, self.x, self.y = Signal(PIXEL_BITS), Signal(COORDINATE_BITS), Signal(COORDINATE_BITS)
        self.frames, self.spoilt = Signal(32), Signal(32)
        self.width, self.height = Signal(COORDINATE_BITS), Signal(COORDINATE_BITS)
        self.format, self.settled = Signal(16), Signal()

        # # #

        self.submodules.stream = stream = StreamReader(words, packets)
        self.submodules.pixels = pixels = Pixels()
        header = Signal(8 * facts.HEADER_BYTES)  # the last byte lowest
        typed, in_header, in_line = Signal(), Signal(), Signal()
        left = Signal(24)
        lines, in_image, bad = Signal(COORDINATE_BITS + 1), Signal(), Signal()
        fresh = Signal()
        fields = self._fields(header)
        mark = stream.stb & words.control & (words.value == facts.IMAGE_MARK)
        data = stream.stb & ~mark
        whole = in_image & ~in_header & ~in_line & (lines == self.height)
        within = pixels.valid & (self.x != self.width)
        unknown = (self.format < facts.MONO8) | (self.format >= facts.MONO8 + len(_DEPTHS))
        self.comb += [
            self.width.eq(fields["width"]),
            self.height.eq(fields["height"]),
            self.format.eq(fields["format"]),
            pixels.depth.eq(self.format - facts.MONO8),
            pixels.word.eq(words.word),
            pixels.stb.eq(data & in_line),
            pixels.clear.eq(mark),
            self.valid.eq(within),
            self.pixel.eq(pixels.pixel),
            self.y.eq(lines - 1),
            self.first.eq(within & fresh),
            self.end.eq(stream.end & stream.good & ~bad & whole),
            self.settled.eq(pixels.settled & words.settled),
        ]
        self.sync += [
            If(mark, typed.eq(1), in_header.eq(0), in_line.eq(0)),
            If(
                data & typed,
                typed.eq(0),
                If(
                    words.value == facts.IMAGE_HEADER,
                    in_header.eq(1),
                    in_image.eq(1),
                    If(in_image, self.spoilt.eq(self.spoilt + 1)),
                    bad.eq(0),
                    fresh.eq(1),
                    lines.eq(0),
                    left.eq(facts.HEADER_BYTES - 1),
                ),
                If((words.value == facts.IMAGE_LINE) & in_image, in_line.eq(1), lines.eq(lines + 1), self.x.eq(0)),
                If(words.value == facts.IMAGE_LINE, left.eq(fields["words"] - 1), If(unknown, bad.eq(1))),
            ),
            If(data & in_header, header.eq(Cat(words.value, header))),
            If(data & (in_header | in_line), left.eq(left - 1), If(left == 0, in_header.eq(0), in_line.eq(0))),
            If(within, self.x.eq(self.x + 1), fresh.eq(0)),
            If(stream.end & ~stream.good, bad.eq(1)),
            If(
                stream.end & whole,
                in_image.eq(0),
                If(self.end, self.frames.eq(self.frames + 1)).Else(self.spoilt.eq(self.spoilt + 1)),
            ),
        ]

    @staticmethod
    def _fields(header):
        """Returns the parts of a header, of which the stage has the last byte lowest, by name."""
        sizes = {"stream": 1, "tag": 2, "width": 3, "left": 3, "height": 3, "top": 3, "words": 3, "format": 2}
        sizes |= {"geometry": 2, "flags": 1}
        fields, end = {}, facts.HEADER_BYTES
        for name, size in sizes.items():
            fields[name] = header[8 * (end - size) : 8 * end]
            end -= size
        assert end == 0
        return fields
