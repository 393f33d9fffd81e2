"""Built-in functions that iterate over elements."""

# ruff: noqa: B905 (kernels have no `strict`)

import numpy as np

from kairos.language import TFloat, TInt32, kernel, portable

from .marks import Marks


class Enumerate(Marks):
    def build(self):
        self.floats = [1.5, 2.5, 3.5]
        self.matrix = np.array([[1, 2], [3, 4]])
        self.none = [0][1:]

    @kernel
    def run(self):
        for i, x in enumerate(self.floats):
            self.mark(i, x)
        for i, n in enumerate([7, 8], 10):
            self.mark(i, n)
        for wide, (j, x) in enumerate(enumerate(self.floats, start=-1), start=np.int64(2**40)):
            self.mark(wide, j, x)
        for i, row in enumerate(self.matrix):
            row[0] += 10 * i
        for i, n in enumerate(self.none):
            self.mark("never", i, n)
        for pair in enumerate((True, False)):
            self.mark(pair[0], pair[1])
        self.mark(self.matrix, [i * x for i, x in enumerate(range(4, 0, -1))], list(enumerate((True, False))))


class StrictZip(Marks):
    def build(self):
        self.numbers = [1, 2, 3]

    @kernel
    def run(self):
        for n, x in zip(self.numbers, range(3), strict=True):
            self.mark(n, x)
        for count in range(2, 5):
            try:
                for n, x in zip(self.numbers, range(count), strict=True):
                    self.mark(n, x)
            except ValueError:
                self.mark("value", count)
        try:
            self.mark(list(zip(self.numbers, (1, 2, 3), range(2), strict=True)))
        except ValueError:
            self.mark("three")
        for n, x in zip(self.numbers, (1, 2), strict=False):
            self.mark(n, x)
        for n, x in zip([7], self.numbers, strict=True):
            self.mark(n, x)


class Zip(Marks):
    def build(self):
        self.names = ["a", "b", "c"]
        self.values = [1, 2]
        self.vector = np.array([0.5, 1.5, 2.5])

    @kernel
    def run(self):
        for name, value in zip(self.names, self.values):
            self.mark(name, value)
        for n, x, flag in zip(range(10, 0, -3), self.vector, (True, False, True)):
            self.mark(n, x, flag)
        for pair in zip(self.values, self.values[::-1]):
            self.mark(pair)
        for (only,) in zip(self.values):
            self.mark(only)
        self.mark([a * b for a, b in zip(self.values, [10, 20, 30])], list(zip(self.names, range(2**40, 2**41))))
        for a, b in zip(self.values, range(0)):
            self.mark("never", a, b)
        for i, (a, names) in enumerate(zip(self.values, zip(self.names, self.names))):
            self.mark(i, a, names)


class ElementsAreReadWhenItIsTheirTurn(Marks):
    @kernel
    def run(self):
        a = [1, 2, 3, 4]
        for i, x in enumerate(a):
            a[(i + 1) % 4] += 10 * x
            self.mark(i, x)
        for x, y in zip(a, reversed(a)):
            a[2] = 0
            self.mark(x, y)


class IterablesAreEvaluatedOnceInOrder(Marks):
    def build(self):
        self.data = [1, 2, 3]

    @kernel
    def marked_list(self, x):
        self.mark("given", x)
        return self.data

    @kernel
    def run(self):
        for x, y in zip(self.marked_list(1), self.marked_list(10)):
            self.mark(x, y)
        for i, x in enumerate(self.marked_list(5), self.marked_list(7)[1]):
            self.mark(i, x)
        self.mark(sum((x * y for x in self.marked_list(1) for y in self.marked_list(x)), self.marked_list(100)[0]))


class Reversed(Marks):
    def build(self):
        self.matrix = np.array([[1, 2], [3, 4], [5, 6]])

    @kernel
    def run(self):
        for x in reversed([1, 2, 3]):
            self.mark(x)
        self.mark([x for x in reversed(range(3, 11, 3))], list(reversed((1.5, 2.5))))
        for row in reversed(self.matrix):
            self.mark(row[1])
        for i, y in enumerate(reversed(range(np.int64(5)))):
            if i == 1:
                continue
            if i == 3:
                break
            self.mark(i, y)
        else:
            self.mark("not said")
        for x in reversed([0][1:]):
            self.mark(x)
        else:
            self.mark("said")


class Sum(Marks):
    def build(self):
        self.ints = [1, 2, 3]
        self.floats = [0.1] * 10
        self.bools = [True, False, True]
        self.array = np.array([1, 2, 3], dtype=np.int32)
        self.none = [0.0][1:]

    @kernel
    def run(self):
        self.mark(sum(self.ints), sum(self.floats), sum(self.bools), sum(self.none), sum(range(101)))
        self.mark(sum((1, 2, 3)), sum(self.array), sum([1.5, 2.5]), sum([0] * 3))
        self.mark(sum(self.ints, 100), sum(self.ints, start=100), sum(self.ints, 0.5), sum(self.floats, 1))
        self.mark(sum(self.bools, 10), sum(self.ints, np.int64(2**40)), sum(self.ints, True))
        self.mark(sum(range(2**40, 2**40 + 3)), sum([np.int64(2**40)] * 3, 5))


class AnyAndAll(Marks):
    def build(self):
        self.none = [True][1:]
        self.texts = ["", "a", ""]
        self.lists = [[1], [2, 3]]

    @kernel
    def run(self):
        self.mark(any([False, True]), all([False, True]), any([0, 0]), all([1, 2]), any(self.none), all(self.none))
        self.mark(any(self.texts), all(self.texts), any((0.0, -0.0)), all((1.5, -2.0)), any(range(1)), all(range(1, 5)))
        self.mark(all(self.lists), any(zip(self.none, self.texts)), all(enumerate(self.texts)))
        if any([x > 2 for x in [1, 2, 3]]) and not all([x > 2 for x in [1, 2, 3]]):
            self.mark("both")


class GeneratorExpressions(Marks):
    def build(self):
        self.ints = [3, 1, 2]
        self.matrix = np.array([[1.0, 2.0], [3.0, 4.0]])

    @kernel
    def seen(self, x):
        self.mark("seen", x)
        return x == 1

    @kernel
    def run(self):
        x = 1000
        self.mark(any(self.seen(x) for x in self.ints), all(self.seen(x) for x in self.ints), x)
        self.mark(sum(x * x for x in self.ints), sum(x for row in self.matrix for x in row), sum(1 for _ in range(7)))
        self.mark(sum((x for x in range(10) if x % 2 if x > 2), 100), sum((x for x in self.ints), start=0.5))
        self.mark(min(abs(x - 2) for x in self.ints), max(i * x for i, x in enumerate(self.ints)))
        self.mark(any(a < b for a, b in zip(self.ints, self.ints[1:])), max(a + b for a in [1, 2] for b in range(a)))
        self.mark(sum(sum(y for y in range(z)) for z in self.ints), [sum(y * z for y in self.ints) for z in [1, 10]])
        self.mark(sum((lambda k: k * x)(y) for y in [1, 2]))


class MinOfNothing(Marks):
    EXPECTED = [("ValueError", "max() iterable argument is empty")]

    @kernel
    def run(self):
        self.mark(max(x for x in range(5) if x > 7))


class MinAndMaxOfWhatIsGoneOver(Marks):
    @kernel
    def run(self):
        self.mark(min((3, 1, 2)), max(reversed([1, 5, 2])), min(range(5, 0, -2)))


class Tuples(Marks):
    def build(self):
        self.pulses = (("a", 1.5), ("b", 2.5))

    @kernel
    def run(self):
        for x in (3, 1, 2):
            self.mark(x)
        for name, duration in self.pulses:
            self.mark(name, duration)
        self.mark([2 * x for x in (1.5, 2.5)], list((1, 2)), len((1, 2.0, "a")), len(self.pulses))


class Sorted(Marks):
    def build(self):
        self.floats = [2.5, -1.0, 0.0, -0.0, 7.25, 2.5, -1e300]
        self.names = ["b", "", "ab", "a", "µ", "a"]
        self.array = np.array([5, 3, 4], dtype=np.int32)
        self.pairs = [(2, "b"), (1, "z"), (2, "a"), (1, "a")]
        self.none = [1][1:]

    @kernel
    def run(self):
        for length in range(20):
            self.mark(sorted([(i * 7 + length) % 11 for i in range(length)]))
        self.mark(sorted(self.floats), sorted(self.floats, reverse=True), sorted(self.names), sorted(self.pairs))
        self.mark(
            sorted(self.array), self.array, sorted(range(5), reverse=True), sorted((True, False)), sorted(self.none)
        )
        self.mark(sorted(zip(self.array, self.names)), sorted(self.pairs, reverse=False)[0])
        for i, (n, name) in enumerate(sorted(self.pairs, reverse=True)):
            self.mark(i, n, name)


@portable
def total(values):
    return sum(values) + sum(x for x in values)


class NamesOfTheProgramComeFirst(Marks):
    @kernel
    def zip(self, a, b):
        return a * b

    @kernel
    def run(self):
        sum = 5
        self.mark(sum, self.zip(3, 4), total([1, 2, 3]))


@portable
def last_of(pair) -> TFloat:
    return pair[1]


class SortedByKey(Marks):
    def build(self):
        self.pairs = [(3, 0.5), (1, 2.5), (2, 0.5), (3, -1.0), (-1, 2.5)]
        self.numbers = [5, -3, 3, 0, -5, 12]
        self.texts = ["µs", "b", "", "abc", "ab"]
        self.rows = [[3, 1], [2], [3, 0, 0], [9]]
        self.weights = np.array([0.5, -1.0, 0.25, 4.0])
        self.calls = 0

    @portable
    def far(self, x: TInt32) -> TInt32:
        self.calls += 1
        return abs(x - 4)

    @kernel
    def run(self):
        self.mark(sorted(self.pairs, key=lambda pair: pair[1]))
        self.mark(sorted(self.pairs, key=last_of, reverse=True), sorted(self.pairs, reverse=False, key=last_of))
        self.mark(sorted(self.numbers, key=abs), sorted(self.numbers, key=None), sorted(self.numbers, key=bool))
        self.mark(sorted(self.numbers, key=self.far), self.calls)
        self.mark(sorted(self.texts, key=len), sorted(self.texts, key=lambda text: (len(text), text), reverse=True))
        self.mark(sorted(self.rows, key=len), sorted(self.rows, key=lambda row: row[0], reverse=True))
        weights = self.weights
        order = sorted(range(len(weights)), key=lambda i: weights[i])
        self.mark(order, sorted([1][1:], key=abs), sorted((2, -1, 1), key=abs))
        for i, x in sorted(enumerate(self.numbers), key=lambda pair: -pair[1]):
            self.mark(i, x)
        by = self.far if len(order) == 0 else self.far
        self.mark([sorted(row, key=by) for row in self.rows], sorted(zip(order, self.texts), key=lambda both: both[1]))
