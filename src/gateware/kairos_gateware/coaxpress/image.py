"""Images from the stream of a camera: packets to lines, lines to pixels, up to four in a cycle.
Clock domain sys.

    packet      stream's number | packet's number | words, high byte | words, low byte | words of the stream | CRC
    stream      mark | IMAGE_HEADER | 23 bytes      mark | IMAGE_LINE | words of the line      mark | IMAGE_LINE ...

Bytes of headers are sent four times each. The stream continues in the next packet where one ends. Pixels of a line
follow each other without a gap, the lowest bit first, from the lowest bit of the first character on; the rest of a
line's last word is not used.
"""

from migen import *

from ..contracts import coaxpress as facts
from .downlink import PacketReader, Words

__all__ = ["COORDINATE_BITS", "GROUP", "PIXEL_BITS", "Images", "Pixels", "StreamReader"]

COORDINATE_BITS = 16
PIXEL_BITS = 16
GROUP = 4
"""Pixels in a cycle, at most."""
_DEPTHS = (8, 10, 12, 14, 16)
_PACKET_HEADER = 4
"""Words of a packet of the stream before those of the stream."""
_BUFFER = 96


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
    """Words to groups of four pixels. `clear` (in): a line begins. `stb` (in), `word` (in, 32 bits): the next word of
    the line, whose highest byte is the first character, `last` (in): its last one; `depth` (in, 3 bits): number of bits
    of a pixel, 8, 10, 12, 14, 16. `valid` (out), `pixels` (out, four of 16 bits): the next four, of which at the end of
    a line some are none; at the latest two cycles after the line's last word. `settled` (out): none is left."""

    def __init__(self):
        self.clear, self.stb, self.word, self.last = Signal(), Signal(), Signal(32), Signal()
        self.depth = Signal(max=len(_DEPTHS))
        self.valid, self.pixels = Signal(), [Signal(PIXEL_BITS, name=f"pixel_{n}") for n in range(GROUP)]
        self.settled = Signal()

        # # #

        # All numbers of bits are multiples of 8
        bytes_there = Signal(max=_BUFFER // 8 + 1)
        bits, rest, left = Signal(_BUFFER), Signal(_BUFFER), Signal.like(bytes_there)
        full, ending = Signal(), Signal()
        in_order = Cat(*[self.word[n : n + 8] for n in (24, 16, 8, 0)])
        groups = {
            n: [
                full.eq(bytes_there >= GROUP * depth // 8),
                *[pixel.eq(bits[depth * place : depth * (place + 1)]) for place, pixel in enumerate(self.pixels)],
                rest.eq(Mux(full, bits[GROUP * depth :], bits)),
                left.eq(Mux(full, bytes_there - GROUP * depth // 8, bytes_there)),
            ]
            for n, depth in enumerate(_DEPTHS)
        }
        longer = Signal(_BUFFER)
        self.comb += [
            Case(self.depth, groups),
            self.valid.eq(full | (ending & (bytes_there != 0))),
            longer.eq(rest | (in_order << Cat(C(0, 3), left[:3]))),
            self.settled.eq(~full & ~ending & ~self.stb),
        ]
        self.sync += [
            bits.eq(Mux(self.stb, longer, rest)),
            bytes_there.eq(left + Mux(self.stb, 4, 0)),
            ending.eq((self.stb & self.last) | (ending & full & (left != 0))),
            If(self.clear | (ending & ~full), bits.eq(0), bytes_there.eq(0)),
        ]


class Images(Module):
    """words, packets: of the camera.

    `valid` (out, 4 bits), `pixels` (out, four of 16 bits): pixels of row `y` (out, 16 bits) from column `x` (out, 16
    bits, a multiple of 4) on, those whose bit of `valid` is set; `first` (out): of an image; `last` (out): of a row, in
    whose next two cycles there are none. `end` (out): the image has arrived as a whole, after its last pixels; without
    if a packet of it had a wrong CRC or was not whole, or the format is unknown, which counts as `spoilt` (out, 32
    bits). `frames` (out, 32 bits): those with an end. `width`, `height` (out, 16 bits), `format` (out, 16 bits): of the
    last header. `settled` (out): nothing is in between.
    """

    def __init__(self, words: Words, packets: PacketReader):
        self.valid, self.first, self.last, self.end = Signal(GROUP), Signal(), Signal(), Signal()
        self.pixels = [Signal(PIXEL_BITS, name=f"pixel_{n}") for n in range(GROUP)]
        self.x, self.y = Signal(COORDINATE_BITS), Signal(COORDINATE_BITS)
        self.frames, self.spoilt = Signal(32), Signal(32)
        self.width, self.height = Signal(COORDINATE_BITS), Signal(COORDINATE_BITS)
        self.format, self.settled = Signal(16), Signal()

        # # #

        self.submodules.stream = stream = StreamReader(words, packets)
        self.submodules.unpacked = pixels = Pixels()
        header = Signal(8 * facts.HEADER_BYTES)  # the last byte lowest
        typed, in_header, in_line = Signal(), Signal(), Signal()
        left, group, remaining = Signal(24), Signal(COORDINATE_BITS - 2), Signal(COORDINATE_BITS)
        lines, in_image, bad = Signal(COORDINATE_BITS + 1), Signal(), Signal()
        fresh, ended, line = Signal(), Signal(2), Signal()
        fields = self._fields(header)
        mark = stream.stb & words.control & (words.value == facts.IMAGE_MARK)
        data = stream.stb & ~mark
        whole = in_image & ~in_header & ~in_line & (lines == self.height)
        more, within = remaining[2:] != 0, Signal(GROUP)
        unknown = (self.format < facts.MONO8) | (self.format >= facts.MONO8 + len(_DEPTHS))
        self.comb += [
            self.width.eq(fields["width"]),
            self.height.eq(fields["height"]),
            self.format.eq(fields["format"]),
            pixels.depth.eq(self.format - facts.MONO8),
            pixels.word.eq(words.word),
            pixels.stb.eq(data & in_line),
            pixels.last.eq(left == 0),
            line.eq(data & typed & (words.value == facts.IMAGE_LINE)),
            pixels.clear.eq(line),
            # The last place is within only if there are as many
            within.eq(
                Cat(*[pixels.valid & (more | (remaining[:2] > n)) for n in range(GROUP - 1)], pixels.valid & more)
            ),
            self.end.eq(ended[-1]),
            self.settled.eq(pixels.settled & words.settled & (self.valid == 0) & (ended == 0)),
        ]
        good = stream.end & stream.good & ~bad & whole
        self.sync += [
            self.valid.eq(within),
            [kept.eq(pixel) for kept, pixel in zip(self.pixels, pixels.pixels, strict=True)],
            self.x.eq(Cat(C(0, 2), group)),
            self.y.eq(lines - 1),
            self.first.eq(within[0] & fresh),
            self.last.eq(remaining <= GROUP),
            If(within[0], fresh.eq(0), group.eq(group + 1), remaining.eq(Mux(more, remaining - GROUP, 0))),
            ended.eq(Cat(good, ended[0])),
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
            ),
            If(
                line,
                If(in_image, in_line.eq(1), lines.eq(lines + 1), group.eq(0), remaining.eq(self.width)),
                left.eq(fields["words"] - 1),
                If(unknown, bad.eq(1)),
            ),
            If(data & in_header, header.eq(Cat(words.value, header))),
            If(data & (in_header | in_line), left.eq(left - 1), If(left == 0, in_header.eq(0), in_line.eq(0))),
            If(stream.end & ~stream.good, bad.eq(1)),
            If(
                stream.end & whole,
                in_image.eq(0),
                If(good, self.frames.eq(self.frames + 1)).Else(self.spoilt.eq(self.spoilt + 1)),
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
