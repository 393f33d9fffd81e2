"""What programs of experiments do with lists, tables, names and masks."""

import numpy as np

from kairos.language import TFloat, kernel

from .marks import Marks


class RowsAreIndependent(Marks):
    @kernel
    def run(self):
        grid = [[0] * 3 for _ in range(2)]
        grid[0][1] = 5
        shared = [[0] * 3] * 2
        shared[0][1] = 5
        self.mark(grid, shared, [[column * row for column in range(3)] for row in range(2)])
        table = [(x, [x, x + 1]) for x in range(2)]
        table[0][1][0] = 9
        self.mark(table)


class TuplesInLists(Marks):
    def build(self):
        self.steps = [("cool", 1.5, 3), ("detect", 2.5, 1)]

    @kernel
    def run(self):
        steps = self.steps
        for name, time, times in steps:
            self.mark(name, time * times)
        steps[0] = ("pump", 0.5, 2)
        first, _ = 0, 1
        self.mark(steps, steps[0][0] == "pump", first)
        steps[0], steps[1] = steps[1], steps[0]
        self.mark(steps, ("pump", 0.5, 2) in steps)


class DefaultsAndKeywords(Marks):
    LEVEL = 3

    def build(self):
        self.offset = 0.5

    def host(self, a, b=2, *rest, scale=1.0, **more) -> TFloat:
        self.mark("host", a, b, rest, scale, sorted(more.items()))
        return float(a + b) * scale

    @kernel
    def inner(self, a, b=LEVEL, c=(1, 2), d="x", e=True, f=None):
        self.mark(a, b, c, d, e, f is None)
        return a + b

    @kernel
    def run(self):
        self.mark(self.inner(1), self.inner(1, 5, d="y"), self.inner(b=7, a=2, e=False))
        self.mark(self.host(1), self.host(1, scale=2.0), self.host(1, 2, 3, 4, scale=0.5, other=[1, 2], text="t"))


class StringsOfNames(Marks):
    def build(self):
        self.names = ["ttl0", "ttl1", "urukul0_ch0"]

    @kernel
    def run(self):
        text = ""
        for name in self.names:
            text += name[:3] + ";"
        self.mark(text, len(text), self.names[2][-3:], "ttl1" in self.names, text == "ttl;ttl;uru;")
        self.mark(self.names[0] < self.names[1], self.names[0] != "ttl0", text[::2], text[1:-1], "" == text[5:2])
        self.mark(f"{self.names[0]}={1.5:.3f} {7:04d} {255:#x} {-3:+d} {True} {1e-9:g} {[1, 2]} {(1, 'a')}")
        self.mark(str(1.0), str(3), str(True), str(1e20), str(0.1 + 0.2), "ab")


class MatricesInPlace(Marks):
    def build(self):
        self.m = np.zeros((3, 4))
        self.counts = np.zeros((2, 3), dtype=np.int64)

    @kernel
    def run(self):
        for i in range(3):
            for j in range(4):
                self.m[i, j] = i * 10.0 + j
        self.m[1] += 0.5
        self.m[:, 2] = 7.0
        self.m[2, 1:3] *= 2.0
        self.counts[1, 2] += 1
        self.counts[0] = np.array([4, 5, 6])
        self.mark(self.m, self.m[1], self.m[:, 0], self.m[-1, -1], self.m.shape, len(self.m))
        self.mark(self.counts, np.sum(self.counts), np.sum(self.m, axis=0), self.m[0] @ self.m[1])
        self.mark(self.m.T[0], np.transpose(self.m)[3], self.m[::2], self.m[::-1][0])
        total = 0.0
        for row in self.m:
            for x in row:
                total += x
        self.mark(total, np.max(self.m), np.min(self.m[1]), np.mean(self.m))


class SlicesOfLists(Marks):
    @kernel
    def run(self):
        x = [0, 1, 2, 3, 4, 5]
        self.mark(x[10:], x[:100], x[-100:2], x[::-1], x[4:1:-2], x[-2:], x[:-2], x[3:3])
        x[1:3] = [7, 8]
        x[::2] = [9, 9, 9]
        self.mark(x, x[1:][0], x[:2] if len(x) else x)
        y = x[:]
        y[0] = 100
        self.mark(x[0], y[0], x == y, x[1:] == y[1:])


class RecursionOverLists(Marks):
    @kernel
    def total(self, values, at=0):
        if at == len(values):
            return 0
        return values[at] + self.total(values, at + 1)

    @kernel
    def fill(self, values, low, high):
        if high - low > 1:
            middle = (low + high) // 2
            self.fill(values, low, middle)
            self.fill(values, middle, high)
        else:
            values[low] = low * low

    @kernel
    def ackermann(self, m, n):
        if m == 0:
            return n + 1
        if n == 0:
            return self.ackermann(m - 1, 1)
        return self.ackermann(m - 1, self.ackermann(m, n - 1))

    @kernel
    def run(self):
        values = [0] * 9
        self.fill(values, 0, len(values))
        self.mark(values, self.total(values), self.total(values, at=5), self.ackermann(2, 3))


class LoopsAndElse(Marks):
    @kernel
    def run(self):
        for i in range(3):
            for j in range(3):
                if j == 2:
                    break
                if i == j:
                    continue
                self.mark(i, j)
            else:
                self.mark("unbroken")
        n = 0
        while True:
            n += 1
            if n % 2:
                continue
            if n > 5:
                break
        else:
            self.mark("never")
        while n:
            n -= 2
        else:
            self.mark("done", n)
        for i in range(5, 0, -2):
            self.mark(i)
        for i in reversed(range(3)):
            self.mark(i)


class Closures(Marks):
    @kernel
    def run(self):
        total = 0

        def add(n=1):
            nonlocal total
            total += n
            return total

        self.mark(add(), add(5), total)
        k = 2
        scale = lambda x: x * k  # noqa: E731
        k = 10
        self.mark(scale(3))

        def outer(x):
            def inner(y):
                return x * y + k

            return inner(x + 1)

        self.mark(outer(2))


class BitsAndMasks(Marks):
    def build(self):
        self.word = 0x7FFFFFFF
        self.wide = np.int64(1) << 40

    @kernel
    def run(self):
        mask = 0
        for bit in [0, 5, 30]:
            mask |= 1 << bit
        self.mark(mask, mask & ~(1 << 5), mask >> 4, mask ^ 0xFF, (self.wide >> 38) & 3, ~self.wide)
        self.mark(self.word & 0xFF, self.word >> 31, -1 >> 5, (-8) // 3, -8 % 3, 7 // -2)
        count = 0
        word = self.word
        while word:
            word &= word - 1
            count += 1
        self.mark(count)


class Functions(Marks):
    @kernel
    def run(self):
        values = [3, 1, 2]
        self.mark(sum(values), min(values), max(values), sorted(values), sorted(values, reverse=True))
        self.mark(abs(-3), abs(-2.5), int(-2.7), float(3), bool(0.0))
        self.mark(all([x > 0 for x in values]), any(x > 2 for x in values), len(range(2, 9, 3)), list(range(3)))
        self.mark(
            [a * b for a, b in zip(values, values[1:], strict=False)], list(enumerate(values)), list(reversed(values))
        )
