"""The viewer: keeps a region of an image, four pixels of 16 bits in a word, each row from a new word on. Clock domain
sys; up to four pixels in a cycle.

    pixels of the image     | 0 1 2 3 | 4 5 6 7 | 8 9 ...
    words of a region from column 2 on  | 2 3 4 5 | 6 7 8 9 | ...

Unless the region begins at a multiple of 4, a word is complete with the next pixels only, or with the end of the row.
"""

from migen import *

from .image import COORDINATE_BITS, GROUP, PIXEL_BITS, Images

__all__ = ["WORDS", "Viewer"]

WORDS = 1024


class Viewer(Module):
    """images: `Images`. `x0`, `y0`, `x1`, `y1` (in, 16 bits): pixels from (x0, y0) to before (x1, y1) are kept. `start`
    (in): of the next image that begins. `waiting` (out): until it has arrived as a whole; of one that does not, the
    next one is kept instead. `kept` (out): it is there. `index` (in, 10 bits), and `word` (out, 64 bits): the pixels
    with this number, a cycle later, the first one lowest. What does not fit is not kept. reader: clock domain of
    these two."""

    def __init__(self, images: Images, reader="sys"):
        corners = [Signal(COORDINATE_BITS, name=name) for name in ("x0", "y0", "x1", "y1")]
        self.x0, self.y0, self.x1, self.y1 = corners
        self.start, self.waiting, self.kept = Signal(), Signal(), Signal()
        self.index, self.word = Signal(max=WORDS), Signal(GROUP * PIXEL_BITS)

        # # #

        memory = Memory(GROUP * PIXEL_BITS, WORDS)
        write, read = memory.get_port(write_capable=True), memory.get_port(clock_domain=reader)
        self.specials += memory, write, read
        keeping, taking = Signal(), Signal()
        begins, comes, first, last = Signal(), Signal(), Signal(), Signal()
        now, pending = [Signal(GROUP * PIXEL_BITS) for _ in range(2)]
        held, held_last = Signal(), Signal()
        address, number = Signal(max=2 * WORDS), Signal(max=2 * WORDS)
        place, column = self.x0[:2], images.x[2:]
        rows = (images.y >= self.y0) & (images.y < self.y1)
        there = {n: taking.eq(images.valid[n] & (Cat(C(n, 2), column) < self.x1)) for n in range(GROUP)}
        both = Cat(pending, now)
        shifted = {n: write.dat_w.eq(both[PIXEL_BITS * n : PIXEL_BITS * (n + GROUP)]) for n in range(1, GROUP)} | {
            0: write.dat_w.eq(now)
        }
        self.comb += [
            read.adr.eq(self.index),
            self.word.eq(read.dat_r),
            Case(place, there),
            Case(place, shifted),
            number.eq(Mux(first, 0, address)),
            write.adr.eq(number),
            write.we.eq(Mux(place == 0, begins, held & ~first & (comes | held_last)) & (number < WORDS)),
        ]
        self.sync += [
            If(images.first, keeping.eq(self.waiting)),
            # A word begins in this group
            begins.eq(self.waiting & (keeping | images.first) & rows & (column >= self.x0[2:]) & taking),
            comes.eq(images.valid[0]),
            first.eq(images.first),
            last.eq(images.last),
            now.eq(Cat(*images.pixels)),
            If(comes, pending.eq(now), held.eq(begins), held_last.eq(last)).Elif(held_last, held.eq(0)),
            address.eq(number + write.we),
            If(images.end & keeping, keeping.eq(0), self.waiting.eq(0), self.kept.eq(1)),
            If(self.start, self.waiting.eq(1), self.kept.eq(0), keeping.eq(0)),
        ]
