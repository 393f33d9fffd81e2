"""The viewer: keeps a region of an image, four pixels of 16 bits in a word, each row from a new word on. Clock domain
sys."""

from migen import *

from .image import COORDINATE_BITS, PIXEL_BITS, Images

__all__ = ["PIXELS", "WORDS", "Viewer"]

WORDS = 1024
PIXELS = 4
"""Of a word."""


class Viewer(Module):
    """images: `Images`. `x0`, `y0`, `x1`, `y1` (in, 16 bits): pixels from (x0, y0) to before (x1, y1) are kept. `start`
    (in): of the next image that begins. `waiting` (out): until it has arrived as a whole; of one that does not, the
    next one is kept instead. `kept` (out): it is there. `index` (in, 10 bits), and `word` (out, 64 bits): the pixels
    with this number, a cycle later, the first one lowest. What does not fit is not kept."""

    def __init__(self, images: Images):
        corners = [Signal(COORDINATE_BITS, name=name) for name in ("x0", "y0", "x1", "y1")]
        self.x0, self.y0, self.x1, self.y1 = corners
        self.start, self.waiting, self.kept = Signal(), Signal(), Signal()
        self.index, self.word = Signal(max=WORDS), Signal(PIXELS * PIXEL_BITS)

        # # #

        memory = Memory(PIXELS * PIXEL_BITS, WORDS)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        keeping, place, address = Signal(), Signal(max=PIXELS), Signal(max=2 * WORDS)
        before = Signal((PIXELS - 1) * PIXEL_BITS)
        now, number, at = Signal(), Signal.like(address), Signal.like(place)
        inside = Signal()
        last = (images.x + 1 == self.x1) | (images.x + 1 == images.width)
        columns = (images.x >= self.x0) & (images.x < self.x1)
        # Verilog has no slices without bits
        parts = [[before[n * PIXEL_BITS : (n + 1) * PIXEL_BITS] for n in range(at)] for at in range(PIXELS)]
        full = {n: write.dat_w.eq(Cat(*part, images.pixel)) for n, part in enumerate(parts)}
        self.comb += [
            read.adr.eq(self.index),
            self.word.eq(read.dat_r),
            now.eq(self.waiting & (keeping | images.first)),
            inside.eq(images.valid & now & columns & (images.y >= self.y0) & (images.y < self.y1)),
            number.eq(Mux(images.first, 0, address)),
            at.eq(Mux(images.first, 0, place)),
            Case(at, full),
            write.adr.eq(number),
            write.we.eq(inside & ((at == PIXELS - 1) | last) & (number < WORDS)),
        ]
        self.sync += [
            If(images.first, keeping.eq(self.waiting), address.eq(0), place.eq(0)),
            If(
                inside,
                Case(
                    at, {n: before[n * PIXEL_BITS : (n + 1) * PIXEL_BITS].eq(images.pixel) for n in range(PIXELS - 1)}
                ),
                place.eq(at + 1),
                If(last, place.eq(0)),
                If(write.we, address.eq(number + 1)),
            ),
            If(images.end & keeping, keeping.eq(0), self.waiting.eq(0), self.kept.eq(1)),
            If(self.start, self.waiting.eq(1), self.kept.eq(0), keeping.eq(0), place.eq(0)),
        ]
