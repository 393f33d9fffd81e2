"""The sum of an image's pixels in a region. Clock domain sys; up to four pixels in a cycle."""

from functools import reduce
from operator import add

from migen import *

from .image import GROUP, Images

__all__ = ["REGION_CYCLES", "Region"]

REGION_CYCLES = 3
"""From the last pixels of `Images` to the sum with them."""


class Region(Module):
    """corners: x0, y0, x1, y1; bits: of the sum, which wraps. `sum` (out, `bits` bits): of the image's pixels so far
    with x0 <= x < x1 and y0 <= y < y1."""

    def __init__(self, images: Images, corners, bits):
        self.sum = Signal(bits)

        # # #

        x0, y0, x1, y1 = corners
        inside, clear = Signal(GROUP), Signal(2)
        pixels = [Signal.like(pixel) for pixel in images.pixels]
        part = Signal(len(pixels[0]) + 2)
        column = images.x[2:]

        def reached(limit, place):
            at_group = column == limit[2:]
            return (column > limit[2:]) | (at_group if place == GROUP - 1 else at_group & (place >= limit[:2]))

        row = (images.y >= y0) & (images.y < y1)
        columns = [reached(x0, n) & ~reached(x1, n) for n in range(GROUP)]
        self.sync += [
            inside.eq(Cat(*[images.valid[n] & row & columns[n] for n in range(GROUP)])),
            [kept.eq(pixel) for kept, pixel in zip(pixels, images.pixels, strict=True)],
            part.eq(reduce(add, [Mux(inside[n], pixel, 0) for n, pixel in enumerate(pixels)])),
            clear.eq(Cat(images.first, clear[0])),
            self.sum.eq(Mux(clear[1], 0, self.sum) + part),
        ]
