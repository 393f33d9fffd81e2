"""A polynomial by forward differences: each cycle adds to a value the difference of the next order,
modulo 2^width. Clock domain sys.

    v0' = v0 + v1     v1' = v1 + v2     v2' = v2 + v3     v3' = v3

A skip of n cycles in simulation has the same result in closed form: v0 + C(n, 1) v1 + C(n, 2) v2 +
C(n, 3) v3, and likewise for the differences.
"""

from migen import *

__all__ = ["Differences", "Elapsed"]


class Elapsed(Module):
    """skip: `FreeRunning`. `stb`: its own. `ways`: the binomial coefficients of its cycles over 1,
    2 and 3, modulo 2^width; 0 without `stb`."""

    def __init__(self, skip, width):
        self.stb = skip.stb
        self.ways = [Signal(width, name=f"ways_{n}") for n in range(1, 4)]

        # # #

        # A bit more, since one of two factors is halved
        cycles, fewer = Signal(width + 1), Signal(width + 1)
        half, other, product = Signal(width), Signal(width), Signal(width)
        single, pairs, triples = self.ways
        self.comb += [
            # 0 while nothing is skipped, so that a simulation need not evaluate the products
            If(skip.stb, cycles.eq(skip.cycles)),
            fewer.eq(cycles - 1),
            half.eq(Mux(cycles[0], fewer[1:], cycles[1:])),
            other.eq(Mux(cycles[0], cycles, fewer)),
            single.eq(cycles),
            pairs.eq(half * other),
            product.eq(pairs * (cycles[:width] - 2)),
            # 3 is odd, so it can be divided by modulo a power of two
            triples.eq(product * C(pow(3, -1, 1 << width), width)),
        ]


class Differences(Module):
    """first: values to begin with, of the same width, the polynomial's first. begin: they are those
    of the next cycle. elapsed: `Elapsed`, of at least that width. `values`: of this cycle."""

    def __init__(self, first, begin, elapsed):
        self.values = [Signal(len(of), name=f"v{n}") for n, of in enumerate(first)]

        # # #

        moving = list(enumerate(self.values))[:-1]
        leaps = []
        for n, value in moving:
            total = value
            for ways, difference in zip(elapsed.ways, self.values[n + 1 :], strict=False):
                total = total + ways * difference
            leaps.append(value.eq(total))
        self.sync += [
            [value.eq(value + self.values[n + 1]) for n, value in moving],
            If(elapsed.stb, *leaps),
            If(begin, [value.eq(of) for value, of in zip(self.values, first, strict=True)]),
        ]
