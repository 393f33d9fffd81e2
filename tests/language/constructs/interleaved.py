"""`with interleave`: operations in time order."""

import numpy

from kairos.language import at_mu, delay, delay_mu, interleave, kernel, now_mu, portable, sequential

from .marks import Marks

ns = 1e-9


class BlocksInOrder(Marks):
    EXPECTED = [("A", 0), ("C", 0), ("D", 2), ("B", 3), ("E", 4), ("end", 4)]

    @kernel
    def run(self):
        start = now_mu()
        with interleave:
            with sequential:
                self.mark("A", now_mu() - start)
                delay_mu(3)
                self.mark("B", now_mu() - start)
            with sequential:
                self.mark("C", now_mu() - start)
                delay_mu(2)
                self.mark("D", now_mu() - start)
                delay_mu(2)
                self.mark("E", now_mu() - start)
        self.mark("end", now_mu() - start)


class Lamp:
    kernel_invariants = {"width"}

    def __init__(self, marks, name):
        self.marks, self.name = marks, name
        self.width = numpy.int64(4)

    @portable
    def on(self, start):
        self.marks.mark(self.name, 1, now_mu() - start)

    @portable
    def off(self, start):
        self.marks.mark(self.name, 0, now_mu() - start)

    @portable
    def pulse(self, start, duration):
        self.on(start)
        delay(duration)
        self.off(start)

    @portable
    def blink(self, start, times=2):
        for _ in range(times):
            self.on(start)
            delay_mu(self.width)
            self.off(start)
            delay_mu(2 * self.width - 3)
        return times


class FunctionsAndLoops(Marks):
    EXPECTED = [
        ("a", 1, 0), ("b", 1, 0), ("b", 0, 4), ("n", 6), ("b", 1, 9), ("a", 0, 10), ("b", 0, 13), ("end", 18),
        (0, 0), ("lost", 0), ("lost", 1), (1, 1), (3, 2), ("end", 23),
    ]  # fmt: skip

    def build(self):
        self.a, self.b = Lamp(self, "a"), Lamp(self, "b")

    @kernel
    def run(self):
        start = now_mu()
        with interleave:
            self.a.pulse(start, 10 * ns)
            self.b.blink(start)
            with sequential:
                delay_mu(6)
                count = 6
                self.mark("n", count)
        self.mark("end", now_mu() - start)
        begin = now_mu()
        with interleave:
            for i in range(3):
                delay_mu(i)
                self.mark(now_mu() - begin, i)
            for j in range(2):
                try:
                    if j == 5:
                        break
                    raise ValueError
                except ValueError:
                    self.mark("lost", j)
            delay_mu(5)
        self.mark("end", now_mu() - start)


class OneInTheOther(Marks):
    EXPECTED = [(0, 0), (1, 2), (2, 3), (4, 8), (3, 8), ("end", 9)]

    @kernel
    def run(self):
        at_mu(1000)
        with interleave:
            with sequential:
                with interleave:
                    with sequential:
                        delay_mu(3)
                        self.mark(2, now_mu() - 1000)
                        delay_mu(5)
                        self.mark(4, now_mu() - 1000)
                    self.mark(0, now_mu() - 1000)
                delay_mu(1)
            with sequential:
                delay(1.7 * ns)
                self.mark(1, now_mu() - 1000)
                delay_mu(6)
                self.mark(3, now_mu() - 1000)
        self.mark("end", now_mu() - 1000)


class NestedFunctionsAndWhile(Marks):
    """Calls of nested functions that delay, and `while` loops that do not."""

    EXPECTED = [
        ("a", 0), ("w", 3, 0), ("i", 0, 0), ("b", 4), ("i", 1, 5), ("a", 7), ("i", 2, 10), ("b", 11),
        ("end", 15), (2, 4, 15), ("deep", 2), ("deep", 5), ("end", 22),
    ]  # fmt: skip

    @kernel
    def run(self):
        start = now_mu()
        calls, total = 0, 0

        def flash(width, rest=3):
            nonlocal calls
            calls += 1
            self.mark("a", now_mu() - start)
            delay_mu(4)
            self.mark("b", now_mu() - start)
            delay_mu(width - 4)

        def count():
            nonlocal total
            for i in range(3):
                self.mark("i", i, now_mu() - start)
                total = total + i + calls * 0
                delay_mu(5)

        with interleave:
            with sequential:
                flash(7)
                flash(7)
            with sequential:
                n = 3
                while n > 3:
                    n -= 1
                while True:
                    self.mark("w", n, now_mu() - start)
                    break
            count()
        self.mark("end", now_mu() - start)
        self.mark(calls, total + 1, now_mu() - start)
        start = now_mu() - 0

        def outer(base):
            def inner():
                delay_mu(2)
                self.mark("deep", now_mu() - start)

            inner()
            delay_mu(1)
            inner()

        with interleave:
            outer(5)
            delay_mu(7)
        self.mark("end", now_mu() - start + 15)
