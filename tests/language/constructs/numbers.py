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


class QuotientsRoundDown(Marks):
    def build(self):
        self.numbers = [7, -7, 6, -6, 1, -1, 0, 2147483647, -2147483648]
        self.wides = [np.int64(7), np.int64(-7), np.int64(2**62 + 1), np.int64(-(2**62) - 1)]
        self.divisors = [2, -2, 3, -3, 7, -7, 1, -1, 8, -8, 1000, -1000]
        self.array = np.array([7, -7, 8, -8, 0, -1])
        self.odd = self.array | 1

    @kernel
    def run(self):
        for a in self.numbers:
            for b in self.divisors:
                if a != -2147483648 or b != -1:
                    self.mark(a // b, a % b, (a // b) * b + a % b == a)
            self.mark(a // 1, a // 2, a // 3, a // 8, a // 1000, a // 2147483647)
            self.mark(a // -2, a // -3, -7 // (a | 1), 7 // (a | 1))
        for a in self.wides:
            for b in self.divisors:
                self.mark(a // b, a % b, (a // b) * b + a % b == a)
            self.mark(a // 4, a // 5, a // (1 << 40), a // -4)
        self.mark(-7 // 2, 7 // -2, -7 // -2, -8 // 2, -1 // 1000, -(2**70) // 2**20)
        for b in self.divisors:
            self.mark(self.array // b, b // self.odd, self.array // np.array([1, 2, -3, 3, 5, 7]))
        n = -7
        n //= 2
        self.mark(n)
        changed = self.array + 0
        changed //= 2
        self.mark(changed)
