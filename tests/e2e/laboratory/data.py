"""Computations in kernels and returned data: attributes, datasets, calls of the host, objects,
errors."""

import numpy as np
from artiq.experiment import *
from numpy import int32, int64

from tests.e2e.laboratory import Laboratory, expect


@expect(values={"n": 5, "total": 2.5, "done": True, "values": [2, 4, 6]})
class WrittenBack(Laboratory):
    def more(self):
        self.n, self.total, self.done, self.values = 0, 0.0, False, [1, 2, 3]

    @kernel
    def run(self):
        for _ in range(5):
            self.n += 1
            self.total += 0.5
        for n in range(3):
            self.values[n] *= 2
        self.done = self.n == 5


@expect(datasets={"a/rate": 1.25, "b": [1, 2, 3], "c": "text"})
class DatasetsFromAKernel(Laboratory):
    @kernel
    def run(self):
        self.set_dataset("a/rate", 1.25)
        self.set_dataset("b", [1, 2, 3])
        self.set_dataset("c", "text")


@expect(datasets={"image": [[0, 0, 7], [0, 5, 0]]})
class MutatedPoints(Laboratory):
    def prepare(self):
        self.set_dataset("image", np.zeros((2, 3), dtype=np.int32))

    @kernel
    def run(self):
        self.mutate_dataset("image", ((0, 1), (2, 3)), 7)
        self.mutate_dataset("image", ((1, 2), (1, 2)), 5)


@expect(values={"got": [(1, "a", 2.5), (2, "b", 5.0)]}, printed=["sum 12"])
class CallsOfTheHost(Laboratory):
    def more(self):
        self.got = []

    @rpc(flags={"async"})
    def note(self, n, name, x):
        self.got.append((n, name, x))

    @rpc
    def add(self, values) -> TInt32:
        return sum(values)

    @kernel
    def run(self):
        self.note(1, "a", 2.5)
        self.note(2, "b", 5.0)
        print("sum", self.add([3, 4, 5]))


@expect(printed=["(1, 2.5, True)", "7 [7, 1, 2]"])
class TypedSignatures(Laboratory):
    @kernel
    def pair(self, n: TInt32) -> TTuple([TInt32, TFloat, TBool]):
        return n, 2.5 * n, n > 0

    @kernel
    def largest(self, values: TList(TInt32)) -> TInt32:
        best = values[0]
        for value in values:
            best = max(best, value)
        values[0] = best
        return best

    @kernel
    def run(self):
        print(self.pair(1))
        numbers = [0, 1, 2]
        numbers[0] = 7
        print(self.largest(numbers), numbers)


@expect(printed=["9223372036854775807 -2147483648 3000000000", "-4 3 1 2.0"])
class Integers(Laboratory):
    """Integer divisions round down, as in Python."""

    @kernel
    def run(self):
        big = int64(9223372036854775807)
        small = int32(2147483647)
        small += 1
        print(big, small, int64(3) * 1000000000)
        print(-7 // 2, 7 // 2, -7 % 2, 7 % 2 * 2.0)


@expect(printed=["on the host [0.0, 1.0, 4.0]", "in the kernel [0.0, 1.0, 4.0]"])
class PortableOnBothSides(Laboratory):
    @portable
    def squares(self) -> TList(TFloat):
        result = [0.0] * 3
        for n in range(3):
            result[n] = float(n) ** 2
        return result

    @kernel
    def compare(self):
        result = [0.0] * 3
        for n in range(3):
            result[n] = self.square(n)
        print("in the kernel", result)

    @portable
    def square(self, n) -> TFloat:
        return float(n) ** 2

    def run(self):
        print("on the host", [self.square(n) for n in range(3)])
        self.compare()


class _Channel:
    """An object that is not an experiment, with its own state."""

    kernel_invariants = {"scale"}

    def __init__(self, core, scale):
        self.core = core
        self.scale = scale
        self.used = 0

    @kernel
    def convert(self, x: TFloat) -> TFloat:
        self.used += 1
        return x * self.scale


@expect(values={"results": [2.0, 30.0, 4.0], "uses": [2, 1]})
class TwoObjectsOfAClass(Laboratory):
    def more(self):
        self.first, self.second = _Channel(self.core, 2.0), _Channel(self.core, 10.0)
        self.results = [0.0, 0.0, 0.0]

    @kernel
    def compute(self):
        self.results[0] = self.first.convert(1.0)
        self.results[1] = self.second.convert(3.0)
        self.results[2] = self.first.convert(2.0)

    def run(self):
        self.compute()
        self.uses = [self.first.used, self.second.used]


class _Sequence(Laboratory):
    devices = "ttl4 ttl5"

    @kernel
    def body(self):
        self.ttl4.pulse(1 * us)

    @kernel
    def run(self):
        self.core.reset()
        self.ttl5.pulse(100 * ns)
        self.body()
        self.ttl5.pulse(100 * ns)


@expect(pins={"ttl5": [(0, 100), (1100, 1200)], "ttl4": [(100, 1100)]})
class AsInherited(_Sequence):
    pass


@expect(pins={"ttl5": [(0, 100), (2600, 2700)], "ttl4": [(100, 1100), (1600, 2600)]})
class Overridden(_Sequence):
    @kernel
    def body(self):
        for n in range(2):
            self.ttl4.pulse(1 * us)
            if n == 0:
                delay(500 * ns)


@expect(pins={"ttl4": [(0, 1000)]}, printed=["switched off", "caught: too hot"])
class PinOffWhateverHappens(Laboratory):
    devices = "ttl4"

    @kernel
    def expose(self):
        self.core.reset()
        try:
            self.ttl4.on()
            delay(1 * us)
            raise ValueError("too hot")
        finally:
            self.ttl4.off()
            print("switched off")

    def run(self):
        try:
            self.expose()
        except ValueError as error:
            print("caught:", str(error).splitlines()[0])


@expect(raises="IndexError", printed=["before"])
class ErrorOfTheKernel(Laboratory):
    @kernel
    def run(self):
        values = [1, 2, 3]
        print("before")
        values[self.too_far()] = 4
        print("after")

    def too_far(self) -> TInt32:
        return 3


@expect(values={"order": [2, 0, 1, 3]}, pins={"ttl4": [(0, 30), (130, 140), (240, 260), (360, 400)]})
class ShuffledPoints(Laboratory):
    devices = "ttl4"

    def more(self):
        self.order = [2, 0, 1, 3]

    @kernel
    def run(self):
        self.core.reset()
        for n in self.order:
            self.ttl4.pulse_mu(10 * (n + 1))
            delay_mu(100)


@expect(datasets={"x": [0.0, 0.5, 1.0], "y": [0.0, 0.25, 1.0]})
class ScanOfTheHost(Laboratory):
    """A kernel per point, as in older experiments."""

    @kernel
    def point(self, x: TFloat) -> TFloat:
        return x * x

    def run(self):
        self.set_dataset("x", [])
        self.set_dataset("y", [])
        for x in RangeScan(0.0, 1.0, 3):
            self.append_to_dataset("x", x)
            self.append_to_dataset("y", self.point(x))


@expect(values={"mean": 2.5, "spread": 1.25, "found": [1.0, 2.0, 3.0, 4.0]})
class StatisticsInTheKernel(Laboratory):
    def more(self):
        self.mean, self.spread = 0.0, 0.0
        self.found = [0.0] * 4

    @kernel
    def run(self):
        data = np.array([1.0, 2.0, 3.0, 4.0])
        for x in data:
            self.mean += x / 4
        for n in range(4):
            self.spread += (data[n] - self.mean) ** 2 / 4
            self.found[n] = data[n]
