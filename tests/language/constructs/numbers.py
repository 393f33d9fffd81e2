"""Numbers and arithmetic expressions."""

import numpy as np

from kairos.language import kernel

from .marks import Marks


class SmallestAndLargest(Marks):
    @kernel
    def run(self):
        x = 5
        self.mark(min(3, 1, 2), max(3, 1, 2), min(1.5, 0.5, 2.5, -1.0), max(x, 7, 2, x + 3))
        self.mark(min([4, 2, 3]), max([1.5, 2.5]), min(range(5, 2, -1)), max(np.array([1, 9, 3])))


class SmallestOfNothing(Marks):
    def build(self):
        self.numbers = [1]

    @kernel
    def run(self):
        try:
            self.mark(min(self.numbers[1:]))
        except ValueError:
            self.mark("nothing")


class NumbersOfBools(Marks):
    def build(self):
        self.numbers = 3

    @kernel
    def run(self):
        yes = self.numbers > 2
        self.mark(int(True), int(False), np.int32(yes), np.int64(yes), float(yes), bool(int(yes)))


class NegativeIndexOfTuple(Marks):
    LAST = -1

    @kernel
    def run(self):
        t = (1, 2.5, "three")
        self.mark(t[-1], t[-3], t[1])


class IdentityOfRanges(Marks):
    EXPECTED = [(True, False, True)]

    @kernel
    def run(self):
        r = range(3)
        self.mark(r is r, range(4) is range(0, 3, 1), range(3) is not range(4))


class ListsOfTheHost(Marks):
    """Lists of integers and floats, of mixed widths, and empty: element types follow from their use."""

    def build(self):
        self.mixed = [1, 2.5, np.int64(3), np.float32(0.25)]
        self.rows = [[1, 2], [0.5]]
        self.widths = [1, 2**40, np.int8(-3), np.uint16(7)]
        self.none = []

    @kernel
    def run(self):
        self.mark(self.mixed[0] / 2.0, sum(self.mixed), self.rows[0][1] * 1.5, self.widths[1] + self.widths[0])
        for x in self.none:
            self.mark(x + 1.5)
        self.mark(len(self.none), self.widths[2], [0.5] + self.none)
